#include "stats/kernel_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "stats/derived.hpp"
#include "stats/descriptors.hpp"
#include "stats/names.hpp"
#include "stats/text.hpp"

namespace lockstep::stats {
namespace {

constexpr std::size_t kLaunchesUpTo = 20, kKernelRows = 15;
constexpr std::size_t kLaunchColumns = 84, kGroupColumns = 87;  // the tables without the kernel's name

double quotient(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

/// "66.7" or "-" where nothing was looked up.
std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f}", 100 * quotient(part, whole));
}

/// The most frequent reason, and its share of the sub-core cycles in which warps were resident but none
/// issued.
std::string top_stall(const KernelCounters& counters) {
  const auto& stalls = counters.sm.stalls;
  std::uint64_t stalled = 0;
  unsigned top = 0;
  for (unsigned i = static_cast<unsigned>(Stall::kIssued) + 1; i < static_cast<unsigned>(Stall::kEmpty);
       ++i) {
    stalled += stalls[i];
    if (top == 0 || stalls[i] > stalls[top]) top = i;
  }
  if (stalled == 0) return "-";
  return fmt::format("{} {:.0f}%", stall_name(static_cast<Stall>(top)), 100 * quotient(stalls[top], stalled));
}

std::size_t name_width(const SummaryOptions& options, std::size_t others) {
  return std::clamp<std::size_t>(options.columns, others + 14, others + 60) - others;
}

/// The launches of one kernel, or all.
struct Group {
  std::string name;
  std::uint64_t launches = 0;
  bool partial = false;
  Cycle cycles = 0, least = ~Cycle{0}, most = 0;
  KernelCounters counters;

