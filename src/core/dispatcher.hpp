// The work distributor of a device: launches kernels and hands their CTAs to the SMs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/gpu_config.hpp"
#include "config/occupancy.hpp"
#include "core/clock_log.hpp"
#include "core/kernel_slot.hpp"
#include "core/launch_choice.hpp"
#include "core/placement.hpp"
#include "icnt/fabric.hpp"
#include "sim/inbox.hpp"

namespace lockstep::core {

/// What the dispatcher must know of a kernel of the trace; made before the run.
struct LaunchPlan {
  const trace::KernelHeader* header = nullptr;
  config::Occupancy occupancy;
  L2Shares l2{};
  Address code_base = 0;
  std::uint64_t ctas = 0;
  std::uint32_t cluster = 1;  // CTAs that are placed together
  bool log_clocks = false;    // its reads of the clock will be asked for
};

/// Part of the host's domain, which drives it; all times are core cycles of its device.
///
/// A kernel's first CTA is sent launch.latency_ns after the kernel could start, or launch.graph_node_ns where
/// the launch of a graph starts it and that is less; the next ones launch.dispatch_interval_milli apart while
/// SMs have room. CTAs of a cluster are placed in one GPC and sent in the same cycle, which takes the port as
/// long as that many single ones; a cluster for which no GPC has room waits. Kernels are served in the order
/// in which their first CTA was due; one with CTAs left holds up those behind it, as in the hardware's queue
/// (Amert et al., "GPU Scheduling on the NVIDIA TX2: Hidden Details Revealed", RTSS 2017). A kernel is
/// complete when the dispatcher learns of its last drained CTA, at cycle t. Its counters are then collected
/// at the cut t + launch.done_latency_ps, which is never less than a window ahead; only after that its slot
/// is used again. With launch.cache_control = all a kernel is launched only after the cuts of all before it.
class Dispatcher {
 public:
  enum class SlotState : std::uint8_t { kFree, kActive, kFinished };
  struct Slot {
    SlotState state = SlotState::kFree;
    std::uint32_t kernel = 0;   // launch plan
    std::uint32_t command = 0;  // the host's
    Cycle floor = 0;            // from where it could start to its first CTA
    Cycle due = 0;              // first CTA not before
    Cycle first_dispatch = kNever;
    Cycle end = 0;       // largest CtaEvent::time so far
    Cycle cut = kNever;  // kFinished: counters are collected here
    std::uint64_t dispatched = 0, freed = 0, drained = 0;
    std::uint64_t wanted = 0;  // CTAs before this number may be on an SM or on their way
    // In runs by samples only.
    bool timed = true;            // false: no CTA is sent, it ends when its estimate says
    std::uint64_t left_out = 0;   // CTAs of `dispatched` that were not sent
    std::uint64_t mark = kNever;  // a stop is requested when this many are dispatched
  };
  struct Finished {
    std::uint32_t kernel, command;
    std::uint8_t slot;
    Cycle first_dispatch, end, cut, floor;
  };
  struct Launch {
    std::uint32_t command, kernel;
    Cycle since;  // from where the launch floor counts
    bool graph_node = false;
  };
  /// A cut that a run by samples asks for.
  struct Stop {
    Cycle cut = 0;
    std::uint8_t slot = 0;
    bool launch = false;  // before the kernel's first CTA; else it has reached its mark
  };
  /// What the host learns: one of its commands is complete.
  struct Completion {
    enum class Kind : std::uint8_t { kKernel, kCopy, kManagedCommand } kind = Kind::kKernel;
    std::uint32_t command = 0;
    Cycle start = 0, end = 0;  // start: of copies
  };

  /// `table` gets an entry for each kernel slot; everything but the feed is filled here.
  Dispatcher(const config::GpuConfig& config, icnt::Fabric& fabric, KernelTable& table);

  /// The plan of a kernel of the trace, before its first launch.
  void set_plan(std::uint32_t kernel, const LaunchPlan& plan);
  /// Before the run; not owned. All launches are timed without one.
  void set_chooser(LaunchChooser& chooser) { chooser_ = &chooser; }
  /// The clock reads of a complete kernel with log_clocks; once.
  [[nodiscard]] std::unique_ptr<ClockLog> take_clocks(std::uint32_t kernel);

  // For the host. At each cycle of next_event(): receive(), then whatever the host has for it, then
  // dispatch().
  /// Start of a window: takes the mail.
  void gather(Cycle from);
  /// The cycle's events. The completions among them are those of kernels, copies and managed commands.
  void receive(Cycle now);
  [[nodiscard]] const std::vector<Completion>& completions() const { return completions_; }
  void send_copy(Cycle now, const icnt::CopyCommand& copy);
  void send_managed(Cycle now, const uvm::ManagedCommand& managed);
  /// The earliest cycle from `now` on at which a kernel may get a slot; kNever until a kernel is complete.
  [[nodiscard]] Cycle slot_free_from(Cycle now) const;
  /// Precondition: slot_free_from(now) == now.
  void launch(Cycle now, const Launch& launch);
  /// Sends the CTAs that are due.
  void dispatch(Cycle now);
  [[nodiscard]] Cycle next_event() const;
  void dump(std::string& out) const;

