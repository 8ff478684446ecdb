// First in, first out: uses after the first one do not count.
#pragma once

#include "mem/recency.hpp"

namespace lockstep::mem {

/// A word is the number of the line's arrival.
class FifoReplacement {
 public:
  void touch(RecencyWords&, SetWays, LineIndex) const {}
  void insert(RecencyWords& words, SetWays, LineIndex index) {
    words[index] = (words[index] & kInFlight) | (kFirstUse + arrivals_++);
  }

  template <class May>
  [[nodiscard]] LineIndex choose(const RecencyWords& words, SetWays set, May&& may) const {
    LineIndex first = kNoLine;
    std::uint32_t earliest = kInFlight;
    for (LineIndex s = set.begin; s < set.begin + set.ways; ++s) {
      const std::uint32_t word = words[s] & ~kInFlight;
      if (word >= earliest || !may(s)) continue;
      earliest = word;
      first = s;
    }
    return first;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, arrivals_);
  }

 private:
  std::uint32_t arrivals_ = 0;
};

}  // namespace lockstep::mem
