#include "uvm/tlb.hpp"

#include <algorithm>
#include <bit>

namespace lockstep::uvm {

std::uint32_t Tlb::invalidate(TreeId tree, std::uint32_t first, std::uint32_t pages) {
  std::uint32_t removed = 0;
  const auto drop = [&](Array& array, std::uint32_t page, Granule g) {
    removed += array.remove(key({tree, page}, g)) ? 1 : 0;
  };
  for (std::uint32_t p = first; p < first + pages; ++p) {
    drop(base_, p, Granule::kPage);
    if (p == first || p % kPagesPerLeaf == 0) drop(base_, p, Granule::kLeaf);
  }
  drop(large_, first, Granule::kTree);
  return removed;
}

Tlb::Array::Array(Shape shape) {
  if (shape.entries == 0) return;
  ways_ = std::clamp(shape.ways, 1u, shape.entries);
  const std::uint32_t sets = shape.entries / ways_;
  entries_.resize(std::size_t{sets} * ways_);
  sets_.resize(sets);
  buckets_.assign(std::bit_ceil(entries_.size() * 2), kNone);
  (void)clear();
}

/// Consecutive pages go to consecutive sets.
std::uint32_t Tlb::Array::set_of(std::uint64_t key) const {
  return static_cast<std::uint32_t>((key + (key >> 10)) % sets_.size());
}

std::uint32_t Tlb::Array::find(std::uint64_t key) const {
  if (entries_.empty()) return kNone;
  std::uint32_t e = buckets_[bucket(key)];
  while (e != kNone && entries_[e].key != key) e = entries_[e].chain;
  return e;
}

void Tlb::Array::unlink(std::uint32_t e) {
  Entry& entry = entries_[e];
  Set& set = sets_[e / ways_];
  (entry.newer == kNone ? set.newest : entries_[entry.newer].older) = entry.older;
  (entry.older == kNone ? set.oldest : entries_[entry.older].newer) = entry.newer;
}

void Tlb::Array::link_newest(std::uint32_t e) {
  Set& set = sets_[e / ways_];
  entries_[e].newer = kNone;
  entries_[e].older = set.newest;
  (set.newest == kNone ? set.oldest : entries_[set.newest].newer) = e;
  set.newest = e;
}

void Tlb::Array::link_oldest(std::uint32_t e) {
  Set& set = sets_[e / ways_];
  entries_[e].older = kNone;
  entries_[e].newer = set.oldest;
  (set.oldest == kNone ? set.newest : entries_[set.oldest].older) = e;
  set.oldest = e;
}

void Tlb::Array::leave_bucket(std::uint32_t e) {
  std::uint32_t* link = &buckets_[bucket(entries_[e].key)];
  while (*link != e) link = &entries_[*link].chain;
  *link = entries_[e].chain;
}

bool Tlb::Array::touch(std::uint64_t key) {
  const std::uint32_t e = find(key);
  if (e == kNone) return false;
  unlink(e);
  link_newest(e);
  return true;
}

bool Tlb::Array::insert(std::uint64_t key) {
  if (entries_.empty() || touch(key)) return false;
  const std::uint32_t e = sets_[set_of(key)].oldest;
  const bool leaves = entries_[e].valid;
  if (leaves) leave_bucket(e);
  size_ += leaves ? 0 : 1;
  unlink(e);
  link_newest(e);
  entries_[e].key = key;
  entries_[e].valid = true;
  entries_[e].chain = buckets_[bucket(key)];
  buckets_[bucket(key)] = e;
  return leaves;
}

bool Tlb::Array::remove(std::uint64_t key) {
  const std::uint32_t e = find(key);
  if (e == kNone) return false;
  leave_bucket(e);
  unlink(e);
  link_oldest(e);
  entries_[e].valid = false;
  entries_[e].key = ~std::uint64_t{0};
  --size_;
  return true;
}

std::uint32_t Tlb::Array::clear() {
  const std::uint32_t removed = size_;
  size_ = 0;
  std::fill(buckets_.begin(), buckets_.end(), kNone);
  std::fill(sets_.begin(), sets_.end(), Set{});
  for (std::uint32_t e = 0; e < entries_.size(); ++e) {
    entries_[e] = {};
    link_newest(e);
  }
  return removed;
}

}  // namespace lockstep::uvm
