#include "uvm/evictions.hpp"

#include <utility>
#include <vector>

namespace lockstep::uvm {

void Evictions::note_oversubscription(std::uint64_t staged_before, std::uint64_t staged_now) {
  if (state_->oversubscribed || staged_now == staged_before || !due(0, staged_now)) return;
  state_->oversubscribed = state_->was_oversubscribed = true;
  state_->log.counters.oversubscribed = 1;
  apply_smart_choice();
}

bool Evictions::evict_with(const EvictionRules& rules, Cycle now) {
  apply_smart_choice();
  std::vector<Run> runs;
  if (!evict(*policy_, state_->residents, state_->table, rules, *random_, runs)) return false;
  ++state_->log.counters.evictions;
  for (const Run& run : runs) departures_->evict(run, droppable(run), now);
  state_->changed = true;
  return true;
}

void Evictions::evict_if_due(Cycle now) {
  if (state_->fruitless || !due(departures_->pages(), arrivals_->staged_pages())) return;
  state_->fruitless = !evict_with(rules(), now);
}

bool Evictions::evict_now(Cycle now) {
  if (evict_with(rules(), now)) return true;
  if (!evict_with({0, false}, now)) return false;
  ++state_->log.counters.forced_evictions;
  return true;
}

bool Evictions::droppable(const Run& run) const {
  const Tree& tree = state_->table[run.tree];
  switch (state_->parameters().clean_drop) {
    case CleanDrop::kReadOnlyTrees:  // meaningful for whole trees only (UVMSmart)
      return policy_->unit == EvictUnit::kTree && run.first == 0 && !tree.written;
    case CleanDrop::kClean:
      return (tree.dirty & run.set()).empty();
    default:
      return false;
  }
}

// --- The smart runtime ---

void Evictions::apply_smart_choice() {
  if (!state_->patterns) return;
  const SmartChoice choice = smart_choice(*state_->patterns);
  if (choice.tree_eviction && policy_ != &kTreeEvict) change_policy(kTreeEvict);
  if (choice.delayed) state_->remote.change_policy(kRemoteOversubscribed);
}

/// The units of the new list in the order of the old one.
void Evictions::change_policy(const EvictionPolicy& policy) {
  const PageTable& table = state_->table;
  EvictionList list(policy.unit, policy.follows_accesses);
  (void)state_->residents.walk(0, [&](TreeIndex tree, const PageSet& unit) {
    list.arrived(tree, unit & (table[tree].resident - table[tree].leaving));
    return false;
  });
  state_->residents = std::move(list);
  policy_ = &policy;
  ++state_->log.counters.policy_changes;
}

}  // namespace lockstep::uvm
