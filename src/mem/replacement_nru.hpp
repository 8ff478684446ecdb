// Not recently used: one reference bit for each place.
#pragma once

#include "mem/recency.hpp"

namespace lockstep::mem {

/// A use sets the place's bit; where that sets the last one of the set, the others are cleared (the variant
/// that is also known as bit-PLRU). The first place without the bit goes, or the first of those in question
/// where all have it.
class NruReplacement {
 public:
  void touch(RecencyWords& words, SetWays set, LineIndex index) const {
    words[index] = (words[index] & kInFlight) | kReferenced;
    const LineIndex end = set.begin + set.ways;
    for (LineIndex s = set.begin; s < end; ++s)
      if ((words[s] & ~kInFlight) != kReferenced) return;
    for (LineIndex s = set.begin; s < end; ++s)
      if (s != index) words[s] = (words[s] & kInFlight) | kFirstUse;
  }
  void insert(RecencyWords& words, SetWays set, LineIndex index) const { touch(words, set, index); }

  template <class May>
  [[nodiscard]] LineIndex choose(const RecencyWords& words, SetWays set, May&& may) const {
    if (const LineIndex index = place_before_policy(words, set, may); index != kNoLine) return index;
    LineIndex first = kNoLine;
    for (LineIndex s = set.begin; s < set.begin + set.ways; ++s) {
      if (!may(s)) continue;
      if ((words[s] & ~kInFlight) != kReferenced) return s;
      if (first == kNoLine) first = s;
    }
    return first;
  }

 private:
  static constexpr std::uint32_t kReferenced = kFirstUse + 1;
};

}  // namespace lockstep::mem
