#include "gpu/networking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "net/messages.hpp"

namespace lockstep::gpu {

Networking::Networking(const config::SystemConfig& system, const RankMap& map, Links& links,
                       std::vector<std::unique_ptr<Device>>& devices, const std::vector<sim::DomainId>& ends,
                       sim::DomainId host, std::uint64_t base_khz)
    : system_(system),
      map_(map),
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
  for (std::uint32_t n = 0; n < system_.nics; ++n) {
    nics_.emplace_back();
    if (!map_.is_here(system_.first_nic() + n)) continue;
    nics_.back() =
        std::make_unique<net::Nic>(links.endpoint(system_.first_nic() + n), system_,
                                   net::Nic::News{own_queues ? network_.get() : nullptr, n,
                                                  news_span(system_.devices.front().clock.core_khz)});
  }
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
      cores_.emplace_back();
      if (!map_.is_here(d)) continue;
      const config::GpuConfig& gpu = devices[d]->config();
      const net::CommandProcessorCore::Place place{c, static_cast<std::uint32_t>(cores_.size() - 1),
                                                   news_span(gpu.clock.core_khz), system_.cores()};
      cores_.back() = std::make_unique<net::CommandProcessorCore>(gpu, system_.network, devices[d]->fabric(),
                                                                  devices[d]->map(), devices[d]->copy_slot(),
                                                                  *network_, place, make_pair(d, d));
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
    hosts_.emplace_back();
    if (!map_.is_here(node)) continue;
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
    hosts_.back() = std::make_unique<net::HostAgent>(links.endpoint(node), system_, news, pairs);
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

void Networking::attach(sim::Engine& engine, sim::Domain& elsewhere) {
  const auto place = [&](sim::DomainId id, const auto& part, std::uint64_t khz) {
    engine.place(id, part ? static_cast<sim::Domain&>(*part) : elsewhere, sim::DomainKind::kOther,
                 sim::DomainClock(base_khz_, khz));
  };
  const std::uint64_t first_khz = system_.devices.front().clock.core_khz;
  for (std::size_t h = 0; h < hosts_.size(); ++h)
    place(ends_[system_.first_host() + h], hosts_[h], first_khz);
  for (std::size_t n = 0; n < nics_.size(); ++n) place(ends_[system_.first_nic() + n], nics_[n], first_khz);
  for (std::size_t c = 0; c < cores_.size(); ++c)  // a device that is elsewhere stands for its cores, too
    if (cores_[c]) place(core_ids_[c], cores_[c], system_.devices[c / system_.cores()].clock.core_khz);
  engine.add(*network_);
  if (task_ends_) engine.add(*task_ends_);
}

void Networking::record() {
  const auto log_of = [&](std::uint32_t node, std::string name, bool process) -> net::OperationLog& {
    return logs_.emplace_back(AgentLog{node, std::move(name), process, {}}).log;
  };
  for (std::size_t c = 0; c < cores_.size(); ++c) {
    if (!cores_[c]) continue;
    cores_[c]->record(log_of(static_cast<std::uint32_t>(c / system_.cores()),
                             fmt::format("command processor, core {}", c % system_.cores()), false));
  }
  for (std::uint32_t h = 0; h < hosts_.size(); ++h) {
    if (!hosts_[h]) continue;
    const std::uint32_t node = system_.first_host() + h;
    for (std::size_t t = 0; t < hosts_[h]->threads(); ++t)
      hosts_[h]->record_thread(t, log_of(node, fmt::format("service thread {}", t), false));
    for (std::size_t p = 0; p < hosts_[h]->processes().size(); ++p)
      hosts_[h]->record_process(
          p, log_of(node, "process of " + system_.node_name(hosts_[h]->processes()[p].device()), true));
  }
  if (!system_.served_by(config::NetDesignTraits::Server::kNic)) return;
  for (std::uint32_t n = 0; n < nics_.size(); ++n)
    if (nics_[n]) nics_[n]->record(log_of(system_.first_nic() + n, "", false));
}

void Networking::add_logs(std::deque<AgentLog> logs) {
  std::ranges::move(logs, std::back_inserter(logs_));
  std::ranges::stable_sort(logs_, {}, &AgentLog::node);
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
  const auto idle = [](const auto& part) { return !part || part->quiescent(); };
  return std::ranges::all_of(nics_, idle) && std::ranges::all_of(hosts_, idle) &&
         std::ranges::all_of(cores_, idle);
}

std::uint64_t Networking::activity() const {
  std::uint64_t sum = 0;
  const auto add = [&](const net::ThreadCounters& thread) { sum += thread.found + thread.records; };
  for (const auto& core : cores_)
    if (core) add(core->program().counters());
  for (const auto& host : hosts_) {
    if (!host) continue;
    for (std::size_t t = 0; t < host->threads(); ++t) add(host->program(t).counters());
    for (const net::HostProcess& process : host->processes())
      for (const auto& tasks : process.counters().kinds) sum += tasks.count;
  }
  for (const auto& nic : nics_)
    if (nic) sum += nic->operations().accesses + nic->own().records;
  return sum;
}

void Networking::dump(std::string& out) const {
  const auto each = [&](std::uint32_t first, const auto& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!parts[i] || parts[i]->quiescent()) continue;
      fmt::format_to(std::back_inserter(out),
                     "{}: ", system_.node_name(first + static_cast<std::uint32_t>(i)));
      parts[i]->dump(out);
    }
  };
  for (std::size_t c = 0; c < cores_.size(); ++c) {
    if (!cores_[c] || cores_[c]->quiescent()) continue;
    fmt::format_to(std::back_inserter(out), "gpu{}: ", c / system_.cores());
    cores_[c]->dump(out);
  }
  each(system_.first_host(), hosts_);
  each(system_.first_nic(), nics_);
}

}  // namespace lockstep::gpu
