#include "mem/tag_array.hpp"

#include <algorithm>

namespace lockstep::mem {
namespace {

std::optional<LineIndex> found(LineIndex index) {
  return index == kNoLine ? std::nullopt : std::optional(index);
}

}  // namespace

std::optional<LineIndex> TagArray::victim(std::uint32_t set, bool far, std::uint32_t far_ways,
                                          L2Placing placing) const {
  const SetWays places = places_of(set);
  if (!far && last_lines_ == 0) return found(choose(places, [&](LineIndex s) { return !in_flight(s); }));
  const bool to_be_last = placing.priority == L2Priority::kLast && !far;
  if (far) {
    std::uint32_t copies = 0;
    for (LineIndex s = places.begin; s < places.begin + ways_; ++s) copies += in_use(s) && lines_[s].far;
    far = copies >= far_ways;  // from here on: only a far copy may be replaced
  }
  const auto may = [&](LineIndex s) { return !in_flight(s) && !(far && !(in_use(s) && lines_[s].far)); };
  if (last_lines_ > 0) {
    const std::uint32_t last = last_in(set);
    const bool among_last = to_be_last && last > 0 && last >= placing.last_ways;
    const LineIndex index =
        choose(places, [&](LineIndex s) { return (last_[s] != 0) == among_last && may(s); });
    if (index != kNoLine) return index;
  }
  return found(choose(places, may));
}

std::optional<LineIndex> TagArray::next_dirty(std::uint32_t set, std::uint32_t limit) const {
  const SetWays places = places_of(set);
  if (last_lines_ == 0) return choose(places, [&](LineIndex s) { return dirty_[s] != 0; });
  const auto counts = [&](LineIndex s) { return dirty_[s] != 0 && last_[s] == 0; };
  std::uint32_t dirty = 0;
  for (LineIndex s = places.begin; s < places.begin + ways_; ++s) dirty += counts(s);
  if (dirty < limit) return std::nullopt;
  return choose(places, counts);
}

std::uint32_t TagArray::last_in(std::uint32_t set) const {
  if (last_lines_ == 0) return 0;
  std::uint32_t count = 0;
  for (LineIndex s = set * ways_; s < (set + 1) * ways_; ++s) count += last_[s];
  return count;
}

void TagArray::set_last(LineIndex index, bool last) {
  if (last_.empty()) last_.resize(recency_.size());
  last_lines_ = last_lines_ + (last ? 1 : 0) - last_[index];
  last_[index] = last ? 1 : 0;
}

/// A line that becomes one of those that leave last where these have all their ways: the one of them that the
/// policy would replace is like others from now on.
void TagArray::change_priority(LineIndex index, L2Placing placing) {
  const bool was_last = leaves_last(index);
  if (placing.priority == L2Priority::kFirst) {
    if (!was_last) return;
    set_last(index, false);
    recency_[index] = (recency_[index] & kInFlight) | kLeavesFirst;
    return;
  }
  touch(index);
  if (placing.priority == L2Priority::kNormal) {
    if (was_last) set_last(index, false);
    return;
  }
  if (was_last || lines_[index].far || placing.last_ways == 0) return;
  const std::uint32_t set = index / ways_;
  if (last_in(set) >= placing.last_ways)
    set_last(choose(places_of(set), [&](LineIndex s) { return last_[s] != 0; }), false);
  set_last(index, true);
}

/// Launches before and after a reset may run at the same time: those before it are behind by less than half
/// of the numbers.
void TagArray::reset_last(std::uint16_t resets) {
  if (static_cast<std::int16_t>(resets - resets_) < 0) return;
  resets_ = resets;
  std::ranges::fill(last_, std::uint8_t{0});
  last_lines_ = 0;
}

}  // namespace lockstep::mem
