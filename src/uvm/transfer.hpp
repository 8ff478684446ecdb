// Transfers over the host link, and how a set of pages is divided into them (UVMSmart, driver).
#pragma once

#include <cstdint>
#include <vector>

#include "uvm/page_set.hpp"
#include "uvm/page_table.hpp"

namespace lockstep::uvm {

/// Consecutive pages of one tree.
struct Run {
  TreeIndex tree = 0;
  std::uint16_t first = 0, pages = 0;
  [[nodiscard]] std::uint64_t bytes() const { return std::uint64_t{pages} * kPageBytes; }
  [[nodiscard]] PageSet set() const { return PageSet::range(first, pages); }
  friend bool operator==(const Run&, const Run&) = default;
};

/// One transfer to the device.
struct Transfer {
  Run run;
  bool faulted = false;  // ends with a faulting page ("page-fault group"), otherwise a prefetch group
};

enum class CutRule : std::uint8_t {
  kAfterEachFault,  // UVMSmart: before each gap and after each faulting page
  kAtCauseChange    // driver: before each gap, and between faulting pages and prefetched ones
};

/// Appends the transfers that move `list`, ascending. `faults`: those of the tree in this set of faults.
void cut(TreeIndex tree, const PageSet& list, const PageSet& faults, CutRule rule,
         std::vector<Transfer>& transfers);

}  // namespace lockstep::uvm
