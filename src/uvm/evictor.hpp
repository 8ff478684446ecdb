// Evictors: which pages leave the device when memory is short (UVMSmart's and the driver's).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "uvm/page_table.hpp"
#include "uvm/random.hpp"
#include "uvm/touch_order.hpp"
#include "uvm/transfer.hpp"

namespace lockstep::uvm {

enum class EvictUnit : std::uint8_t { kPage, kLeaf, kTree };

struct EvictionRules {
  unsigned reserve_percent = 0;  // the oldest entries that may not leave
  /// UVMSmart: only a unit all of whose pages are resident may leave, so that a device full of partly
  /// resident units waits for ever. False: the resident part leaves.
  bool whole_units = true;
};

/// Pages of one tree that leave together.
struct Victim {
  TreeIndex tree = 0;
  PageSet pages;
};

/// The units with resident pages, by the time of the last touch. For pages and trees a plain list. For leaves
/// grouped by tree: trees by their newest leaf, and the leaves of a tree by their own time. Equal times keep
/// the order of touching.
class EvictionList {
 public:
  EvictionList(EvictUnit unit, bool follows_accesses) : unit_(unit), follows_accesses_(follows_accesses) {}

  void arrived(TreeIndex tree, const PageSet& pages);
  void accessed(TreeIndex tree, unsigned page);
  /// Units of which no page is in `remaining` are removed from the list.
  void left(TreeIndex tree, const PageSet& remaining);

  [[nodiscard]] EvictUnit unit() const { return unit_; }
  [[nodiscard]] std::uint64_t size() const { return order_.total(); }
  /// Entries that the reservation skips.
  [[nodiscard]] std::uint64_t reserved(const EvictionRules& rules) const {
    return size() * rules.reserve_percent / 100;
  }

  /// Calls f(tree, pages of the unit) for the entries from `position` on until it returns true. Returns
  /// whether it did.
  template <class F>
  bool walk(std::uint64_t position, F&& f) const {
    return order_.walk(position, [&](std::uint32_t id, std::uint64_t offset) {
      if (unit_ == EvictUnit::kPage) return f(id / kPagesPerTree, PageSet::range(id % kPagesPerTree, 1));
      if (unit_ == EvictUnit::kTree) return f(id, ~PageSet());
      std::array<std::uint8_t, kLeavesPerTree> leaves{};
      const unsigned count = leaves_by_time(id, leaves);
      for (auto i = static_cast<unsigned>(offset); i < count; ++i)
        if (f(id, PageSet::leaf(leaves[i]))) return true;
      return false;
    });
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, unit_, follows_accesses_, order_, leaf_times_, clock_);
  }

 private:
  struct LeafTimes {
    std::array<std::uint64_t, kLeavesPerTree> time{};  // 0: not in the list
    std::uint32_t count = 0;
    std::uint64_t newest = 0;  // of those in the list
  };
  unsigned leaves_by_time(TreeIndex tree, std::array<std::uint8_t, kLeavesPerTree>& leaves) const;
  void touch_leaf(TreeIndex tree, unsigned leaf);

  EvictUnit unit_;
  bool follows_accesses_;
  TouchOrder order_;
  std::vector<LeafTimes> leaf_times_;  // by tree; unit kLeaf only
  std::uint64_t clock_ = 0;
};

/// The pages of the unit that may leave now; empty if it may not.
[[nodiscard]] PageSet evictable(const Tree& tree, const PageSet& unit, const EvictionRules& rules);
/// The first entry from `position` on that may leave.
[[nodiscard]] std::optional<Victim> first_evictable(const EvictionList& list, const PageTable& table,
                                                    const EvictionRules& rules, std::uint64_t position);

/// One policy. `choose` picks the pages that leave in one decision, or none if none may. The caller removes
/// them from list and tree.
struct EvictionPolicy {
  std::string_view name, help;
  EvictUnit unit = EvictUnit::kTree;
  bool follows_accesses = true;  // an access makes a unit the newest; false: only arriving pages do
  std::optional<Victim> (*choose)(const EvictionList& list, const PageTable& table,
                                  const EvictionRules& rules, Random& random);
};

/// All policies; a new one is a file evict_*.cpp and a line in evictor.cpp.
[[nodiscard]] std::span<const EvictionPolicy* const> evictors();
[[nodiscard]] std::span<const std::string_view> evictor_names();
/// Adds a policy, from a program that links the library; not owned. Throws UserError (registry.hpp).
void add_evictor(const EvictionPolicy& policy);

extern const EvictionPolicy kLruPage, kRandomPage, kSequentialLeaf, kTreeEvict, kLruTree, kLfuTree,
    kDriverChunk;

/// Chooses victims, removes them from list and tree (they no longer count and are marked as leaving) and
/// appends them as runs of consecutive pages, each one write-back. False if nothing may leave.
bool evict(const EvictionPolicy& policy, EvictionList& list, PageTable& table, const EvictionRules& rules,
           Random& random, std::vector<Run>& write_backs);

/// UVMSmart's condition for an eviction, all in pages.
/// `written`: staged or in flight to the host; `staged`: for the device.
[[nodiscard]] constexpr bool eviction_due(std::uint64_t written, std::uint64_t capacity, std::uint64_t free,
                                          std::uint64_t staged, unsigned free_buffer_percent) {
  return 100 * (written + free) < capacity * free_buffer_percent + 100 * staged;
}

}  // namespace lockstep::uvm
