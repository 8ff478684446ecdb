// In which order kernels access an allocation, judged by the 64 KiB blocks that are migrated for them
// (Ganguly et al., "Adaptive page migration ...", DATE 2021).
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "uvm/page_table.hpp"

namespace lockstep::uvm {

enum class AccessPattern : std::uint8_t {
  kNone,  // nothing has been migrated
  kLinear,
  kLinearReuse,
  kRandom,
  kRandomReuse,
  kMixed,
  kMixedReuse
};

/// The class of two kernels, or groups of kernels, together: equal classes stay; a class merged with the same
/// one with reuse gives the latter; linear merged with random is mixed, with reuse if either has it.
[[nodiscard]] AccessPattern merge(AccessPattern a, AccessPattern b);

/// Notified of every block in the order of staging, and of every kernel that begins. A kernel accesses an
/// allocation linearly if no block has a lower address than the one before, otherwise randomly; with reuse if
/// a block was staged before, in this kernel or an earlier one.
class AccessPatterns {
 public:
  explicit AccessPatterns(std::size_t allocations) : allocations_(allocations) {}

  /// There are `allocations` now, no fewer than before.
  void grow(std::size_t allocations) { allocations_.resize(allocations); }
  void kernel_begins();
  /// `block`: counted from the start of the allocation, in units of 64 KiB.
  void staged(std::size_t allocation, std::uint64_t block);
  /// The pattern of all kernels so far, including the running one.
  [[nodiscard]] AccessPattern of(std::size_t allocation) const;
  [[nodiscard]] std::size_t allocations() const { return allocations_.size(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, allocations_);
  }

 private:
  struct State {
    AccessPattern before = AccessPattern::kNone;  // of the kernels that have ended
    std::unordered_set<std::uint64_t> seen;       // blocks; never iterated
    std::uint64_t last = 0;
    bool any = false, random = false, reuse = false;  // of the running kernel
    template <class A>
    void persist(A& a) {
      a.members(*this, before, seen, last, any, random, reuse);
    }
  };
  [[nodiscard]] static AccessPattern of_kernel(const State& state);
  std::vector<State> allocations_;
};

/// What the smart runtime changes, permanently.
struct SmartChoice {
  bool tree_eviction = false;  // the evictor becomes tbn
  bool delayed = false;        // remote access becomes `oversubscribed`
};
/// If any allocation is not linear: both; otherwise, if any has reuse: the evictor; otherwise nothing.
[[nodiscard]] SmartChoice smart_choice(const AccessPatterns& patterns);

}  // namespace lockstep::uvm
