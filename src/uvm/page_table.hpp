// The state of the pages of managed memory: residency, and the page trees of prefetchers and evictors.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "uvm/address_space.hpp"
#include "uvm/page_set.hpp"

namespace lockstep::uvm {

using TreeIndex = std::uint32_t;  // of a tree that was touched, in the order of first touch

/// A number for each page of all trees.
[[nodiscard]] constexpr std::uint64_t page_key(TreeIndex tree, unsigned page) {
  return std::uint64_t{tree} * kPagesPerTree + page;
}

/// One tree: a full binary tree whose leaves are 64 KiB. Node sizes are not stored; they follow from
/// `counted`.
struct Tree {
  TreeId id = 0;
  Address base = 0;                     // first byte
  std::uint32_t pages = kPagesPerTree;  // a power of two from 16
  PageSet resident;                     // valid in the page table
  PageSet incoming;                     // a transfer to the device is staged or under way
  PageSet leaving;          // a write-back is decided and has not begun (UVMSmart) or not ended (safe order)
  PageSet counted;          // "to be valid": what the nodes count; from staging to the eviction decision
  PageSet wanted;           // incoming because of a fault
  PageSet wanted_to_write;  // of these, because of a store
  PageSet dirty;            // written since it arrived
  PageSet untouched;        // arrived without a fault and not accessed yet
  PageSet evicted;          // was evicted before, for the count of thrashed pages
  PageSet duplicated;       // resident, and the host's copy is valid too: read-only, leaves without a copy
  PageSet remote;           // on the host, and the device maps it there
  // With several devices.
  PageSet on_peer;             // on another device, and this one maps it there
  PageSet shared;              // incoming, and others keep their copies: duplicated once they have arrived
  PageSet unbacked;            // duplicated, and only other devices have copies: leaves with a copy
  std::uint32_t accesses = 0;  // of the whole tree, for LFU
  bool written = false;        // not only read
  [[nodiscard]] unsigned leaves() const { return pages / kPagesPerLeaf; }
  [[nodiscard]] PageSet all() const { return PageSet::range(0, pages); }
};

/// Trees by id, created at first touch: memory grows with touched trees only, so footprints may be huge.
class PageTable {
 public:
  explicit PageTable(const AddressSpace& space) : space_(&space), buckets_(64, kNone) {}

  /// The tree, which is created if it does not exist.
  [[nodiscard]] TreeIndex touch(TreeId id);
  /// The tree, if it has been touched.
  [[nodiscard]] std::optional<TreeIndex> find(TreeId id) const;
  [[nodiscard]] Tree& operator[](TreeIndex i) { return trees_[i]; }
  [[nodiscard]] const Tree& operator[](TreeIndex i) const { return trees_[i]; }
  [[nodiscard]] TreeIndex size() const { return static_cast<TreeIndex>(trees_.size()); }
  [[nodiscard]] const AddressSpace& space() const { return *space_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(space_), trees_, buckets_);
  }

 private:
  static constexpr TreeIndex kNone = 0xffffffff;
  [[nodiscard]] std::size_t home(TreeId id) const {
    return (id * 0x9e3779b97f4a7c15u >> 20) & (buckets_.size() - 1);
  }
  void grow();

  const AddressSpace* space_;
  std::deque<Tree> trees_;
  std::vector<TreeIndex> buckets_;  // open addressing, at most half full
};

}  // namespace lockstep::uvm
