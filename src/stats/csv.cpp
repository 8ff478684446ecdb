// stats.csv and intervals.csv.
#include "util/csv.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "stats/derived.hpp"
#include "stats/descriptors.hpp"
#include "stats/report.hpp"
#include "stats/text.hpp"

namespace lockstep::stats {
namespace {

std::string counter_names() {
  std::string text;
  for (const Descriptor& d : descriptors()) text += fmt::format(",{}", d.name);
  return text;
}

std::string counter_values(const KernelCounters& counters) {
  std::string text;
  for (const Descriptor& d : descriptors()) text += fmt::format(",{}", value(counters, d));
  return text;
}

// Empty cells where the configuration has no coefficients, so that tables of all runs fit together.
constexpr std::string_view kEnergyNames = ",energy.total_pj,energy.average_mw";

std::string energy_values(const std::optional<EnergyParts>& energy, Cycle cycles, std::uint64_t khz) {
  if (!energy) return ",,";
  return fmt::format(",{},{}", energy->total(), milliwatts(energy->total(), cycles, khz));
}

}  // namespace

std::string to_csv(const RunReport& report) {
  std::string text =
      "id,name,stream,grid_x,grid_y,grid_z,block_x,block_y,block_z,start_cycle,launch_cycles,cycles,time_ns,"
      "elapsed_ns,ipc,occupancy.ctas_per_sm,occupancy.limiter,occupancy.subcores,partial,stalls.idle" +
      counter_names() + std::string(kEnergyNames) + (report.system ? ",device" : "") +
      (report.sampling ? ",estimated,ctas_left_out\n" : "\n");
  for (const KernelResult& k : report.kernels) {
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", k.id, csv_field(k.name),
                    k.stream, k.grid.x, k.grid.y, k.grid.z, k.block.x, k.block.y, k.block.z, k.start_cycle,
                    k.launch_cycles, k.cycles, cycles_to_ns(k.cycles, khz_of(report, k.device)),
                    cycles_to_ns(k.launch_cycles + k.cycles, khz_of(report, k.device)),
                    fixed_ratio(k.counters.sm.warp_instructions, k.cycles, 6), k.ctas_per_sm,
                    csv_field(k.occupancy_limiter), k.subcores, k.partial, idle_cycles(k));
    text += counter_values(k.counters);
    text += energy_values(k.energy, k.cycles, khz_of(report, k.device));
    if (report.system) text += fmt::format(",{}", k.device);
    if (report.sampling) text += fmt::format(",{},{}", k.estimated, k.ctas_left_out);
    text += "\n";
  }
  return text;
}

std::string intervals_csv(const RunReport& report) {
  const bool energy = !report.intervals.empty() && report.intervals.front().energy;
  std::string text = "end_cycle" + counter_names() + (energy ? std::string(kEnergyNames) : "") + "\n";
  Cycle begin = 0;
  for (const IntervalSample& sample : report.intervals) {
    text += fmt::format("{}{}", sample.end_cycle, counter_values(sample.counters));
    if (energy)
      text += energy_values(sample.energy, std::max(sample.end_cycle, begin) - begin, report.core_khz);
    text += "\n";
    begin = sample.end_cycle;
  }
  return text;
}

}  // namespace lockstep::stats
