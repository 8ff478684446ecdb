#include "cuda/managed_advice.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace lockstep::cuda {

void ManagedAdvice::note(Address begin, std::uint64_t bytes, Kind kind, int place) {
  notes_.push_back({begin, begin + bytes, kind, place});
}

void ManagedAdvice::forget(Address begin, std::uint64_t bytes) {
  std::erase_if(notes_, [&](const Note& n) { return n.begin < begin + bytes && begin < n.end; });
}

Advised ManagedAdvice::at(Address address) const {
  Advised now;
  for (const Note& n : notes_) {
    if (address < n.begin || address >= n.end) continue;
    if (n.kind == kSetReadMostly || n.kind == kUnsetReadMostly) now.read_mostly = n.kind == kSetReadMostly;
    if (n.kind == kSetPreferred) now.preferred = n.place;
    if (n.kind == kUnsetPreferred) now.preferred = kNoPlace;
    if (n.kind == kSetAccessedBy) now.accessed_by.insert(n.place);
    if (n.kind == kUnsetAccessedBy) now.accessed_by.erase(n.place);
    if (n.kind == kPrefetch) now.prefetched = n.place;
  }
  return now;
}

/// Between two neighbouring ends of notes nothing changes.
Advised ManagedAdvice::of(Address begin, std::uint64_t bytes) const {
  std::set<Address> changes;
  for (const Note& n : notes_)
    for (const Address end : {n.begin, n.end})
      if (end > begin && end < begin + bytes) changes.insert(end);
  Advised all = at(begin);
  for (const Address address : changes) {
    const Advised part = at(address);
    all.read_mostly = all.read_mostly && part.read_mostly;
    if (part.preferred != all.preferred) all.preferred = kNoPlace;
    if (part.prefetched != all.prefetched) all.prefetched = kNoPlace;
    std::set<int> both;
    std::ranges::set_intersection(all.accessed_by, part.accessed_by, std::inserter(both, both.end()));
    all.accessed_by = std::move(both);
  }
  return all;
}

}  // namespace lockstep::cuda
