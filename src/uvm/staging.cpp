#include "uvm/staging.hpp"

#include <algorithm>

namespace lockstep::uvm {

const PrefetchPolicy& Staging::prefetcher() const {
  const Parameters& p = state_->parameters();
  // The smart runtime looks at its policies instead.
  const bool other = state_->was_oversubscribed && !p.smart_runtime;
  return *prefetchers()[other ? p.prefetcher_oversubscribed : p.prefetcher];
}

std::vector<Transfer> Staging::stage(TreeIndex index, const PageSet& faults, CutRule rule) {
  PrefetchContext with = context(index, faults);
  const bool together = rule == CutRule::kAtCauseChange;  // all of them need frames at once
  const Tree before = state_->table[index];
  std::vector<Transfer> transfers;
  stage_faults(prefetcher(), state_->table, index, faults, rule, with, transfers);
  if (!fits(transfers, together)) {
    PageSet some;
    unsigned taken = 0;
    faults.for_each([&](unsigned page) {
      if (!together || taken++ < state_->frames.all()) some.insert(page);
    });
    state_->table[index] = before;
    transfers.clear();
    with.along = {};
    stage_faults(kNoPrefetch, state_->table, index, some, rule, with, transfers);
  }
  note_pattern(transfers);
  return transfers;
}

bool Staging::fits(const std::vector<Transfer>& transfers, bool together) const {
  std::uint64_t largest = 0, sum = 0;
  for (const Transfer& t : transfers) {
    largest = std::max<std::uint64_t>(largest, t.run.pages);
    sum += t.run.pages;
  }
  return (together ? sum : largest) <= state_->frames.all();
}

/// The driver brings all of a block that prefers the device with its first page.
PrefetchContext Staging::context(TreeIndex index, const PageSet& faults) {
  const Parameters& p = state_->parameters();
  PrefetchContext context{*random_, p.prefetch_threshold};
  context.barred = state_->remote.barred(index);
  context.count_leaving = p.early_reuse;
  const Tree& tree = state_->table[index];
  const PageSet preferred = state_->remote.advice.of(index).prefer_device & tree.all();
  if ((faults & preferred).empty() || !(tree.resident & preferred).empty()) return context;
  if (p.fault_mode == FaultMode::kDriver) context.along = preferred;
  return context;
}

/// For the smart runtime (UVMSmart).
void Staging::note_pattern(const std::vector<Transfer>& transfers) {
  if (!state_->patterns || transfers.empty()) return;
  PageSet pages;
  for (const Transfer& t : transfers) pages |= t.run.set();
  const AddressSpace& space = state_->table.space();
  const TreeId id = state_->table[transfers.front().run.tree].id;
  const std::size_t allocation = space.owner(id);
  const std::uint64_t base = (id - space.allocations()[allocation].first_tree) * kLeavesPerTree;
  for (unsigned leaf = 0; leaf < kLeavesPerTree; ++leaf)
    if (pages.in_leaf(leaf) > 0) state_->patterns->staged(allocation, base + leaf);
}

}  // namespace lockstep::uvm
