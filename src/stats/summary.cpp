// The summary on the terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>

#include "stats/derived.hpp"
#include "stats/energy_parts.hpp"
#include "stats/kernel_table.hpp"
#include "stats/report.hpp"
#include "stats/text.hpp"
#include "util/size.hpp"
#include "uvm/page_set.hpp"

namespace lockstep::stats {
namespace {

constexpr std::size_t kListed = 8;  // unknown opcodes and remarks

std::string copies_line(const RunReport& report) {
  if (report.copies.empty()) return "";
  std::uint64_t to_device = 0, to_host = 0, within = 0, between = 0;
  Cycle cycles = 0;
  for (const CopyResult& copy : report.copies) {
    (copy.kind == "host_to_device"   ? to_device
     : copy.kind == "device_to_host" ? to_host
     : copy.kind == "peer_to_peer"   ? between
                                     : within) += copy.bytes;
    cycles += copy.cycles;
  }
  std::string on_device = within ? fmt::format(", {} within the device", size_text(within)) : "";
  if (between) on_device += fmt::format(", {} between devices", size_text(between));
  return fmt::format("copies: {}, {} to the device, {} to the host{}, {} us\n", grouped(report.copies.size()),
                     size_text(to_device), size_text(to_host), on_device,
                     microseconds(cycles, report.core_khz));
}

/// How busy the links of each kind are, one direction at a time.
std::string kind_line(const RunReport& report) {
  struct Kind {
    std::uint64_t links = 0, busy = 0, most = 0;
  };
  std::map<std::string, Kind> kinds;
  for (const LinkResult& link : report.system->links) {
    Kind& kind = kinds[link.kind];
    ++kind.links;
    kind.busy += busy_ps(link);
    kind.most = std::max(kind.most, busy_ps(link));
  }
  std::string text;
  for (const auto& [name, kind] : kinds)
    text += fmt::format("{} {} {} % ({} %)", text.empty() ? "" : ",", name,
                        fixed_ratio(kind.busy, kind.links * run_ps(report), 2, 100),
                        fixed_ratio(kind.most, run_ps(report), 2, 100));
  return "utilisation by kind of link, mean (busiest):" + text + '\n';
}

/// The busiest links.
std::string link_lines(const RunReport& report) {
  if (!report.system) return "";
  std::vector<LinkResult> links = report.system->links;
  std::stable_sort(links.begin(), links.end(),
                   [](const LinkResult& a, const LinkResult& b) { return a.bytes > b.bytes; });
  std::string text;
  const auto share = [&](const LinkResult& link) {
    return 100 * static_cast<double>(busy_ps(link)) / static_cast<double>(run_ps(report));
  };
  for (std::size_t i = 0; i < std::min(kListed, links.size()) && links[i].bytes > 0; ++i) {
    const LinkResult& link = links[i];
    text += fmt::format("link {} to {} ({} {}): {} data, busy {:.1f} %\n", link.from, link.to, link.count,
                        link.kind, size_text(link.data_bytes), share(link));
  }
  if (links.size() > kListed && links[kListed].bytes > 0)
    text += fmt::format(
        "and {} more links with traffic: stats.json has all\n",
        std::count_if(links.begin() + kListed, links.end(), [](const auto& l) { return l.bytes > 0; }));
  if (report.system->network) text += kind_line(report);
  return text;
}

/// In kernels, with the three largest components.
std::string energy_line(const RunReport& report) {
  const Totals sum = totals(report);
  if (!sum.energy)
    return report.kernels.empty() || report.energy_source != "none"
               ? ""
               : "energy: not known, the configuration has no coefficients (energy.source = none)\n";
  std::array<unsigned, kEnergyParts> order{};
  std::iota(order.begin(), order.end(), 0u);
  const auto& pj = sum.energy->picojoules;
  std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return pj[a] > pj[b]; });
  const auto total = static_cast<double>(sum.energy->total());
  Cycle cycles = 0;
  for (const KernelResult& kernel : report.kernels) cycles += kernel.energy ? kernel.cycles : 0;
  const std::uint64_t power = std::stoull(milliwatts(sum.energy->total(), cycles, report.core_khz));
  std::string text = fmt::format("energy: {} uJ in kernels, {} W on average ({})",
                                 fixed_ratio(sum.energy->total(), 1'000'000, 1), fixed_ratio(power, 1000, 1),
                                 printable(report.energy_source));
  for (unsigned i = 0; i < 3; ++i)
    text += fmt::format(", {} {:.0f} %", energy_rows()[order[i]].name,
                        100 * static_cast<double>(pj[order[i]]) / std::max(total, 1.0));
  return text + "\n";
}

