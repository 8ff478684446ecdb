// Random, by a hash.
#pragma once

#include "mem/hash.hpp"
#include "mem/recency.hpp"

namespace lockstep::mem {

/// Chooses among the candidates with equal probability, by a hash of the set and of the number of lines that
/// the slice has allocated so far. A request that has to wait therefore chooses the same index again, however
/// often it retries.
class HashedRandomReplacement {
 public:
  void touch(RecencyWords& words, SetWays, LineIndex index) const {
    words[index] = (words[index] & kInFlight) | kFirstUse;
  }
  void insert(RecencyWords& words, SetWays set, LineIndex index) {
    ++taken_;
    touch(words, set, index);
  }

  template <class May>
  [[nodiscard]] LineIndex choose(const RecencyWords& words, SetWays set, May&& may) const {
    if (const LineIndex index = place_before_policy(words, set, may); index != kNoLine) return index;
    const LineIndex end = set.begin + set.ways;
    std::uint32_t candidates = 0;
    for (LineIndex s = set.begin; s < end; ++s) candidates += may(s);
    if (candidates == 0) return kNoLine;
    std::uint32_t skip = mix_below(taken_ << 32 | set.begin, candidates);
    for (LineIndex s = set.begin;; ++s)
      if (may(s) && skip-- == 0) return s;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, taken_);
  }

 private:
  std::uint64_t taken_ = 0;
};

}  // namespace lockstep::mem
