// Fault handling as the NVIDIA driver does it: a fault buffer, batches, service by blocks of 2 MiB, replays
// (open-gpu-kernel-modules, uvm_gpu_replayable_faults.c).
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "uvm/device_memory.hpp"
#include "uvm/walk_pool.hpp"

namespace lockstep::uvm {

/// One bottom half at a time. A fault while the driver sleeps wakes it after interrupt_ns. It fetches up to
/// batch_faults entries, which takes batch_ns, and serves them block by block in ascending order: it makes
/// room by evicting (evict_ns each, and the wait until frames are free), then copies the faulting pages and
/// those that the prefetcher adds; a block takes block_ns, kib_ps for each KiB, and then its time on the
/// link. Accesses stay stalled until a replay; one whose page is still missing then faults again. A source
/// has at most outstanding_faults entries between two replays; its further faults wait for the replay without
/// one.
class Driver {
 public:
  explicit Driver(DeviceMemory& memory);

  /// The access has missed; it stalls until a replay.
  void fault(const Access& access, Cycle now);
  /// The access counter of a leaf has reached its threshold: its pages are to be migrated.
  void notify(TreeIndex tree, unsigned leaf, Cycle now);
  /// Does what is due at `now`. Accesses that are to be tried again are appended to `replayed`.
  void step(Cycle now, std::vector<Access>& replayed, std::vector<std::uint32_t>& batch_sizes);
  /// When step() next has something to do by itself, or kNever.
  [[nodiscard]] Cycle next() const;
  [[nodiscard]] std::size_t stalled() const { return stalled_.size(); }
  [[nodiscard]] bool idle() const {
    return state_ == State::kAsleep && stalled_.empty() && buffer_.empty() && notified_.empty();
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(memory_), a.given(interrupt_), a.given(batch_), a.given(block_), a.given(evict_),
              state_, since_, due_, batch_start_, evicting_, batches_in_run_, buffer_, blocks_, notified_,
              known_, batch_size_, batch_duplicates_, throttled_, tree_, transfers_, upgraded_, mapped_,
              pages_, batch_run_, stalled_, outstanding_);
  }

 private:
  enum class State : std::uint8_t { kAsleep, kWaking, kServing, kMakingRoom, kPreparing, kCopying };
  struct Entry {
    TreeIndex tree;
    std::uint16_t page;
    std::uint32_t source;
    bool write;
  };
  struct Block {
    TreeIndex tree;
    PageSet faults, writes;  // writes: of the faults
    PageSet counted;         // requested by access counters
  };

  [[nodiscard]] bool advance(Cycle now, std::vector<Access>& replayed,
                             std::vector<std::uint32_t>& batch_sizes);
  void book(State state, Cycle now);
  void wake(Cycle now);
  [[nodiscard]] Block& block_of(TreeIndex tree);
  [[nodiscard]] std::size_t fetch_faults(Cycle now);
  [[nodiscard]] PageSet to_be_brought(const Block& block, Cycle now);
  void fetch(Cycle now, std::vector<std::uint32_t>& batch_sizes);
  void open_block(Cycle now);
  [[nodiscard]] bool make_room(Cycle now);
  void prepare_block(Cycle now);
  void copy_block(Cycle now);
  void change_rights(Cycle now);
  void end_batch(Cycle now, std::vector<Access>& replayed);
  void flush();
  void replay(std::vector<Access>& replayed);
  void sleep_or_go_on(Cycle now);

  DeviceMemory* memory_;
  Cycle interrupt_, batch_, block_, evict_;
  State state_ = State::kAsleep;
  Cycle since_ = 0;  // when the state began
  Cycle due_ = 0, batch_start_ = 0;
  bool evicting_ = false;
  std::uint32_t batches_in_run_ = 0;
  std::deque<Entry> buffer_;
  std::deque<Block> blocks_;    // of the batch, still to be served
  std::deque<Entry> notified_;  // page: the leaf
  std::size_t known_ = 0;       // entries of the buffer up to the driver's copy of its write position
  std::uint64_t batch_size_ = 0, batch_duplicates_ = 0;
  bool throttled_ = false;  // a fault of this run was throttled
  TreeIndex tree_ = 0;      // of transfers_
  std::vector<Transfer> transfers_;
  PageSet upgraded_, mapped_;  // of tree_, with a directory (DeviceMemory::bring)
  std::uint64_t pages_ = 0;    // of transfers_
  Run batch_run_;
  std::vector<Access> stalled_;
  std::vector<std::uint32_t> outstanding_;  // by source
};

}  // namespace lockstep::uvm
