// Accesses and round trips of each 64 KiB (UVMSmart's register of a leaf, and the hardware's access
// counters).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "uvm/page_table.hpp"

namespace lockstep::uvm {

/// Counts of each leaf that was accessed. When a count would overflow, all counts of its kind are halved, so
/// the order of the leaves by count is kept.
class AccessCounters {
 public:
  static constexpr std::uint32_t kMaxAccesses = (1u << 27) - 1;  // 27 bits
  static constexpr std::uint32_t kMaxRoundTrips = 63;            // 6 bits, as documented

  void accessed(TreeIndex tree, unsigned leaf);
  /// A write-back of the tree has begun: one more for each of its leaves.
  void round_trip(TreeIndex tree, unsigned leaves);
  /// The leaf starts again from zero accesses.
  void clear(TreeIndex tree, unsigned leaf) {
    if (tree < trees_.size()) trees_[tree].accesses[leaf] = 0;
  }

  [[nodiscard]] std::uint32_t accesses(TreeIndex tree, unsigned leaf) const {
    return tree < trees_.size() ? trees_[tree].accesses[leaf] : 0;
  }
  [[nodiscard]] std::uint32_t round_trips(TreeIndex tree, unsigned leaf) const {
    return tree < trees_.size() ? trees_[tree].round_trips[leaf] : 0;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, trees_);
  }

 private:
  struct Counts {
    std::array<std::uint32_t, kLeavesPerTree> accesses{};
    std::array<std::uint8_t, kLeavesPerTree> round_trips{};
  };
  [[nodiscard]] Counts& of(TreeIndex tree) {
    if (tree >= trees_.size()) trees_.resize(tree + 1);
    return trees_[tree];
  }
  std::vector<Counts> trees_;
};

}  // namespace lockstep::uvm
