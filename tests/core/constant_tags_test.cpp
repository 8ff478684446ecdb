// Tags of a constant cache against lists in the order of use.
#include "core/constant_tags.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <random>
#include <vector>

using lockstep::Address;
using lockstep::Cycle;
using lockstep::core::ConstantTags;

namespace {

struct KnownConstant {
  Address line;
  Cycle ready;
};

}  // namespace

TEST_CASE("constant tags: least recently used of four ways, and the time of a line's data stays with it") {
  struct Shape {
    std::uint32_t lines, sets, ways;
  };
  // A size that four ways do not divide has the sets that fit whole; below four lines, it has as many ways.
  for (const Shape& shape : {Shape{1, 1, 1}, {3, 1, 3}, {4, 1, 4}, {18, 4, 4}, {32, 8, 4}, {0, 1, 1}}) {
    ConstantTags tags(shape.lines);
    std::vector<std::list<KnownConstant>> sets(shape.sets);
    std::mt19937 random(shape.lines);
    for (Cycle now = 1; now < 10'000; ++now) {
      const Address line = random() % (3 * shape.sets * shape.ways);
      auto& set = sets[line % shape.sets];
      const auto at = std::ranges::find(set, line, &KnownConstant::line);
      const ConstantTags::Lookup got = tags.lookup(line);
      if (at != set.end()) {
        REQUIRE(got.found == ConstantTags::Found::kLine);
        REQUIRE(*got.ready == at->ready);
        set.splice(set.begin(), set, at);
        continue;
      }
      const bool room = set.size() < shape.ways;
      REQUIRE(got.found == (room ? ConstantTags::Found::kFreeWay : ConstantTags::Found::kOther));
      REQUIRE(*got.ready == 0);
      *got.ready = now;
      if (!room) set.pop_back();
      set.push_front({line, now});
    }
  }
}

TEST_CASE("constant tags: a cleared cache has no line, not even the one numbered 0") {
  ConstantTags tags(8);
  CHECK(tags.lookup(0).found == ConstantTags::Found::kFreeWay);
  CHECK(tags.lookup(0).found == ConstantTags::Found::kLine);
  *tags.lookup(0).ready = 77;
  tags.clear();
  const ConstantTags::Lookup again = tags.lookup(0);
  CHECK(again.found == ConstantTags::Found::kFreeWay);
  CHECK(*again.ready == 0);
}
