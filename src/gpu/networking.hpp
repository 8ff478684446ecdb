// What serves the network requests of a system's kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "config/system_config.hpp"
#include "gpu/device.hpp"
#include "gpu/links.hpp"
#include "gpu/network_timeline.hpp"
#include "gpu/rank_map.hpp"
#include "net/command_processor.hpp"
#include "net/entry_times.hpp"
#include "net/host_agent.hpp"
#include "net/news.hpp"
#include "net/nic.hpp"
#include "sim/engine.hpp"

namespace lockstep::gpu {

/// NICs, hosts and the cores of command processors of a system that has NICs; those of other ranks are not
/// made.
class Networking {
 public:
  /// `ends`: the domains of the endpoints by number, as of Links. `host`: that of the host's program.
  Networking(const config::SystemConfig& system, const RankMap& map, Links& links,
             std::vector<std::unique_ptr<Device>>& devices, const std::vector<sim::DomainId>& ends,
             sim::DomainId host, std::uint64_t base_khz);
  Networking(const Networking&) = delete;
  Networking& operator=(const Networking&) = delete;
  /// `elsewhere`: stands for what is not here.
  void attach(sim::Engine& engine, sim::Domain& elsewhere);

  /// For the host's program.
  [[nodiscard]] const net::NewsPost& news() const { return *post_; }
  /// The ends of tasks of hosts' processes, and how far ahead they may be; null if there are no tasks.
  [[nodiscard]] const net::TaskNetwork* task_ends() const { return task_ends_.get(); }
  [[nodiscard]] Time task_span() const;
  /// The address ranges of the doorbells.
  void place(mem::Apertures& apertures) const;

  /// Before the run: agents keep what timeline() needs.
  void record();
  /// What they have kept.
  [[nodiscard]] NetworkTimeline timeline() const { return network_timeline(system_, logs_); }
  [[nodiscard]] std::deque<AgentLog>& logs() { return logs_; }
  /// What another rank's have.
  void add_logs(std::deque<AgentLog> logs);

  // Between windows.
  [[nodiscard]] const std::vector<link::Wire>& wires(std::uint32_t node) const;
  [[nodiscard]] bool quiescent() const;
  /// The state can be kept.
  [[nodiscard]] bool at_rest() const {
    return std::ranges::all_of(nics_, [](const auto& nic) { return !nic || nic->at_rest(); });
  }
  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(system_), a.given(map_), a.given(base_khz_), a.given(news_latency_),
              a.given(ends_), pairs_, nics_, hosts_, cores_, a.given(core_ids_), network_, a.given(post_),
              task_ends_, logs_);
  }
  /// Grows with each operation that becomes complete or is finished.
  [[nodiscard]] std::uint64_t activity() const;
  void dump(std::string& out) const;
  /// Of what is here, at the run's end; completes the logs for the timeline. `run_ps`: from the beginning of
  /// the run to its end.
  [[nodiscard]] stats::NetworkReport report(const std::vector<std::unique_ptr<Device>>& devices,
                                            std::uint64_t run_ps);
  /// Adds another rank's report to one of this system, in which all is in the order of nodes.
  void join(stats::NetworkReport& all, stats::NetworkReport&& other) const;

 private:
  void make_cores(std::vector<std::unique_ptr<Device>>& devices);
  void make_hosts(Links& links, sim::DomainId host);
  [[nodiscard]] net::EntryTimes entry_times(const std::vector<std::unique_ptr<Device>>& devices) const;
  void complete_logs(const net::EntryTimes& entries);
  void report_cores(stats::NetworkReport& all, const net::EntryTimes& entries) const;
  void report_hosts(stats::NetworkReport& all, const net::EntryTimes& entries) const;
  net::QueuePair& make_pair(std::uint32_t owner, std::uint32_t device);
  [[nodiscard]] Cycle news_span(std::uint64_t khz) const;

  config::SystemConfig system_;
  RankMap map_;
  std::uint64_t base_khz_;
  Time news_latency_;
  std::vector<sim::DomainId> ends_;
  std::vector<std::unique_ptr<net::QueuePair>> pairs_;
  // Null: in another rank.
  std::vector<std::unique_ptr<net::Nic>> nics_;
  std::vector<std::unique_ptr<net::HostAgent>> hosts_;
  std::vector<std::unique_ptr<net::CommandProcessorCore>> cores_;  // by device, then number
  std::vector<sim::DomainId> core_ids_;
  std::unique_ptr<net::AgentNetwork> network_;
  std::unique_ptr<net::NewsPost> post_;
  std::unique_ptr<net::TaskNetwork> task_ends_;
  std::deque<AgentLog> logs_;
};

}  // namespace lockstep::gpu