  // For the controller, between windows.
  /// Complete kernels in the order of their cuts; grows only.
  [[nodiscard]] const std::vector<Finished>& finished() const { return finished_; }
  /// Cuts that were asked for, in their order; grows only.
  [[nodiscard]] const std::vector<Stop>& stops() const { return stops_; }
  /// The kernel's next CTAs are not sent; at least one must be left after them.
  void leave_out(std::uint8_t slot, std::uint64_t ctas);
  /// Requests a stop when `dispatched` CTAs, more than by now, have been dispatched.
  void set_mark(std::uint8_t slot, std::uint64_t dispatched) { slots_[slot].mark = dispatched; }
  /// A kernel waits for its estimated end only.
  [[nodiscard]] bool end_is_estimated() const { return !estimated_ends_.empty(); }
  /// Slots of kernels that are launched and not complete, oldest first.
  [[nodiscard]] const std::vector<std::uint8_t>& active() const { return active_; }
  [[nodiscard]] const Slot& slot(std::uint8_t index) const { return slots_[index]; }
  [[nodiscard]] const LaunchPlan& plan(std::uint32_t kernel) const { return plans_[kernel]; }
  /// A kernel has no CTA left to be sent, and may be complete any time.
  [[nodiscard]] bool awaits_last_ctas() const { return active_.size() > queue_.size(); }
  /// Nothing is expected from SMs, copy engine and GMMU.
  [[nodiscard]] bool quiescent() const;
  /// No CTA is on an SM or on its way, and none of a kernel that is not complete has been.
  [[nodiscard]] bool at_rest() const;
  /// At rest. Feeds are opened again for the kernels that are launched.
  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(launch_), a.given(cta_latency_), a.given(done_latency_), a.given(launch_cycles_),
              a.given(node_cycles_), a.given(copy_command_cycles_), a.given(fabric_), a.given(table_),
              a.given(plans_), a.given(clocks_), placement_, events_in_, copies_in_, managed_in_, slots_,
              active_, queue_, finished_, completions_, a.given(chooser_), estimated_ends_, stops_, launches_,
              events_, port_free_milli_, blocked_);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      KernelSlot& entry = (*table_)[i];
      a(entry.launch_sequence, entry.warps_per_cta, entry.registers_per_warp, entry.shared_bytes,
        entry.code_base, entry.clustered);
      if (slots_[i].state == SlotState::kFree || slots_[i].kernel >= plans_.size()) continue;
      entry.header = plans_[slots_[i].kernel].header;
      entry.l2 = plans_[slots_[i].kernel].l2;
    }
  }
  /// Tests only: learns of the end of a copy late, as over a channel without latency.
  void allow_late_copies() { copies_in_.allow_late(true); }
  /// CTA events so far: grows while the GPU gets anywhere.
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  void take_event(Cycle now, std::uint32_t sm, const icnt::CtaEvent& event);
  void complete(Cycle now, std::uint8_t index);
  void complete_estimated(Cycle now);
  void choose(Cycle now, std::uint8_t index);
  void stop(Cycle now, std::uint8_t index, bool launch);
  void enqueue(std::uint8_t index);
  [[nodiscard]] bool send_next(Cycle now, std::uint8_t index);
  [[nodiscard]] bool send_cluster(Cycle now, std::uint8_t index);
  void end_dispatch(Cycle now, std::uint8_t index, std::uint32_t ctas);
  [[nodiscard]] int free_slot(Cycle now) const;

  config::LaunchGroup launch_;
  Cycle cta_latency_, done_latency_, launch_cycles_, node_cycles_, copy_command_cycles_;
  icnt::Fabric* fabric_;
  KernelTable* table_;
  std::vector<LaunchPlan> plans_;                              // by kernel
  std::map<std::uint32_t, std::unique_ptr<ClockLog>> clocks_;  // by kernel
  Placement placement_;
  sim::Inbox<icnt::CtaEvent> events_in_;
  sim::Inbox<icnt::CopyDone> copies_in_;
  sim::Inbox<icnt::ManagedCommandDone> managed_in_;

  std::vector<Slot> slots_;
  std::vector<std::uint8_t> active_;  // by launch
  std::vector<std::uint8_t> queue_;   // kernels with CTAs left, by (due, command)
  std::vector<Finished> finished_;
  std::vector<Completion> completions_;  // of the last receive()
  LaunchChooser* chooser_ = nullptr;
  std::set<std::pair<Cycle, std::uint8_t>> estimated_ends_;  // of slots that wait for nothing else
  std::vector<Stop> stops_;
  std::uint64_t launches_ = 0, events_ = 0;
  std::uint64_t port_free_milli_ = 0;  // 1/1000 core cycles: the dispatch port takes a CTA from here on
  bool blocked_ = false;               // the first kernel found no room; until a CTA is freed
};

}  // namespace lockstep::core
