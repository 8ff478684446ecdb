#include "uvm/walk_pool.hpp"

#include <algorithm>

namespace lockstep::uvm {
namespace {

constexpr std::uint32_t kWalkCacheWays = 8;  // Mosaic simulator options, with its 64 entries

}  // namespace

WalkPool::WalkPool(const Parameters& p, const PageTable& table)
    : parameters_(&p),
      table_(&table),
      l2_({p.l2_tlb_entries, p.l2_tlb_ways}, {p.l2_tlb_large_entries, p.l2_tlb_large_ways}),
      cache_({}, {p.walk_cache_entries, kWalkCacheWays}) {
  for (std::uint32_t i = 0; i < p.walkers; ++i) walkers_.push(0);
}

void WalkPool::add(Cycle now, const Access& access) {
  const Place place{(*table_)[access.tree].id, access.page};
  Cycle ready = now;
  if (parameters_->l2_tlb_entries > 0) {
    ready += parameters_->l2_tlb_latency;
    if (l2_.lookup(place)) {
      ++l2_hits;
      heap_.push({ready, order_++, access});
      return;
    }
    ++l2_misses;
  }
  if (parameters_->merge_misses) {
    Cycle& end = shared_[page_key(access.tree, access.page)];
    if (end <= now) end = walk(ready, place);
    ready = std::max(ready, end);
  } else {
    ready = walk(ready, place);
  }
  heap_.push({ready, order_++, access});
}

Cycle WalkPool::walk(Cycle now, Place place) {
  ++walks;
  Cycle latency = Cycle{parameters_->walk_levels} * parameters_->walk_step;
  if (parameters_->walk_cache_entries > 0) {
    latency += parameters_->walk_cache_latency;
    if (cache_.lookup(place)) {
      ++cache_hits;
      latency = parameters_->walk_cache_latency + parameters_->walk_step;  // the last level only
    }
    cache_.insert(place, Granule::kTree);
  }
  if (walkers_.empty()) return now + latency;
  const Cycle end = std::max(now, walkers_.top()) + latency;
  walkers_.pop();
  walkers_.push(end);
  return end;
}

bool WalkPool::pop(Cycle now, Access& access) {
  if (next() > now) return false;
  access = heap_.top().access;
  heap_.pop();
  if (parameters_->merge_misses) {
    const auto it = shared_.find(page_key(access.tree, access.page));
    if (it != shared_.end() && it->second <= now) shared_.erase(it);
  }
  return true;
}

}  // namespace lockstep::uvm
