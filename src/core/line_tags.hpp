// A set-associative array of line tags with LRU replacement, for instruction caches.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace lockstep::core {

/// Lines are numbers (address / line size), never kNoLine. Any number of sets.
class LineTags {
 public:
  static constexpr std::uint32_t kNoLine = 0xffffffff;

  LineTags(std::uint32_t lines, std::uint32_t ways)
      : ways_(std::max(1u, std::min(ways, lines))), sets_(std::max(1u, lines / ways_)) {
    tags_.assign(std::size_t{sets_} * ways_, kNoLine);
    used_.assign(tags_.size(), 0);
  }

  /// True when the line is there; it becomes the most recently used of its set.
  [[nodiscard]] bool touch(std::uint32_t line) {
    std::uint32_t& place = hints_[line % kHints];
    if (tags_[place] != line) {
      const std::uint32_t first = line % sets_ * ways_;
      std::uint32_t i = first;
      while (i < first + ways_ && tags_[i] != line) ++i;
      if (i == first + ways_) return false;
      place = i;
    }
    used_[place] = ++clock_;
    return true;
  }

  /// Puts the line in place of the least recently used of its set.
  void insert(std::uint32_t line) {
    const std::size_t first = std::size_t{line % sets_} * ways_;
    std::size_t victim = first;
    for (std::size_t i = first; i < first + ways_; ++i) {
      if (tags_[i] == line) return;
      if (used_[i] < used_[victim]) victim = i;
    }
    tags_[victim] = line;
    used_[victim] = ++clock_;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(ways_), a.given(sets_), hints_, tags_, used_, clock_);
  }

 private:
  static constexpr std::uint32_t kHints = 64;

  std::uint32_t ways_, sets_;
  std::array<std::uint32_t, kHints> hints_{};  // by line: where it was last, to be looked at first
  std::vector<std::uint32_t> tags_;
  std::vector<std::uint64_t> used_;
  std::uint64_t clock_ = 0;
};

}  // namespace lockstep::core
