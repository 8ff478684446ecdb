// What goes into the memory side comes out once: random requests of all SMs and the copy engine, on machines
// of one and two halves; sums of the counters follow from the requests.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "bench.hpp"

namespace lockstep::mem_test {
namespace {

struct Tally {
  std::uint64_t read = 0, written = 0, atomics = 0, lines = 0;  // sectors; requests
  std::uint64_t of_sms = 0;
};

Request any_request(std::uint64_t& seed, std::uint32_t tag, bool copies, std::uint64_t lines) {
  const auto draw = [&seed](std::uint64_t n) { return (next_random(seed) >> 11) % n; };
  Request r = load(draw(draw(3) == 0 ? 24 : lines) * 128, static_cast<SectorMask>(1 + draw(15)), tag);
  r.kernel = static_cast<std::uint8_t>(draw(3));
  if (copies) {
    r.kind = draw(3) == 0 ? AccessKind::kCopy : AccessKind::kCopyRead;
    if (r.kind == AccessKind::kCopy) r.bytes = store(r.line, r.sectors, kAllBytes).bytes;
    return r;
  }
  const std::uint64_t kind = draw(12);
  if (kind < 5) return r;
  if (kind == 5) r.kind = AccessKind::kInstruction;
  if (kind == 6) r.kind = AccessKind::kConstant;
  if (kind == 9) r.kind = AccessKind::kPrefetch;
  if (kind == 5 || kind == 6 || kind == 9) return r;
  r.kind = kind == 7 ? AccessKind::kAtomic : kind == 8 ? AccessKind::kReduction : AccessKind::kStore;
  r.operations = static_cast<std::uint8_t>(1 + draw(32));
  if (r.kind == AccessKind::kStore)
    for (unsigned s = 0; s < 4; ++s)
      if (r.sectors >> s & 1) r.bytes[s] = draw(2) ? ~0u : 0xffu << (8 * draw(4));
  return r;
}

struct Shape {
  const char* name;
  std::uint32_t partitions, slices, halves, mshrs;
  std::uint64_t lines;
};
constexpr Shape kShapes[] = {{"plain", 2, 2, 1, 32, 2000},
                             {"one slice", 1, 1, 1, 4, 300},
                             {"odd", 3, 2, 1, 8, 5000},
                             {"two halves", 2, 2, 2, 32, 2000},
                             {"two small halves", 4, 1, 2, 6, 400}};

config::GpuConfig config_of(const Shape& shape) {
  config::GpuConfig c = small_config();
  c.l2.partitions = shape.partitions;
  c.l2.slices_per_partition = shape.slices;
  c.l2.halves = shape.halves;
  c.l2.mshrs = shape.mshrs;
  c.clock = {1410000, 1410000, 1305000, 1215000};
  return c;
}

/// Random requests, and which of them there are by requester and tag.
class Traffic {
 public:
  Traffic(Bench& bench, std::uint64_t seed, std::uint64_t lines) {
    for (std::size_t who = 0; who < bench.requesters.size(); ++who) {
      const bool copies = who + 1 == bench.requesters.size();
      Requester& requester = *bench.requesters[who];
      requester.in_flight_limit = 200;
      for (std::uint32_t tag = 0; tag < 700; ++tag) {
        const Request r = any_request(seed, tag, copies, lines);
        requester.add(seed % 4000, r);
        asked_[{who, tag}] = r;
        note(r, copies);
      }
      std::ranges::stable_sort(requester.script, {}, &Scripted::at);
    }
  }
  Tally tally;

  /// Replies name each sector of each request once.
  void check(const Bench& bench) const {
    std::map<std::pair<std::size_t, std::uint32_t>, unsigned> seen;
    for (std::size_t who = 0; who < bench.requesters.size(); ++who) {
      std::map<std::uint32_t, Cycle> first;
      for (const Received& one : bench.requesters[who]->received) {
        unsigned& sectors = seen[{who, one.reply.tag}];
        REQUIRE((sectors & one.reply.sectors) == 0);
        sectors |= one.reply.sectors;
        REQUIRE(one.reply.kind == asked_.at({who, one.reply.tag}).kind);
      }
    }
    REQUIRE(seen.size() == asked_.size());
    for (const auto& [key, request] : asked_) REQUIRE(seen.at(key) == request.sectors);
  }

