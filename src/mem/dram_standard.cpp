#include "mem/dram_standard.hpp"

#include <algorithm>
#include <array>

namespace lockstep::mem {
namespace {

/// In the order of config::DramStandard.
constexpr std::array kDramStandards{&kHbm, &kGddr};

}  // namespace

const DramStandard& dram_standard(config::DramStandard standard) {
  return *kDramStandards[static_cast<std::size_t>(standard)];
}

std::vector<DramRule> common_dram_rules(const config::DramGroup& d) {
  using enum DramCommand;
  using enum DramScope;
  const std::uint32_t burst = d.burst_cycles, written = d.tCWL + burst;
  // The data of a write may not begin before those of a read have ended, whatever tRTW says.
  const std::uint32_t bus_turn = d.tCL + burst > d.tCWL ? d.tCL + burst - d.tCWL : 1;
  return {
      {kActivate, kRead, kBank, d.tRCD},
      {kActivate, kWrite, kBank, d.tRCD},
      {kActivate, kPrecharge, kBank, d.tRAS},
      {kActivate, kActivate, kGroup, d.tRRD_L},
      {kActivate, kActivate, kChannel, d.tRRD_S},
      {kActivate, kActivate, kChannel, d.tFAW, 4},
      {kPrecharge, kActivate, kBank, d.tRP},
      {kRead, kPrecharge, kBank, d.tRTP},
      {kRead, kRead, kGroup, d.tCCD_L},
      {kRead, kRead, kChannel, std::max(d.tCCD_S, burst)},
      {kRead, kWrite, kChannel, std::max(d.tRTW, bus_turn)},
      {kWrite, kPrecharge, kBank, written + d.tWR},
      {kWrite, kWrite, kGroup, d.tCCD_L},
      {kWrite, kWrite, kChannel, std::max(d.tCCD_S, burst)},
      {kWrite, kRead, kGroup, written + d.tWTR_L},
      {kWrite, kRead, kChannel, written + d.tWTR_S},
  };
}

}  // namespace lockstep::mem
