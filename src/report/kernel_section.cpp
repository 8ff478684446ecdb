// One kernel.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "plot/canvas.hpp"
#include "plot/chart.hpp"
#include "report/html.hpp"
#include "report/sections.hpp"
#include "stats/descriptors.hpp"

namespace lockstep::report {
namespace {

using stats::Pipe;
using stats::Stall;

std::string finding_html(const Diagnosis& d) {
  std::string html =
      fmt::format("<div class=\"verdict\">Bound by <b>{}</b>. {} {}", plot::escaped(d.bound.title),
                  plot::escaped(d.bound.why), plot::escaped(d.bound.advice));
  for (const Finding& f : d.also)
    html += fmt::format("<br>Also: <span class=\"bound\">{}</span>. {} {}", plot::escaped(f.title),
                        plot::escaped(f.why), plot::escaped(f.advice));
  return html + "</div>\n";
}

std::string facts_line(const Judged& j) {
  const Values& k = j.kernel->values;
  const auto dimensions = [&](const char* name) {
    return fmt::format("{} x {} x {}", k.number(std::string(name) + "[0]"),
                       k.number(std::string(name) + "[1]"), k.number(std::string(name) + "[2]"));
  };
  std::string text = fmt::format(
      "Grid {}, CTAs of {} threads, {:.0f} cycles ({:.2f} us) after {:.0f} cycles of launch overhead, {:.2f} "
      "instructions per cycle.",
      dimensions("grid"), dimensions("block"), j.usage.cycles, k.number("time_ns") / 1000,
      j.usage.launch_cycles, k.number("ipc"));
  if (k.has("device")) text += fmt::format(" Device {:.0f}.", k.number("device"));
  return paragraph(text, "soft");
}

std::string busy_chart(const Judged& j) {
  constexpr double kWorthABar = 0.005;
  plot::BarChart chart{
      .title = "How busy each part was, of its peak",
      .category_title = "",
      .value = {.title = "", .unit = "%", .from = 0, .to = 100},
      .categories = {"DRAM", "L2 and crossbar", "L1 and shared memory", "issue slots"},
      .series = {{"", {100 * j.usage.dram, 100 * j.usage.l2, 100 * j.usage.l1, 100 * j.usage.issue}, 0u}},
      .direction = plot::BarChart::Direction::kSideways,
      .size = {620, 0}};
  for (unsigned p = 0; p < static_cast<unsigned>(Pipe::kMio); ++p) {
    if (j.usage.pipes[p] < kWorthABar) continue;
    chart.categories.emplace_back(pipe_title(static_cast<Pipe>(p)));
    chart.series[0].values.push_back(100 * j.usage.pipes[p]);
  }
  return plot::svg(chart, plot::Place::kPage);
}

std::string stall_table(const Judged& j) {
  std::vector<std::vector<Cell>> rows;
  for (unsigned s = 0; s < stats::kStalls; ++s) {
    const auto reason = static_cast<Stall>(s);
    if (j.usage.stalls[s] <= 0) continue;
    rows.push_back(
        {text_cell(stats::stall_name(reason)), share_cell(j.usage.stalls[s]),
         text_cell(reason == Stall::kIssued ? std::string(stall_meaning(reason))
                                            : fmt::format("waited for {}", stall_meaning(reason)))});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return *a[1].value > *b[1].value; });
  return heading(3, "What sub-cores did in each cycle") +
         table({{"reason", "as in stats.json", false},
                {"share", "of the cycles of all sub-cores in which they had a warp"},
                {"meaning", "", false}},
               rows) +
         paragraph(
             fmt::format(
                 "Sub-cores had no warp in {:.1f} % of the kernel's time; these cycles are not in the table.",
                 100 * j.usage.empty),
             "soft");
}

/// By the sub-core's number in its SM: shares of the kernel's time on all SMs.
std::string subcore_table(const Run& run, const Judged& j) {
  const LaunchProfile* launch = run.profile_of(*j.kernel);
  if (!launch) return "";
  const auto& subcores = launch->counts.subcores;
  const double all = j.usage.cycles * run.machine.gpu.sms;
  std::vector<Column> columns{{"reason", "as in stats.json", false}};
  std::vector<Cell> without{text_cell("no warp of this kernel")};
  for (std::size_t i = 0; i < subcores.size(); ++i) {
    columns.push_back({fmt::format("sub-core {}", i), "of its time in all SMs, while the kernel ran"});
    const auto busy = std::accumulate(subcores[i].begin(), subcores[i].end(), std::uint64_t{0});
    without.push_back(share_cell(1 - static_cast<double>(busy) / std::max(1.0, all)));
  }
  std::vector<std::vector<Cell>> rows;
  for (unsigned s = 0; s < stats::kStalls; ++s) {
    if (j.usage.stalls[s] <= 0) continue;
    rows.push_back({text_cell(stats::stall_name(static_cast<Stall>(s)))});
    for (const stats::StallCycles& subcore : subcores)
      rows.back().push_back(share_cell(static_cast<double>(subcore[s]) / std::max(1.0, all)));
  }
  rows.push_back(std::move(without));
  return heading(3, "By sub-core") + table(columns, rows);
}

std::string_view limiter_meaning(const std::string& limiter) {
  if (limiter == "warps") return "an SM's warp slots are full";
  if (limiter == "registers") return "the register file is full: fewer registers per thread allow more";
  if (limiter == "shared") return "shared memory is full: less of it a CTA allows more";
  if (limiter == "ctas") return "an SM's CTA slots are full: larger CTAs allow more warps";
  if (limiter == "threads") return "an SM's threads are used up";
  if (limiter == "grid") return "the grid has no more CTAs than fit";
  return "";
}

std::string occupancy(const Run& run, const Judged& j) {
  const Values& k = j.kernel->values;
  const double most = static_cast<double>(run.machine.sm.max_warps) / run.machine.sm.subcores;
  const double warps = k.number("occupancy.warps_per_subcore");
  const std::string limiter = k.text("occupancy.limiter");
  return heading(3, "Occupancy") +
         table({{"", "", false}, {"", ""}, {"", "", false}},
               {{text_cell("CTAs an SM holds"), number_cell(k.number("occupancy.ctas_per_sm")),
                 text_cell(fmt::format("limited by {}: {}", limiter, limiter_meaning(limiter)))},
                {text_cell("resident warps of a sub-core"), number_cell(warps, 2),
                 text_cell(fmt::format("on average over the kernel's time, of at most {:.0f}", most))},
                {text_cell("occupancy"), share_cell(most > 0 ? warps / most : 0),
                 text_cell("of the warp slots")},
                {text_cell("active lanes"), number_cell(j.usage.lanes, 1),
                 text_cell("of an issued instruction, of 32")}},
               false);
}

}  // namespace

std::string energy_section(const Judged& judged) {
  std::vector<std::vector<Cell>> rows;
  for (const std::string& path : judged.kernel->values.paths())
    if (path.starts_with("energy."))
      rows.push_back({text_cell(path.substr(7)), number_cell(judged.kernel->values.number(path), 1)});
  if (rows.empty()) return "";
  return heading(3, "Energy") +
         table({{"part", "as in stats.json, which names the unit", false}, {"value", ""}}, rows);
}

std::string kernel_section(const Run& run, const Judged& judged) {
  std::string html = facts_line(judged) + finding_html(judged.diagnosis);
  html += "<div class=\"two\"><div>" + busy_chart(judged) + "</div><div>" + roofline(run, judged) +
          "</div></div>\n";
  html += heading(3, "Memory") + memory_chart(run, judged);
  html += "<div class=\"two\"><div>" + stall_table(judged) + subcore_table(run, judged) + "</div><div>" +
          occupancy(run, judged) + mix_section(run, judged) + energy_section(judged) + "</div></div>\n";
  return html + source_section(run, judged);
}

}  // namespace lockstep::report
