// Receive buffers of wires against closed forms.
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <vector>

#include "link/switch.hpp"
#include "support.hpp"

namespace lockstep::link {
namespace {

constexpr Cycle kWireLatency = 100;

/// Wires of one byte per cycle.
WireSpec spec(std::uint64_t requests, std::uint64_t answers = 0) {
  return {1'000'000'000, kWireLatency, 1'000'000, 1'000'000, {requests, answers}};
}

TEST_CASE("Throughput is the buffer's messages in a round trip, or the bandwidth where these are enough") {
  const bool skip = GENERATE(false, true);
  constexpr std::uint32_t kBytes = 40;
  constexpr Cycle kRoundTrip = kBytes + 2 * kWireLatency;  // 240: six messages cover it
  const std::uint64_t fit =
      GENERATE(std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{5}, std::uint64_t{6}, std::uint64_t{7});
  WireBench bench(spec(fit * kBytes + kBytes - 1));  // the rest of the buffer is of no use
  constexpr std::uint64_t kCount = 60;
  for (std::uint32_t i = 0; i < kCount; ++i) bench.wire.push(0, message(kBytes));
  bench.run(50'000, skip);
  REQUIRE(bench.arrived.size() == kCount);
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const Cycle start = fit < 6 ? i / fit * kRoundTrip + i % fit * kBytes : i * kBytes;
    CHECK(bench.arrived[i].at == start + kBytes + kWireLatency);
  }
  // Once a round trip but for the first, the wire waits from the end of its last message.
  const Cycle stalled = fit < 6 ? ((kCount + fit - 1) / fit - 1) * (kRoundTrip - fit * kBytes) : 0;
  CHECK(bench.wire.counters().credit_stalls[0] == stalled);
  CHECK(bench.wire.counters().credit_stalls[1] == 0);
}

TEST_CASE("A buffer of bandwidth times the round trip, a message more, changes no arrival on any clock") {
  const std::uint64_t khz = GENERATE(std::uint64_t{1'410'000}, std::uint64_t{1'980'000});
  const std::uint64_t rate = GENERATE(std::uint64_t{25'000'000'000}, std::uint64_t{300'000'000'000});
  const std::uint64_t trip = rate / 1000 * 2 * (kWireLatency + 1) / khz + 2 * 272;
  WireBench enough({rate, kWireLatency, khz, khz, {trip, trip}}), unbounded({rate, kWireLatency, khz, khz});
  std::mt19937 random(1);
  for (std::uint32_t i = 0; i < 500; ++i) {
    const bool answer = random() % 2 == 0;
    const std::uint32_t bytes = 1 + static_cast<std::uint32_t>(random() % 272);
    for (WireBench* bench : {&enough, &unbounded})
      bench->wire.push(answer ? 1 : 0, message(bytes, i, answer));
  }
  enough.run(50'000, true);
  unbounded.run(50'000, true);
  REQUIRE(enough.arrived.size() == 500);
  for (std::size_t i = 0; i < 500; ++i) {
    CHECK(enough.arrived[i].at == unbounded.arrived[i].at);
    CHECK(enough.arrived[i].message.access.tag == unbounded.arrived[i].message.access.tag);
  }
  CHECK(enough.wire.counters().credit_stalls == std::array<Cycle, kTraffics>{});
}

TEST_CASE("A class without credits does not hold up the other") {
  WireBench bench(spec(40, 40));
  for (int i = 0; i < 3; ++i) bench.wire.push(0, message(40));
  bench.wire.push(1, message(8, 0, true));
  bench.run(2000, true);
  REQUIRE(bench.arrived.size() == 4);
  CHECK(bench.arrived[1].message.is_reply);
  CHECK(bench.arrived[1].at == 40 + 8 + kWireLatency);
  CHECK(bench.arrived[2].at == 240 + 40 + kWireLatency);
  CHECK(bench.arrived[3].at == 480 + 40 + kWireLatency);
  CHECK(bench.wire.counters().credit_stalls[0] == (240 - 48) + (480 - 280));
}

TEST_CASE("A large message that lacks credits is not overtaken for ever by small ones of its class") {
  WireBench bench(spec(100));
  for (std::uint32_t i = 0; i < 200; ++i) bench.wire.push(0, message(10, 1));
  bench.wire.push(1, message(100, 2));
  bench.run(100'000, true);
  REQUIRE(bench.arrived.size() == 201);
  // A small one has its turn, then the large one waits until that one's credits are back.
  CHECK(bench.arrived[1].message.access.tag == 2);
  CHECK(bench.arrived[1].at == 10 + 2 * kWireLatency + 100 + kWireLatency);
}

TEST_CASE("Credits are conserved: they never exceed the buffer, and are all there in the end") {
  const bool skip = GENERATE(false, true);
  constexpr std::uint64_t kRequests = 300, kReplies = 150;
  WireBench bench(spec(kRequests, kReplies), 3);
  std::mt19937 random(7);
  for (std::uint32_t i = 0; i < 400; ++i)
    bench.wire.push(static_cast<unsigned>(random() % 3),
                    message(1 + static_cast<std::uint32_t>(random() % 150), 0, random() % 2 == 0));
  for (Cycle end = 50; bench.wire.waiting() > 0; end += 50) {
    bench.run(end, skip);
    CHECK(bench.wire.credits(Traffic::kRequests).left() <= kRequests);
    CHECK(bench.wire.credits(Traffic::kReplies).left() <= kReplies);
    REQUIRE(end < 1'000'000);
  }
  CHECK(bench.arrived.size() <= 400);
  bench.run(1'000'000, false);
  CHECK(bench.arrived.size() == 400);
  CHECK(bench.wire.credits(Traffic::kRequests).left() == kRequests);
  CHECK(bench.wire.credits(Traffic::kReplies).left() == kReplies);
}

}  // namespace
}  // namespace lockstep::link
