// What replacement policies know of a line's place: one word.
#pragma once

#include <cstdint>

#include "util/aligned.hpp"

namespace lockstep::mem {

/// Index of a line's place in the slice: set * ways + way.
using LineIndex = std::uint32_t;
inline constexpr LineIndex kNoLine = 0xffffffff;

/// A word for each place. 0: unused; kLeavesFirst: its line leaves before all others of its set; from
/// kFirstUse on it is the policy's own. kInFlight may be set beside any of them. Those of 16 ways are a line
/// of the host's cache.
using RecencyWords = AlignedVector<std::uint32_t>;
inline constexpr std::uint32_t kLeavesFirst = 1, kFirstUse = 2, kInFlight = 0x80000000;

/// The ways of a set.
struct SetWays {
  LineIndex begin = 0;
  std::uint32_t ways = 0;
};

/// The place that goes whatever the policy: an unused one, else one that leaves first; kNoLine. may(index):
/// whether it is in question.
template <class May>
[[nodiscard]] LineIndex place_before_policy(const RecencyWords& words, SetWays set, May&& may) {
  LineIndex found = kNoLine;
  std::uint32_t least = kFirstUse;
  for (LineIndex s = set.begin; s < set.begin + set.ways; ++s) {
    const std::uint32_t word = words[s] & ~kInFlight;
    if (word >= least || !may(s)) continue;
    least = word;
    found = s;
  }
  return found;
}

}  // namespace lockstep::mem
