// Least recently used.
#pragma once

#include <algorithm>

#include "mem/recency.hpp"

namespace lockstep::mem {

/// Exact: a word is the number of the place's last use.
class LruReplacement {
 public:
  /// `uses`: how many are distinguished before their numbers wrap around.
  explicit LruReplacement(std::uint32_t uses = kInFlight - 1) : last_use_(uses) {}

  void touch(RecencyWords& words, SetWays set, LineIndex index) {
    if (clock_ == last_use_) renumber(words, set.ways);
    words[index] = (words[index] & kInFlight) | clock_++;
  }
  void insert(RecencyWords& words, SetWays set, LineIndex index) { touch(words, set, index); }

  template <class May>
  [[nodiscard]] LineIndex choose(const RecencyWords& words, SetWays set, May&& may) const {
    LineIndex best = kNoLine;
    std::uint32_t oldest = kInFlight;
    for (LineIndex s = set.begin; s < set.begin + set.ways; ++s) {
      const std::uint32_t word = words[s] & ~kInFlight;
      if (word >= oldest || !may(s)) continue;
      oldest = word;
      best = s;
    }
    return best;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, clock_, a.given(last_use_));
  }

 private:
  /// The numbers of use have run out: they begin again, each set keeping its order.
  void renumber(RecencyWords& words, std::uint32_t ways) {
    std::vector<LineIndex> order(ways);
    for (LineIndex begin = 0; begin < words.size(); begin += ways) {
      for (std::uint32_t w = 0; w < ways; ++w) order[w] = begin + w;
      std::stable_sort(order.begin(), order.end(), [&](LineIndex a, LineIndex b) {
        return (words[a] & ~kInFlight) < (words[b] & ~kInFlight);
      });
      for (std::uint32_t w = 0; w < ways; ++w) {
        std::uint32_t& word = words[order[w]];
        if ((word & ~kInFlight) >= kFirstUse) word = (word & kInFlight) | (kFirstUse + w);
      }
    }
    clock_ = kFirstUse + ways;
  }

  std::uint32_t clock_ = kFirstUse, last_use_;
};

}  // namespace lockstep::mem
