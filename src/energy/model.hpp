// Energy from counters: events times the energies of the configuration (energy.*), plus powers times time.
// The form is AccelWattch's (Kandiah et al., MICRO 2021): constant power, SMs with and without warps, and
// dynamic energy by component. All of it is worked out when results are written, in integers.
#pragma once

#include <cstdint>
#include <optional>

#include "config/gpu_config.hpp"
#include "stats/counters.hpp"
#include "stats/energy_parts.hpp"

namespace lockstep::energy {

/// The energy of one device over `cycles` core cycles, from all its counters for that time:
///   part = sum of events * energy * (voltage / reference)^2           for SMs, caches and crossbar
///   dram = bits * energy + precharges * energy + its power, all cycles
///   active_sms = SM cycles with warps * (active_sm + lane * (mean lanes - 1)) * voltage / reference
///   idle_sms, board = SM cycles without warps, and all cycles, times their power
/// in pJ, each part rounded to the nearest. An SM's cycles are those of its sub-cores, divided by their
/// number.
class Model {
 public:
  explicit Model(const config::GpuConfig& config);

  /// Empty if the configuration has no coefficients (energy.source is "none").
  [[nodiscard]] std::optional<stats::EnergyParts> of(const stats::KernelCounters& counters,
                                                     Cycle cycles) const;
  /// Energy in pJ of bytes that cross a link between devices; empty without coefficients.
  [[nodiscard]] std::optional<std::uint64_t> of_link(std::uint64_t bytes) const;

 private:
  void add_events(const stats::KernelCounters& counters, stats::EnergyParts& parts) const;
  void add_memory(const stats::PartitionCounters& counters, Cycle cycles, stats::EnergyParts& parts) const;
  void add_powers(const stats::KernelCounters& counters, Cycle cycles, stats::EnergyParts& parts) const;

  config::EnergyGroup energy_;
  std::uint64_t core_khz_, sms_, subcores_, burst_bits_;
};

}  // namespace lockstep::energy
