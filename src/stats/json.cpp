// stats.json and host.json. Written by hand: the order of keys and every digit are part of the contract.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "stats/derived.hpp"
#include "stats/descriptors.hpp"
#include "stats/report.hpp"
#include "stats/text.hpp"

namespace lockstep::stats {
namespace {

class Writer {
 public:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  std::string take() { return std::move(text_); }

  /// A comma and line break before all but the first element.
  void separate(bool& first, std::string_view indent) {
    put("{}\n{}", first ? "" : ",", indent);
    first = false;
  }

 private:
  std::string text_;
};

std::string dimensions(const Dim3& d) { return fmt::format("[{},{},{}]", d.x, d.y, d.z); }

/// All counters, and what follows from them where they are those of `cycles` cycles.
void put_counters(Writer& out, const KernelCounters& counters, Cycle cycles, std::uint64_t idle) {
  std::string_view group;
  const auto close = [&] {
    if (group == "stalls") out.put(",\"idle\":{}", idle);
    if (!group.empty()) out.put("}}");
  };
  for (const Descriptor& d : descriptors()) {
    const auto dot = d.name.find('.');
    if (dot == std::string_view::npos) {
      out.put(",\"{}\":{}", d.name, value(counters, d));
      continue;
    }
    const std::string_view own = d.name.substr(0, dot);
    if (own != group) {
      close();
      if (group.empty()) out.put(",\"ipc\":{}", fixed_ratio(counters.sm.warp_instructions, cycles, 6));
      out.put(",\n     \"{}\":{{", own);
    } else {
      out.put(",");
    }
    group = own;
    out.put("\"{}\":{}", d.name.substr(dot + 1), value(counters, d));
  }
  close();
}

void put_times(Writer& out, Cycle launch_cycles, Cycle cycles, std::uint64_t khz) {
  out.put("\"launch_cycles\":{},\"cycles\":{},\"time_ns\":{},\"elapsed_ns\":{}", launch_cycles, cycles,
          cycles_to_ns(cycles, khz), cycles_to_ns(launch_cycles + cycles, khz));
}

void put_energy(Writer& out, const std::optional<EnergyParts>& energy, Cycle cycles, std::uint64_t khz) {
  if (!energy) return;
  out.put(",\n     \"energy\":{{\"total_pj\":{},\"average_mw\":{}", energy->total(),
          milliwatts(energy->total(), cycles, khz));
  for (unsigned i = 0; i < kEnergyParts; ++i)
    out.put(",\"{}_pj\":{}", energy_rows()[i].name, energy->picojoules[i]);
  out.put("}}");
}

void put_device(Writer& out, const RunReport& report, std::uint16_t device) {
  if (report.system) out.put("\"device\":{},", device);
}

void put_kernel(Writer& out, const RunReport& report, const KernelResult& kernel) {
  out.put("{{\"name\":{},\"id\":{},", json_string(kernel.name), kernel.id);
  put_device(out, report, kernel.device);
  out.put("\"stream\":{},\"grid\":{},\"block\":{},\n     \"start_cycle\":{},", kernel.stream,
          dimensions(kernel.grid), dimensions(kernel.block), kernel.start_cycle);
  put_times(out, kernel.launch_cycles, kernel.cycles, khz_of(report, kernel.device));
  put_counters(out, kernel.counters, kernel.cycles, idle_cycles(kernel));
  put_energy(out, kernel.energy, kernel.cycles, khz_of(report, kernel.device));
  out.put(
      ",\n     \"occupancy\":{{\"ctas_per_sm\":{},\"limiter\":{},\"subcores\":{},\"warps_per_subcore\":{}}},",
      kernel.ctas_per_sm, json_string(kernel.occupancy_limiter), kernel.subcores,
      fixed_ratio(kernel.counters.sm.warp_cycles, kernel.cycles * kernel.subcores, 3));
  out.put("\"partial\":{}", kernel.partial);
  if (report.sampling)
    out.put(",\"estimated\":{},\"ctas_left_out\":{}", kernel.estimated, kernel.ctas_left_out);
  out.put("}}");
}

void put_kernels_and_copies(Writer& out, const RunReport& report) {
  out.put("  \"kernels\":[");
  bool first = true;
  for (const KernelResult& kernel : report.kernels) {
    out.separate(first, "    ");
    put_kernel(out, report, kernel);
  }
  out.put("],\n  \"copies\":[");
  first = true;
  for (const CopyResult& copy : report.copies) {
    out.separate(first, "    ");
    out.put("{{\"kind\":{},", json_string(copy.kind));
    put_device(out, report, copy.device);
    out.put("\"address\":\"{}\",\"bytes\":{},\"start_cycle\":{},\"cycles\":{},\"time_ns\":{}}}",
            hex16(copy.address), copy.bytes, copy.start_cycle, copy.cycles,
            cycles_to_ns(copy.cycles, khz_of(report, copy.device)));
  }
  out.put("],\n");
}

void put_total(Writer& out, const RunReport& report) {
  const Totals sum = totals(report);
  out.put("  \"total\":{{\"kernels\":{},\"copies\":{},", report.kernels.size(), report.copies.size());
  put_times(out, sum.launch_cycles, sum.cycles, report.core_khz);
  put_counters(out, sum.counters, sum.cycles, sum.idle);
  put_energy(out, sum.energy, sum.cycles, report.core_khz);
  out.put("}},\n");
  out.put("  \"unattributed\":{{\"cycles\":0");
  put_counters(out, report.unattributed, 0, 0);
  out.put("}},\n");
}

void put_overrides(Writer& out, const RunReport& report) {
  out.put("  \"overrides\":{{");
  bool first = true;
  for (const auto& [key, value] : report.overrides) {
    out.put("{}{}:{}", first ? "" : ",", json_string(key), json_string(value));
    first = false;
  }
  out.put("}},\n");
}

void put_remarks(Writer& out, const RunReport& report) {
  out.put("  \"core_khz\":{},\"total_cycles\":{},\"partial\":{},\"partial_reason\":{},\n", report.core_khz,
          report.total_cycles, report.partial, json_string(report.partial_reason));
  out.put("  \"energy_source\":{},\n", json_string(report.energy_source));
  out.put("  \"unknown_opcodes\":{{");
  bool first = true;
  for (const auto& [opcode, count] : report.unknown_opcodes) {
    out.put("{}{}:{}", first ? "" : ",", json_string(opcode), count);
    first = false;
  }
  out.put("}},\n  \"remarks\":[");
  first = true;
  for (const std::string& remark : report.remarks) {
    out.separate(first, "    ");
    out.put("{}", json_string(remark));
  }
  out.put("]");
}

/// With several devices: what came from each of the others, and went there.
void put_peers(Writer& out, const ManagedReport& m) {
  if (m.peers.empty()) return;
  out.put(",\n     \"peer_lines\":{},\"peers\":[", m.counters.tlb.peer_lines);
  bool first = true;
  for (std::size_t d = 0; d < m.peers.size(); ++d) {
    const uvm::PeerPages& p = m.peers[d];
    if (p == uvm::PeerPages{}) continue;
    out.separate(first, "       ");
    out.put("{{\"device\":{},\"pages_in\":{},\"pages_out\":{},\"copies_in\":{},\"copies_out\":{}}}", d, p.in,
            p.out, p.copies_in, p.copies_out);
  }
  out.put("]");
}

/// `device`: of several.
void put_managed(Writer& out, const RunReport& report, const ManagedReport& m,
                 std::optional<std::uint16_t> device) {
  Cycle kernels = 0;
  for (const KernelResult& kernel : report.kernels)
    if (!device || kernel.device == *device) kernels += kernel.cycles;
  out.put("{{");
  if (device) out.put("\"device\":{},", *device);
  out.put("\"allocations\":{},\"footprint_bytes\":{},\"device_bytes\":{},", m.allocations, m.footprint_bytes,
          m.device_bytes);
  out.put("\"kernel_cycles\":{},\"added_fault_cycles\":{},\"kernel_and_fault_cycles\":{}", kernels,
          m.added_fault_cycles, kernels + m.added_fault_cycles);
  for (const uvm::CounterRow& row : uvm::counter_rows())
    out.put(",\n     \"{}\":{}", row.name, value(m.counters, row));
  out.put(",\n     \"by_allocation\":[");
  bool first = true;
  for (const ManagedReport::Allocation& a : m.by_allocation) {
    const uvm::AllocationCounters& c = a.counters;
    out.separate(first, "       ");
    out.put("{{\"base\":\"0x{:x}\",\"bytes\":{},\"transfers\":{},\"faulted_pages\":{},", a.base, a.bytes,
            c.transfers, c.faulted_pages);
    out.put("\"bytes_to_device\":{},\"write_backs\":{},\"bytes_to_host\":{},\"evictions\":{}}}",
            c.bytes_to_device, c.write_backs, c.bytes_to_host, c.evictions);
  }
  out.put("]");
  put_peers(out, m);
  if (!m.residency.empty()) {
    out.put(",\n     \"residency\":[");
    first = true;
    for (const ManagedReport::Sample& s : m.residency) {
      out.separate(first, "       ");
      out.put("[{},{}]", s.cycle, s.pages);
    }
    out.put("]");
  }
  out.put("}}");
}

void put_managed(Writer& out, const RunReport& report) {
  if (report.managed) {
    out.put(",\n  \"managed\":");
    put_managed(out, report, *report.managed, std::nullopt);
  } else if (report.has_managed()) {
    out.put(",\n  \"managed\":[");
    bool first = true;
    for (std::uint16_t d = 0; d < report.system->managed.size(); ++d) {
      out.separate(first, "    ");
      put_managed(out, report, report.system->managed[d], d);
    }
    out.put("]");
  }
}

void put_system(Writer& out, const RunReport& report) {
  if (!report.system) return;
  out.put(",\n  \"system\":{{\"name\":{},\"devices\":[", json_string(report.system->name));
  bool first = true;
  for (const SystemReport::Device& device : report.system->devices) {
    out.separate(first, "    ");
    out.put("{{\"gpu\":{},\"config_hash\":\"{}\",\"core_khz\":{}}}", json_string(device.gpu),
            hex16(device.config_hash), device.core_khz);
  }
  out.put("],\n   \"links\":[");
  first = true;
  for (const LinkResult& link : report.system->links) {
    out.separate(first, "    ");
    out.put("{{\"from\":{},\"to\":{},\"kind\":{},\"count\":{},\"bytes_per_second\":{},",
            json_string(link.from), json_string(link.to), json_string(link.kind), link.count,
            link.bytes_per_second);
    out.put("\"messages\":{},\"bytes\":{},\"data_bytes\":{},\"busy_ps\":{},\"utilisation\":{}", link.messages,
            link.bytes, link.data_bytes, busy_ps(link), fixed_ratio(busy_ps(link), run_ps(report), 6));
    out.put(",\"request_stall_ps\":{},\"reply_stall_ps\":{}", link.request_stall_ps, link.reply_stall_ps);
    if (link.picojoules) out.put(",\"energy_pj\":{}", *link.picojoules);
    out.put("}}");
  }
  out.put("]");
  if (report.system->network) out.put(",\n   \"network\":{}", network_json(*report.system->network));
  out.put("}}");
}

/// Half-widths are rounded up.
void put_quantity(Writer& out, std::string_view name, const SamplingReport::Quantity& q) {
  out.put("\"{}\":[{:.0f},{:.0f}]", name, q.value, std::ceil(q.half_width));
}

void put_sampling(Writer& out, const RunReport& report) {
  if (!report.sampling) return;
  const SamplingReport& s = *report.sampling;
  out.put(",\n  \"sampling\":{{\"error\":{},\"confidence\":{},\"seed\":{},\"warm_up\":{},", s.error,
          s.confidence, s.seed, s.warm_up);
  out.put("\"launches\":{},\"launches_timed\":{},\"ctas\":{},\"ctas_timed\":{},\"overlap\":{},\n", s.launches,
          s.launches_timed, s.ctas, s.ctas_timed, s.overlap);
  out.put("   \"estimates\":{{");
  put_quantity(out, "cycles", s.cycles);
  const double ns = 1e6 / static_cast<double>(report.core_khz);
  out.put(",");
  put_quantity(out, "time_ns", {s.cycles.value * ns, s.cycles.half_width * ns});
  for (std::size_t i = 0; i < s.counters.size(); ++i) {
    out.put(",{}", i % 8 == 0 ? "\n     " : "");
    put_quantity(out, descriptors()[i].name, s.counters[i]);
  }
  out.put("}},\n   \"groups\":[");
  bool first = true;
  for (const SamplingReport::Group& g : s.groups) {
    out.separate(first, "     ");
    out.put("{{\"name\":{},\"first_id\":{},\"launches\":{},\"timed\":{},", json_string(g.name), g.first_id,
            g.launches, g.timed);
    out.put("\"warp_instructions\":{:.0f},\"model\":{},", g.instructions, json_string(g.model));
    put_quantity(out, "cycles", g.cycles);
    out.put("}}");
  }
  out.put("]}}");
}

void put_intervals(Writer& out, const RunReport& report) {
  if (report.intervals.empty()) return;
  out.put(",\n  \"intervals\":{{\"columns\":[\"end_cycle\"");
  for (const Descriptor& d : descriptors()) out.put(",\"{}\"", d.name);
  const bool energy = report.intervals.front().energy.has_value();
  if (energy) out.put(",\"energy.total_pj\",\"energy.average_mw\"");
  out.put("],\"rows\":[");
  bool first = true;
  Cycle begin = 0;
  for (const IntervalSample& sample : report.intervals) {
    out.separate(first, "    ");
    out.put("[{}", sample.end_cycle);
    for (const Descriptor& d : descriptors()) out.put(",{}", value(sample.counters, d));
    if (energy)
      out.put(",{},{}", sample.energy->total(),
              milliwatts(sample.energy->total(), std::max(sample.end_cycle, begin) - begin, report.core_khz));
    begin = sample.end_cycle;
    out.put("]");
  }
  out.put("]}}");
}

double per(double value, double base) { return base > 0 ? value / base : 0; }

void put_ranks(Writer& out, const HostReport& host) {
  if (host.ranks.empty()) return;
  out.put("  \"ranks\":[");
  for (std::size_t r = 0; r < host.ranks.size(); ++r) {
    const HostReport::Rank& rank = host.ranks[r];
    out.put("{}\n    {{\"rank\":{},\"host\":{},\"devices\":{},\"threads\":{},\"synchronisations\":{},",
            r == 0 ? "" : ",", r, json_string(rank.host), rank.devices, rank.threads, rank.synchronisations);
    out.put("\"messages\":{},\"message_bytes\":{},\"seconds_work\":{:.6f},\"seconds_waiting\":{:.6f},",
            rank.messages, rank.bytes, rank.seconds_work, rank.seconds_waiting);
    out.put("\"seconds_sync\":{:.6f},\"cpu_seconds\":{:.6f},\"peak_rss_bytes\":{}}}", rank.seconds_sync,
            rank.cpu_seconds, rank.peak_rss_bytes);
  }
  out.put("],\n");
}

}  // namespace

std::string to_json(const RunReport& report) {
  Writer out;
  out.put("{{\n  \"schema\":{},\"version\":{},\"gpu\":{},\"config_hash\":\"{}\",\n", report.system ? 2 : 1,
          json_string(report.version), json_string(report.gpu), hex16(report.config_hash));
  out.put("  \"trace\":{{\"name\":{},\"hash\":\"{}\"}},\n", json_string(report.trace_name),
          hex16(report.trace_hash));
  put_kernels_and_copies(out, report);
  put_total(out, report);
  put_overrides(out, report);
  put_remarks(out, report);
  put_managed(out, report);
  put_system(out, report);
  put_sampling(out, report);
  put_intervals(out, report);
  out.put("\n}}\n");
  return out.take();
}

std::string to_json(const HostReport& host) {
  Writer out;
  const auto windows = static_cast<double>(host.windows);
  const auto seconds = [&](std::string_view name, double value) {
    out.put("  \"{}\":{:.6f},\n", name, value);
  };
  out.put("{{\n  \"date\":{},\n  \"host\":{},\n  \"command\":{},\n", json_string(host.date),
          json_string(host.host), json_string(host.command));
  out.put("  \"threads\":{},\n  \"schedule\":{},\n", host.threads, json_string(host.schedule));
  seconds("wall_seconds", host.wall_seconds);
  seconds("cpu_seconds", host.cpu_seconds);
  out.put("  \"peak_rss_bytes\":{},\n", host.peak_rss_bytes);
  out.put("  \"warp_instructions\":{},\n  \"cycles\":{},\n", host.warp_instructions, host.cycles);
  const auto instructions = static_cast<double>(host.warp_instructions);
  out.put("  \"warp_instructions_per_second\":{:.1f},\n", per(instructions, host.wall_seconds));
  out.put("  \"cycles_per_second\":{:.1f},\n", per(static_cast<double>(host.cycles), host.wall_seconds));
  out.put("  \"windows\":{},\n  \"barriers\":{},\n", host.windows, host.barriers);
  out.put("  \"mean_window_cycles\":{:.3f},\n", per(static_cast<double>(host.window_cycles), windows));
  out.put("  \"awake_domains_per_window\":{:.3f},\n", per(static_cast<double>(host.awake_domains), windows));
  out.put("  \"skipped_cycles\":{},\n", host.skipped_cycles);
  seconds("seconds_kernels", host.seconds_kernels);
  seconds("seconds_sm", host.seconds_sm);
  seconds("seconds_memory", host.seconds_memory);
  seconds("seconds_other", host.seconds_other);
  seconds("seconds_exchange", host.seconds_exchange);
  seconds("seconds_decode", host.seconds_decode);
  seconds("seconds_serial", host.seconds_serial);
  seconds("seconds_alone", host.seconds_alone);
  seconds("seconds_longest_share", host.seconds_longest_share);
  seconds("seconds_mean_share", host.seconds_mean_share);
  out.put("  \"seconds_busy\":[");
  for (std::size_t t = 0; t < host.seconds_busy.size(); ++t)
    out.put("{}{:.6f}", t == 0 ? "" : ",", host.seconds_busy[t]);
  out.put("],\n");
  put_ranks(out, host);
  out.put("  \"seconds_waiting\":{:.6f}\n}}\n", host.seconds_waiting);
  return out.take();
}

}  // namespace lockstep::stats
