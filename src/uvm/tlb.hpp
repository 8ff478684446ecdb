// Translation look-aside buffers: set-associative, true LRU, entries of 4 KiB, 64 KiB and 2 MiB.
#pragma once

#include <cstdint>
#include <vector>

#include "uvm/address_space.hpp"

namespace lockstep::uvm {

/// How much one entry covers.
enum class Granule : std::uint8_t { kPage, kLeaf, kTree };

/// Entries by (tree, page) at their granule. 4 KiB and 64 KiB entries share one array, 2 MiB entries have
/// their own. With as many ways as entries an array is fully associative. All in constant time.
class Tlb {
 public:
  struct Shape {
    std::uint32_t entries = 0, ways = 0;  // 0 entries: the array is not there
  };
  Tlb(Shape base, Shape large) : base_(base), large_(large) {}

  /// Hit: the entry becomes the most recently used.
  [[nodiscard]] bool lookup(Place place) {
    return base_.touch(key(place, Granule::kPage)) || base_.touch(key(place, Granule::kLeaf)) ||
           large_.touch(key(place, Granule::kTree));
  }
  /// Returns whether another entry had to leave. An entry that is there becomes the most recently used.
  bool insert(Place place, Granule granule) {
    return granule == Granule::kTree && large_.exists() ? large_.insert(key(place, granule))
                                                        : base_.insert(key(place, at_most_leaf(granule)));
  }
  /// Removes every entry that covers a page of [first, first + pages) of the tree; their number.
  std::uint32_t invalidate(TreeId tree, std::uint32_t first, std::uint32_t pages);
  /// Removes all; their number.
  std::uint32_t clear() { return base_.clear() + large_.clear(); }
  [[nodiscard]] std::uint32_t size() const { return base_.size() + large_.size(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, base_, large_);
  }

 private:
  static Granule at_most_leaf(Granule g) { return g == Granule::kTree ? Granule::kLeaf : g; }
  static std::uint64_t key(Place place, Granule g) {
    const std::uint64_t page = g == Granule::kPage   ? place.page
                               : g == Granule::kLeaf ? 512 + place.page / kPagesPerLeaf
                                                     : 1023;
    return place.tree << 10 | page;
  }

  class Array {
   public:
    explicit Array(Shape shape);
    [[nodiscard]] bool exists() const { return !entries_.empty(); }
    [[nodiscard]] bool touch(std::uint64_t key);
    bool insert(std::uint64_t key);
    bool remove(std::uint64_t key);
    std::uint32_t clear();
    [[nodiscard]] std::uint32_t size() const { return size_; }

    template <class A>
    void persist(A& a) {
      a.members(*this, a.given(ways_), size_, entries_, sets_, buckets_);
    }

   private:
    static constexpr std::uint32_t kNone = 0xffffffff;
    struct Entry {
      std::uint64_t key = 0;
      std::uint32_t newer = kNone, older = kNone;  // of its set
      std::uint32_t chain = kNone;                 // next with the same hash
      bool valid = false;
    };
    struct Set {
      std::uint32_t newest = kNone, oldest = kNone;
    };
    [[nodiscard]] std::size_t bucket(std::uint64_t key) const {
      return (key * 0x9e3779b97f4a7c15u >> 32) & (buckets_.size() - 1);
    }
    [[nodiscard]] std::uint32_t set_of(std::uint64_t key) const;
    [[nodiscard]] std::uint32_t find(std::uint64_t key) const;
    void unlink(std::uint32_t entry);
    void link_newest(std::uint32_t entry);
    void link_oldest(std::uint32_t entry);
    void leave_bucket(std::uint32_t entry);

    std::uint32_t ways_ = 0, size_ = 0;
    std::vector<Entry> entries_;  // set s has entries s * ways to (s + 1) * ways - 1
    std::vector<Set> sets_;
    std::vector<std::uint32_t> buckets_;
  };

  Array base_, large_;
};

}  // namespace lockstep::uvm
