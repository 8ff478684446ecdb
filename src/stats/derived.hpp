// Values that the writers work out from a kernel's counters, the same in every format.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>

#include "stats/report.hpp"
#include "stats/text.hpp"

namespace lockstep::stats {

/// Sub-core cycles of the kernel that no stall reason covers.
[[nodiscard]] inline std::uint64_t idle_cycles(const KernelResult& kernel) {
  const auto& stalls = kernel.counters.sm.stalls;
  const std::uint64_t charged = std::accumulate(stalls.begin(), stalls.end(), std::uint64_t{0});
  const std::uint64_t all = kernel.cycles * kernel.subcores;
  return all > charged ? all - charged : 0;
}

/// Sums over kernels; `cycles` and the counters can be read as those of one long kernel.
struct Totals {
  Cycle launch_cycles = 0, cycles = 0;
  std::uint64_t subcore_cycles = 0, idle = 0;
  KernelCounters counters;
  std::optional<EnergyParts> energy;  // of the kernels that have one
};

/// dst += part, where there is one.
inline void add(std::optional<EnergyParts>& total, const std::optional<EnergyParts>& part) {
  if (part) (total ? *total : total.emplace()) += *part;
}

/// Mean power over `cycles` of a clock of `khz`, as text: mW without decimals.
[[nodiscard]] inline std::string milliwatts(std::uint64_t picojoules, Cycle cycles, std::uint64_t khz) {
  return fixed_ratio(picojoules, cycles * 1'000'000, 0, khz);
}

/// From the beginning of the run to its end.
[[nodiscard]] inline std::uint64_t run_ps(const RunReport& report) {
  return quotient(report.total_cycles, 1'000'000'000, report.core_khz);
}
/// How long the link was sending.
[[nodiscard]] inline std::uint64_t busy_ps(const LinkResult& link) {
  return quotient(link.bytes, 1'000'000'000'000, link.bytes_per_second);
}

[[nodiscard]] inline Totals totals(const RunReport& report) {
  Totals sum;
  for (const KernelResult& kernel : report.kernels) {
    sum.launch_cycles += kernel.launch_cycles;
    sum.cycles += kernel.cycles;
    sum.subcore_cycles += kernel.cycles * kernel.subcores;
    sum.idle += idle_cycles(kernel);
    add(sum.counters, kernel.counters);
    add(sum.energy, kernel.energy);
  }
  return sum;
}

}  // namespace lockstep::stats
