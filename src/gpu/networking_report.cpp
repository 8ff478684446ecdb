// What the parts of a system's network have counted, as statistics.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "gpu/networking.hpp"
#include "sim/clock.hpp"

namespace lockstep::gpu {

namespace {

struct CoreEnergy {
  std::uint64_t leak_uw = 0, base_uw = 0, instruction_fj = 0;
};

stats::NetworkReport::Operations operations_report(const net::StageTimes& of) {
  static_assert(stats::kNetworkStages.size() == stats::kStagesBeforeAgent + net::kMoments);
  stats::NetworkReport::Operations to;
  to.count = of.operations;
  to.blocking = of.blocking;
  to.total_ps = of.total;
  to.max_total_ps = of.longest;
  for (std::size_t m = 1; m < net::kMoments; ++m) {
    to.sum_ps[stats::kStagesBeforeAgent + m - 1] = of.sum[m];
    to.max_ps[stats::kStagesBeforeAgent + m - 1] = of.most[m];
  }
  return to;
}

/// With what lies around the agent's part.
stats::NetworkReport::Operations operations_report(const net::StageTimes& of,
                                                   const net::AroundTimes& around) {
  stats::NetworkReport::Operations to = operations_report(of);
  to.sum_ps[0] = around.written;
  to.sum_ps[1] = around.visible;
  to.sum_ps[2] = around.seen;
  to.sum_ps.back() = around.returned;
  to.max_ps[0] = around.most_written;
  to.max_ps[1] = around.most_visible;
  to.max_ps[2] = around.most_seen;
  to.max_ps.back() = around.most_returned;
  to.total_ps += around.written + around.visible + around.seen + around.returned;
  to.max_total_ps = around.longest;
  return to;
}

/// By kind.
std::array<net::AroundTimes, trace::NetOperation::kKinds> around_times(const net::EntryTimes& entries,
                                                                       const net::ThreadCounters& of) {
  std::array<net::AroundTimes, trace::NetOperation::kKinds> all;
  for (const net::EndedEntry& ended : of.ended)
    all[static_cast<std::size_t>(ended.kind)].add(entries.around(ended), ended);
  return all;
}

stats::NetworkReport::Depth depth_report(const net::DepthCounters& of) {
  stats::NetworkReport::Depth to{
      of.queues, of.entered, of.most, of.total_ps, {of.times.begin(), of.times.end()}};
  while (!to.times_ps.empty() && to.times_ps.back() == 0) to.times_ps.pop_back();
  return to;
}

stats::NetworkReport::Thread thread_report(const net::ThreadCounters& c, const CoreEnergy& energy,
                                           const net::EntryTimes& entries) {
  static_assert(stats::kNetworkKinds.size() == trace::NetOperation::kKinds);
  static_assert(stats::kCoreAccessNames.size() == net::kCoreAccesses);
  constexpr std::uint64_t kPsUwOfPj = 1'000'000, kFjOfPj = 1000;
  stats::NetworkReport::Thread thread;
  const auto around = around_times(entries, c);
  for (std::size_t k = 0; k < thread.operations.size(); ++k)
    thread.operations[k] = operations_report(c.kinds[k], around[k]);
  thread.polls = c.polls;
  thread.found = c.found;
  thread.record_polls = c.record_polls;
  thread.records = c.records;
  thread.instructions = c.instructions;
  thread.active_ps = c.active_ps;
  const auto picojoules = [&](std::uint64_t microwatts) {
    return static_cast<std::uint64_t>(static_cast<sim::Wide>(c.active_ps) * microwatts / kPsUwOfPj);
  };
  thread.leak_pj = picojoules(energy.leak_uw);
  thread.base_pj = picojoules(energy.base_uw);
  thread.instruction_pj = c.instructions * energy.instruction_fj / kFjOfPj;
  return thread;
}

/// The report on a service thread.
template <class Program>
stats::NetworkReport::Thread program_report(const Program& program, const CoreEnergy& energy,
                                            const net::EntryTimes& entries, std::uint64_t run_ps) {
  stats::NetworkReport::Thread thread = thread_report(program.counters(), energy, entries);
  thread.queues = depth_report(program.queue_depth(run_ps));
  thread.completion_queues = depth_report(program.record_depth(run_ps));
  return thread;
}

stats::NetworkReport::Process process_report(std::string node, const net::HostProcess& process,
                                             std::uint64_t run_ps) {
  static_assert(stats::kHostTaskNames.size() == trace::HostTask::kCountedKinds);
  const net::ProcessCounters& c = process.counters();
  stats::NetworkReport::Process report{std::move(node),
                                       process.device(),
                                       {},
                                       c.instructions,
                                       c.memory_bytes,
                                       c.bytes_sent,
                                       operations_report(process.messages().kinds.front()),
                                       depth_report(process.record_depth(run_ps))};
  for (std::size_t k = 0; k < report.tasks.size(); ++k)
    report.tasks[k] = {c.kinds[k].count, c.kinds[k].total_ps, c.kinds[k].longest_ps};
  return report;
}

stats::NetworkReport::Nic nic_report(std::string node, const net::Nic& nic, std::uint64_t run_ps) {
  const net::Operations::Counters& own = nic.operations();
  const net::Target::Counters& served = nic.target();
  return {std::move(node),
          {own.begun[0], own.begun[1], own.begun[2]},
          own.doorbells,
          own.commands,
          own.records,
          own.bytes_put,
          own.bytes_got,
          served.reads,
          served.writes,
          served.atomics,
          depth_report(nic.command_depth(run_ps)),
          depth_report(nic.waiting_depth(run_ps))};
}

stats::NetworkReport::Locks lock_report(std::string node, const Device& device) {
  constexpr std::uint64_t kPsOfKhz = 1'000'000'000;
  const mem::LineLockCounters c = device.line_locks();
  const auto ps = [&](std::uint64_t cycles) {
    return static_cast<std::uint64_t>(static_cast<sim::Wide>(cycles) * kPsOfKhz /
                                      device.config().clock.l2_khz);
  };
  std::vector<std::uint64_t> times(c.times.begin(), c.times.end());
  while (!times.empty() && times.back() == 0) times.pop_back();
  return {
      std::move(node), c.control,  c.degraded,    c.updates,       c.held, c.most, device.most_locked_lines(),
      c.unlocked,      ps(c.time), ps(c.longest), std::move(times)};
}

}  // namespace

stats::NetworkReport Networking::report(const std::vector<std::unique_ptr<Device>>& devices,
                                        std::uint64_t run_ps) {
  stats::NetworkReport all;
  const net::EntryTimes entries = entry_times(devices);
  complete_logs(entries);
  all.design = config::traits(system_.network.node.design).name;
  all.run_ps = run_ps;
  for (std::uint32_t d = 0; !cores_.empty() && d < devices.size(); ++d)
    if (map_.is_here(d)) all.locks.push_back(lock_report(system_.node_name(d), *devices[d]));
  report_cores(all, entries);
  report_hosts(all, entries);
  for (std::uint32_t n = 0; n < nics_.size(); ++n) {
    if (!nics_[n]) continue;
    const std::string node = system_.node_name(system_.first_nic() + n);
    all.nics.push_back(nic_report(node, *nics_[n], run_ps));
    if (!system_.served_by(config::NetDesignTraits::Server::kNic)) continue;
    stats::NetworkReport::Thread& thread =
        all.threads.emplace_back(thread_report(nics_[n]->own(), {}, entries));
    thread.node = node;
    thread.queues = depth_report(nics_[n]->own_depth(run_ps));
  }
  return all;
}

void Networking::join(stats::NetworkReport& all, stats::NetworkReport&& other) const {
  std::map<std::string, std::uint32_t, std::less<>> number;
  for (std::uint32_t node = 0; node < system_.nodes(); ++node) number[system_.node_name(node)] = node;
  const auto add = [&](auto& to, auto& from) {
    std::ranges::move(from, std::back_inserter(to));
    std::ranges::stable_sort(to, {}, [&](const auto& row) { return number.at(row.node); });
  };
  add(all.locks, other.locks);
  add(all.threads, other.threads);
  add(all.processes, other.processes);
  add(all.nics, other.nics);
}

/// Of what is here.
net::EntryTimes Networking::entry_times(const std::vector<std::unique_ptr<Device>>& devices) const {
  net::EntryTimes all;
  const net::Clock first(system_.devices.front().clock.core_khz);
  for (const auto& device : devices) {
    const net::Clock core(device->config().clock.core_khz), l2(device->config().clock.l2_khz);
    for (const icnt::EntryLog* sm : device->entries()) all.add(*sm, core);
    all.add_visible(device->visible_entries(), l2);
  }
  for (const auto& host : hosts_)
    if (host) all.add_visible(host->visible_entries(), first);
  for (const auto& nic : nics_)
    if (nic) all.add_visible(nic->visible_entries(), first);
  all.sort();
  return all;
}

void Networking::complete_logs(const net::EntryTimes& entries) {
  const auto end_of = [](const net::OperationLog::Operation& of) {
    net::StageTimes alone;
    return alone.add(of.at, of.blocking);
  };
  for (AgentLog& agent : logs_)
    for (net::OperationLog::Operation& of : agent.log.operations) {
      const net::EndedEntry ended{of.entry,    of.what.ready, of.device, of.what.kind,
                                  of.blocking, of.at[0],      end_of(of)};
      of.around = of.entry == 0 ? net::EntryTimes::Around{ended.seen, ended.seen, ended.seen, ended.end}
                                : entries.around(ended);
    }
}

void Networking::report_cores(stats::NetworkReport& all, const net::EntryTimes& entries) const {
  const config::ServiceEnergyGroup& e = system_.network.service_energy;
  for (std::size_t c = 0; c < cores_.size(); ++c) {
    if (!cores_[c]) continue;
    const auto device = static_cast<std::uint32_t>(c / system_.cores());
    stats::NetworkReport::Thread& thread = all.threads.emplace_back(program_report(
        cores_[c]->program(), {e.core_leak_uw, e.core_base_uw, e.core_instruction_fj}, entries, all.run_ps));
    thread.node = system_.node_name(device);
    thread.number = static_cast<std::uint32_t>(c % system_.cores());
    thread.l2.emplace();
    for (std::size_t k = 0; k < net::kCoreAccesses; ++k)
      (*thread.l2)[k] = {cores_[c]->core().l2[k].accesses, cores_[c]->core().l2[k].misses};
  }
}

void Networking::report_hosts(stats::NetworkReport& all, const net::EntryTimes& entries) const {
  const config::ServiceEnergyGroup& e = system_.network.service_energy;
  for (std::uint32_t h = 0; h < hosts_.size(); ++h) {
    if (!hosts_[h]) continue;
    const std::string node = system_.node_name(system_.first_host() + h);
    for (std::uint32_t t = 0; t < hosts_[h]->threads(); ++t) {
      stats::NetworkReport::Thread& thread = all.threads.emplace_back(
          program_report(hosts_[h]->program(t), {e.host_leak_uw, e.host_base_uw, e.host_instruction_fj},
                         entries, all.run_ps));
      thread.node = node;
      thread.number = t;
    }
    for (const net::HostProcess& process : hosts_[h]->processes())
      all.processes.push_back(process_report(node, process, all.run_ps));
  }
}

}  // namespace lockstep::gpu
