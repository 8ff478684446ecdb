// Issue policies: whom they choose, against lists of warps by age and by turn, and what share each warp gets.
#include "core/scheduler.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace lockstep::core {
namespace {

using config::SchedulerPolicy;
using WarpAges = std::array<std::uint32_t, kWarpsPerSubcore>;

std::vector<unsigned> members_of(WarpSet16 set) {
  std::vector<unsigned> warps;
  for (unsigned w = 0; w < kWarpsPerSubcore; ++w)
    if (set >> w & 1) warps.push_back(w);
  return warps;
}
/// By age, the first of equals in the order of slots.
unsigned by_age(WarpSet16 set, const WarpAges& ages, bool youngest) {
  std::vector<unsigned> warps = members_of(set);
  std::stable_sort(warps.begin(), warps.end(),
                   [&](unsigned a, unsigned b) { return youngest ? ages[a] > ages[b] : ages[a] < ages[b]; });
  return warps.front();
}
/// The first one behind `last`, around the ring.
unsigned by_turn(WarpSet16 set, unsigned last) {
  const std::vector<unsigned> warps = members_of(set);
  unsigned w = last;
  do w = (w + 1) % kWarpsPerSubcore;
  while (std::find(warps.begin(), warps.end(), w) == warps.end());
  return w;
}

TEST_CASE("schedulers: who is chosen is who comes first in lists by age and by turn") {
  std::mt19937 random(1);
  for (int i = 0; i < 50'000; ++i) {
    WarpAges ages{};
    for (std::uint32_t& age : ages) age = static_cast<std::uint32_t>(random() % 20);
    const auto set = static_cast<WarpSet16>(1 + random() % 0xffff);
    const auto last = static_cast<unsigned>(random() % kWarpsPerSubcore);
    const SchedulerView view{last, &ages};
    const bool again = set >> last & 1;
    const unsigned oldest_one = by_age(set, ages, false), youngest_one = by_age(set, ages, true);
    REQUIRE(pick(SchedulerPolicy::kGto, set, view) == (again ? last : oldest_one));
    REQUIRE(pick(SchedulerPolicy::kCggty, set, view) == (again ? last : youngest_one));
    REQUIRE(pick(SchedulerPolicy::kLrr, set, view) == by_turn(set, last));
    REQUIRE(pick_fetch(SchedulerPolicy::kGto, set, view) == oldest_one);
    REQUIRE(pick_fetch(SchedulerPolicy::kCggty, set, view) == youngest_one);
    REQUIRE(pick_fetch(SchedulerPolicy::kLrr, set, view) == by_turn(set, last));
  }
}

/// How often each of `warps` warps is chosen in `cycles` cycles. A warp is not ready for `busy`
/// cycles after it was chosen; warps in higher slots are younger.
std::vector<unsigned> issue_shares(SchedulerPolicy policy, unsigned warps, unsigned busy, unsigned cycles) {
  WarpAges ages{};
  for (unsigned w = 0; w < kWarpsPerSubcore; ++w) ages[w] = w;
  std::vector<unsigned> ready(warps), taken(warps);
  unsigned last = 0;
  for (unsigned now = 0; now < cycles; ++now) {
    WarpSet16 set = 0;
    for (unsigned w = 0; w < warps; ++w)
      if (ready[w] <= now) set = static_cast<WarpSet16>(set | 1u << w);
    if (set == 0) continue;
    last = pick(policy, set, {last, &ages});
    ready[last] = now + 1 + busy;
    ++taken[last];
  }
  return taken;
}

TEST_CASE(
    "schedulers: with warps that are always ready one issues all under the greedy ones, or all in turn") {
  for (const unsigned warps : {1u, 3u, 16u}) {
    const unsigned cycles = 10 * warps;
    std::vector<unsigned> first(warps), equal(warps, 10);
    first[0] = cycles;  // it is taken to have issued last
    CHECK(issue_shares(SchedulerPolicy::kGto, warps, 0, cycles) == first);
    CHECK(issue_shares(SchedulerPolicy::kCggty, warps, 0, cycles) == first);
    CHECK(issue_shares(SchedulerPolicy::kLrr, warps, 0, cycles) == equal);
  }
}

TEST_CASE(
    "schedulers: warps with a latency run at full rate as long as there are few, then the favoured ones do") {
  // Latency 4: four warps fill the cycles.
  for (const unsigned warps : {2u, 4u, 8u, 16u}) {
    constexpr unsigned kCycles = 4000, kFull = kCycles / 4;
    const auto gto = issue_shares(SchedulerPolicy::kGto, warps, 3, kCycles);
    const auto cggty = issue_shares(SchedulerPolicy::kCggty, warps, 3, kCycles);
    const auto lrr = issue_shares(SchedulerPolicy::kLrr, warps, 3, kCycles);
    for (unsigned w = 0; w < warps; ++w) {
      CHECK(double(gto[w]) == Approx(w < 4 ? kFull : 0).margin(2));
      CHECK(double(cggty[w]) == Approx(w + 4 >= warps ? kFull : 0).margin(2));
      CHECK(double(lrr[w]) == Approx(kCycles / std::max(4u, warps)).margin(2));
    }
  }
}

}  // namespace
}  // namespace lockstep::core
