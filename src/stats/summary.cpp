// The summary on the terminal.
#include <fmt/format.h>

#include <algorithm>

#include "stats/derived.hpp"
#include "stats/descriptors.hpp"
#include "stats/report.hpp"
#include "stats/text.hpp"
#include "uvm/page_set.hpp"

namespace lockstep::stats {
namespace {

constexpr std::size_t kAllUpTo = 20, kHead = 10, kTail = 5;  // rows of the table when there are more kernels
constexpr std::size_t kListed = 8;                           // unknown opcodes and remarks
constexpr std::size_t kOtherColumns = 84;                    // the table without the kernel's name

double quotient(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

/// "66.7" or "-" where nothing was looked up.
std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f}", 100 * quotient(part, whole));
}

/// The heaviest reason and its share of the cycles in which warps were there but none issued.
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

std::string microseconds(Cycle cycles, std::uint64_t khz) {
  const double us = quotient(cycles, khz) * 1000;
  return fmt::format("{:.{}f}", us, us < 100 ? 2 : us < 10000 ? 1 : 0);
}

struct Row {
  std::string id, name;
  Cycle cycles;
  std::uint64_t subcore_cycles;
  const KernelCounters* counters;
};

std::string row_text(const Row& row, std::uint64_t khz, std::size_t name_width) {
  const auto& c = *row.counters;
  const double gb_per_s = quotient(c.mem.dram_bytes, row.cycles) * static_cast<double>(khz) * 1e-6;
  return fmt::format("{:>5} {:<{}} {:>11} {:>9} {:>6.2f} {:>5} {:>5} {:>7.1f} {:>5.1f}  {}\n", row.id,
                     row.name, name_width, grouped(row.cycles), microseconds(row.cycles, khz),
                     quotient(c.sm.warp_instructions, row.cycles), percent(c.sm.l1.hits, c.sm.l1.accesses),
                     percent(c.mem.l2.hits, c.mem.l2.accesses), gb_per_s,
                     quotient(c.sm.warp_cycles, row.subcore_cycles), top_stall(c));
}

std::string kernel_row(const KernelResult& kernel, std::uint64_t khz, std::size_t name_width) {
  const std::string name = short_name(kernel.name, name_width - (kernel.partial ? 1 : 0));
  return row_text({std::to_string(kernel.id), name + (kernel.partial ? "*" : ""), kernel.cycles,
                   kernel.cycles * kernel.subcores, &kernel.counters},
                  khz, name_width);
}

std::string longest_kernel(const RunReport& report, Cycle all) {
  const auto longest = std::max_element(report.kernels.begin(), report.kernels.end(),
                                        [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
  return fmt::format("longest: kernel {} {}, {} cycles, {}% of all kernels' cycles\n", longest->id,
                     short_name(longest->name, 40), grouped(longest->cycles), percent(longest->cycles, all));
}

std::string kernel_table(const RunReport& report, std::size_t name_width) {
  if (report.kernels.empty()) return "no kernel was run\n";
  std::string text =
      fmt::format("{:>5} {:<{}} {:>11} {:>9} {:>6} {:>5} {:>5} {:>7} {:>5}  {}\n", "id", "kernel", name_width,
                  "cycles", "time us", "IPC", "L1 %", "L2 %", "DRAM", "warps", "top stall");
  text += fmt::format("{:>5} {:<{}} {:>11} {:>9} {:>6} {:>5} {:>5} {:>7} {:>5}\n", "", "", name_width, "", "",
                      "", "hit", "hit", "GB/s", "/sub");
  const std::size_t count = report.kernels.size();
  const bool all = count <= kAllUpTo;
  for (std::size_t i = 0; i < count; ++i) {
    if (!all && i == kHead) {
      text += fmt::format("      ... {} more kernels ...\n", grouped(count - kHead - kTail));
      i = count - kTail;
    }
    text += kernel_row(report.kernels[i], report.core_khz, name_width);
  }
  if (count > 1) {
    const Totals sum = totals(report);
    text += row_text(
        {"total", fmt::format("{} kernels", grouped(count)), sum.cycles, sum.subcore_cycles, &sum.counters},
        report.core_khz, name_width);
    if (!all) text += longest_kernel(report, sum.cycles);
  }
  return text;
}

std::string copies_line(const RunReport& report) {
  if (report.copies.empty()) return "";
  std::uint64_t to_device = 0, to_host = 0, within = 0;
  Cycle cycles = 0;
  for (const CopyResult& copy : report.copies) {
    (copy.kind == "host_to_device"   ? to_device
     : copy.kind == "device_to_host" ? to_host
                                     : within) += copy.bytes;
    cycles += copy.cycles;
  }
  const std::string on_device =
      within ? fmt::format(", {}B within the device", scaled(static_cast<double>(within))) : "";
  return fmt::format("copies: {}, {}B to the device, {}B to the host{}, {} us\n",
                     grouped(report.copies.size()), scaled(static_cast<double>(to_device)),
                     scaled(static_cast<double>(to_host)), on_device, microseconds(cycles, report.core_khz));
}

std::string managed_line(const RunReport& report) {
  if (!report.managed) return "";
  const ManagedReport& m = *report.managed;
  const uvm::Counters& c = m.counters.gmmu;
  return fmt::format("managed: {}B of {}B on the device, {} far faults, {}B in, {}B out, {} pages thrashed\n",
                     scaled(static_cast<double>(c.peak_resident_pages) * uvm::kPageBytes),
                     scaled(static_cast<double>(m.device_bytes)), grouped(c.faults),
                     scaled(static_cast<double>(c.bytes_to_device)),
                     scaled(static_cast<double>(c.bytes_to_host)), grouped(c.thrashed_pages));
}

std::string speed_line(const HostReport& host) {
  if (host.wall_seconds <= 0) return "";
  return fmt::format("speed: {:.2f} s on {} thread{}, {} warp inst/s, {} cycles/s, {}B memory\n",
                     host.wall_seconds, host.threads, host.threads == 1 ? "" : "s",
                     scaled(static_cast<double>(host.warp_instructions) / host.wall_seconds),
                     scaled(static_cast<double>(host.cycles) / host.wall_seconds),
                     scaled(static_cast<double>(host.peak_rss_bytes)));
}

std::string warnings(const RunReport& report) {
  std::string text;
  if (report.partial) {
    const bool marked =
        std::any_of(report.kernels.begin(), report.kernels.end(), [](const auto& k) { return k.partial; });
    text += fmt::format("PARTIAL RESULTS: {}{}\n",
                        report.partial_reason.empty() ? "the run was cut short" : report.partial_reason,
                        marked ? "; kernels marked * did not end" : "");
  }
  if (!report.unknown_opcodes.empty()) {
    text += "unknown opcodes, timed as their class's default:";
    for (std::size_t i = 0; i < std::min(kListed, report.unknown_opcodes.size()); ++i) {
      const auto& [opcode, count] = report.unknown_opcodes[i];
      text += fmt::format("{} {} ({}x)", i == 0 ? "" : ",", short_name(opcode, 32), grouped(count));
    }
    if (report.unknown_opcodes.size() > kListed) {
      text += fmt::format(" and {} more", report.unknown_opcodes.size() - kListed);
    }
    text += "\n";
  }
  for (std::size_t i = 0; i < std::min(kListed, report.remarks.size()); ++i) {
    text += fmt::format("remark: {}\n", printable(report.remarks[i]));
  }
  if (report.remarks.size() > kListed)
    text += fmt::format("and {} more remarks\n", report.remarks.size() - kListed);
  return text;
}

}  // namespace

std::string to_text(const RunReport& report, const HostReport& host, unsigned columns) {
  const std::size_t name_width =
      std::clamp<std::size_t>(columns, kOtherColumns + 14, kOtherColumns + 60) - kOtherColumns;
  std::string text =
      fmt::format("lockstep {}: {} ({}) on {} (configuration {}), core {} MHz\n\n", report.version,
                  printable(report.trace_name), hex16(report.trace_hash), printable(report.gpu),
                  hex16(report.config_hash), fixed_ratio(report.core_khz, 1000, 0));
  text += kernel_table(report, name_width) + "\n";
  text += fmt::format("whole run: {} core cycles, {} us\n", grouped(report.total_cycles),
                      microseconds(report.total_cycles, report.core_khz));
  return text + copies_line(report) + managed_line(report) + speed_line(host) + warnings(report);
}

}  // namespace lockstep::stats