std::string managed_line(const ManagedReport& m, const std::string& who) {
  const uvm::Counters& c = m.counters.gmmu;
  return fmt::format("{}: {} of {} on the device, {} far faults, {} in, {} out, {} pages thrashed", who,
                     size_text(c.peak_resident_pages * uvm::kPageBytes), size_text(m.device_bytes),
                     grouped(c.faults), size_text(c.bytes_to_device), size_text(c.bytes_to_host),
                     grouped(c.thrashed_pages));
}

/// With several devices, also what came from the others.
std::string managed_lines(const RunReport& report) {
  if (report.managed) return managed_line(*report.managed, "managed") + "\n";
  std::string text;
  if (!report.has_managed()) return text;
  for (std::size_t d = 0; d < report.system->managed.size(); ++d) {
    const ManagedReport& m = report.system->managed[d];
    std::uint64_t pages = 0;
    for (const uvm::PeerPages& p : m.peers) pages += p.in + p.copies_in;
    text += managed_line(m, fmt::format("managed, device {}", d)) +
            fmt::format(", {} from other devices\n", size_text(pages * uvm::kPageBytes));
  }
  return text;
}

std::string overrides_line(const RunReport& report) {
  if (report.overrides.empty()) return "";
  std::string text;
  std::size_t shown = 0;
  for (const auto& [key, value] : report.overrides) {
    if (shown++ == kListed) break;
    text +=
        fmt::format("{}{} = {}", text.empty() ? "changed values: " : ", ", printable(key), printable(value));
  }
  if (report.overrides.size() > kListed)
    text += fmt::format(" and {} more", report.overrides.size() - kListed);
  return text + "\n";
}

/// What was timed, the interval, and whether it is as narrow as was asked for.
std::string sampling_lines(const RunReport& report) {
  if (!report.sampling) return "";
  const SamplingReport& s = *report.sampling;
  const double share = s.cycles.value > 0 ? s.cycles.half_width / s.cycles.value : 0;
  std::string text =
      fmt::format("sampled: {} of {} launches timed, {} of {} CTAs; the others are estimates\n",
                  grouped(s.launches_timed), grouped(s.launches), grouped(s.ctas_timed), grouped(s.ctas));
  text +=
      fmt::format("cycles of all kernels: {:.4g} +- {:.2g} ({:.2f} %) at {:.4g} % confidence{}\n",
                  s.cycles.value, s.cycles.half_width, 100 * share, 100 * s.confidence,
                  share > s.error ? fmt::format(": wider than the {:.4g} % asked for", 100 * s.error) : "");
  if (s.overlap)
    text +=
        "kernels overlapped: what they cost each other is in the estimate only as far as both were timed\n";
  return text;
}

std::string speed_line(const HostReport& host) {
  if (host.wall_seconds <= 0) return "";
  return fmt::format("speed: {:.2f} s on {} thread{}, {} warp inst/s, {} cycles/s, {} memory\n",
                     host.wall_seconds, host.threads, host.threads == 1 ? "" : "s",
                     scaled(static_cast<double>(host.warp_instructions) / host.wall_seconds),
                     scaled(static_cast<double>(host.cycles) / host.wall_seconds),
                     size_text(host.peak_rss_bytes));
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
      text += fmt::format("{} {} ({}x)", i == 0 ? "" : ",", printable(opcode).substr(0, 32), grouped(count));
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

std::string to_text(const RunReport& report, const HostReport& host, const SummaryOptions& options) {
  const std::size_t devices = report.system ? report.system->devices.size() : 1;
  const std::string machine = report.system ? fmt::format("{}, {} device{}: {}", report.system->name, devices,
                                                          devices == 1 ? "" : "s", report.gpu)
                                            : report.gpu;
  std::string text =
      fmt::format("lockstep {}: {} ({}) on {} (configuration {}), core {} MHz\n", report.version,
                  printable(report.trace_name), hex16(report.trace_hash), printable(machine),
                  hex16(report.config_hash), fixed_ratio(report.core_khz, 1000, 0));
  text += overrides_line(report) + "\n";
  text += kernel_table(report, options) + "\n";
  text += fmt::format("whole run: {} core cycles, {} us\n", grouped(report.total_cycles),
                      microseconds(report.total_cycles, report.core_khz));
  return text + energy_line(report) + copies_line(report) + link_lines(report) +
         (report.system && report.system->network ? network_lines(*report.system->network) : "") +
         managed_lines(report) + sampling_lines(report) + speed_line(host) + warnings(report);
}

}  // namespace lockstep::stats