  void take(const KernelResult& kernel) {
    ++launches;
    partial = partial || kernel.partial;
    cycles += kernel.cycles;
    least = std::min(least, kernel.cycles);
    most = std::max(most, kernel.cycles);
    add(counters, kernel.counters);
  }
};

/// In the order of their first launches.
std::vector<Group> groups_of(const RunReport& report) {
  std::vector<Group> groups;
  std::unordered_map<std::string_view, std::size_t> position;
  for (const KernelResult& kernel : report.kernels) {
    const auto [found, is_new] = position.emplace(kernel.name, groups.size());
    if (is_new) groups.push_back({.name = kernel.name, .counters = {}});
    groups[found->second].take(kernel);
  }
  return groups;
}

struct LaunchRow {
  std::string id, name;
  Cycle cycles;
  std::uint64_t subcore_cycles;
  const KernelCounters* counters;
};

std::string launch_row_text(const LaunchRow& row, std::uint64_t khz, std::size_t width) {
  const auto& c = *row.counters;
  const double gb_per_s = quotient(c.mem.dram_bytes, row.cycles) * static_cast<double>(khz) * 1e-6;
  return fmt::format("{:>5} {:<{}} {:>11} {:>9} {:>6.2f} {:>5} {:>5} {:>7.1f} {:>5.1f}  {}\n", row.id,
                     row.name, width, grouped(row.cycles), microseconds(row.cycles, khz),
                     quotient(c.sm.warp_instructions, row.cycles), percent(c.sm.l1.hits, c.sm.l1.accesses),
                     percent(c.mem.l2.hits, c.mem.l2.accesses), gb_per_s,
                     quotient(c.sm.warp_cycles, row.subcore_cycles), top_stall(c));
}

std::string launch_table(const RunReport& report, const std::vector<Group>& groups,
                         const SummaryOptions& options) {
  const std::size_t width = name_width(options, kLaunchColumns);
  std::vector<std::string> names;
  for (const Group& group : groups) names.push_back(group.name);
  const auto labels = labels_by_name(names, width - 1);  // and the mark of a partial kernel
  std::string text = fmt::format("{:>5} {:<{}} {:>11} {:>9} {:>6} {:>5} {:>5} {:>7} {:>5}  {}\n",
                                 report.system ? "gpu/" : "id", "kernel", width, "cycles", "time us", "IPC",
                                 "L1 %", "L2 %", "DRAM", "warps", "top stall");
  text +=
      fmt::format("{:>5} {:<{}} {:>11} {:>9} {:>6} {:>5} {:>5} {:>7} {:>5}  {}\n", report.system ? "id" : "",
                  "", width, "", "", "", "hit", "hit", "GB/s", "/sub", "% of stalls");
  for (const KernelResult& kernel : report.kernels) {
    const std::string id =
        report.system ? fmt::format("{}/{}", kernel.device, kernel.id) : std::to_string(kernel.id);
    text += launch_row_text({id, labels.at(kernel.name) + (kernel.partial ? "*" : ""), kernel.cycles,
                             kernel.cycles * kernel.subcores, &kernel.counters},
                            khz_of(report, kernel.device), width);
  }
  if (report.kernels.size() == 1) return text;
  const Totals sum = totals(report);
  return text + launch_row_text({"total", fmt::format("{} kernels", grouped(report.kernels.size())),
                                 sum.cycles, sum.subcore_cycles, &sum.counters},
                                report.core_khz, width);
}

std::string group_row(const std::string& name, const Group& group, Cycle all, std::uint64_t khz,
                      std::size_t width) {
  return fmt::format("{:<{}} {:>8} {:>10} {:>6} {:>9} {:>9} {:>9} {:>6.2f}  {}\n", name, width,
                     grouped(group.launches), microseconds(group.cycles, khz), percent(group.cycles, all),
                     microseconds((group.cycles + group.launches / 2) / group.launches, khz),
                     microseconds(group.least, khz), microseconds(group.most, khz),
                     quotient(group.counters.sm.warp_instructions, group.cycles), top_stall(group.counters));
}

std::string group_table(const RunReport& report, std::vector<Group> groups, const SummaryOptions& options) {
  const std::size_t width = name_width(options, kGroupColumns);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.cycles > b.cycles; });
  const std::size_t shown = std::min(kKernelRows, groups.size());
  const auto longest = std::max_element(report.kernels.begin(), report.kernels.end(),
                                        [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shown; ++i) names.push_back(groups[i].name);
  if (std::find(names.begin(), names.end(), longest->name) == names.end()) names.push_back(longest->name);
  const auto labels = labels_by_name(names, width - 1);  // and the mark of a partial kernel

  Group sum;
  for (const KernelResult& kernel : report.kernels) sum.take(kernel);
  std::string text =
      fmt::format("{:<{}} {:>8} {:>10} {:>6} {:>9} {:>9} {:>9} {:>6}  {}\n", "kernel", width, "launches",
                  "total us", "time %", "mean us", "min us", "max us", "IPC", "top stall, % of stalls");
  Cycle left = sum.cycles;
  for (std::size_t i = 0; i < shown; ++i) {
    left -= groups[i].cycles;
    text += group_row(labels.at(groups[i].name) + (groups[i].partial ? "*" : ""), groups[i], sum.cycles,
                      report.core_khz, width);
  }
  if (shown < groups.size()) {
    text += fmt::format("... {} more kernels, {}% of the time ...\n", grouped(groups.size() - shown),
                        percent(left, sum.cycles));
  }
  text += group_row(fmt::format("total, {} kernels", grouped(groups.size())), sum, sum.cycles,
                    report.core_khz, width);
  return text + fmt::format("longest launch: id {}, {}, {} us\n", longest->id, labels.at(longest->name),
                            microseconds(longest->cycles, report.core_khz));
}

}  // namespace

std::string microseconds(Cycle cycles, std::uint64_t khz) {
  const double us = quotient(cycles, khz) * 1000;
  return fmt::format("{:.{}f}", us, us < 100 ? 2 : us < 10000 ? 1 : 0);
}

std::string kernel_table(const RunReport& report, const SummaryOptions& options) {
  if (report.kernels.empty()) return "no kernel was run\n";
  std::vector<Group> groups = groups_of(report);
  if (options.all_launches || report.kernels.size() <= kLaunchesUpTo)
    return launch_table(report, groups, options);
  return group_table(report, std::move(groups), options);
}

}  // namespace lockstep::stats
