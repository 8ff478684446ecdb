// Random traffic: every request answered exactly as messages.hpp says, and the same to the last reply and
// counter for every window, order of domains, and with every edge visited.
#include <bit>
#include <catch2/catch.hpp>
#include <cstring>

#include "bench.hpp"

namespace lockstep::mem_test {
namespace {

struct Outcome {
  std::vector<std::vector<Received>> received;
  std::array<stats::KernelCounters, 3> counters;
};

void check_same(const Outcome& a, const Outcome& b) {
  REQUIRE(a.received.size() == b.received.size());
  for (std::size_t i = 0; i < a.received.size(); ++i) {
    REQUIRE(a.received[i].size() == b.received[i].size());
    for (std::size_t j = 0; j < a.received[i].size(); ++j) {
      const Received &x = a.received[i][j], &y = b.received[i][j];
      REQUIRE(x.at == y.at);
      REQUIRE(x.reply.tag == y.reply.tag);
      REQUIRE(x.reply.sectors == y.reply.sectors);
    }
  }
  CHECK(std::memcmp(a.counters.data(), b.counters.data(), sizeof a.counters) == 0);
}

Request draw_request(std::uint64_t& seed, std::uint64_t lines, bool copies, std::uint32_t tag) {
  const auto draw = [&seed](std::uint64_t n) {
    return static_cast<std::uint32_t>((next_random(seed) >> 11) % n);
  };
  static constexpr AccessKind kKinds[] = {
      AccessKind::kLoad,      AccessKind::kLoad,        AccessKind::kLoad,
      AccessKind::kStore,     AccessKind::kStore,       AccessKind::kAtomic,
      AccessKind::kReduction, AccessKind::kInstruction, AccessKind::kConstant};
  Request r = load(Address{draw(lines)} * 128, static_cast<SectorMask>(1 + draw(15)), tag);
  r.kind = copies ? (draw(2) ? AccessKind::kCopy : AccessKind::kCopyRead) : kKinds[draw(std::size(kKinds))];
  if (r.kind == AccessKind::kCopy) r.copy = static_cast<icnt::CopyInL2>(draw(3));
  r.kernel = static_cast<std::uint8_t>(draw(3));
  if (draw(8) == 0) r.placing.priority = L2Priority::kFirst;
  r.operations = static_cast<std::uint8_t>(1 + draw(128));
  for (unsigned s = 0; s < 4; ++s)
    if (r.sectors >> s & 1) r.bytes[s] = draw(2) ? ~0u : 1u << draw(32);
  return r;
}

/// `pressure`: requests come as fast as they can; else with gaps, in which everything sleeps.
Outcome run(const config::GpuConfig& c, std::uint64_t seed, bool pressure, const BenchOptions& options) {
  Bench b(c, options);
  for (auto& requester : b.requesters) {
    const bool copies = requester == b.requesters.back();
    Cycle at = 0;
    for (std::uint32_t i = 0; i < (pressure ? 1200u : 150u); ++i) {
      if (!pressure && next_random(seed) % 8 == 0) at += next_random(seed) % 3000;
      if (next_random(seed) % 64 == 0) at += 50;
      requester->add(at, draw_request(seed, pressure ? 1500 : 300, copies, i));
    }
  }
  b.run();
  REQUIRE(b.quiescent());
  Outcome o;
  for (const auto& requester : b.requesters) {
    o.received.push_back(requester->received);
    std::vector<SectorMask> owed;
    std::vector<unsigned> replies(requester->script.size());
    for (const Scripted& s : requester->script) owed.push_back(s.request.sectors);
    for (const Received& x : requester->received) {
      const Request& r = requester->script.at(x.reply.tag).request;
      REQUIRE(x.reply.sectors != 0);
      REQUIRE((x.reply.sectors & ~owed[x.reply.tag]) == 0);  // asked for, and not answered before
      owed[x.reply.tag] = static_cast<SectorMask>(owed[x.reply.tag] & ~x.reply.sectors);
      ++replies[x.reply.tag];
      REQUIRE(x.reply.line == r.line);
      REQUIRE(x.reply.kind == r.kind);
      REQUIRE(x.reply.kernel == r.kernel);
      if (icnt::carries_data(r.kind)) REQUIRE(x.reply.sectors == r.sectors);
    }
    for (std::size_t i = 0; i < owed.size(); ++i) {
      REQUIRE(owed[i] == 0);
      REQUIRE(replies[i] >= 1);
    }
  }
  stats::KernelCounters sum;
  std::uint64_t sectors = 0, requests = 0, fetched = 0;
  for (std::uint8_t k = 0; k < 3; ++k) {
    o.counters[k] = b.take(k);
    stats::add(sum.mem, o.counters[k].mem);
    stats::add(sum.icnt, o.counters[k].icnt);
    const auto again = b.take(k);
    CHECK(again.mem.l2.accesses + again.mem.dram_reads + again.icnt.flits == 0);
  }
  std::size_t replies = 0;
  for (const auto& requester : b.requesters) {
    replies += requester->received.size();
    requests += requester->script.size();
    for (const Scripted& s : requester->script) {
      const auto n = static_cast<unsigned>(std::popcount(s.request.sectors));
      sectors += n;
      if (s.request.kind == AccessKind::kInstruction || s.request.kind == AccessKind::kConstant) fetched += n;
    }
  }
  const auto& m = sum.mem;
  CHECK(m.l2.requests == requests);
  CHECK(m.l2.accesses == m.l2.hits + m.l2.misses + m.l2.mshr_merges);
  CHECK(m.l2.accesses == m.l2.sectors_read + m.l2.sectors_written);
  CHECK(m.l2.accesses == sectors);
  CHECK(m.l2_fetches == fetched);
  CHECK((m.l2_fetch_hits > 0 && m.l2_fetch_hits <= fetched));
  CHECK(m.l2.hits == m.l2.read_hits + m.l2.write_hits);
  CHECK(m.l2.misses == m.l2.read_misses + m.l2.write_misses);
  CHECK(m.dram_row_hits + m.dram_row_misses == m.dram_reads + m.dram_writes);
  CHECK(m.dram_writes == m.l2_writebacks);
  CHECK(sum.icnt.replies == replies);
  CHECK((m.far_requests > 0) == (c.l2.halves == 2));
  return o;
}

void compare_all(const config::GpuConfig& c, std::uint64_t seed, bool pressure) {
  const Outcome reference = run(c, seed, pressure, {});
  check_same(reference, run(c, seed, pressure, {.window = 1}));
  check_same(reference, run(c, seed, pressure, {.window = 7, .shuffle = 5}));
  check_same(reference, run(c, seed, pressure, {.skip = false}));
  check_same(reference, run(c, seed, pressure, {.window = 3, .skip = false, .shuffle = 9}));
}

TEST_CASE("the same for every window, order, and with every edge visited") {
  for (const bool pressure : {false, true}) compare_all(small_config(), 11, pressure);
}

TEST_CASE("likewise with clocks that have no common period") {
  config::GpuConfig c = small_config();
  c.clock = {1312000, 1000000, 877000, 1200000};  // core, icnt, L2, DRAM
  compare_all(c, 21, true);
  c.clock = {877000, 1312000, 1200000, 3500000};
  compare_all(c, 22, false);
  c.clock = {1380000, 1380000, 1380000, 877000};
  compare_all(c, 23, true);
}

TEST_CASE("likewise with two halves") {
  config::GpuConfig c = small_config();
  c.l2.halves = 2;
  for (const bool pressure : {false, true}) compare_all(c, 31, pressure);
  c.clock = {1410000, 1300000, 1100000, 1215000};
  compare_all(c, 32, true);
}

TEST_CASE("likewise with a limit of dirty lines", "[long]") {
  for (const std::uint32_t dirty_ways : {1u, 4u}) {
    config::GpuConfig c = small_config();
    c.l2.dirty_ways = dirty_ways;
    c.dram.write_queue = 4;  // so that writes wait
    c.dram.write_high = 4;
    c.dram.write_low = 2;
    c.clock = {1380000, 1200000, 1200000, 877000};
    for (const bool pressure : {false, true}) compare_all(c, 50 + dirty_ways, pressure);
    c.l2.halves = 2;
    compare_all(c, 60 + dirty_ways, true);
  }
}

TEST_CASE("likewise when every buffer is as small as can be", "[long]") {
  for (const std::uint32_t halves : {1u, 2u}) {
    config::GpuConfig c = small_config();
    c.l2.halves = halves;
    c.l2.mshrs = 2;
    c.l2.mshr_merges = 1;
    c.l2.ways = 2;
    c.l2.slice_bytes = 2048;
    c.icnt.reply_credits = c.icnt.request_credits = 1;
    c.icnt.sm_queue_entries = c.icnt.queue_entries = 1;
    c.dram.read_queue = 1;
    c.dram.write_queue = 2;
    c.dram.write_high = 2;
    c.dram.write_low = 1;
    compare_all(c, 40 + halves, true);
    c.l2.dirty_ways = 1;
    compare_all(c, 42 + halves, true);
  }
}

TEST_CASE("machines of many shapes") {
  std::uint64_t seed = 12345;
  const auto draw = [&seed](std::uint32_t n) {
    return static_cast<std::uint32_t>((next_random(seed) >> 11) % n);
  };
  for (int i = 0; i < 12; ++i) {
    config::GpuConfig c = small_config();
    c.l2.halves = 1 + draw(2);
    c.l2.partitions = c.l2.halves * (1 + draw(2));
    c.l2.slices_per_partition = 1 + draw(3);
    c.l2.ways = 2 + draw(7);
    c.l2.slice_bytes = 128 * c.l2.ways * (1 + draw(20));
    c.l2.dirty_ways = 1 + draw(c.l2.ways);
    c.l2.mshrs = 2 + draw(30);
    c.l2.slice_bytes_per_cycle = 16u << draw(4);
    c.l2.latency = 1 + draw(150);
    c.l2.atomic_interval = 1 + draw(4);
    c.dram.channels_per_partition = 1 + draw(3);
    c.dram.burst_bytes = 32;
    c.dram.tREFI = 300 + draw(3000);
    c.dram.latency_ns_x1000 = draw(200000);
    c.clock = {900000 + draw(800000), 900000 + draw(800000), 900000 + draw(800000), 800000 + draw(800000)};
    const std::uint64_t traffic = next_random(seed);
    check_same(run(c, traffic, true, {}), run(c, traffic, true, {.window = 5, .skip = false, .shuffle = 3}));
  }
}

}  // namespace
}  // namespace lockstep::mem_test
