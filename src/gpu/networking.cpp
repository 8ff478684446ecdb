#include "gpu/networking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "net/messages.hpp"

namespace lockstep::gpu {

namespace {

struct CoreEnergy {
  std::uint64_t leak_uw = 0, base_uw = 0, instruction_fj = 0;
};

stats::NetworkReport::Operations operations_report(const net::StageTimes& of) {
  static_assert(stats::kNetworkStages.size() + 1 == net::kMoments);
  stats::NetworkReport::Operations to;
  to.count = of.operations;
  to.blocking = of.blocking;
  to.total_ps = of.total;
  to.most_total_ps = of.longest;
  for (std::size_t s = 0; s < to.sum_ps.size(); ++s) {
    to.sum_ps[s] = of.sum[s + 1];
    to.most_ps[s] = of.most[s + 1];
  }
  return to;
}

stats::NetworkReport::Thread thread_report(const net::ThreadCounters& c, const CoreEnergy& energy) {
  static_assert(stats::kNetworkKinds.size() == trace::NetOperation::kKinds);
  static_assert(stats::kCoreAccessNames.size() == net::kCoreAccesses);
  constexpr std::uint64_t kPsUwOfPj = 1'000'000, kFjOfPj = 1000;
  stats::NetworkReport::Thread thread;
  for (std::size_t k = 0; k < thread.operations.size(); ++k)
    thread.operations[k] = operations_report(c.kinds[k]);
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

stats::NetworkReport::Process process_report(std::string node, const net::HostProcess& process) {
  static_assert(stats::kHostTaskNames.size() == trace::HostTask::kKinds);
  const net::ProcessCounters& c = process.counters();
  stats::NetworkReport::Process report{std::move(node),
                                       process.device(),
                                       {},
                                       c.instructions,
                                       c.memory_bytes,
                                       c.bytes_sent,
                                       operations_report(process.messages().kinds.front())};
  for (std::size_t k = 0; k < report.tasks.size(); ++k)
    report.tasks[k] = {c.kinds[k].count, c.kinds[k].total_ps, c.kinds[k].longest_ps};
  return report;
}

stats::NetworkReport::Nic nic_report(std::string node, const net::Nic& nic) {
  const net::Operations::Counters& own = nic.operations();
  const net::Target::Counters& served = nic.target();
  return {std::move(node), {own.begun[0], own.begun[1], own.begun[2]},
          own.doorbells,   own.commands,
          own.records,     own.bytes_put,
          own.bytes_got,   served.reads,
          served.writes,   served.atomics};
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
  return {std::move(node), c.control,  c.degraded, c.updates,     c.held,
          c.most,          c.unlocked, ps(c.time), ps(c.longest), std::move(times)};
}

}  // namespace

Networking::Networking(const config::SystemConfig& system, Links& links,
                       std::vector<std::unique_ptr<Device>>& devices, const std::vector<sim::DomainId>& ends,
                       sim::DomainId host, std::uint64_t base_khz)
    : system_(system),
      base_khz_(base_khz),
      news_latency_(
          std::max<Time>(sim::cycles_of_ps(system.devices.front().host.command_latency_ps, base_khz), 1)),
      ends_(ends) {
  using Server = config::NetDesignTraits::Server;
  const bool on_cores = system_.served_by(Server::kCores), on_hosts = system_.has_working_hosts();
  std::vector<sim::DomainId> agents;
  std::vector<std::vector<net::NewsPost::Agent>> agents_of(system_.devices.size());
  for (std::uint32_t d = 0; d < system_.devices.size(); ++d) {
    const icnt::Numbering& numbering = devices[d]->fabric().numbering();
    const sim::ClockRatio to_core(base_khz_, system_.devices[d].clock.core_khz),
        to_first(base_khz_, system_.devices[0].clock.core_khz);
    for (std::uint32_t c = 0; c < system_.cores(); ++c) {
      agents_of[d].push_back({static_cast<std::uint32_t>(agents.size()), to_core});
      agents.push_back(numbering.core(c));
      core_ids_.push_back(numbering.core(c));
    }
    if (!on_cores)
      agents_of[d].push_back(
          {on_hosts ? system_.host_of(d) - system_.first_host() : system_.nic_of(d) - system_.first_nic(),
           to_first});
  }
  if (on_hosts) agents.assign(ends_.begin() + system_.first_host(), ends_.begin() + system_.first_nic());
  if (!on_cores && !on_hosts) agents.assign(ends_.begin() + system_.first_nic(), ends_.end());
  network_ =
      std::make_unique<net::AgentNetwork>("network requests", std::vector{host}, agents, news_latency_);
  post_ = std::make_unique<net::NewsPost>(*network_, news_latency_, std::move(agents_of));
  const bool own_queues = system_.served_by(Server::kNic);
  for (std::uint32_t n = 0; n < system_.nics; ++n)
    nics_.push_back(
        std::make_unique<net::Nic>(links.endpoint(system_.first_nic() + n), system_,
                                   net::Nic::News{own_queues ? network_.get() : nullptr, n,
                                                  news_span(system_.devices.front().clock.core_khz)}));
  make_cores(devices);
  make_hosts(links, host);
}

net::QueuePair& Networking::make_pair(std::uint32_t owner, std::uint32_t device) {
  auto pair =
      std::make_unique<net::QueuePair>(system_.network.nic.queue_entries, static_cast<std::uint16_t>(owner),
                                       static_cast<std::uint16_t>(device));
  nics_[system_.nic_of(device) - system_.first_nic()]->serve(*pair);
  return *pairs_.emplace_back(std::move(pair));
}

void Networking::make_cores(std::vector<std::unique_ptr<Device>>& devices) {
  for (std::uint32_t d = 0; d < devices.size(); ++d)
    for (std::uint32_t c = 0; c < system_.cores(); ++c) {
      const config::GpuConfig& gpu = devices[d]->config();
      const net::CommandProcessorCore::Place place{c, static_cast<std::uint32_t>(cores_.size()),
                                                   news_span(gpu.clock.core_khz), system_.cores()};
      cores_.push_back(std::make_unique<net::CommandProcessorCore>(gpu, system_.network, devices[d]->fabric(),
                                                                   devices[d]->map(), devices[d]->copy_slot(),
                                                                   *network_, place, make_pair(d, d)));
    }
}

void Networking::make_hosts(Links& links, sim::DomainId host) {
  const std::uint64_t khz = system_.devices.front().clock.core_khz;
  const bool works = system_.has_working_hosts();
  const bool processes = system_.served_by(config::NetDesignTraits::Server::kProcesses);
  if (processes)
    task_ends_ = std::make_unique<net::TaskNetwork>(
        "ends of tasks",
        std::vector(ends_.begin() + system_.first_host(), ends_.begin() + system_.first_nic()),
        std::vector{host}, news_latency_);
  for (std::uint32_t h = 0; h < system_.hosts; ++h) {
    const std::uint32_t node = system_.first_host() + h;
    std::vector<net::QueuePair*> pairs;
    for (std::uint32_t d = 0; d < system_.devices.size(); ++d)
      for (std::uint32_t t = 0;
           works && system_.host_of(d) == node && t < (processes ? 1 : system_.network.host_threads.threads);
           ++t)
        pairs.push_back(&make_pair(node, d));
    const net::HostAgent::News news{works ? network_.get() : nullptr,
                                    h,
                                    news_span(khz),
                                    task_ends_.get(),
                                    sim::DomainClock(base_khz_, khz),
                                    news_latency_};
    hosts_.push_back(std::make_unique<net::HostAgent>(links.endpoint(node), system_, news, pairs));
  }
}

/// News come after their latency and may be sent up to a window before.
Cycle Networking::news_span(std::uint64_t khz) const {
  const sim::ClockRatio to_cycles(base_khz_, khz);
  const sim::ClockRatio longest(system_.devices.front().clock.core_khz, khz);
  return to_cycles.ceil(news_latency_) + longest.ceil(sim::kInboxWindow) + 8;
}

Time Networking::task_span() const {
  const sim::ClockRatio to_base(system_.devices.front().clock.core_khz, base_khz_);
  return news_latency_ + to_base.ceil(sim::kInboxWindow) + 8;
}

void Networking::attach(sim::Engine& engine) {
  const std::uint64_t first_khz = system_.devices.front().clock.core_khz;
  const sim::DomainClock first(base_khz_, first_khz);
  for (std::size_t h = 0; h < hosts_.size(); ++h)
    engine.place(ends_[system_.first_host() + h], *hosts_[h], sim::DomainKind::kOther, first);
  for (std::size_t n = 0; n < nics_.size(); ++n)
    engine.place(ends_[system_.first_nic() + n], *nics_[n], sim::DomainKind::kOther, first);
  for (std::size_t c = 0; c < cores_.size(); ++c) {
    const std::uint64_t khz = system_.devices[c / system_.cores()].clock.core_khz;
    engine.place(core_ids_[c], *cores_[c], sim::DomainKind::kOther, sim::DomainClock(base_khz_, khz));
  }
  engine.add(*network_);
  if (task_ends_) engine.add(*task_ends_);
}

void Networking::place(mem::Apertures& apertures) const {
  for (std::uint32_t n = system_.first_nic(); n < system_.endpoints(); ++n) {
    const auto node = static_cast<std::uint16_t>(n);
    apertures.place(net::doorbells_of(node), net::kDoorbellBytes, node);
  }
}

const std::vector<link::Wire>& Networking::wires(std::uint32_t node) const {
  if (node >= system_.first_nic()) return nics_[node - system_.first_nic()]->wires();
  return hosts_[node - system_.first_host()]->wires();
}

bool Networking::quiescent() const {
  const auto idle = [](const auto& part) { return part->quiescent(); };
  return std::ranges::all_of(nics_, idle) && std::ranges::all_of(hosts_, idle) &&
         std::ranges::all_of(cores_, idle);
}

std::uint64_t Networking::activity() const {
  std::uint64_t sum = 0;
  const auto add = [&](const net::ThreadCounters& thread) { sum += thread.found + thread.records; };
  for (const auto& core : cores_) add(core->thread());
  for (const auto& host : hosts_)
    for (std::size_t t = 0; t < host->threads(); ++t) add(host->thread(t));
  for (const auto& host : hosts_)
    for (const net::HostProcess& process : host->processes())
      for (const auto& tasks : process.counters().kinds) sum += tasks.count;
  for (const auto& nic : nics_) sum += nic->operations().accesses + nic->own().records;
  return sum;
}

void Networking::dump(std::string& out) const {
  const auto each = [&](std::uint32_t first, const auto& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i]->quiescent()) continue;
      fmt::format_to(std::back_inserter(out),
                     "{}: ", system_.node_name(first + static_cast<std::uint32_t>(i)));
      parts[i]->dump(out);
    }
  };
  for (std::size_t c = 0; c < cores_.size(); ++c) {
    if (cores_[c]->quiescent()) continue;
    fmt::format_to(std::back_inserter(out), "gpu{}: ", c / system_.cores());
    cores_[c]->dump(out);
  }
  each(system_.first_host(), hosts_);
  each(system_.first_nic(), nics_);
}

