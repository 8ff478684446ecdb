// Two L2 halves: the near slice caches what its twin in the other half owns.
#include <catch2/catch.hpp>
#include <numeric>

#include "bench.hpp"

namespace lockstep::mem_test {
namespace {

config::GpuConfig two_halves() {
  config::GpuConfig c = small_config();
  c.l2.halves = 2;
  return c;
}

/// Some line whose home lies in this half.
Address line_of_half(const mem::AddressMap& map, std::uint32_t half, std::uint32_t skip = 0) {
  for (Address line = 0;; line += 128)
    if (map.half_of_slice(map.home_slice(line)) == half && skip-- == 0) return line;
}

TEST_CASE("far hit, near copy, and what a write does to it") {
  const config::GpuConfig c = two_halves();
  Bench b(c);
  const Address line = line_of_half(b.map, 1);
  Requester &near = *b.requesters[0], &far = *b.requesters[3];  // of half 0, of half 1
  REQUIRE(b.map.half_of_sm(0) == 0);
  REQUIRE(b.map.half_of_sm(3) == 1);
  near.add(1000, load(line, 1));           // DRAM behind the other half
  near.add(2000, load(line, 1));           // the copy
  far.add(3000, load(line, 2));            // brings a sector to its home
  near.add(4000, load(line, 2));           // far hit
  far.add(5000, store(line, 1, {1}));      // drops the copy of sector 0
  near.add(6000, load(line, 1));           // far hit
  near.add(7000, store(line, 3, {1, 1}));  // goes home through the copy
  near.add(8000, load(line, 1));
  b.run();
  REQUIRE(b.quiescent());
  const Cycle hit = 24 + c.l2.latency + 1 + 24;
  const Cycle across = 2 * c.icnt.far_latency;  // there and back; the near slice passes the data on
  const Cycle dram = 1 + 12 + 12 + 2 + 121;
  const auto took = [&](std::size_t i) { return near.received.at(i).at - near.sent.at(i); };
  CHECK(took(0) == hit + across + dram);
  CHECK(took(1) == hit);
  CHECK(took(2) == hit + across);
  CHECK(took(3) == hit + across);
  CHECK(took(4) == hit + across + 1 + 1);  // two flits of data on each way out
  CHECK(took(5) == hit);
  const auto k = b.take();
  CHECK(k.mem.dram_reads == 2);
  CHECK(k.mem.far_requests == 4);
  CHECK(k.mem.l2.requests == 8);
  CHECK(k.mem.l2.accesses == 9);
}

TEST_CASE("a prefetch fills both halves, and its reply does not wait for the data") {
  const config::GpuConfig c = two_halves();
  Bench b(c);
  const Address line = line_of_half(b.map, 1);
  Requester &near = *b.requesters[0], &far = *b.requesters[3];  // of half 0, of half 1
  Request ahead = load(line, 0xf);
  ahead.kind = AccessKind::kPrefetch;
  near.add(1000, ahead);
  near.add(2000, load(line, 1));
  far.add(3000, load(line, 1));
  near.add(4000, ahead);
  b.run();
  REQUIRE(b.quiescent());
  const Cycle hit = 24 + c.l2.latency + 1 + 24;
  REQUIRE(near.received.size() == 3);  // one reply for each
  CHECK(near.received[0].reply.sectors == 0xf);
  for (std::size_t i = 0; i < 3; ++i) CHECK(near.received[i].at - near.sent[i] == hit);
  CHECK(far.received.at(0).at - far.sent[0] == hit);
  const auto k = b.take();
  CHECK(k.mem.dram_reads == 4);
  CHECK(k.mem.far_requests == 1);
  CHECK(k.mem.l2.requests == 4);
  CHECK(k.mem.l2.read_misses == 4);
  CHECK(k.mem.l2.read_hits == 1 + 1 + 4);
  CHECK(k.icnt.replies == 4);
  CHECK(k.icnt.flits == 4);  // of replies: none carries more than a sector
}

TEST_CASE("a copy that was made outside of time is dropped as one made in it") {
  const config::GpuConfig c = two_halves();
  Bench b(c);
  const Address line = line_of_half(b.map, 1);
  const std::uint32_t home = b.map.home_slice(line), twin = b.map.near_slice(line, 0);
  for (const std::uint32_t slice : {home, twin})
    b.partitions[slice / c.l2.slices_per_partition]->touch(
        slice, {.line = line, .sectors = 1, .store = false, .placing = {}, .half = 0});
  Requester &near = *b.requesters[0], &far = *b.requesters[3];
  near.add(1000, load(line, 1));       // the copy
  far.add(2000, store(line, 1, {1}));  // drops it
  near.add(3000, load(line, 1));       // far hit
  b.run();
  const Cycle hit = 24 + c.l2.latency + 1 + 24;
  const auto took = [&](std::size_t i) { return near.received.at(i).at - near.sent.at(i); };
  CHECK(took(0) == hit);
  CHECK(took(1) == hit + 2 * c.icnt.far_latency);
}

TEST_CASE("a pointer chase sees the near half, then the far one, then DRAM") {
  config::GpuConfig c = two_halves();
  c.l2.slice_bytes = 32 * 1024;  // two halves of 64 KiB
  const auto chase = [&](std::uint32_t kib) {
    Bench b(c);
    const std::uint32_t lines = kib * 8;
    std::vector<std::uint32_t> order(lines);
    std::iota(order.begin(), order.end(), 0u);
    std::uint64_t seed = kib;
    for (std::uint32_t i = lines; i > 1; --i) std::swap(order[i - 1], order[next_random(seed) % i]);
    Requester& sm = *b.requesters[0];
    sm.in_flight_limit = 1;
    for (int turn = 0; turn < 3; ++turn)
      for (const std::uint32_t i : order) sm.add(0, load(Address{i} * 128, 1));
    b.run();
    Cycle sum = 0;
    for (std::size_t i = 2 * lines; i < 3 * lines; ++i) sum += sm.received[i].at - sm.sent[i];
    return static_cast<double>(sum) / lines;
  };
  const double hit = 24 + c.l2.latency + 1 + 24, far = hit + 2 * c.icnt.far_latency;
  CHECK(chase(16) == hit);
  CHECK(chase(48) < hit * 1.02);
  const double middle = chase(104);
  // Far hits, and lines of the near half from DRAM: the copies have driven them out.
  CHECK(middle == Approx((far + hit + 158) / 2).epsilon(0.03));
  CHECK(chase(256) > middle + 30);
}

TEST_CASE("atomics of both halves meet at home") {
  const config::GpuConfig c = two_halves();
  Bench b(c);
  const Address line = line_of_half(b.map, 0, 3);
  for (std::uint32_t sm = 0; sm < 4; ++sm)
    for (std::uint32_t i = 0; i < 20; ++i) {
      Request r = load(line, 1, i);
      r.kind = i % 2 ? AccessKind::kAtomic : AccessKind::kReduction;
      r.operations = 32;
      b.requesters[sm]->add(0, r);
    }
  const Cycle end = b.run();
  CHECK(b.quiescent());
  const auto k = b.take();
  CHECK(k.mem.l2_atomics == 80);
  CHECK(k.mem.dram_reads == 1);
  CHECK(k.mem.far_requests == 40);
  CHECK(end >= 80 * 4);  // one atomic unit, four passes each
}

TEST_CASE("the report of a stuck machine names what waits") {
  Bench b(two_halves(), {.limit = 3000});
  b.requesters[0]->stuck = true;
  for (std::uint32_t i = 0; i < 1000; ++i) b.requesters[0]->add(0, load(i * 128, 1));
  b.run();
  CHECK_FALSE(b.quiescent());
  std::string text;
  for (const auto& p : b.partitions) p->dump(text);
  CHECK(text.find("memory partition 0") != std::string::npos);
  CHECK(text.find("credits away") != std::string::npos);
  CHECK(text.find("waits for room in the data pipeline") != std::string::npos);
}

}  // namespace
}  // namespace lockstep::mem_test
