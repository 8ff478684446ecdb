// A set-associative array of line tags with LRU replacement, for instruction caches.
#pragma once

#include <algorithm>
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
    const std::size_t first = std::size_t{line % sets_} * ways_;
    for (std::size_t i = first; i < first + ways_; ++i)
      if (tags_[i] == line) {
        used_[i] = ++clock_;
        return true;
      }
    return false;
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

 private:
  std::uint32_t ways_, sets_;
  std::vector<std::uint32_t> tags_;
  std::vector<std::uint64_t> used_;
  std::uint64_t clock_ = 0;
};

}  // namespace lockstep::core
