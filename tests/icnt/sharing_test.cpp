// How ports share bandwidth, against closed forms.
#include <catch2/catch.hpp>

#include "tests/icnt/rig.hpp"

namespace lockstep::icnt::test {
namespace {

constexpr Cycle kTrafficCycles = 6000, kWarm = 600;

Outcome run(const Crossbar& x, const Traffic& traffic, const Readiness& ready = always) {
  return run_ports(x, kTrafficCycles, traffic, 1, true, ready);
}
double rate(const Outcome& o, std::uint32_t source, std::uint32_t sink) {
  return static_cast<double>(brought(o, source, sink, kWarm)) / static_cast<double>(kTrafficCycles - kWarm);
}

}  // namespace

TEST_CASE("an arbiter that takes turns gives each source as many messages, whatever their length") {
  // Turns are messages: of 1 + 2 + 5 flits per round each source has one.
  const std::uint32_t flits[] = {1, 2, 5};
  const Outcome o = run({.sources = 3, .credits = 64}, [&](std::uint32_t s, Cycle) {
    return Offer{0, flits[s]};
  });
  for (std::uint32_t s = 0; s < 3; ++s) CHECK(rate(o, s, 0) == Approx(1.0 / 8).epsilon(0.01));
}

TEST_CASE("who asks for less than its share gets all of it, the others share the rest") {
  // Max-min fair: one source wants 1/10 of the port, three want all; each of these has 3/10.
  const Outcome o = run({.sources = 4, .credits = 64}, [](std::uint32_t s, Cycle t) {
    return s == 0 && t % 10 != 0 ? Offer{} : Offer{0, 1};
  });
  CHECK(o.refused[0] == 0);
  CHECK(rate(o, 0, 0) == Approx(0.1).epsilon(0.02));
  for (std::uint32_t s = 1; s < 4; ++s) CHECK(rate(o, s, 0) == Approx(0.3).epsilon(0.02));
}

TEST_CASE("a permutation runs at full rate: the crossbar itself never blocks") {
  constexpr std::uint32_t kSize = 16;
  const Outcome o = run({.sources = kSize, .sinks = kSize, .credits = 64}, [](std::uint32_t s, Cycle) {
    return Offer{(5 * s + 3) % kSize, 1};
  });
  for (std::uint32_t s = 0; s < kSize; ++s) CHECK(rate(o, s, (5 * s + 3) % kSize) == 1.0);
}

TEST_CASE("behind a message without a credit all others wait: a hot destination slows its neighbours") {
  // Each of N sources asks for the hot destination and one of its own, as often for either. The hot one takes
  // 1/N of a message per cycle from each; first in, first out, the own one gets as many, though it could take
  // all.
  constexpr std::uint32_t kSize = 8;
  const Crossbar x{.sources = kSize, .sinks = kSize + 1, .credits = 16};
  const Outcome o = run(x, [](std::uint32_t s, Cycle t) {
    return Offer{mixed(1, s, t) % 2 == 0 ? kSize : s, 1};
  });
  double hot = 0, own = 0;
  for (std::uint32_t s = 0; s < kSize; ++s) {
    CHECK(rate(o, s, kSize) == Approx(1.0 / kSize).epsilon(0.01));
    hot += rate(o, s, kSize);
    own += rate(o, s, s);
    CHECK(o.stalls[s] > kTrafficCycles / 2);
  }
  CHECK(hot == Approx(1).epsilon(0.001));
  CHECK(own == Approx(1).epsilon(0.04));  // of some 5000 random choices
}

TEST_CASE("with few credits a hot destination is idle though everyone waits for it") {
  // Eight sources with four credits each: 32 messages per round trip of 40 cycles.
  const Outcome o = run({.sources = 8, .credits = 4}, [](std::uint32_t, Cycle) { return Offer{0, 1}; });
  for (std::uint32_t s = 0; s < 8; ++s) CHECK(rate(o, s, 0) == Approx(0.1).epsilon(0.01));
}

TEST_CASE("credits are by destination: one of them far away does not take those of another") {
  // Destination 0 is never ready: it keeps all of its credits, and what is for destination 1 only waits where
  // it stands behind.
  const Crossbar x{.sources = 1, .sinks = 2, .credits = 3, .capacity = 4};
  const Outcome o = run(
      x,
      [](std::uint32_t, Cycle t) {
        return t < 30 ? Offer{static_cast<std::uint32_t>(t % 10 != 0), 1} : Offer{1, 1};
      },
      [](std::uint32_t sink, Cycle) { return sink == 1; });
  CHECK(brought(o, 0, 0) == 0);
  CHECK(rate(o, 0, 1) == Approx(3 / 40.0).epsilon(0.02));  // credits a round trip of twice the latency
  CHECK(o.credits_out >= 3);
}

TEST_CASE(
    "throughput is that of the narrowest: flits a cycle, one message an edge, or credits a round trip") {
  struct Case {
    std::uint64_t source, sink, icnt;
    std::uint32_t flits, credits;
    double messages;  // a source cycle
  };
  const Case cases[] = {
      {1, 1, 1, 4, 64, 1.0 / 4},            // flits
      {2, 2, 1, 1, 64, 1.0 / 2},            // the crossbar at half the clock
      {2, 2, 1, 3, 64, 1.0 / 6},            // likewise
      {2, 1, 2, 1, 64, 1.0 / 2},            // a sink at half the clock: one message an edge of its own
      {1, 1, 2, 2, 64, 1.0},                // a crossbar at twice the clock: two flits an edge
      {1, 1, 2, 4, 64, 1.0 / 2},            // likewise
      {3, 5, 2, 1, 64, 2.0 / 3},            // the crossbar, between two that are faster
      {1, 1, 1, 1, 10, 10.0 / 40},          // credits
      {2, 2, 1, 1, 10, 10.0 / 80},          // credits, a round trip of 40 crossbar cycles
      {1, 1, 1, 4, 5, 5.0 / (2 * 20 + 3)},  // a credit is away from the first flit, arrival is the last's
  };
  for (const Case& c : cases) {
    INFO(c.source << ":" << c.sink << ":" << c.icnt << ", flits " << c.flits << ", credits " << c.credits);
    const Crossbar x{c.source, c.sink, c.icnt, 1, 1, c.credits};
    const Outcome o = run(x, [&](std::uint32_t, Cycle) { return Offer{0, c.flits}; });
    const Cycle warm = kWarm * c.sink / c.source;
    const double measured =
        static_cast<double>(brought(o, 0, 0, warm)) / static_cast<double>(kTrafficCycles - kWarm);
    CHECK(measured == Approx(c.messages).epsilon(0.01));
  }
}

TEST_CASE("with credits to spare nothing is counted as waiting for one, whatever the clocks") {
  for (const std::uint64_t icnt : {1u, 2u, 3u, 4u, 7u})
    for (const std::uint64_t source : {1u, 2u, 3u, 5u}) {
      INFO("source " << source << ", icnt " << icnt);
      const Outcome o = run({source, source, icnt, 1, 1, 1000}, [](std::uint32_t, Cycle t) {
        return t % 7 < 5 ? Offer{0, 1 + static_cast<std::uint32_t>(t % 3)} : Offer{};
      });
      CHECK(o.stalls[0] == 0);
    }
}

TEST_CASE("flits and messages that went in came out, and every credit is home") {
  for (const std::uint32_t credits : {1u, 3u, 50u}) {
    std::uint64_t flits = 0, messages = 0;
    const Outcome o = run({3, 2, 4, 6, 3, credits}, [&](std::uint32_t s, Cycle t) {
      return t < kTrafficCycles / 2 && (t + s) % 23 == 0
                 ? Offer{(s + static_cast<std::uint32_t>(t)) % 3, 1 + s % 4}
                 : Offer{};
    });
    for (std::uint32_t s = 0; s < 6; ++s) {
      flits += o.flits[s];
      std::uint64_t own = 0;
      for (std::uint32_t d = 0; d < 3; ++d) own += brought(o, s, d);
      CHECK(o.flits[s] == own * (1 + s % 4));
      messages += own;
    }
    CHECK(messages == o.arrivals.size());
    CHECK(o.credits_out == 0);
    CHECK(flits > 0);
  }
}

}  // namespace lockstep::icnt::test
