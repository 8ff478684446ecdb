// From faults to transfers: which pages are fetched, and in which pieces.
#pragma once

#include <vector>

#include "uvm/memory_state.hpp"
#include "uvm/prefetcher.hpp"
#include "uvm/random.hpp"

namespace lockstep::uvm {

/// Applies the current prefetcher, advice and thrashing. Marks pages in the page table; takes no frames.
class Staging {
 public:
  /// `random`: shared with the evictors.
  Staging(MemoryState& state, Random& random) : state_(&state), random_(&random) {}

  /// Stages the transfers for a set of faults of one tree. If they could not fit the device even when it is
  /// empty, only the faulting pages, and no more than the device has frames. Returns those staged.
  std::vector<Transfer> stage(TreeIndex tree, const PageSet& faults, CutRule rule);

 private:
  [[nodiscard]] const PrefetchPolicy& prefetcher() const;
  [[nodiscard]] PrefetchContext context(TreeIndex tree, const PageSet& faults);
  [[nodiscard]] bool fits(const std::vector<Transfer>& transfers, bool together) const;
  void note_pattern(const std::vector<Transfer>& transfers);

  MemoryState* state_;
  Random* random_;
};

}  // namespace lockstep::uvm
