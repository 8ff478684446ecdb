// The work distributor: takes the host's commands, launches kernels and hands their CTAs to the SMs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/clock_log.hpp"
#include "core/host_queue.hpp"
#include "core/kernel_slot.hpp"
#include "core/occupancy.hpp"
#include "core/placement.hpp"
#include "icnt/fabric.hpp"
#include "sim/domain.hpp"
#include "sim/inbox.hpp"

namespace lockstep::core {

/// What the dispatcher must know of a kernel of the trace; made before the run.
struct LaunchPlan {
  const trace::KernelHeader* header = nullptr;
  Occupancy occupancy;
  Address code_base = 0;
  std::uint64_t ctas = 0;
  bool log_clocks = false;  // its reads of the clock will be asked for
};

/// Lets the list of commands grow, where HostQueue::at_end() says that more must be known.
class HostSource {
 public:
  virtual ~HostSource() = default;
  /// Appends to the queue or closes it. May wait for another process; what it appends must be the same
  /// whenever it is asked.
  virtual void more(HostQueue& queue) = 0;
};

/// Domain in core cycles.
///
/// A kernel's first CTA is sent launch.latency_ns after the kernel could start (HostQueue::Ready::since), the
/// next ones launch.dispatch_interval_milli apart while SMs have room. Kernels are served in the order in
/// which their first CTA was due; one with CTAs left holds up those behind it, as in the hardware's queue
/// (Amert et al., "GPU Scheduling on the NVIDIA TX2: Hidden Details Revealed", RTSS 2017). A kernel is
/// complete when the dispatcher hears of its last drained CTA, at cycle t. Its counters are then collected at
/// the cut t + launch.done_latency_ps, which is never less than a window ahead; only after that its slot is
/// used again. With launch.cache_control = all a kernel is launched only after the cuts of all before it.
class Dispatcher final : public sim::Domain {
 public:
  enum class SlotState : std::uint8_t { kFree, kActive, kFinished };
  struct Slot {
    SlotState state = SlotState::kFree;
    std::uint32_t kernel = 0;   // launch plan
    std::uint32_t command = 0;  // host command
    Cycle due = 0;              // first CTA not before
    Cycle first_dispatch = kNever;
    Cycle end = 0;       // largest CtaEvent::time so far
    Cycle cut = kNever;  // kFinished: counters are collected here
    std::uint64_t dispatched = 0, freed = 0, drained = 0;
  };
  struct Finished {
    std::uint32_t kernel, command;
    std::uint8_t slot;
    Cycle first_dispatch, end, cut;
  };
  struct Copied {
    std::uint32_t command;
    Cycle start, end;
  };

  /// `table` gets an entry for each kernel slot; everything but the feed is filled here.
  Dispatcher(const config::GpuConfig& config, icnt::Fabric& fabric, KernelTable& table,
             std::vector<LaunchPlan> plans, std::vector<HostCommand> commands, std::uint32_t streams);

  /// Before the run: the rest of commands and kernels comes from `source`, which calls add_plan() for the
  /// kernels that are new, in the order of their numbers.
  void set_source(HostSource& source);
  void add_plan(const LaunchPlan& plan) { plans_.push_back(plan); }
  [[nodiscard]] const HostQueue& host() const { return host_; }
  /// Of a complete kernel with log_clocks; once.
  [[nodiscard]] std::unique_ptr<ClockLog> take_clocks(std::uint32_t kernel);

  [[nodiscard]] Cycle advance(Cycle from, Cycle to) override;
  void settle(Cycle) override {}
  void dump(std::string& out) const override;

  // For the controller, between windows.
  /// Complete kernels in the order of their cuts; grows only.
  [[nodiscard]] const std::vector<Finished>& finished() const { return finished_; }
  [[nodiscard]] const std::vector<Copied>& copied() const { return copied_; }
  /// Slots of kernels that are launched and not complete, oldest first.
  [[nodiscard]] const std::vector<std::uint8_t>& active() const { return active_; }
  [[nodiscard]] const Slot& slot(std::uint8_t index) const { return slots_[index]; }
  [[nodiscard]] const LaunchPlan& plan(std::uint32_t kernel) const { return plans_[kernel]; }
  [[nodiscard]] const HostCommand& command(std::uint32_t index) const { return host_.command(index); }
  [[nodiscard]] Cycle launch_cycles() const { return launch_cycles_; }
  /// Every command is complete (not: every cut is past).
  [[nodiscard]] bool done() const { return host_.done(); }
  [[nodiscard]] std::uint32_t copies_out() const { return host_.copies_out(); }
  /// Nothing expected from SMs or copy engine.
  [[nodiscard]] bool quiescent() const;
  /// Tests only: hears the end of a copy late, as over a channel without latency.
  void allow_late_copies() { copies_in_.allow_late(true); }
  /// CTA events heard so far: grows while the GPU gets anywhere.
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  void receive(Cycle now);
  void hear(Cycle now, std::uint32_t sm, const icnt::CtaEvent& event);
  void complete(Cycle now, std::uint8_t index);
  void proceed(Cycle now);
  void send_copy(Cycle now, std::uint32_t command);
  void launch(Cycle now);
  void start(Cycle now, std::uint8_t index, const HostQueue::Ready& ready);
  void dispatch(Cycle now);
  void send_cta(Cycle now, std::uint8_t index, const Placement::Choice& choice);
  [[nodiscard]] int free_slot(Cycle now) const;
  [[nodiscard]] Cycle next_event(Cycle now) const;

  config::LaunchGroup launch_;
  Cycle cta_latency_, done_latency_, launch_cycles_, copy_command_cycles_;
  icnt::Fabric* fabric_;
  KernelTable* table_;
  std::vector<LaunchPlan> plans_;
  HostQueue host_;
  HostSource* source_ = nullptr;
  std::map<std::uint32_t, std::unique_ptr<ClockLog>> clocks_;  // by kernel
  Placement placement_;
  sim::Inbox<icnt::CtaEvent> events_in_;
  sim::Inbox<icnt::CopyDone> copies_in_;
  sim::Inbox<icnt::OrderDone> orders_in_;

  std::vector<Slot> slots_;
  std::vector<std::uint8_t> active_;  // by launch
  std::vector<std::uint8_t> queue_;   // kernels with CTAs left, by (due, command)
  std::vector<Finished> finished_;
  std::vector<Copied> copied_;
  std::uint64_t launches_ = 0, events_ = 0;
  std::uint64_t port_free_milli_ = 0;  // 1/1000 core cycles: the dispatch port takes a CTA from here on
  bool blocked_ = false;               // the first kernel found no room; until a CTA is freed
  bool idle_ = false;                  // proceed() and launch() have nothing to do until an event
};

}  // namespace lockstep::core
