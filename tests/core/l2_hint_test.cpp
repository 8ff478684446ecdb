// Policies and windows of the L2: which lines get which priority, and how many ways.
#include "core/l2_hint.hpp"

#include <catch2/catch.hpp>

namespace lockstep::core {
namespace {

using trace::L2Launch;

config::L2Group l2_of_a100() {
  config::L2Group l2;
  l2.partitions = 20;
  l2.slices_per_partition = 4;
  l2.slice_bytes = 512 << 10;
  l2.ways = 16;
  return l2;
}

/// Of 2^16 lines from `base` on.
double share(const L2Launch& launch, trace::L2Policy policy, L2Priority priority, Address base = 0) {
  constexpr Address kLines = 1 << 16;
  const L2Shares shares = L2Shares::of(launch, l2_of_a100());
  double found = 0;
  for (Address l = 0; l < kLines; ++l)
    found += placing_of(launch, shares, policy, base + l * kLineBytes).priority == priority;
  return found / double(kLines);
}

TEST_CASE("a policy is for as many of the lines as it says, and the rest gets the other priority") {
  for (const unsigned sixteenths : {1u, 4u, 10u, 16u}) {
    const auto policy = trace::make_l2_policy(L2Priority::kLast, L2Priority::kFirst, sixteenths);
    CHECK(share({}, policy, L2Priority::kLast) == Approx(sixteenths / 16.0).margin(0.008));  // 4 sigma
    CHECK(share({}, policy, L2Priority::kFirst) == Approx(1 - sixteenths / 16.0).margin(0.008));
  }
  CHECK(share({}, trace::kEvictFirstPolicy, L2Priority::kFirst) == 1);
  CHECK(share({}, trace::kNoL2Policy, L2Priority::kPlain) == 1);
}

TEST_CASE(
    "a window gives its lines the property of hits in its ratio, and instructions' own hints go before it") {
  L2Launch launch;
  launch.base = 1 << 20;
  launch.bytes = 4 << 20;
  launch.ratio = L2Launch::kWhole * 6 / 10;
  launch.hit = L2Priority::kLast;
  launch.miss = L2Priority::kFirst;
  launch.set_aside = 30 << 20;
  // Of 8 MB from address 0 on the window is a half.
  CHECK(share(launch, trace::kNoL2Policy, L2Priority::kLast) == Approx(0.5 * 0.6).margin(0.008));
  CHECK(share(launch, trace::kNoL2Policy, L2Priority::kFirst) == Approx(0.5 * 0.4).margin(0.008));
  CHECK(share(launch, trace::kNoL2Policy, L2Priority::kPlain) == 0.5);
  CHECK(share(launch, trace::make_l2_policy(L2Priority::kNormal), L2Priority::kNormal) == 1);
  launch.set_aside = 0;  // nothing to persist in
  CHECK(share(launch, trace::kNoL2Policy, L2Priority::kLast) == 0);
}

TEST_CASE("the set-aside in ways: 30 of an A100's 40 MB are 12 of 16, and no more can be") {
  const auto ways = [](std::uint64_t set_aside) {
    L2Launch launch;
    launch.set_aside = set_aside;
    return L2Shares::of(launch, l2_of_a100());
  };
  CHECK(ways(30 << 20).window_ways == 12);
  CHECK(ways(40 << 20).window_ways == 12);
  CHECK(ways(10 << 20).window_ways == 4);
  CHECK(ways(1).window_ways == 1);
  CHECK(ways(0).window_ways == 0);
  CHECK(ways(0).last_ways == 12);
  CHECK(ways(10 << 20).last_ways == 4);
  CHECK_FALSE(ways(10 << 20).any);
}

}  // namespace
}  // namespace lockstep::core