 private:
  void note(const Request& r, bool copies) {
    const auto sectors = static_cast<unsigned>(std::popcount(static_cast<unsigned>(r.sectors)));
    ++tally.lines;
    if (copies) return;
    tally.of_sms += sectors;
    const bool atomic = r.kind == AccessKind::kAtomic || r.kind == AccessKind::kReduction;
    if (atomic) tally.atomics += sectors;
    (r.kind == AccessKind::kStore || atomic ? tally.written : tally.read) += sectors;
  }
  std::map<std::pair<std::size_t, std::uint32_t>, Request> asked_;
};

stats::KernelCounters all_kernels(Bench& bench) {
  stats::KernelCounters all;
  for (std::uint8_t k = 0; k < 8; ++k) stats::add(all, bench.take(k));
  return all;
}

TEST_CASE("conservation: every sector that is asked for is answered once, by every shape of the L2") {
  for (const Shape& shape : kShapes)
    for (const std::uint64_t seed : {11u, 12u}) {
      INFO(shape.name << " " << seed);
      Bench bench(config_of(shape));
      const Traffic traffic(bench, seed, shape.lines);
      bench.run();
      REQUIRE(bench.quiescent());
      traffic.check(bench);
      const stats::KernelCounters got = all_kernels(bench);
      const stats::CacheCounters& l2 = got.mem.l2;
      CHECK(l2.accesses == l2.hits + l2.misses + l2.mshr_merges);
      CHECK(l2.accesses == l2.sectors_read + l2.sectors_written);
      CHECK(l2.hits == l2.read_hits + l2.write_hits);
      CHECK(l2.misses == l2.read_misses + l2.write_misses);
      CHECK(l2.read_line_misses <= l2.read_misses);
      CHECK(l2.write_line_misses <= l2.write_misses);
      CHECK(got.mem.l2_fetches <= l2.sectors_read);
      CHECK(got.mem.l2_fetch_hits + got.mem.l2_fetch_merges <= got.mem.l2_fetches);
      CHECK(got.mem.dram_bytes == bench.config.dram.burst_bytes * (got.mem.dram_reads + got.mem.dram_writes));
      CHECK(got.mem.dram_row_hits + got.mem.dram_row_misses == got.mem.dram_reads + got.mem.dram_writes);
      if (shape.halves == 1) CHECK(got.mem.far_requests == 0);
      for (std::uint8_t k = 0; k < 8; ++k) {  // taken once, they are gone
        const stats::PartitionCounters rest = bench.take(k).mem;
        CHECK(rest.l2.accesses + rest.dram_bytes == 0);
      }
    }
}

TEST_CASE("conservation: sectors of SMs are counted once each; those of the copy engine are not") {
  for (const Shape& shape : kShapes) {
    INFO(shape.name);
    Bench bench(config_of(shape));
    const Traffic traffic(bench, 31, shape.lines);
    bench.run();
    REQUIRE(bench.quiescent());
    stats::KernelCounters of_kernels;
    for (std::uint8_t k = 0; k < 3; ++k) stats::add(of_kernels, bench.take(k));
    const stats::CacheCounters& l2 = of_kernels.mem.l2;
    CHECK(l2.sectors_read + l2.sectors_written >= traffic.tally.of_sms);
    CHECK(of_kernels.mem.l2_atomics == traffic.tally.atomics);
  }
}

TEST_CASE("conservation: results do not depend on the window, on skipping, or on the order of domains") {
  const Shape& shape = kShapes[3];
  const auto result = [&](const BenchOptions& options) {
    Bench bench(config_of(shape), options);
    const Traffic traffic(bench, 41, shape.lines);
    bench.run();
    std::vector<std::tuple<std::size_t, Cycle, std::uint32_t, SectorMask>> all;
    for (std::size_t who = 0; who < bench.requesters.size(); ++who)
      for (const Received& r : bench.requesters[who]->received)
        all.emplace_back(who, r.at, r.reply.tag, r.reply.sectors);
    return all;
  };
  const auto base = result({});
  CHECK(base.size() > 3000);
  for (const Cycle window : {1u, 3u, 7u}) CHECK(result({window}) == base);
  CHECK(result({0, false}) == base);
  CHECK(result({5, true, 99}) == base);
}

}  // namespace
}  // namespace lockstep::mem_test
