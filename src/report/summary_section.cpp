// The first screen.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plot/canvas.hpp"
#include "report/html.hpp"
#include "report/sections.hpp"
#include "stats/text.hpp"

namespace lockstep::report {
namespace {

constexpr std::size_t kMaxRows = 30;      // launches with a row each
constexpr std::size_t kMaxSections = 12;  // kernels with a section each

double microseconds(const Run& run, double cycles) { return cycles / run.whole.number("core_khz") * 1000; }

std::string verdict(const Run& run, const std::vector<Judged>& kernels, std::string_view prefix) {
  const Finding whole = diagnose_run(run);
  std::string html =
      fmt::format("<div class=\"verdict\">Where the time goes: <b>{}</b><br>{} {}",
                  plot::escaped(whole.title), plot::escaped(whole.why), plot::escaped(whole.advice));
  const auto longest_kernels = longest(kernels);
  if (!longest_kernels.empty()) {
    const Judged& k = *longest_kernels.front();
    html += fmt::format("<br>The longest kernel, <a href=\"#{}\">{}</a>, is bound by <b>{}</b>. {}",
                        anchor_of(*k.kernel, prefix), plot::escaped(k.kernel->name),
                        plot::escaped(k.diagnosis.bound.title), plot::escaped(k.diagnosis.bound.why));
  }
  return html + "</div>\n";
}

struct Row {
  const Judged* shown;
  std::size_t launches = 1;
  double cycles = 0;
};

std::vector<Row> rows_of(const std::vector<Judged>& kernels) {
  std::vector<Row> rows;
  std::map<std::string, std::size_t> by_name;
  for (const Judged& k : kernels) {
    if (kernels.size() > kMaxRows) {
      const auto [known, is_new] = by_name.emplace(k.kernel->name, rows.size());
      if (!is_new) {
        Row& row = rows[known->second];
        ++row.launches;
        row.cycles += k.usage.cycles;
        if (k.usage.cycles > row.shown->usage.cycles) row.shown = &k;
        continue;
      }
    }
    rows.push_back({&k, 1, k.usage.cycles});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.cycles > b.cycles; });
  return rows;
}

std::vector<Cell> cells_of(const Run& run, const Row& row, double all, const Cell& name) {
  const Judged& k = *row.shown;
  std::string why = "<span class=\"bound\">" + plot::escaped(k.diagnosis.bound.title) + "</span>";
  for (const Finding& f : k.diagnosis.also)
    why += "<br><span class=\"soft\">also: " + plot::escaped(f.title) + "</span>";
  return {name,
          number_cell(static_cast<double>(row.launches)),
          number_cell(microseconds(run, row.cycles), 2),
          share_cell(all > 0 ? row.cycles / all : 0),
          {std::move(why), {}},
          number_cell(k.kernel->values.number("ipc"), 2),
          share_cell(k.usage.issue),
          share_cell(k.usage.l1),
          share_cell(k.usage.l2),
          share_cell(k.usage.dram),
          number_cell(k.kernel->values.number("occupancy.warps_per_subcore"), 1)};
}

}  // namespace

std::string anchor_of(const Kernel& kernel, std::string_view prefix) {
  return fmt::format("{}kernel-{}", prefix, kernel.index + 1);
}

std::vector<Judged> judge(const Run& run) {
  const Paging paging = paging_of(run);
  std::vector<Judged> all;
  for (const Kernel& kernel : run.kernels) {
    const Usage usage = usage_of(kernel.values, run.machine);
    all.push_back({&kernel, usage, diagnose(usage, kernel.values, paging)});
  }
  return all;
}

std::vector<const Judged*> longest(const std::vector<Judged>& kernels) {
  std::vector<const Judged*> chosen;
  for (const Row& row : rows_of(kernels))
    if (chosen.size() < kMaxSections) chosen.push_back(row.shown);
  return chosen;
}

std::string summary_section(const Run& run, const std::vector<Judged>& kernels,
                            const std::vector<const Judged*>& sections, std::string_view prefix) {
  const double total = run.whole.number("total_cycles");
  std::string html = verdict(run, kernels, prefix);
  html += paragraph(fmt::format("{} kernel{}, {} cop{}, {} core cycles or {:.2f} us in all.", kernels.size(),
                                kernels.size() == 1 ? "" : "s", run.copies.size(),
                                run.copies.size() == 1 ? "y" : "ies",
                                stats::grouped(static_cast<std::uint64_t>(total)), microseconds(run, total)));
  if (run.partial)
    html +=
        paragraph(fmt::format("Partial results: the run was cut short ({}).", run.partial_reason), "bound");
  double all = 0;
  for (const Judged& k : kernels) all += k.usage.cycles;
  const std::vector<Column> columns{
      {"kernel", "id in the trace and name; the link goes to its section, which the longest kernels have",
       false},
      {"launches", "how often it was launched; other columns are of the longest launch"},
      {"time [us]", "from the first CTA's dispatch to the last one's end, without the launch overhead"},
      {"share", "of the time of all kernels"},
      {"bound by", "what limits its speed; the section of the kernel says why", false},
      {"IPC", "warp instructions a core cycle, of the whole GPU"},
      {"issue", "of the issue slots of all sub-cores"},
      {"L1", "of the peak of L1 data caches and shared memory"},
      {"L2", "of the peak of the L2 and the crossbar"},
      {"DRAM", "of the peak bandwidth"},
      {"warps", "resident warps of a sub-core, on average"}};
  std::vector<std::vector<Cell>> rows;
  for (const Row& row : rows_of(kernels)) {
    const Kernel& kernel = *row.shown->kernel;
    const bool linked = std::ranges::find(sections, row.shown) != sections.end();
    const Cell name = linked ? link_cell(anchor_of(kernel, prefix), kernel.title) : text_cell(kernel.title);
    rows.push_back(cells_of(run, row, all, name));
  }
  return html + table(columns, rows);
}

}  // namespace lockstep::report