stats::NetworkReport Networking::report(const std::vector<std::unique_ptr<Device>>& devices) const {
  stats::NetworkReport all;
  all.design = config::traits(system_.network.node.design).name;
  const config::ServiceEnergyGroup& e = system_.network.service_energy;
  for (std::uint32_t d = 0; !cores_.empty() && d < devices.size(); ++d)
    all.locks.push_back(lock_report(system_.node_name(d), *devices[d]));
  for (std::size_t c = 0; c < cores_.size(); ++c) {
    const auto device = static_cast<std::uint32_t>(c / system_.cores());
    stats::NetworkReport::Thread& thread = all.threads.emplace_back(
        thread_report(cores_[c]->thread(), {e.core_leak_uw, e.core_base_uw, e.core_instruction_fj}));
    thread.node = system_.node_name(device);
    thread.number = static_cast<std::uint32_t>(c % system_.cores());
    thread.l2.emplace();
    for (std::size_t k = 0; k < net::kCoreAccesses; ++k)
      (*thread.l2)[k] = {cores_[c]->core().l2[k].accesses, cores_[c]->core().l2[k].misses};
  }
  for (std::uint32_t h = 0; h < hosts_.size(); ++h)
    for (std::uint32_t t = 0; t < hosts_[h]->threads(); ++t) {
      stats::NetworkReport::Thread& thread = all.threads.emplace_back(
          thread_report(hosts_[h]->thread(t), {e.host_leak_uw, e.host_base_uw, e.host_instruction_fj}));
      thread.node = system_.node_name(system_.first_host() + h);
      thread.number = t;
    }
  for (std::uint32_t h = 0; h < system_.hosts; ++h)
    for (const net::HostProcess& process : hosts_[h]->processes())
      all.processes.push_back(process_report(system_.node_name(system_.first_host() + h), process));
  for (std::uint32_t n = 0; system_.served_by(config::NetDesignTraits::Server::kNic) && n < nics_.size(); ++n)
    all.threads.emplace_back(thread_report(nics_[n]->own(), {})).node =
        system_.node_name(system_.first_nic() + n);
  for (std::uint32_t n = 0; n < nics_.size(); ++n)
    all.nics.push_back(nic_report(system_.node_name(system_.first_nic() + n), *nics_[n]));
  return all;
}

}  // namespace lockstep::gpu
