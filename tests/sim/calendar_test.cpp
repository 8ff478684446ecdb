// Clock ratios, networks and inboxes against straightforward models.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <tuple>

#include "sim/clock.hpp"
#include "sim/inbox.hpp"

namespace lockstep::sim {
namespace {

TEST_CASE("clock edges are exact for frequencies without a common period") {
  // Edge k of the source lies at k / from; the definition, in rational arithmetic without division.
  const std::uint64_t khz[] = {1312000, 877000, 1200000, 1380000, 1755000, 1, 9500000};
  for (const auto from : khz)
    for (const auto to : khz) {
      const ClockRatio ratio(from, to);
      for (const Cycle k : {Cycle{0}, Cycle{1}, Cycle{2}, Cycle{999}, Cycle{123456789}, Cycle{1} << 38}) {
        const Wide time = static_cast<Wide>(k) * to;  // in units of 1 / (from * to)
        const Wide up = ratio.ceil(k), down = ratio.floor(k);
        CHECK((up * from >= time && (up == 0 || (up - 1) * from < time)));
        CHECK((down * from <= time && (down + 1) * from > time));
      }
    }
}

TEST_CASE("picoseconds become cycles rounded up") {
  CHECK(cycles_of_ps(23840, 1312000) == 32);  // 31.28 cycles
  CHECK(cycles_of_ps(1000, 1000000) == 1);
  CHECK(cycles_of_ps(1001, 1000000) == 2);
  CHECK(cycles_of_ps(0, 1000000) == 0);
}

TEST_CASE("an inbox delivers by arrival, then source, then order of sending") {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    Inbox<int> inbox(100);
    std::vector<std::tuple<Cycle, std::uint32_t, int>> sent, received;
    Cycle now = 0;
    int serial = 0;
    std::vector<DomainId> ids{0, 1, 2, 3};
    Network<int> network("n", ids, ids);
    std::vector<Cycle> next(4);
    for (int window = 0; window < 60; ++window) {
      for (std::uint32_t source = 0; source < 4; ++source)
        for (unsigned n = random() % 4; n > 0; --n) {
          const Cycle arrival = now + 16 + random() % 60;
          network.send(source, 2, arrival, serial);
          sent.emplace_back(arrival, source, serial++);
        }
      now += 16;
      network.flip(ids, now, next);
      inbox.gather(network, 2, now);
      for (Cycle t = now; t < now + 16; ++t)
        inbox.drain(t, [&](std::uint32_t source, int v) { received.emplace_back(t, source, v); });
    }
    for (Cycle t = now + 16; t < now + 200; ++t)
      inbox.drain(t, [&](std::uint32_t source, int v) { received.emplace_back(t, source, v); });
    std::sort(sent.begin(), sent.end());
    CHECK(received == sent);
    CHECK(inbox.size() == 0);
    CHECK(inbox.next_arrival() == kNever);
  }
}

TEST_CASE("an inbox refuses what lies outside its calendar") {
  Inbox<int> inbox(10);
  CHECK_THROWS_AS(inbox.insert(0, 1000, 1), std::logic_error);
}

TEST_CASE("flip wakes exactly the destinations with mail and shows only the last window's") {
  std::vector<DomainId> sources{0, 1}, destinations{5, 6, 7};
  Network<int> network("n", sources, destinations);
  std::vector<Cycle> next(8, kNever);
  network.send(1, 2, 40, 11);
  const std::vector<DomainId> advanced{0, 1};
  network.flip(advanced, 16, next);
  CHECK(next == std::vector<Cycle>{kNever, kNever, kNever, kNever, kNever, kNever, kNever, 16});
  int seen = 0;
  network.collect(2, [&](std::uint32_t source, Cycle arrival, int v) {
    ++seen;
    CHECK((source == 1 && arrival == 40 && v == 11));
  });
  CHECK(seen == 1);
  next.assign(8, kNever);
  network.flip({}, 32, next);  // no domain ran: old messages must not be delivered again
  CHECK(next == std::vector<Cycle>(8, kNever));
  network.collect(2, [&](std::uint32_t, Cycle, int) { ++seen; });
  CHECK(seen == 1);
}

}  // namespace
}  // namespace lockstep::sim
