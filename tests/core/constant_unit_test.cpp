// Loads from constant memory with their addresses: passes, the two levels of cache, the way to the L2.
#include <catch2/catch.hpp>
#include <set>

#include "lsu_bench.hpp"
#include "lsu_reference.hpp"

using namespace lockstep;
using namespace lockstep::core;
using namespace lockstep::core::test;

namespace {

constexpr Address kTable = 0x7f0000000000;
constexpr Address kLine = 64, kL15Line = 256;

config::GpuConfig constant_config() {
  auto c = lsu_config();
  c.mio.const_cold_miss = false;
  c.mio.const_l15_bytes = 16384;
  return c;
}

/// One load after the other, each when the one before has surely ended: their latencies.
std::vector<Cycle> latencies(LsuBench& bench, const std::vector<Address>& addresses) {
  OpList list;
  Cycle t = bench.now();
  for (const Address a : addresses) {
    list.strided(t, OpClass::kConstLoad, MemSpace::kConstant, 4, a, 0);
    t += 1000;
  }
  const LsuRun r = bench.run(list, 10'000'000);
  std::vector<Cycle> out;
  for (unsigned i = 0; i < addresses.size(); ++i) out.push_back(r.latency(i));
  return out;
}

std::vector<Address> lap(Address bytes, Address step) {
  std::vector<Address> addresses;
  for (Address a = 0; a < bytes; a += step) addresses.push_back(kTable + a);
  return addresses;
}

bool all(const std::vector<Cycle>& values, Cycle expected) {
  return std::all_of(values.begin(), values.end(), [&](Cycle v) { return v == expected; });
}

}  // namespace

TEST_CASE("constants: a load takes a pass for each address, two cycles apart") {
  const auto c = constant_config();
  std::mt19937_64 rng(7);
  for (int i = 0; i < 200; ++i) {
    LsuBench bench(c);
    LaneMask mask;
    Lanes lanes = random_lanes(rng, 4, mask);
    for (Address& a : lanes) a = kTable + a % (1 + rng() % 2048) / 4 * 4;
    if (mask == 0) continue;
    std::set<Address> different;
    for (unsigned l = 0; l < kWarpSize; ++l)
      if (mask >> l & 1) different.insert(lanes[l]);
    OpList list;
    list.add(0, OpClass::kConstLoad, MemSpace::kConstant, 4, mask, lanes);
    list.strided(0, OpClass::kConstLoad, MemSpace::kConstant, 4, kTable, 0);
    const LsuRun r = bench.run(list);
    const auto passes = static_cast<Cycle>(different.size());
    CHECK(r.latency(0) == c.mio.const_latency + 2 * (passes - 1));
    // The unit has done with the first when its passes are through, and the sub-core gives one up in two
    // cycles.
    CHECK(r.dispatched(1) - r.dispatched(0) ==
          std::max<Cycle>(2 * (passes - 1) + 1, c.mio.dispatch_interval));
    CHECK(bench.pipeline().counters(0).const_passes == passes + 1);
    CHECK(bench.pipeline().counters(0).const_l1_misses == 0);
    CHECK(r.requests.empty());
  }
}

TEST_CASE("constants: what fits is there from the launch on; beyond the levels it takes theirs") {
  const auto c = constant_config();
  LsuBench bench(c, kL2);
  const Cycle l1 = c.mio.const_latency, l15 = c.mio.const_l15_latency;
  CHECK(all(latencies(bench, lap(2048, kLine)), l1));
  CHECK(all(latencies(bench, lap(2048, kLine)), l1));
  // LRU: of a lap over twice the cache nothing is left.
  (void)latencies(bench, lap(4096, kLine));
  CHECK(all(latencies(bench, lap(4096, kLine)), l15));
  const auto& counted = bench.pipeline().counters(0);
  CHECK(counted.const_l15_misses == 0);
  const std::uint64_t before = counted.const_l1_misses;
  (void)latencies(bench, lap(16384, kL15Line));
  CHECK(counted.const_l15_misses == 0);
  // Beyond the L1.5 as well: half of its round trip, then the L2's, in requests of whole lines.
  (void)latencies(bench, lap(32768, kL15Line));
  const std::uint64_t misses = counted.const_l15_misses;
  const Cycle l2 = LsuLatencies::kMissPath + c.icnt.request_latency + kL2 + c.icnt.reply_latency;
  // The second half of the line goes a cycle later, and its data need two flits' time more of the port.
  const auto found = latencies(bench, lap(32768, kL15Line));
  CHECK(all(found, found[0]));
  CHECK(found[0] >= l1 + (l15 - l1) / 2 + l2 + 1);
  CHECK(found[0] <= l1 + (l15 - l1) / 2 + l2 + 8);
  CHECK(counted.const_l15_misses - misses == 32768 / kL15Line);
  CHECK(counted.const_l1_misses > before);
  bench.pipeline().invalidate();
  CHECK(all(latencies(bench, lap(2048, kLine)), l1));
}

TEST_CASE("constants: where launches do not bring them each line comes from the L2 once, whole") {
  auto c = constant_config();
  c.mio.const_cold_miss = true;
  LsuBench bench(c, kL2);
  OpList list;
  const Cycle t = bench.now();
  for (unsigned i = 0; i < 4; ++i)  // four lines of the L1 are one of the L1.5
    list.strided(t + i, OpClass::kConstLoad, MemSpace::kConstant, 4, kTable + i * kLine, 0).subcore =
        static_cast<std::uint8_t>(i);
  const LsuRun r = bench.run(list);
  REQUIRE(r.requests.size() == 2);
  for (unsigned i = 0; i < 2; ++i) {
    CHECK(r.requests[i].request.kind == icnt::AccessKind::kConstant);
    CHECK(r.requests[i].request.line == kTable + i * 128);
    CHECK(r.requests[i].request.sectors == 0b1111);
  }
  for (unsigned i = 1; i < 4; ++i) CHECK(r.result(i) == r.result(0));  // they wait for the same line
  CHECK(bench.pipeline().counters(0).const_l1_misses == 4);
  CHECK(bench.pipeline().counters(0).const_l15_misses == 1);
  CHECK(latencies(bench, lap(256, kLine)) == std::vector<Cycle>(4, c.mio.const_latency));
}

TEST_CASE("constants: a line on its way from the L1.5 is there for others when it has come") {
  const auto c = constant_config();
  LsuBench bench(c, kL2);
  (void)latencies(bench, lap(4096, kLine));
  OpList list;
  const Cycle t = bench.now();
  list.strided(t, OpClass::kConstLoad, MemSpace::kConstant, 4, kTable, 0);
  list.strided(t + 10, OpClass::kConstLoad, MemSpace::kConstant, 4, kTable + 4, 0);
  list.strided(t + 200, OpClass::kConstLoad, MemSpace::kConstant, 4, kTable + 8, 0);
  const LsuRun r = bench.run(list);
  CHECK(r.latency(0) == c.mio.const_l15_latency);
  CHECK(r.result(1) == r.result(0));
  CHECK(r.latency(2) == c.mio.const_latency);
}
