// Tags of a core's own cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "util/types.hpp"

namespace lockstep::net {

/// Set-associative with LRU replacement, lines of 128 bytes. Its contents are never modified: writes bypass
/// it.
class PrivateCache {
 public:
  PrivateCache(std::uint32_t bytes, std::uint32_t ways)
      : ways_(ways), sets_(std::max(1u, bytes / (ways * kLineBytes))), places_(std::size_t{sets_} * ways) {}

  /// Whether the line is there; if not, it replaces the least recently used one.
  [[nodiscard]] bool access(Address line) {
    const std::size_t first = line / kLineBytes % sets_ * ways_;
    std::size_t victim = first;
    ++clock_;
    for (std::size_t i = first; i < first + ways_; ++i) {
      if (places_[i].filled == fill_ && places_[i].line == line) {
        places_[i].used = clock_;
        return true;
      }
      const auto age = [&](std::size_t p) { return places_[p].filled == fill_ ? places_[p].used : 0; };
      if (age(i) < age(victim)) victim = i;
    }
    places_[victim] = {line, clock_, fill_};
    return false;
  }
  void empty() { ++fill_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(ways_), a.given(sets_), places_, clock_, fill_);
  }

 private:
  struct Place {
    Address line = 0;
    std::uint64_t used = 0, filled = 0;  // filled: 0 is none
  };
  std::uint32_t ways_, sets_;
  std::vector<Place> places_;
  std::uint64_t clock_ = 0, fill_ = 1;
};

}  // namespace lockstep::net
