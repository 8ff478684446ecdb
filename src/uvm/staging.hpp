// From faults to transfers: which pages come, and how they are cut.
#pragma once

#include <vector>

#include "uvm/memory_state.hpp"
#include "uvm/prefetcher.hpp"
#include "uvm/random.hpp"

namespace lockstep::uvm {

/// By the prefetcher of the moment, advice and thrashing. Marks pages in the page table and takes no frames.
class Staging {
 public:
  /// `random`: shared with the evictors.
  Staging(MemoryState& state, Random& random) : state_(&state), random_(&random) {}

  /// Stages the transfers that a set of faults of one tree leads to. Where they would not fit the device at
  /// all, only the faulting pages, and no more than the device has frames. Returns those staged.
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
