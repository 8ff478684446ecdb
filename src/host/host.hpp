// The host of a system: has its devices carry out the program's commands.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/clock_log.hpp"
#include "core/dispatcher.hpp"
#include "host/host_queue.hpp"
#include "net/news.hpp"
#include "sim/clock.hpp"
#include "sim/domain.hpp"
#include "sim/inbox.hpp"

namespace lockstep::host {

/// Lets the list of commands grow, where HostQueue::at_end() says that more must be known.
class HostSource {
 public:
  virtual ~HostSource() = default;
  /// Appends to the queue or closes it. May wait for another process; what it appends must be the same
  /// whenever it is asked.
  virtual void more(HostQueue& queue) = 0;
};

/// Domain in the engine's time base. It takes commands as HostQueue says and drives the work distributors of
/// all devices, which it reaches without delay: what a launch or a copy costs on its way is launch.latency_ns
/// and host.command_latency_ps. So streams of one device may wait for events of another one.
class Host final : public sim::Domain {
 public:
  struct Copied {
    std::uint32_t command;
    Cycle start, end;  // core cycles of the command's device
  };

  Host(const std::vector<HostCommand>& commands, std::uint32_t streams, config::CopyMode mode)
      : queue_(commands, streams, mode) {}

  /// Before the run; devices have the numbers 0, 1, ... in the order of adding. Not owned. `copy_start`: what
  /// a copy between host and device takes from its stream's turn until it is sent.
  void add_device(core::Dispatcher& dispatcher, const sim::DomainClock& clock = {}, Time copy_start = 0);
  /// Before the run: as HostQueue's.
  void set_time_base(std::uint64_t khz) { queue_.set_time_base(khz); }
  /// Before the run: what a copy to another device takes from its stream's turn to its first line.
  void set_peer_copy_start(Time time) { peer_copy_start_ = time; }
  /// Before the run: who serves the network requests of kernels. Not owned.
  void set_agents(const net::NewsPost& agents) { agents_ = &agents; }
  /// Before the run: the ends of tasks come over the network, at most `span` ahead. Not owned.
  void set_task_ends(const net::TaskNetwork& network, Time span) {
    task_network_ = &network;
    task_ends_.resize(span);
  }
  /// Before the run: the rest of the commands comes from `source`, which sets the plans of their kernels.
  void set_source(HostSource& source);

  [[nodiscard]] Time advance(Time from, Time to) override;
  void settle(Time) override {}
  void dump(std::string& out) const override;

  // Between windows.
  [[nodiscard]] const HostQueue& queue() const { return queue_; }
  [[nodiscard]] const HostCommand& command(std::uint32_t index) const { return queue_.command(index); }
  [[nodiscard]] const std::vector<Copied>& copied() const { return copied_; }
  /// The latest end of the completed tasks.
  [[nodiscard]] Time last_task_end() const { return last_task_end_; }
  /// Hands over, once, the clocks of a complete kernel with LaunchPlan::log_clocks, on whichever device it
  /// ran.
  [[nodiscard]] std::unique_ptr<core::ClockLog> take_clocks(std::uint32_t kernel);
  [[nodiscard]] core::Dispatcher& dispatcher(std::uint16_t device) { return *devices_[device].dispatcher; }
  /// Something has become complete, and what waits for it has not begun.
  [[nodiscard]] bool has_news() const { return changed_; }
  /// Every command is complete (not: every cut is past).
  [[nodiscard]] bool done() const { return queue_.done(); }
  [[nodiscard]] bool quiescent() const;

  template <class A>
  void persist(A& a) {
    a.members(*this, queue_, a.given(source_), a.given(agents_), a.given(task_network_), task_ends_,
              last_task_end_, a.given(devices_), copied_, starting_, a.given(peer_copy_start_), changed_);
  }

 private:
  struct Device {
    core::Dispatcher* dispatcher;
    sim::DomainClock clock;
    Time copy_start;
    /// The device's cycle at or after `now`, and whether its edge is there.
    [[nodiscard]] Cycle cycle(Time now) const { return clock.to_cycles.ceil(now); }
    [[nodiscard]] bool at_edge(Time now) const {
      return clock.to_cycles.identity() || clock.to_time.floor(cycle(now)) == now;
    }
  };

  void tick(Time now);
  void receive(Device& device, Time now);
  void receive_tasks(Time now);
  void proceed(Time now);
  void start_copy(Time now, std::uint32_t index);
  void start_prepared(Time now);
  /// From a copy's turn until it is sent.
  [[nodiscard]] Time preparation(const HostCommand& command) const;
  void launch_and_dispatch(std::uint16_t number, Time now);
  [[nodiscard]] Time next_event(Time now) const;

  HostQueue queue_;
  HostSource* source_ = nullptr;
  const net::NewsPost* agents_ = nullptr;
  const net::TaskNetwork* task_network_ = nullptr;
  sim::Inbox<net::TaskEnd> task_ends_;
  Time last_task_end_ = 0;
  std::vector<Device> devices_;
  std::vector<Copied> copied_;
  std::set<std::pair<Time, std::uint32_t>> starting_;  // copies that the host prepares: when, which
  Time peer_copy_start_ = 0;
  bool changed_ = true;  // since proceed() was called last
};

}  // namespace lockstep::host
