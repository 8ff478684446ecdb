// Managed allocations and the trees that they are divided into (by UVMSmart's rule).
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "util/types.hpp"
#include "uvm/page_set.hpp"

namespace lockstep::uvm {

/// How an allocation of a given size is divided: whole trees of 2 MiB, and for the remainder one smaller full
/// binary tree of 64 KiB * 2^i. A remainder above 1 MiB becomes a whole tree.
struct TreeLayout {
  std::uint64_t full_trees = 0;
  std::uint32_t remainder_bytes = 0;  // 0, or 64 KiB * 2^i up to 2 MiB
  [[nodiscard]] std::uint64_t bytes() const { return full_trees * kTreeBytes + remainder_bytes; }
  [[nodiscard]] std::uint64_t trees() const { return full_trees + (remainder_bytes ? 1 : 0); }
};
/// Throws UserError for size 0.
[[nodiscard]] TreeLayout layout_of(std::uint64_t bytes);

using TreeId = std::uint64_t;  // allocations in order, the trees of one allocation in a row

struct Allocation {
  Address base = 0;
  std::uint64_t bytes = 0;  // as requested
  TreeLayout layout;
  TreeId first_tree = 0;
};

/// The place of a managed address.
struct Place {
  TreeId tree = 0;
  std::uint32_t page = 0;  // of the tree
  friend bool operator==(const Place&, const Place&) = default;
};

/// The managed part of the device's address space. Trees are anchored at the start of their allocation, which
/// need not be a multiple of 2 MiB. Lookups are by binary search over the allocations. It may grow:
/// allocations stay where they are, with their trees.
class AddressSpace {
 public:
  /// Throws UserError: size 0, an end beyond 2^64, or an overlap with another allocation.
  void add(Address base, std::uint64_t bytes);
  /// Adds those parts of the range that belong to no allocation yet, each gap as an allocation of its own. A
  /// gap is cut at the first multiple of 2 MiB from `base`, so that the trees behind it are placed as if the
  /// whole range were new.
  void cover(Address base, std::uint64_t bytes);
  /// Adds the allocations that `other` has in addition. Precondition: its first ones are those of this.
  void follow(const AddressSpace& other);

  [[nodiscard]] bool empty() const { return allocations_.empty(); }
  /// Whether the byte belongs to an allocation, as requested, without the rounding.
  [[nodiscard]] bool contains(Address a) const { return find(a) != nullptr; }
  /// The allocation that contains the byte; null if there is none.
  [[nodiscard]] const Allocation* find(Address a) const;
  /// Precondition: contains(a).
  [[nodiscard]] Place place(Address a) const { return place_in(*find(a), a); }
  /// Precondition: the allocation contains the byte.
  [[nodiscard]] static Place place_in(const Allocation& allocation, Address a) {
    const std::uint64_t offset = a - allocation.base;
    return {allocation.first_tree + offset / kTreeBytes,
            static_cast<std::uint32_t>(offset % kTreeBytes / kPageBytes)};
  }
  /// First byte of a page.
  [[nodiscard]] Address address(Place place) const;
  /// Pages of a tree: a power of two from 16 to 512.
  [[nodiscard]] std::uint32_t pages_of(TreeId tree) const;
  /// Index into allocations() of the allocation that owns the tree.
  [[nodiscard]] std::size_t owner(TreeId tree) const;

  [[nodiscard]] const std::deque<Allocation>& allocations() const { return allocations_; }
  /// Indices into allocations(), ascending by address.
  [[nodiscard]] const std::vector<std::uint32_t>& by_base() const { return by_base_; }
  /// Bytes of all allocations, rounded up: device memory is compared with this.
  [[nodiscard]] std::uint64_t footprint() const { return footprint_; }
  [[nodiscard]] TreeId trees() const { return trees_; }

 private:
  std::deque<Allocation> allocations_;  // in the order of add()
  std::vector<std::uint32_t> by_base_;  // indices, ascending by base
  std::uint64_t footprint_ = 0;
  TreeId trees_ = 0;
};

}  // namespace lockstep::uvm
