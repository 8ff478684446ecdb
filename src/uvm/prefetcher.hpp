// Prefetchers: which further pages are fetched when some pages of a tree fault.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "uvm/page_table.hpp"
#include "uvm/random.hpp"
#include "uvm/transfer.hpp"

namespace lockstep::uvm {

struct PrefetchContext {
  Random& random;
  unsigned threshold_percent = 51;  // of the driver's rule (uvm_perf_prefetch_threshold)
  PageSet barred = {};              // never fetched along: stage_faults() removes them
  PageSet along = {};               // always fetched along, whatever the policy says
  /// UVMSmart: pages that the policy names while they wait for their write-back count as if they were
  /// fetched, and continue to count when they have left, until they fault.
  bool count_leaving = false;
};

/// One policy. `choose` appends lists of pages, each to be divided into transfers by itself; together they
/// contain every faulting page. `faults`: pages of the tree that fault in one cycle (UVMSmart) or in one
/// batch (driver), not empty, none resident or incoming. Lists may name pages that are resident, incoming or
/// leaving: the caller removes those. The tree is as it was before the faults. Deterministic: the only source
/// of random numbers is the context's.
struct PrefetchPolicy {
  std::string_view name, help;
  void (*choose)(const Tree& tree, const PageSet& faults, PrefetchContext& context,
                 std::vector<PageSet>& lists);
};

/// All policies; the configuration selects one by name. A new one is a file prefetch_*.cpp and a line in
/// prefetcher.cpp.
[[nodiscard]] std::span<const PrefetchPolicy* const> prefetchers();
[[nodiscard]] std::span<const std::string_view> prefetcher_names();
/// Adds a policy, from a program that links the library; not owned. Throws UserError (registry.hpp).
void add_prefetcher(const PrefetchPolicy& policy);

extern const PrefetchPolicy kNoPrefetch, kRandomPrefetch, kSequentialPrefetch, kLocalityPrefetch,
    kTreePrefetch, kDriverPrefetch;

/// Calls the policy, marks the pages as incoming and counted (at staging time, not at arrival), and appends
/// the transfers in the order in which they are staged.
void stage_faults(const PrefetchPolicy& policy, PageTable& table, TreeIndex tree, const PageSet& faults,
                  CutRule rule, PrefetchContext& context, std::vector<Transfer>& transfers);

}  // namespace lockstep::uvm
