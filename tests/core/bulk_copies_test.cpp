// The bulk-copy unit against loops over bytes, and mbarriers of an SM.
#include <catch2/catch.hpp>
#include <map>

#include "lsu_bench.hpp"
#include "sm_bench.hpp"

namespace lockstep::core::test {
namespace {

/// What each sector is asked for: bytes, bit each.
std::map<Address, std::uint32_t> bytes_of(const std::vector<trace::BulkRun>& runs) {
  std::map<Address, std::uint32_t> sectors;
  for (const trace::BulkRun& run : runs)
    for (std::uint32_t row = 0; row < run.rows; ++row)
      for (std::uint32_t b = 0; b < run.bytes; ++b) {
        const Address a = run.first + static_cast<Address>(run.stride * row) + b;
        sectors[a / 32 * 32] |= 1u << a % 32;
      }
  return sectors;
}

const std::vector<trace::BulkRun> kTile{{kData, 128, 4, 1024}, {kData + 0x10040, 200, 3, -512}};

}  // namespace

TEST_CASE("a bulk copy asks for the sectors of its rows, one line per cycle, and ends with the last one") {
  const Cycle l2 = 150;
  LsuBench bench(lsu_config(), l2);
  OpList list;
  list.bulk(0, trace::BulkCopy::kLoad, kTile);
  const LsuRun r = bench.run(list);
  std::map<Address, unsigned> asked;
  Cycle first = kNever, last = 0;
  for (const auto& sent : r.requests) {
    CHECK(sent.request.kind == icnt::AccessKind::kLoad);
    for (unsigned s = 0; s < 4; ++s)
      if (sent.request.sectors >> s & 1) ++asked[sent.request.line + 32 * s];
    first = std::min(first, sent.arrival);
    last = std::max(last, sent.arrival);
  }
  std::map<Address, unsigned> expected;
  for (const auto& [sector, bytes] : bytes_of(kTile)) ++expected[sector];
  CHECK(asked == expected);
  const std::size_t lines = 4 + 3 * 3;  // rows of 200 bytes at 64 within a line reach into three
  REQUIRE(r.requests.size() == lines);
  CHECK(last - first == lines - 1);
  Cycle back = 0;
  for (const auto& reply : r.replies) back = std::max(back, reply.time);
  CHECK(r.result(0) >= back);
  CHECK(r.result(0) <= back + 60);
  CHECK(bench.pipeline().counters(0).l1.requests == 0);
  CHECK(bench.pipeline().counters(0).global_instructions == 1);
}

TEST_CASE("a bulk copy's lines wait for the translation of their block, once") {
  const auto results = [](Cycle miss) {
    config::GpuConfig c = lsu_config();
    c.tlb.miss_latency = static_cast<std::uint32_t>(miss);
    LsuBench bench(c);
    OpList list;
    list.bulk(0, trace::BulkCopy::kLoad, kTile);
    list.bulk(2000, trace::BulkCopy::kLoad, kTile);
    const LsuRun r = bench.run(list);
    CHECK(r.requests.size() == 2 * (4 + 3 * 3));
    return std::pair{r.latency(0), r.latency(1)};
  };
  const auto [first, second] = results(0);
  const auto [waited, known] = results(700);
  CHECK(waited - first == 700);
  CHECK(known == second);
}

TEST_CASE(
    "a bulk store writes the bytes of its rows, is read when it is sent and acknowledged when it is there") {
  LsuBench bench(lsu_config(), 300);
  OpList list;
  list.bulk(0, trace::BulkCopy::kStore, kTile);
  const LsuRun r = bench.run(list);
  std::map<Address, std::uint32_t> written;
  Cycle last = 0;
  for (const auto& sent : r.requests) {
    CHECK(sent.request.kind == icnt::AccessKind::kStore);
    for (unsigned s = 0; s < 4; ++s)
      if (sent.request.sectors >> s & 1) written[sent.request.line + 32 * s] |= sent.request.bytes[s];
    last = std::max(last, sent.arrival);
  }
  CHECK(written == bytes_of(kTile));
  CHECK(r.result(0) < last);
  CHECK(r.when(MioEvent::Kind::kAcknowledged, 0) >= last + 300);
}

TEST_CASE(
    "a bulk copy without rows, and ones of empty or impossible rows, take the time of a special register") {
  for (const std::vector<trace::BulkRun>& runs :
       {std::vector<trace::BulkRun>{},
        std::vector<trace::BulkRun>{{kData, 0, 9, 128}, {kData, 9, 0, 128}, {kData, 0xffff, 0xffff, 128}}}) {
    LsuBench bench(lsu_config());
    OpList list;
    list.bulk(0, trace::BulkCopy::kLoad, runs);
    list.fixed(0, OpClass::kSpecialReg);
    const LsuRun r = bench.run(list);
    CHECK(r.requests.empty());
    CHECK(r.result(0) - r.dispatched(0) == r.result(1) - r.dispatched(1));
  }
}

namespace {

enum class First { kBulkCopy, kArrival, kAsyncCopy };

/// One warp copies (or only arrives), the other one waits for `events` and then computes for 60 MUFU.
std::uint64_t freed_after(First first, std::uint32_t events, Cycle delay) {
  Program p;
  if (first == First::kBulkCopy) {
    StaticInst& copy = p.add(OpClass::kBulkCopy, {}, {}, 0xf);
    copy.bulk = trace::BulkCopy::kLoad;
    const trace::BulkRunWords run = trace::pack({kData, 1024, 1, 0});
    p.words(trace::AddressForm::kList, {1, 1, run.place, run.shape});
  } else {
    if (first == First::kAsyncCopy) p.memory(OpClass::kAsyncCopy, MemSpace::kGlobal, {}, {2}, kData, 4);
    StaticInst& arrive = p.add(first == First::kArrival ? OpClass::kMbarrier : OpClass::kDepBar, {}, {});
    arrive.barrier = trace::BarrierOp::kArrive;
    p.words(trace::AddressForm::kAffine, {1, 32});
  }
  p.next_warp();
  p.pc = 0x1000;
  StaticInst& wait = p.add(OpClass::kMbarrier, {}, {});
  wait.barrier = trace::BarrierOp::kSync;
  p.words(trace::AddressForm::kAffine, {1, events});
  for (int i = 0; i < 60; ++i) p.add(OpClass::kSfu, {1}, {1});
  BenchOptions o;
  o.delay = delay;
  const Result r = run(p, small_gpu(), o);
  REQUIRE(r.finished);
  return r.freed;
}

}  // namespace

TEST_CASE("a warp that waits for an mbarrier continues when the copies that signal it have ended") {
  for (const auto& [first, events] : {std::pair{First::kBulkCopy, 1u}, {First::kAsyncCopy, 32u}}) {
    const std::uint64_t none = freed_after(first, 0, 3000), near = freed_after(first, events, 3000),
                        far = freed_after(first, events, 5000);
    CHECK(far - near == 2 * 2000);  // the code's first line, then the copy
    CHECK(near > none + 900);       // 60 MUFU of 18 cycles, after the copy instead of beside it
  }
}

TEST_CASE("who waits for an mbarrier goes on with the last arrival of other warps") {
  const std::uint64_t none = freed_after(First::kArrival, 0, 100),
                      all = freed_after(First::kArrival, 32, 100);
  CHECK(all >= none);
  CHECK(all <= none + 100);
}

}  // namespace lockstep::core::test
