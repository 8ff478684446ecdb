// Pages on their way from the device to the host or another device.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "uvm/memory_state.hpp"

namespace lockstep::uvm {

/// A write-back in UVMSmart's order (early_reuse): a decision stages it; an access to one of its pages
/// cancels it; when it starts, its pages become invalid, their frames free, and the TLBs drop them at once.
/// In the safe order: with the decision, the pages become invalid and the TLBs are notified; when all have
/// acknowledged, the write-back may start; its frames are free when it has ended.
class Departures {
 public:
  explicit Departures(MemoryState& state) : state_(&state) {}

  /// Evicts a run, whose pages are marked as leaving. Pages that the host has are dropped, which divides the
  /// run; `drop`: all are dropped.
  void evict(const Run& run, bool drop, Cycle now) { queue(run, drop, true, now); }
  /// The resident pages of the set leave: to the host, or without a copy (`drop`).
  void expel(TreeIndex tree, const PageSet& pages, bool drop, Cycle now);
  /// The resident pages of the set are copied to the host and stay, as duplicates; accesses wait meanwhile.
  void copy_to_host(TreeIndex tree, const PageSet& pages, Cycle now);
  /// The resident pages of the set are invalidated in all SMs and then wait (DirectoryClient::stands_still).
  void hand_over(TreeIndex tree, const PageSet& pages, bool keep, Cycle now);
  /// They have been copied to another device; `keep`: they stay here, read-only.
  void handed_over(const Run& run, bool keep);
  /// A TLB has dropped the pages of a shootdown.
  void acknowledge(std::uint32_t shootdown, Cycle now);
  /// UVMSmart: an access to a page of a staged write-back cancels the whole write-back and marks all of its
  /// pages dirty.
  void take_back(TreeIndex tree, unsigned page);
  /// The pages are no longer in the page table, and the TLBs are notified. Returns the shootdown's id.
  std::uint32_t invalidate(const Run& run, bool evicted);

  /// The lane to the host: the write-back under way ends if it is due, and the next one starts.
  void step(Cycle now);
  /// Runs that have left for good (safe order) since the last call.
  [[nodiscard]] bool take_gone() { return std::exchange(gone_, false); }
  /// Whether a write-back would begin if the link were free.
  [[nodiscard]] bool wants_link(Cycle now) const {
    return !state_->lanes.busy(Direction::kToHost) && !ready_.empty() && ready_.front().not_before <= now;
  }
  [[nodiscard]] Cycle next_event() const;
  [[nodiscard]] bool idle() const {
    return !state_->lanes.busy(Direction::kToHost) && ready_.empty() && awaiting_.empty();
  }
  /// Staged or under way to the host.
  [[nodiscard]] std::uint64_t pages() const { return pages_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(state_), ready_, awaiting_, writing_, pages_, gone_);
  }

 private:
  struct WriteBack {
    Run run;
    bool drop = false, evicted = true;                  // evicted: to make room
    bool keep = false;                                  // the device keeps its copy: a duplicate
    bool handed = false;                                // to another device: no write-back
    std::uint32_t shootdown = 0, acknowledgements = 0;  // still to come
    Cycle not_before = 0;
  };

  [[nodiscard]] static PageSet backed(const Tree& tree) { return tree.duplicated - tree.unbacked; }
  void take_out(TreeIndex tree, const PageSet& pages);
  void stay_as_duplicates(TreeIndex tree, const PageSet& pages);
  void queue(const Run& run, bool drop, bool evicted, Cycle now);
  void add(WriteBack entry, Cycle now);
  void start(Cycle now);
  void book(const Run& run, Cycle cycles);
  void finish();

  MemoryState* state_;
  std::deque<WriteBack> ready_;      // may start
  std::vector<WriteBack> awaiting_;  // acknowledgements
  WriteBack writing_;                // under way
  std::uint64_t pages_ = 0;
  bool gone_ = false;
};

}  // namespace lockstep::uvm
