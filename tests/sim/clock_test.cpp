// Conversions between clocks at the ends of their ranges, in 128-bit arithmetic; time bases; windows' logs.
#include "sim/clock.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "sim/inbox.hpp"
#include "sim/work_log.hpp"

namespace lockstep::sim {
namespace {

std::uint64_t log_uniform(std::mt19937_64& random, unsigned most_bits) {
  return random() >> (64 - 1 - random() % most_bits);
}

TEST_CASE("edges of clocks as in long division, up to the largest that fit") {
  std::mt19937_64 random(1);
  int wide = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t from = 1 + log_uniform(random, 33), to = 1 + log_uniform(random, 33);
    const std::uint64_t k = log_uniform(random, 63);
    const Wide product = static_cast<Wide>(k) * to;
    if ((product + from - 1) / from >= kNever) continue;
    wide += product >> 64 != 0;
    const ClockRatio ratio(from, to);
    REQUIRE(ratio.floor(k) == static_cast<Cycle>(product / from));
    REQUIRE(ratio.ceil(k) == static_cast<Cycle>((product + from - 1) / from));
  }
  CHECK(wide > 1000);
}

TEST_CASE("never stays never, and only equal clocks are identical") {
  for (const auto& ratio : {ClockRatio(), ClockRatio(3, 7), ClockRatio(7, 3), ClockRatio(5, 5)}) {
    CHECK(ratio.ceil(kNever) == kNever);
    CHECK(ratio.floor(kNever) == kNever);
  }
  CHECK(ClockRatio().identity());
  CHECK(ClockRatio(1'380'000, 1'380'000).identity());
  CHECK_FALSE(ClockRatio(1'380'000, 1'380'001).identity());
}

TEST_CASE("an edge of a domain's clock comes back from its time, in a base that is at least as fine") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 2000; ++i) {
    const std::vector<std::uint64_t> clocks{1 + random() % 3'000'000, 1 + random() % 3'000'000,
                                            1 + random() % 3'000'000};
    const std::uint64_t base = time_base_khz(clocks);
    for (const std::uint64_t khz : clocks) {
      REQUIRE(base >= khz);
      const DomainClock clock(base, khz);
      const Cycle k = random() % 1'000'000'000;
      // The first time at or after the edge, and the last not after it: both belong to this edge alone.
      REQUIRE(clock.to_cycles.floor(clock.to_time.ceil(k)) == k);
      REQUIRE(clock.to_cycles.ceil(clock.to_time.floor(k)) == k);
      REQUIRE(clock.to_time.floor(k) < clock.to_time.floor(k + 1));
    }
  }
}

TEST_CASE("a time base up to a terahertz is a multiple of all clocks, and the smallest") {
  std::mt19937_64 random(3);
  unsigned exact = 0;
  for (int i = 0; i < 300; ++i) {
    std::vector<std::uint64_t> clocks;
    for (auto n = 1 + random() % 4; n > 0; --n) clocks.push_back((1 + random() % 40) * (1 + random() % 2000));
    const std::uint64_t base = time_base_khz(clocks);
    const std::uint64_t largest = *std::ranges::max_element(clocks);
    std::uint64_t multiple = largest;
    while (multiple <= 1'000'000'000 &&
           !std::ranges::all_of(clocks, [&](std::uint64_t khz) { return multiple % khz == 0; }))
      multiple += largest;
    if (multiple <= 1'000'000'000) {
      ++exact;
      REQUIRE(base == multiple);
    } else {
      REQUIRE(base == 1'000'000'000);
    }
  }
  CHECK((exact > 50 && exact < 290));
  CHECK(time_base_khz(std::vector<std::uint64_t>{5'000'000'000, 3}) == 5'000'000'000);  // faster than a THz
}

TEST_CASE("picoseconds as cycles of fast clocks over long times") {
  CHECK(cycles_of_ps(1'000'000'000'000, 1'380'000) == 1'380'000'000);  // a second
  CHECK(cycles_of_ps(1, 1) == 1);
  // 2^63 ps at 2 GHz are 2^63 / 500 cycles.
  CHECK(cycles_of_ps(std::uint64_t{1} << 63, 2'000'000) == 18'446'744'073'709'552);
  std::mt19937_64 random(4);
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t ps = log_uniform(random, 60), khz = 1 + random() % 10'000'000;
    const Cycle cycles = cycles_of_ps(ps, khz);
    // The smallest number of cycles that last as long: cycles / khz >= ps / 10^9.
    REQUIRE(static_cast<Wide>(cycles) * 1'000'000'000 >= static_cast<Wide>(ps) * khz);
    if (cycles > 0) REQUIRE(static_cast<Wide>(cycles - 1) * 1'000'000'000 < static_cast<Wide>(ps) * khz);
  }
}

TEST_CASE("a work log has a line for each window: the serial part, tasks, domains") {
  WorkLog log;
  CHECK(log.text().empty());
  log.window(1.5e-6);
  log.task(250e-9);
  log.domain(3, 1e-6);
  log.domain(0, 0);
  log.window(0);
  log.window(20);  // more than a log can say
  log.domain(7, 100);
  CHECK(log.windows() == 3);
  CHECK(log.items() == 4);
  CHECK(log.text() == "1500 250 3:1000 0:0\n0\n4000000000 7:4000000000\n");
}

}  // namespace
}  // namespace lockstep::sim
