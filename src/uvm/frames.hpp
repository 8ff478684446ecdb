// The device's frames for managed pages.
#pragma once

#include <cstdint>
#include <vector>

#include "uvm/page_table.hpp"
#include "uvm/transfer.hpp"

namespace lockstep::uvm {

/// 4 KiB each. With root chunks (the driver and its evictor) a tree with a page on the device holds frames
/// for all of its pages until the last one has left, unless less than 2 MiB are free when the first page
/// arrives.
class Frames {
 public:
  /// `frames`: at least 1. `root_chunks`: given out where there are enough.
  Frames(std::uint64_t frames, bool root_chunks, const PageTable& table);

  [[nodiscard]] std::uint64_t all() const { return all_; }
  [[nodiscard]] std::uint64_t free() const { return free_; }
  [[nodiscard]] std::uint64_t used() const { return all_ - free_; }
  /// Frames that are needed to fetch `pages` of the tree.
  [[nodiscard]] std::uint64_t needed(TreeIndex tree, std::uint64_t pages) const {
    if (!chunks_) return pages;
    return tree < has_chunk_.size() && has_chunk_[tree] ? 0 : (*table_)[tree].pages;
  }
  void take(TreeIndex tree, std::uint64_t pages);
  /// The pages of the run have left: frees their frames, or those of the tree if they were its last pages.
  void give(const Run& run);
  /// From now on there are `frames` in total; fewer than before have no effect.
  void enlarge(std::uint64_t frames);
  /// All but `taken` are free.
  void reset(std::uint64_t taken);

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(table_), all_, free_, a.given(root_chunks_), chunks_, has_chunk_);
  }

 private:
  [[nodiscard]] bool gives_chunks() const { return root_chunks_ && all_ >= kPagesPerTree; }

  const PageTable* table_;
  std::uint64_t all_, free_;
  bool root_chunks_, chunks_;
  std::vector<bool> has_chunk_;  // by tree
};

}  // namespace lockstep::uvm
