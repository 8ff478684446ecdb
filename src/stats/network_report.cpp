#include "stats/network_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "stats/text.hpp"

namespace lockstep::stats {
namespace {

using Operations = NetworkReport::Operations;

void put_operations(std::string& out, const std::array<Operations, kNetworkKinds.size()>& operations) {
  const char* comma = "";
  for (std::size_t k = 0; k < operations.size(); ++k) {
    const Operations& o = operations[k];
    if (o.count == 0) continue;
    fmt::format_to(std::back_inserter(out),
                   "{}\"{}\":{{\"count\":{},\"blocking\":{},\"total_ps\":{},\"max_total_ps\":{}", comma,
                   kNetworkKinds[k], o.count, o.blocking, o.total_ps, o.max_total_ps);
    for (std::size_t s = 0; s < kNetworkStages.size(); ++s)
      fmt::format_to(std::back_inserter(out), ",\"{}_ps\":{},\"max_{}_ps\":{}", kNetworkStages[s],
                     o.sum_ps[s], kNetworkStages[s], o.max_ps[s]);
    out += '}';
    comma = ",";
  }
}

void put_numbers(std::string& out, const std::vector<std::uint64_t>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    out.append(i == 0 ? "" : ",").append(std::to_string(numbers[i]));
}

/// `mean`: of one queue, over the whole run.
void put_depth(std::string& out, const char* name, const NetworkReport::Depth& d, std::uint64_t run_ps) {
  fmt::format_to(
      std::back_inserter(out),
      "\"{}\":{{\"queues\":{},\"entered\":{},\"max\":{},\"mean\":{},\"total_ps\":{},\"times_ps\":[", name,
      d.queues, d.entered, d.most, fixed_ratio(d.total_ps, run_ps * d.queues, 6), d.total_ps);
  put_numbers(out, d.times_ps);
  out += "]}";
}

void put_thread(std::string& out, const NetworkReport::Thread& t, std::uint64_t run_ps) {
  fmt::format_to(std::back_inserter(out),
                 "{{\"node\":{},\"number\":{},\"polls\":{},\"found\":{},\"record_polls\":{},\"records\":{},"
                 "\"instructions\":{},\"active_ps\":{},\"energy_pj\":{},\"leak_pj\":{},\"base_pj\":{},"
                 "\"instruction_pj\":{},",
                 json_string(t.node), t.number, t.polls, t.found, t.record_polls, t.records, t.instructions,
                 t.active_ps, t.leak_pj + t.base_pj + t.instruction_pj, t.leak_pj, t.base_pj,
                 t.instruction_pj);
  if (t.l2) {
    out += "\"l2\":{";
    for (std::size_t c = 0; c < kCoreAccessNames.size(); ++c)
      fmt::format_to(std::back_inserter(out), "{}\"{}\":{{\"accesses\":{},\"misses\":{}}}", c == 0 ? "" : ",",
                     kCoreAccessNames[c], (*t.l2)[c].accesses, (*t.l2)[c].misses);
    out += "},";
  }
  put_depth(out, "queues", t.queues, run_ps);
  out += ',';
  if (t.completion_queues) {
    put_depth(out, "completion_queues", *t.completion_queues, run_ps);
    out += ',';
  }
  out += "\"operations\":{";
  put_operations(out, t.operations);
  out += "}}";
}

void put_times(std::string& out, const char* name, const std::vector<std::uint64_t>& times) {
  out.append(",\"").append(name).append("\":[");
  put_numbers(out, times);
  out += ']';
}

void put_process(std::string& out, const NetworkReport::Process& p, std::uint64_t run_ps) {
  fmt::format_to(std::back_inserter(out), "{{\"node\":{},\"device\":{},\"tasks\":{{", json_string(p.node),
                 p.device);
  for (std::size_t k = 0; k < p.tasks.size(); ++k)
    fmt::format_to(std::back_inserter(out), "{}\"{}\":{{\"count\":{},\"total_ps\":{},\"max_ps\":{}}}",
                   k == 0 ? "" : ",", kHostTaskNames[k], p.tasks[k].count, p.tasks[k].total_ps,
                   p.tasks[k].max_ps);
  fmt::format_to(std::back_inserter(out), "}},\"instructions\":{},\"memory_bytes\":{},\"bytes_sent\":{},",
                 p.instructions, p.memory_bytes, p.bytes_sent);
  put_depth(out, "completion_queues", p.completion_queues, run_ps);
  if (p.clock_ps) put_times(out, "clock_ps", *p.clock_ps);
  if (p.event_ps) put_times(out, "event_ps", *p.event_ps);
  out += ",\"operations\":{";
  put_operations(out, {p.messages});
  out += "}}";
}

void put_nic(std::string& out, const NetworkReport::Nic& n, std::uint64_t run_ps) {
  fmt::format_to(std::back_inserter(out),
                 "{{\"node\":{},\"puts\":{},\"gets\":{},\"atomics\":{},\"doorbells\":{},\"commands\":{},"
                 "\"records\":{},\"bytes_put\":{},\"bytes_got\":{},\"served_reads\":{},\"served_writes\":{},"
                 "\"served_atomics\":{},",
                 json_string(n.node), n.begun[0], n.begun[1], n.begun[2], n.doorbells, n.commands, n.records,
                 n.bytes_put, n.bytes_got, n.served_reads, n.served_writes, n.served_atomics);
  put_depth(out, "commands_open", n.commands_open, run_ps);
  out += ',';
  put_depth(out, "commands_waiting", n.commands_waiting, run_ps);
  out += '}';
}

void put_locks(std::string& out, const NetworkReport::Locks& l) {
  fmt::format_to(std::back_inserter(out),
                 "{{\"node\":{},\"stores\":{},\"degraded\":{},\"updates\":{},\"held\":{},\"max\":{},"
                 "\"max_together\":{},\"unlocked\":{},\"total_ps\":{},\"max_ps\":{},\"times\":[",
                 json_string(l.node), l.stores, l.degraded, l.updates, l.held, l.most, l.most_together,
                 l.unlocked, l.total_ps, l.longest_ps);
  put_numbers(out, l.times);
  out += "]}";
}

/// By the process that takes longest for each.
std::string process_lines(const NetworkReport& network) {
  if (network.processes.empty()) return {};
  std::string text = "processes of hosts, us at most:";
  for (std::size_t k = 0; k < kHostTaskNames.size(); ++k) {
    std::uint64_t most = 0;
    for (const NetworkReport::Process& p : network.processes) most = std::max(most, p.tasks[k].total_ps);
    text += fmt::format(" {} {:.1f}", kHostTaskNames[k], static_cast<double>(most) / 1e6);
  }
  return text + '\n';
}

/// For all queues of one kind that were used: the largest mean depth of an owner's queues, and the maximum.
std::string depth_line(const NetworkReport& network) {
  std::string text;
  const auto add = [&](const char* name, const auto& owners, const auto& depth_of) {
    double mean = 0;
    std::uint64_t most = 0;
    for (const auto& owner : owners) {
      const NetworkReport::Depth* depth = depth_of(owner);
      if (!depth || depth->entered == 0) continue;
      most = std::max(most, depth->most);
      mean = std::max(mean, static_cast<double>(depth->total_ps) / static_cast<double>(depth->queues) /
                                static_cast<double>(std::max<std::uint64_t>(network.run_ps, 1)));
    }
    if (most > 0) text += fmt::format("{} {} {:.3f} ({})", text.empty() ? "" : ",", name, mean, most);
  };
  using Depth = NetworkReport::Depth;
  add("work-group", network.threads, [](const auto& thread) { return &thread.queues; });
  add("command", network.nics, [](const auto& nic) { return &nic.commands_open; });
  add("completion", network.threads, [](const auto& thread) -> const Depth* {
    return thread.completion_queues ? &*thread.completion_queues : nullptr;
  });
  add("completion of processes", network.processes, [](const auto& p) { return &p.completion_queues; });
  return text.empty() ? text : "queues of the network, mean depth (most) of the fullest:" + text + '\n';
}

double mean_ns(std::uint64_t ps, std::uint64_t count) {
  return static_cast<double>(ps) / static_cast<double>(count) / 1000;
}

}  // namespace

Operations NetworkReport::all_of(std::size_t kind) const {
  Operations all;
  const auto add = [&](const Operations& o) {
    all.count += o.count;
    all.blocking += o.blocking;
    all.total_ps += o.total_ps;
    all.max_total_ps = std::max(all.max_total_ps, o.max_total_ps);
    for (std::size_t s = 0; s < kNetworkStages.size(); ++s) {
      all.sum_ps[s] += o.sum_ps[s];
      all.max_ps[s] = std::max(all.max_ps[s], o.max_ps[s]);
    }
  };
  for (const Thread& thread : threads) add(thread.operations[kind]);
  for (const Process& process : processes)
    if (kind == 0) add(process.messages);  // puts
  return all;
}

std::string network_json(const NetworkReport& network) {
  std::string out = fmt::format("{{\"design\":{},", json_string(network.design));
  for (std::size_t i = 0; i < network.locks.size(); ++i) {
    out += i == 0 ? "\"locks\":[" : ",";
    put_locks(out, network.locks[i]);
  }
  out += network.locks.empty() ? "\"threads\":[" : "],\n    \"threads\":[";
  for (std::size_t i = 0; i < network.threads.size(); ++i) {
    out += i == 0 ? "\n     " : ",\n     ";
    put_thread(out, network.threads[i], network.run_ps);
  }
  for (std::size_t i = 0; i < network.processes.size(); ++i) {
    out += i == 0 ? "],\n    \"processes\":[\n     " : ",\n     ";
    put_process(out, network.processes[i], network.run_ps);
  }
  out += "],\n    \"nics\":[";
  for (std::size_t i = 0; i < network.nics.size(); ++i) {
    out += i == 0 ? "\n     " : ",\n     ";
    put_nic(out, network.nics[i], network.run_ps);
  }
  return out + "]}";
}

std::string network_lines(const NetworkReport& network) {
  std::string text;
  for (std::size_t k = 0; k < kNetworkKinds.size(); ++k) {
    const Operations all = network.all_of(k);
    if (all.count == 0) continue;
    text += fmt::format("network ({}), {} of {}: {:.0f} ns on average, {:.0f} at most:", network.design,
                        grouped(all.count), kNetworkKinds[k], mean_ns(all.total_ps, all.count),
                        static_cast<double>(all.max_total_ps) / 1000);
    for (std::size_t s = 0; s < kNetworkStages.size(); ++s)
      if (all.sum_ps[s] > 0)
        text += fmt::format(" {} {:.0f}", kNetworkStages[s], mean_ns(all.sum_ps[s], all.count));
    text += '\n';
  }
  text += process_lines(network);
  std::uint64_t polls = 0, found = 0, picojoules = 0;
  for (const NetworkReport::Thread& thread : network.threads) {
    polls += thread.polls;
    found += thread.found;
    picojoules += thread.leak_pj + thread.base_pj + thread.instruction_pj;
  }
  if (polls > 0)
    text += fmt::format("service threads: {} polls of entries, {} of them found one; {:.3f} uJ\n",
                        grouped(polls), grouped(found), static_cast<double>(picojoules) / 1e6);
  return text + depth_line(network);
}

}  // namespace lockstep::stats
