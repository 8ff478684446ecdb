// The run over time, from its intervals.
#include <algorithm>

#include "plot/chart.hpp"
#include "report/html.hpp"
#include "report/sections.hpp"
#include "stats/descriptors.hpp"
#include "util/types.hpp"

namespace lockstep::report {
namespace {

constexpr std::size_t kMaxPoints = 600;  // more than a chart has pixels to show apart

/// Rows put together until there are at most kMaxPoints: counters are differences, so sums.
std::vector<std::vector<double>> fewer_rows(const Intervals& intervals) {
  const std::size_t together = (intervals.rows.size() + kMaxPoints - 1) / kMaxPoints;
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < intervals.rows.size(); ++i) {
    if (i % together == 0) {
      rows.push_back(intervals.rows[i]);
      continue;
    }
    for (std::size_t c = 1; c < rows.back().size(); ++c) rows.back()[c] += intervals.rows[i][c];
    rows.back()[0] = intervals.rows[i][0];
  }
  return rows;
}

struct Samples {
  std::vector<double> at, cycles;  // middle of each interval; its length
  std::vector<std::vector<double>> rows;
  const Intervals* intervals;
  [[nodiscard]] double value(std::size_t row, std::string_view name) const {
    return rows[row][intervals->column(name)];
  }
};

Samples samples_of(const Intervals& intervals) {
  Samples samples{{}, {}, fewer_rows(intervals), &intervals};
  double before = 0;
  for (const auto& row : samples.rows) {
    samples.cycles.push_back(std::max(1.0, row[0] - before));
    samples.at.push_back((before + row[0]) / 2);
    before = row[0];
  }
  return samples;
}

/// To the end of the last interval.
plot::Axis cycles_axis(const Samples& s) {
  return {.title = "core cycle", .unit = "", .from = {}, .to = s.rows.back()[0], .zero = true};
}

/// Where intervals are few each has a point, whose value shows when the pointer rests on it; one alone is no
/// line.
plot::Mark mark_of(const Samples& s) {
  constexpr std::size_t kFew = 60;
  return s.rows.size() <= kFew ? plot::Mark::kLineAndPoints : plot::Mark::kLine;
}

std::string ipc_chart(const Samples& s) {
  plot::Chart chart{.title = "Warp instructions per cycle",
                    .x = cycles_axis(s),
                    .y = {.title = "IPC", .unit = "", .from = {}, .to = {}, .zero = true},
                    .series = {{.name = "", .points = {}, .mark = mark_of(s), .colour = 0u}},
                    .size = {620, 260}};
  for (std::size_t i = 0; i < s.rows.size(); ++i)
    chart.series[0].points.push_back({s.at[i], s.value(i, "warp_instructions") / s.cycles[i], ""});
  return plot::svg(chart, plot::Place::kPage);
}

std::string bandwidth_chart(const Samples& s, const Run& run) {
  const double gb = peaks_of(run.machine).core_hz / 1e9;  // of one byte per cycle
  plot::Chart chart{.title = "Bandwidth",
                    .x = cycles_axis(s),
                    .y = {.title = "bandwidth", .unit = "GB/s", .from = {}, .to = {}, .zero = true},
                    .series = {{.name = "L1", .points = {}, .mark = mark_of(s), .colour = 2u},
                               {.name = "L2", .points = {}, .mark = mark_of(s), .colour = 0u},
                               {.name = "DRAM", .points = {}, .mark = mark_of(s), .colour = 1u}},
                    .size = {620, 260}};
  for (std::size_t i = 0; i < s.rows.size(); ++i) {
    const auto add = [&](std::size_t series, double bytes) {
      chart.series[series].points.push_back({s.at[i], bytes / s.cycles[i] * gb, ""});
    };
    add(0, s.value(i, "l1.accesses") * kSectorBytes);
    add(1, s.value(i, "l2.accesses") * kSectorBytes);
    add(2, s.value(i, "dram.bytes"));
  }
  return plot::svg(chart, plot::Place::kPage);
}

/// "" where the GPU's energies are not known.
std::string power_chart(const Samples& s, const Run& run) {
  constexpr std::string_view kEnergy = "energy.total_pj";
  if (std::ranges::find(s.intervals->columns, kEnergy) == s.intervals->columns.end()) return "";
  const double hz = peaks_of(run.machine).core_hz;
  plot::Chart chart{.title = "Power",
                    .x = cycles_axis(s),
                    .y = {.title = "power", .unit = "W", .from = {}, .to = {}, .zero = true},
                    .series = {{.name = "", .points = {}, .mark = mark_of(s), .colour = 3u}},
                    .size = {900, 220}};
  for (std::size_t i = 0; i < s.rows.size(); ++i)
    chart.series[0].points.push_back({s.at[i], s.value(i, kEnergy) * 1e-12 * hz / s.cycles[i], ""});
  return plot::svg(chart, plot::Place::kPage);
}

std::string stall_chart(const Samples& s, const Run& run) {
  const double subcores = peaks_of(run.machine).subcores;
  plot::AreaChart chart{.title = "What sub-cores with a warp did, in % of all sub-cores",
                        .x = cycles_axis(s),
                        .y = {.title = "share", .unit = "%", .from = 0, .to = 100},
                        .at = s.at,
                        .layers = {},
                        .size = {900, 300}};
  for (unsigned r = 0; r < stats::kStalls; ++r) {
    const auto reason = static_cast<stats::Stall>(r);
    if (reason == stats::Stall::kEmpty) continue;
    const std::string name(stats::stall_name(reason));
    plot::AreaChart::Layer layer{name, {}, r};
    for (std::size_t i = 0; i < s.rows.size(); ++i)
      layer.values.push_back(100 * s.value(i, "stalls." + name) / (s.cycles[i] * subcores));
    if (*std::max_element(layer.values.begin(), layer.values.end()) > 0)
      chart.layers.push_back(std::move(layer));
  }
  return plot::svg(chart, plot::Place::kPage);
}

}  // namespace

std::string time_section(const Run& run) {
  if (run.intervals.rows.empty()) return "";
  const Samples samples = samples_of(run.intervals);
  return heading(2, "Over time") + "<div class=\"two\"><div>" + ipc_chart(samples) + "</div><div>" +
         bandwidth_chart(samples, run) + "</div></div>\n" + stall_chart(samples, run) +
         power_chart(samples, run);
}

}  // namespace lockstep::report
