// The instruction roofline of a kernel.
#include <algorithm>
#include <array>

#include "plot/chart.hpp"
#include "report/html.hpp"
#include "report/sections.hpp"
#include "util/types.hpp"

namespace lockstep::report {
namespace {

struct Level {
  const char* name;
  double bytes = 0;  // that the kernel moved
  double peak = 0;   // bytes per cycle
  unsigned colour = 0;
};

}  // namespace

/// As in N. Ding and S. Williams, "An Instruction Roofline Model for GPUs", PMBS 2019: warp instructions a
/// second over warp instructions a 32-byte sector, for each level of the memory; so it holds for every kind
/// of instruction.
std::string roofline(const Run& run, const Judged& judged) {
  const Peaks peaks = peaks_of(run.machine);
  const Values& k = judged.kernel->values;
  const double instructions = k.number("warp_instructions"), cycles = judged.usage.cycles;
  if (instructions <= 0 || cycles <= 0) return "";
  const double ghz = peaks.core_hz / 1e9;
  const double l1 = k.number("l1.accesses") * kSectorBytes + k.number("sm.shared_wavefronts") * kLineBytes;
  const std::array<Level, 3> levels{Level{"L1 and shared", l1, peaks.l1_bytes, 2},
                                    Level{"L2", k.number("l2.accesses") * kSectorBytes, peaks.l2_bytes, 0},
                                    Level{"DRAM", k.number("dram.bytes"), peaks.dram_bytes, 1}};
  const double roof = peaks.subcores * ghz, achieved = instructions / cycles * ghz;
  plot::Chart chart{.title = "Roofline: instructions per second against instructions per sector",
                    .x = {"warp instructions a 32-byte sector", "", plot::Scale::kLogarithmic, {}, {}},
                    .y = {"warp instructions per second", "G", plot::Scale::kLogarithmic, {}, {}},
                    .series = {},
                    .size = {620, 340}};
  double low = 0.01, high = 100;
  for (const Level& level : levels) {
    const double sectors = level.bytes / kSectorBytes;
    if (sectors <= 0) continue;
    low = std::min(low, instructions / sectors / 3);
    high = std::max(high, instructions / sectors * 3);
  }
  for (const Level& level : levels) {
    const double sectors_per_cycle = level.peak / kSectorBytes, ridge = peaks.subcores / sectors_per_cycle;
    const auto ceiling = [&](double x) { return std::min(roof, x * sectors_per_cycle * ghz); };
    plot::Series line{.name = level.name, .points = {}, .mark = plot::Mark::kLine, .colour = level.colour};
    line.points = {{low, ceiling(low), ""}};
    if (ridge > low && ridge < high) line.points.push_back({ridge, roof, ""});
    line.points.push_back({high, ceiling(high), ""});
    chart.series.push_back(std::move(line));
    if (level.bytes <= 0) continue;
    plot::Series point{.name = "", .points = {}, .mark = plot::Mark::kPoints, .colour = level.colour};
    point.points = {{instructions / (level.bytes / kSectorBytes), achieved, level.name}};
    chart.series.push_back(std::move(point));
  }
  return plot::svg(chart, plot::Place::kPage) + paragraph(
                                                    "A point below the sloping part of its line is limited "
                                                    "by that level's bandwidth, one below the level part by "
                                                    "the issue of instructions; far below both, by latency.",
                                                    "soft");
}

}  // namespace lockstep::report
