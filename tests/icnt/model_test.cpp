// Ports under random traffic against a crossbar written a second time: every arrival, stall and flit.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "tests/icnt/rig.hpp"

namespace lockstep::icnt::test {
namespace {

Crossbar random_crossbar(std::mt19937& random) {
  const auto from_to = [&](std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint32_t>(low + random() % (high - low + 1));
  };
  Crossbar x;
  x.source_khz = from_to(1, 8);
  x.sink_khz = from_to(1, 8);
  x.icnt_khz = from_to(1, 8);
  x.sources = from_to(1, 70);  // more than a word of the arbiter's mask, too
  x.sinks = from_to(1, 5);
  x.credits = from_to(1, 6);
  x.capacity = from_to(1, 9) << (from_to(0, 1) * 3);
  x.latency = from_to(8, 30);
  return x;
}

std::string text_of(const Crossbar& x) {
  std::string text = "clocks " + std::to_string(x.source_khz) + " " + std::to_string(x.sink_khz) + " " +
                     std::to_string(x.icnt_khz) + ", sources " + std::to_string(x.sources) + ", sinks " +
                     std::to_string(x.sinks) + ", credits " + std::to_string(x.credits);
  return text + ", capacity " + std::to_string(x.capacity) + ", latency " + std::to_string(x.latency);
}

void compare(const Outcome& found, const Outcome& expected) {
  const bool same = found.arrivals == expected.arrivals;
  CHECK(same);
  if (!same) {
    const auto [a, b] = std::ranges::mismatch(found.arrivals, expected.arrivals);
    INFO("first difference: number " << a - found.arrivals.begin());
    REQUIRE(a != found.arrivals.end());
    REQUIRE(b != expected.arrivals.end());
    CHECK(a->edge == b->edge);
    CHECK(a->destination == b->destination);
    CHECK(a->source == b->source);
    CHECK(a->id == b->id);
  }
  CHECK(found.stalls == expected.stalls);
  CHECK(found.flits == expected.flits);
  CHECK(found.refused == expected.refused);
}

}  // namespace

TEST_CASE("under random traffic and clocks, ports do what the second implementation does") {
  std::mt19937 random(2026);
  for (std::uint32_t round = 0; round < 60; ++round) {
    const Crossbar x = random_crossbar(random);
    const auto load = static_cast<std::uint32_t>(1 + random() % 8);
    INFO("round " << round << ": " << text_of(x) << ", load " << load << "/8");
    const Traffic traffic = [&](std::uint32_t source, Cycle edge) {
      const std::uint32_t bits = mixed(round, source, edge);
      return bits % 8 < load ? Offer{bits / 8 % x.sinks, 1 + bits / 64 % 5} : Offer{};
    };
    const Readiness ready = [&](std::uint32_t sink, Cycle edge) {
      return round % 2 == 0 || mixed(round, 1000 + sink, edge) % 3 > 0;
    };
    constexpr Cycle kCycles = 300;
    const Outcome expected = run_reference(x, kCycles, traffic, ready);
    const Outcome awake = run_ports(x, kCycles, traffic, 1, false, ready);
    compare(awake, expected);
    CHECK(awake.credits_out == expected.credits_out);  // who sleeps has not counted the last ones
    // The longest window that the shorter way allows, and every port asleep until it has something to do.
    const Cycle longest = x.latency * x.source_khz / x.icnt_khz;
    if (longest > 1) compare(run_ports(x, kCycles, traffic, longest, true, ready), expected);
  }
}

}  // namespace lockstep::icnt::test
