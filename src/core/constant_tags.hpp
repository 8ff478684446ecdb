// The tags of one level of constant cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "util/types.hpp"

namespace lockstep::core {

/// Set-associative with LRU replacement, any number of sets. Ways: assumed, nothing is published.
class ConstantTags {
 public:
  static constexpr std::uint32_t kWays = 4;
  enum class Found : std::uint8_t { kLine, kFreeWay, kOther };

  explicit ConstantTags(std::uint32_t lines)
      : ways_(std::clamp(lines, 1u, kWays)), sets_(std::max(1u, lines / ways_)) {
    places_.resize(std::size_t{sets_} * ways_);
  }

  /// A line's place, and from which cycle its data are there.
  struct Lookup {
    Found found;
    Cycle* ready;
  };
  /// Finds the line, which is the most recently used of its set from now on, in place of the least recently
  /// used one where it was not there. `line`: a number, address / bytes of a line.
  [[nodiscard]] Lookup lookup(Address line) {
    Place* const first = &places_[line % sets_ * ways_];
    Place* victim = first;
    for (Place* p = first; p != first + ways_; ++p) {
      if (p->line == line && p->used != 0) {
        p->used = ++clock_;
        return {Found::kLine, &p->ready};
      }
      if (p->used < victim->used) victim = p;
    }
    const Found found = victim->used == 0 ? Found::kFreeWay : Found::kOther;
    *victim = {line, 0, ++clock_};
    return {found, &victim->ready};
  }

  void clear() { std::fill(places_.begin(), places_.end(), Place{}); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(ways_), a.given(sets_), places_, clock_);
  }

 private:
  struct Place {
    Address line = 0;
    Cycle ready = 0;
    std::uint64_t used = 0;  // 0: free
    template <class A>
    void persist(A& a) {
      a.members(*this, line, ready, used);
    }
  };

  std::uint32_t ways_, sets_;
  std::vector<Place> places_;
  std::uint64_t clock_ = 0;
};

}  // namespace lockstep::core
