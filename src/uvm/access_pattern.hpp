// How kernels walk over an allocation, seen from the 64 KB blocks that are brought for them (Ganguly et al.,
// "Adaptive page migration ...", DATE 2021).
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "uvm/page_table.hpp"

namespace lockstep::uvm {

enum class AccessPattern : std::uint8_t {
  kNone,  // nothing has been brought
  kLinear,
  kLinearReuse,
  kRandom,
  kRandomReuse,
  kMixed,
  kMixedReuse
};

/// What is known after two kernels, or two groups of kernels: equal classes stay; linear or random with the
/// same and reuse is that with reuse; linear with random is mixed, with reuse where either has it.
[[nodiscard]] AccessPattern merge(AccessPattern a, AccessPattern b);

/// Notified of every block in the order of staging, and of every kernel that begins. A kernel's
/// blocks of an allocation are linear when none has a lower address than the one before, else random; with
/// reuse when a block came before, in this kernel or an earlier one.
class AccessPatterns {
 public:
  explicit AccessPatterns(std::size_t allocations) : allocations_(allocations) {}

  /// There are `allocations` now, no fewer than before.
  void grow(std::size_t allocations) { allocations_.resize(allocations); }
  void kernel_begins();
  /// `block`: counted from the start of the allocation, in units of 64 KB.
  void staged(std::size_t allocation, std::uint64_t block);
  /// That of all kernels so far, including the running one.
  [[nodiscard]] AccessPattern of(std::size_t allocation) const;
  [[nodiscard]] std::size_t allocations() const { return allocations_.size(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, allocations_);
  }

 private:
  struct State {
    AccessPattern before = AccessPattern::kNone;  // of the kernels that have ended
    std::unordered_set<std::uint64_t> seen;       // blocks; never walked over
    std::uint64_t last = 0;
    bool any = false, random = false, reuse = false;  // of the kernel that runs
    template <class A>
    void persist(A& a) {
      a.members(*this, before, seen, last, any, random, reuse);
    }
  };
  [[nodiscard]] static AccessPattern of_kernel(const State& state);
  std::vector<State> allocations_;
};

/// What the smart runtime changes, once and for all.
struct SmartChoice {
  bool tree_eviction = false;  // the evictor becomes tbn
  bool delayed = false;        // remote access becomes `oversubscribed`
};
/// Any allocation that is not linear: both; else any with reuse: the evictor; else nothing.
[[nodiscard]] SmartChoice smart_choice(const AccessPatterns& patterns);

}  // namespace lockstep::uvm
