// A set of small numbers against std::set.
#include "util/index_set.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <set>

namespace lockstep {

TEST_CASE("A set of numbers is what std::set is") {
  std::mt19937 random(7);
  for (const std::size_t limit : {1u, 2u, 63u, 64u, 65u, 200u}) {
    IndexSet set(limit);
    std::set<std::size_t> expected;
    for (int step = 0; step < 2000; ++step) {
      const std::size_t i = random() % limit;
      if (random() % 3 != 0) {
        set.insert(i);
        expected.insert(i);
      } else {
        set.erase(i);
        expected.erase(i);
      }
      REQUIRE(set.count() == expected.size());
      if (expected.empty()) continue;
      const std::size_t from = random() % limit;
      const auto next = expected.upper_bound(from);
      REQUIRE(set.next_after(from) == (next == expected.end() ? *expected.begin() : *next));
    }
    std::set<std::size_t> members;
    set.each([&](std::size_t i) {
      members.insert(i);
      set.erase(i);
    });
    CHECK(members == expected);
    CHECK(set.count() == 0);
  }
}

}  // namespace lockstep
