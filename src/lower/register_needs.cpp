#include "lower/register_needs.hpp"

#include <algorithm>
#include <cstdint>

#include "lower/constants.hpp"
#include "lower/registers.hpp"
#include "lower/schedule.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::lower {

unsigned values_at_once(const ptx::Function& f, Passes passes) {
  ptx::Function counted = f;
  if (passes.constants) {
    const auto constant = constant_operands(f, passes.integers);
    for (ptx::RegisterId id = 0; id < constant.size(); ++id)
      if (constant[id]) counted.registers[id].type = ptx::Type::kPred;  // no register
  }
  return ptx::Liveness(counted, ptx::ControlFlow(counted)).max_pressure().words;
}

unsigned registers_for(unsigned values, const ptx::Directives& d, unsigned arch) {
  constexpr unsigned kGranule = 8, kRegistersOfSm = 65536, kThreadsOfFourWarps = 128;
  const auto granules = [](unsigned registers) { return registers / kGranule * kGranule; };
  const unsigned full = registers_at_full_occupancy(arch);
  unsigned most = kMaxRegisters;
  if (d.maxnreg > 0) most = std::min(most, d.maxnreg);
  const auto volume = [](const auto& v) {
    return std::uint64_t{v[0]} * std::max(v[1], 1u) * std::max(v[2], 1u);
  };
  const std::uint64_t threads = std::max(volume(d.maxntid), volume(d.reqntid)),
                      wanted = threads * std::max(d.minnctapersm, 1u);
  if (wanted > 0)
    most = std::min(most, static_cast<unsigned>(std::max<std::uint64_t>(kRegistersOfSm / wanted, full)));
  const unsigned needed = granules(values + kGranule - 1);
  if (needed <= full) return full;
  const auto together = threads > 0 ? static_cast<unsigned>(threads) : kThreadsOfFourWarps;
  const unsigned groups = std::max(kRegistersOfSm / together / needed, 1u);
  return std::max(full, std::min(granules(kRegistersOfSm / together / groups), most));
}

}  // namespace lockstep::lower
