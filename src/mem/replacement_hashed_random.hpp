// Random, by a hash.
#pragma once

#include "mem/hash.hpp"
#include "mem/recency.hpp"

namespace lockstep::mem {

/// Chooses among the candidates with equal probability, by a hash of the set and of the number of lines that
/// the slice has allocated so far. A request that has to wait therefore chooses the same slot again, however
/// often it retries.
class HashedRandomReplacement {
 public:
  void touch(RecencyWords& words, SetPlaces, Slot slot) const {
    words[slot] = (words[slot] & kInFlight) | kFirstUse;
  }
  void insert(RecencyWords& words, SetPlaces set, Slot slot) {
    ++taken_;
    touch(words, set, slot);
  }

  template <class May>
  [[nodiscard]] Slot choose(const RecencyWords& words, SetPlaces set, May&& may) const {
    if (const Slot slot = place_before_policy(words, set, may); slot != kNoSlot) return slot;
    const Slot end = set.begin + set.ways;
    std::uint32_t candidates = 0;
    for (Slot s = set.begin; s < end; ++s) candidates += may(s);
    if (candidates == 0) return kNoSlot;
    std::uint32_t skip = mix_below(taken_ << 32 | set.begin, candidates);
    for (Slot s = set.begin;; ++s)
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
