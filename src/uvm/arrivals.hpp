// Pages on their way to the device.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "uvm/memory_state.hpp"

namespace lockstep::uvm {

/// One queue for the lane to the device: transfers, and in UVMSmart's models handling of faults and slots of
/// remote accesses, which hold the lane too.
class Arrivals {
 public:
  explicit Arrivals(MemoryState& state) : state_(&state) {}

  /// `frames_taken`: Frames::take was called for it.
  void queue(const Transfer& transfer, bool frames_taken);
  /// Occupies the lane without data: handling of a fault (FaultCost::kInline).
  void queue_handling(Cycle cycles, const Run& run);
  /// A slot (RemotePath::kSlot); they end in order.
  void queue_slot() {
    ++slots_waiting_;
    state_->changed = true;
  }
  [[nodiscard]] std::uint32_t take_slots_done() { return std::exchange(slots_done_, 0); }

  /// The transfer under way ends if it is due, and the next one starts. True if the next one lacks frames.
  [[nodiscard]] bool step(Cycle now);
  /// The first transfer that has its frames goes before those that lack them.
  void let_pass();
  /// Pages that were incoming have arrived.
  void arrive(const Run& run, Cycle now);
  /// Runs that have become resident since they were cleared last.
  [[nodiscard]] const std::vector<Run>& arrived() const { return arrived_; }
  void clear_arrived() { arrived_.clear(); }

  /// Whether a transfer would begin if the link were free.
  [[nodiscard]] bool wants_link() const {
    return !state_->lanes.busy(Direction::kToDevice) && (reads_.empty() ? slots_waiting_ > 0 : has_room());
  }
  [[nodiscard]] Cycle next_event() const { return state_->lanes.next_end(Direction::kToDevice); }
  [[nodiscard]] bool idle() const {
    return !state_->lanes.busy(Direction::kToDevice) && reads_.empty() && slots_waiting_ == 0;
  }
  /// No page is on its way; slots may be.
  [[nodiscard]] bool no_page_comes() const {
    return (!state_->lanes.busy(Direction::kToDevice) || reading_.slot) && reads_.empty();
  }
  /// Pages in the queue that have no frames yet.
  [[nodiscard]] std::uint64_t staged_pages() const { return staged_; }
  /// Frames of transfers that are under way, or queued with their frames.
  [[nodiscard]] std::uint64_t taken_frames() const;

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(state_), reads_, reading_, slots_waiting_, slots_done_, staged_, arrived_);
  }

 private:
  struct Read {
    Transfer transfer;
    Cycle handling = 0;  // > 0: handling of a fault, or a slot: no data
    bool frames_taken = false, slot = false;
  };
  /// Precondition: the queue is not empty.
  [[nodiscard]] bool has_room() const {
    const Read& r = reads_.front();
    return r.frames_taken ||
           state_->frames.needed(r.transfer.run.tree, r.transfer.run.pages) <= state_->frames.free();
  }
  void start(Cycle now);
  void start_slot(Cycle now);
  void book(Cycle cycles);
  void finish(Cycle now);

  MemoryState* state_;
  std::deque<Read> reads_;
  Read reading_;  // under way
  std::uint32_t slots_waiting_ = 0, slots_done_ = 0;
  std::uint64_t staged_ = 0;
  std::vector<Run> arrived_;
};

}  // namespace lockstep::uvm
