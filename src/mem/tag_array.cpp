#include "mem/tag_array.hpp"

namespace lockstep::mem {

std::optional<LineIndex> TagArray::victim(std::uint32_t set, bool far, std::uint32_t far_ways) const {
  const SetPlaces places = places_of(set);
  if (far) {
    std::uint32_t copies = 0;
    for (LineIndex s = places.begin; s < places.begin + ways_; ++s) copies += keys_[s] != 0 && lines_[s].far;
    far = copies >= far_ways;  // from here on: only a far copy may be replaced
  }
  const auto may = [&](LineIndex s) {
    return !(recency_[s] & kInFlight) && !(far && !(keys_[s] != 0 && lines_[s].far));
  };
  const LineIndex index = choose(places, may);
  if (index == kNoLine) return std::nullopt;
  return index;
}

LineIndex TagArray::next_dirty(std::uint32_t set) const {
  return choose(places_of(set), [&](LineIndex s) { return dirty_[s] != 0; });
}

}  // namespace lockstep::mem
