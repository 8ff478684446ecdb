// The calendar of arrivals: how far ahead it goes, what it refuses, and sparse arrivals against a sorted
// list.
#include "sim/inbox.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "tests/random.hpp"

namespace lockstep::sim {
namespace {

TEST_CASE("an inbox takes every arrival within its span, wherever its receiver has come to") {
  const Network<Cycle> nothing("none", {0}, {0});
  for (Cycle span = 1; span <= 140; ++span)
    for (const Cycle now : {Cycle{0}, Cycle{1}, Cycle{63}, Cycle{64}, Cycle{1'000'003}, Cycle{1} << 40}) {
      Inbox<Cycle> inbox(span);
      inbox.gather(nothing, 0, now);  // the receiver is there
      for (const Cycle ahead : {Cycle{0}, span / 2, span}) inbox.insert(0, now + ahead, now + ahead);
      REQUIRE(inbox.next_arrival() == now);
      std::vector<Cycle> got;
      inbox.drain(now + span, [&](std::uint32_t, Cycle message) { got.push_back(message); });
      REQUIRE(got == std::vector<Cycle>{now, now + span / 2, now + span});
    }
}

TEST_CASE("an inbox refuses an arrival before its receiver, and beyond its calendar") {
  Inbox<int> inbox(14);  // 16 places
  const Network<int> nothing("none", {0}, {0});
  inbox.gather(nothing, 0, 100);
  CHECK_THROWS_WITH(inbox.insert(0, 99, 1), "message outside the inbox's span");
  CHECK_THROWS_WITH(inbox.insert(0, 116, 1), "message outside the inbox's span");
  CHECK(inbox.size() == 0);
  inbox.insert(0, 115, 7);
  CHECK(inbox.next_arrival() == 115);
  inbox.resize(200);
  inbox.insert(0, 299, 8);
}

TEST_CASE("mail that comes too late is an error, or where that is allowed arrives at once") {
  std::vector<Time> due(2);
  Network<int> network("short", {0}, {1});
  network.send(0, 0, 20, 1);
  network.send(0, 0, 41, 2);
  network.send(0, 0, 39, 3);
  network.flip(std::vector<DomainId>{0}, 40, due);
  Inbox<int> strict(100), lenient(100);
  CHECK_THROWS_WITH(strict.gather(network, 0, 40), "channel 'short' is shorter than the window");
  CHECK_NOTHROW(Inbox<int>(100).gather(network, 0, 20));
  lenient.allow_late(true);
  lenient.gather(network, 0, 40);
  std::vector<std::pair<Cycle, int>> got;
  for (Cycle now : {40u, 41u})
    lenient.drain(now, [&](std::uint32_t, int message) { got.emplace_back(now, message); });
  CHECK(got == std::vector<std::pair<Cycle, int>>{{40, 1}, {40, 3}, {41, 2}});
}

TEST_CASE("sparse arrivals: the next one is found over any gap, as in a sorted list") {
  lockstep::test::Random32 random(11);
  for (const Cycle span : {5u, 60u, 62u, 63u, 127u, 1000u, 5000u}) {
    Inbox<int> inbox(span);
    const Network<int> nothing("none", {0}, {0});
    std::multimap<std::pair<Cycle, std::uint32_t>, int> list;  // equal keys in the order of insertion
    Cycle now = 0;
    for (int round = 0; round < 2000; ++round) {
      inbox.gather(nothing, 0, now);
      for (auto n = random() % 3; n > 0; --n) {
        const Cycle arrival = now + random() % (span + 1);
        const auto source = static_cast<std::uint32_t>(random() % 3);
        inbox.insert(source, arrival, round);
        list.emplace(std::pair{arrival, source}, round);
      }
      REQUIRE(inbox.size() == list.size());
      REQUIRE(inbox.next_arrival() == (list.empty() ? kNever : list.begin()->first.first));
      now += random() % (span + 1);
      std::vector<std::pair<std::uint32_t, int>> got, expected;
      inbox.drain(now, [&](std::uint32_t source, int message) { got.emplace_back(source, message); });
      while (!list.empty() && list.begin()->first.first <= now) {
        expected.emplace_back(list.begin()->first.second, list.begin()->second);
        list.erase(list.begin());
      }
      REQUIRE(got == expected);
      ++now;
    }
  }
}

}  // namespace
}  // namespace lockstep::sim
