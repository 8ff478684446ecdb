// Two runs: their kernels with differences.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/html.hpp"
#include "report/sections.hpp"
#include "stats/descriptors.hpp"

namespace lockstep::report {
namespace {

std::vector<Cell> row_of(const Pair& p) {
  const auto number = [&](const char* path, unsigned decimals) {
    return std::vector<Cell>{number_cell(p.a->kernel->values.number(path), decimals),
                             number_cell(p.b->kernel->values.number(path), decimals),
                             change_cell(p.a->kernel->values.number(path), p.b->kernel->values.number(path))};
  };
  std::vector<Cell> row{text_cell(p.a->kernel->title)};
  for (const auto& cells : {number("time_ns", 0), number("ipc", 2)})
    row.insert(row.end(), cells.begin(), cells.end());
  const std::string& bound_a = p.a->diagnosis.bound.title;
  const std::string& bound_b = p.b->diagnosis.bound.title;
  row.push_back(text_cell(bound_a == bound_b ? bound_a : fmt::format("{} \u2192 {}", bound_a, bound_b)));
  return row;
}

std::string counters_table(const Pair& p) {
  std::vector<std::vector<Cell>> rows;
  for (const stats::Descriptor& d : stats::descriptors()) {
    const double a = p.a->kernel->values.number(d.name), b = p.b->kernel->values.number(d.name);
    if (a != b)
      rows.push_back(
          {text_cell(d.name), number_cell(a), number_cell(b), change_cell(a, b), text_cell(d.help)});
  }
  if (rows.empty()) return paragraph("All counters are the same.");
  return table({{"counter", "", false},
                {"A", ""},
                {"B", ""},
                {"difference", "of B against A"},
                {"meaning", "", false}},
               rows);
}

}  // namespace

std::vector<Pair> pairs_of(const std::vector<Judged>& of_a, const std::vector<Judged>& of_b) {
  std::map<std::string, std::vector<const Judged*>> by_title;
  for (const Judged& k : of_b) by_title[k.kernel->title].push_back(&k);
  std::map<std::string, std::size_t> used;
  std::vector<Pair> pairs;
  for (const Judged& k : of_a) {
    const auto& others = by_title[k.kernel->title];
    const std::size_t n = used[k.kernel->title]++;
    if (n < others.size()) pairs.push_back({&k, others[n]});
  }
  return pairs;
}

std::string difference_section(const Run& a, const std::vector<Judged>& of_a, const Run& b,
                               const std::vector<Judged>& of_b) {
  const auto pairs = pairs_of(of_a, of_b);
  const double total_a = a.whole.number("total_cycles") / a.whole.number("core_khz");
  const double total_b = b.whole.number("total_cycles") / b.whole.number("core_khz");
  std::string html = heading(2, "Differences", "differences");
  html += paragraph(
      fmt::format("Whole run: A {:.2f} us, B {:.2f} us, {}. {} of {} kernels of A and {} of B are in both.",
                  total_a * 1000, total_b * 1000, change_cell(total_a, total_b).html, pairs.size(),
                  of_a.size(), of_b.size()));
  std::vector<std::vector<Cell>> rows;
  for (const Pair& p : pairs) rows.push_back(row_of(p));
  html += table({{"kernel", "", false},
                 {"A [ns]", "time without launch overhead"},
                 {"B [ns]", ""},
                 {"difference", "of B against A"},
                 {"IPC A", "warp instructions per cycle"},
                 {"IPC B", ""},
                 {"difference", "of B against A"},
                 {"bound by", "A \u2192 B where they differ", false}},
                rows);
  auto order = pairs;
  std::stable_sort(order.begin(), order.end(),
                   [](const Pair& x, const Pair& y) { return x.a->usage.cycles > y.a->usage.cycles; });
  constexpr std::size_t kMaxShown = 12;
  for (std::size_t i = 0; i < std::min(kMaxShown, order.size()); ++i)
    html +=
        folded(fmt::format("Counters of {}", order[i].a->kernel->title), counters_table(order[i]), i == 0);
  return html;
}

}  // namespace lockstep::report
