#include "mem/tag_array.hpp"

#include <algorithm>

namespace lockstep::mem {

std::optional<Slot> TagArray::victim(std::uint32_t set, bool far, std::uint32_t far_ways) const {
  const Slot begin = set * ways_, end = begin + ways_;
  if (far) {
    std::uint32_t copies = 0;
    for (Slot s = begin; s < end; ++s) copies += keys_[s] != 0 && lines_[s].far;
    far = copies >= far_ways;  // from here on: only a far copy may be replaced
  }
  Slot best = begin;
  std::uint32_t oldest = kInFlight;
  for (Slot s = begin; s < end; ++s) {
    if (used_[s] >= oldest || (far && !(keys_[s] != 0 && lines_[s].far))) continue;
    oldest = used_[s];
    best = s;
  }
  if (oldest == kInFlight) return std::nullopt;
  return best;
}

Slot TagArray::oldest_dirty(std::uint32_t set) const {
  const Slot begin = set * ways_, end = begin + ways_;
  Slot best = begin;
  std::uint32_t oldest = kInFlight;
  for (Slot s = begin; s < end; ++s) {
    if (!dirty_[s] || (used_[s] & ~kInFlight) >= oldest) continue;
    oldest = used_[s] & ~kInFlight;
    best = s;
  }
  return best;
}

/// The numbers of use have run out: they begin again, each set keeping its order.
void TagArray::renumber() {
  std::vector<Slot> order(ways_);
  for (std::uint32_t set = 0; set < sets_; ++set) {
    for (std::uint32_t w = 0; w < ways_; ++w) order[w] = set * ways_ + w;
    std::stable_sort(order.begin(), order.end(),
                     [&](Slot a, Slot b) { return (used_[a] & ~kInFlight) < (used_[b] & ~kInFlight); });
    for (std::uint32_t w = 0; w < ways_; ++w) {
      std::uint32_t& used = used_[order[w]];
      if ((used & ~kInFlight) >= kFirstUse) used = (used & kInFlight) | (kFirstUse + w);
    }
  }
  clock_ = kFirstUse + ways_;
}

}  // namespace lockstep::mem
