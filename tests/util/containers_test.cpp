// The ring and the table of requests against the containers of the standard library.
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <random>
#include <stdexcept>

#include "util/request_table.hpp"
#include "util/ring.hpp"

namespace lockstep {

TEST_CASE("a ring holds what a deque holds, however it grows and wraps around") {
  std::mt19937 random(1);
  for (const std::size_t capacity : {1u, 2u, 16u}) {
    Ring<int> ring(capacity);
    std::deque<int> deque;
    for (int step = 0; step < 5000; ++step) {
      const bool push = deque.empty() || random() % 100 < (step / 500 % 2 ? 40u : 60u);
      if (push) {
        ring.push(step);
        deque.push_back(step);
      } else {
        ring.pop();
        deque.pop_front();
      }
      REQUIRE(ring.size() == deque.size());
      REQUIRE(ring.empty() == deque.empty());
      if (deque.empty()) continue;
      REQUIRE(ring.front() == deque.front());
      const std::size_t any = random() % deque.size();
      REQUIRE(ring[any] == deque[any]);
      if (random() % 8 == 0) ring[any] = deque[any] = -step;
    }
  }
}

TEST_CASE(
    "requests in flight have different numbers, and those that are free are the first to be used again") {
  std::mt19937 random(2);
  RequestTable<int> table;
  std::map<std::uint32_t, int> flying;
  std::size_t most = 0;
  for (int step = 0; step < 5000; ++step) {
    if (flying.empty() || random() % 2) {
      const std::uint32_t number = table.add(step);
      REQUIRE(flying.emplace(number, step).second);
      most = std::max(most, flying.size());
      REQUIRE(number < most);  // no more numbers than were ever in flight together
    } else {
      auto one = std::next(flying.begin(), static_cast<std::ptrdiff_t>(random() % flying.size()));
      REQUIRE(table.at(one->first) == one->second);
      table.free(one->first);
      REQUIRE_THROWS_AS(table.at(one->first), std::logic_error);
      flying.erase(one);
    }
    REQUIRE(table.used() == flying.size());
  }
  REQUIRE_THROWS_AS(table.at(1u << 30), std::logic_error);
}

}  // namespace lockstep
