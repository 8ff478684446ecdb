// Tags of instruction caches against a plain model of exact LRU.
#include "core/line_tags.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

using lockstep::core::LineTags;

namespace {

/// A list for each set, most recently used first.
class Model {
 public:
  Model(std::uint32_t lines, std::uint32_t ways) : ways_(ways), sets_(lines / ways) {}
  bool touch(std::uint32_t line) {
    auto& set = sets_[line % sets_.size()];
    const auto at = std::find(set.begin(), set.end(), line);
    if (at == set.end()) return false;
    std::rotate(set.begin(), at, at + 1);
    return true;
  }
  void insert(std::uint32_t line) {
    auto& set = sets_[line % sets_.size()];
    if (std::find(set.begin(), set.end(), line) != set.end()) return;  // keeps its position
    set.insert(set.begin(), line);
    if (set.size() > ways_) set.pop_back();
  }

 private:
  std::size_t ways_;
  std::vector<std::vector<std::uint32_t>> sets_;
};

}  // namespace

TEST_CASE("line tags are exact LRU for any number of sets") {
  std::mt19937 random(3);
  for (const auto& [lines, ways] : {std::pair{96u, 4u}, {12u, 3u}, {8u, 8u}, {5u, 1u}, {256u, 4u}}) {
    LineTags tags(lines, ways);
    Model model(lines, ways);
    unsigned hits = 0;
    for (int i = 0; i < 20000; ++i) {
      // Neighbours, and lines that lie far apart and share a hint.
      const auto line =
          static_cast<std::uint32_t>(random() % (2 * lines) + (random() % 4 == 0 ? 64 * lines : 0));
      if (random() % 3 == 0) {
        tags.insert(line);
        model.insert(line);
        continue;
      }
      const bool there = model.touch(line);
      REQUIRE(tags.touch(line) == there);
      hits += there;
    }
    CHECK(hits > 1000);
  }
}
