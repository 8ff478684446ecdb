// Latencies and rates of the memory pipeline against closed forms.
#include <catch2/catch.hpp>

#include "lsu_bench.hpp"

using namespace lockstep;
using namespace lockstep::core;
using namespace lockstep::core::test;

namespace {

config::GpuConfig warm_config() {
  auto c = lsu_config();
  c.mio.const_cold_miss = false;
  return c;
}

/// What a load adds that misses: the way through the SM, the crossbar both ways, the L2.
Cycle miss_path(const config::GpuConfig& c) {
  return LsuLatencies::kMissPath + c.icnt.request_latency + kL2 + c.icnt.reply_latency;
}

void warm(LsuBench& bench, Address base, Address bytes) {
  OpList list;
  for (Address a = 0; a < bytes; a += 512)
    list.strided(0, OpClass::kLoad, MemSpace::kGlobal, 16, base + a, 16);
  (void)bench.run(list);
}

/// Core cycles for each of many equal operations that all four sub-cores issue as fast as they can.
double cycles_per_op(LsuBench& bench, OpClass op_class, MemSpace space, unsigned bytes, std::int64_t stride,
                     Address step = 0) {
  constexpr unsigned kOps = 400;
  OpList list;
  for (unsigned i = 0; i < kOps; ++i)
    list.strided(0, op_class, space, bytes, kData + i * step, stride).subcore =
        static_cast<std::uint8_t>(i % 4);
  const LsuRun r = bench.run(list);
  Cycle first = kNever, last = 0;
  for (unsigned i = 0; i < kOps; ++i) {
    first = std::min(first, r.result(i));
    last = std::max(last, r.result(i));
  }
  return static_cast<double>(last - first) / (kOps - 1);
}

}  // namespace

TEST_CASE("LSU: latency of a hit, of shared memory, of the fixed units") {
  const auto c = warm_config();
  LsuBench bench(c);
  warm(bench, kData, 512);
  OpList list;
  const Cycle t = bench.now() + 10;
  list.strided(t, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4);
  list.strided(t + 100, OpClass::kLoad, MemSpace::kShared, 4, 0, 4);
  list.fixed(t + 200, OpClass::kShuffle);
  list.fixed(t + 300, OpClass::kSpecialReg);
  list.fixed(t + 400, OpClass::kConstLoad);
  list.fixed(t + 500, OpClass::kTexture);
  list.strided(t + 600, OpClass::kTexture, MemSpace::kTexture, 4, kData, 4);
  const LsuRun r = bench.run(list);
  CHECK(r.latency(0) == c.l1.hit_latency);
  CHECK(r.latency(1) == c.l1.shared_latency);
  CHECK(r.latency(2) == c.mio.shuffle_latency);
  CHECK(r.latency(3) == c.mio.special_latency);
  CHECK(r.latency(4) == c.mio.const_latency);
  CHECK(r.latency(5) == c.l1.hit_latency + c.mio.texture_latency);
  CHECK(r.latency(6) == c.l1.hit_latency + c.mio.texture_latency);
  for (unsigned i = 0; i < 7; ++i) CHECK(r.dispatched(i) == r.pushed[i] + LsuLatencies::kResidence);
}

TEST_CASE("LSU: data reach the registers at 512 bits per cycle") {
  // Huerta et al., MICRO 2025: a warp's loads of 32, 64 and 128 bits that hit take 29, 31 and 35 cycles.
  const auto c = warm_config();
  LsuBench bench(c, kL2);
  warm(bench, kData, 512);
  OpList list;
  const Cycle t = bench.now() + 10;
  list.strided(t, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4);
  list.strided(t + 100, OpClass::kLoad, MemSpace::kGlobal, 8, kData, 8);
  list.strided(t + 200, OpClass::kLoad, MemSpace::kGlobal, 16, kData, 16);
  list.strided(t + 300, OpClass::kLoad, MemSpace::kGlobal, 8, kData, 0);      // all lanes the same
  list.strided(t + 400, OpClass::kLoad, MemSpace::kGlobal, 16, kData, 0, 1);  // one lane
  list.strided(t + 500, OpClass::kAsyncCopy, MemSpace::kGlobal, 8, kData, 0);
  list.strided(t + 1000, OpClass::kLoad, MemSpace::kGlobal, 8, kData + 65536,
               0);  // both halves from one line
  const LsuRun r = bench.run(list);
  for (const auto& [index, more] : {std::pair{0u, 0u}, {1u, 2u}, {2u, 6u}, {3u, 2u}, {4u, 0u}, {5u, 1u}})
    CHECK(r.latency(index) == c.l1.hit_latency + more);
  CHECK(r.latency(6) == c.l1.hit_latency + miss_path(c) + 2);
}

TEST_CASE("LSU: a load of lines in one bank takes two cycles per line, as on an H100") {
  // h100_pcie_kernels.csv, gesummv of 512 elements in CTAs of 16 and of 32 threads, both derived rows: 76,928
  // and 95,670 ns at 1.755 GHz, of which each of 512 turns has two loads of one line per thread.
  const double measured = (95670 - 76928) * 1.755 / 512 / 2 / (32 - 16);
  CHECK(measured == Approx(LsuLatencies::kPassTransfer).epsilon(0.03));
  const auto c = warm_config();
  for (const unsigned lines : {1u, 8u, 16u, 32u}) {
    LsuBench bench(c, kL2);
    warm(bench, kData, 8192);
    OpList list;
    list.strided(bench.now() + 10, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 128,
                 static_cast<LaneMask>((std::uint64_t{1} << lines) - 1));
    const LsuRun r = bench.run(list);
    CHECK(r.latency(0) == c.l1.hit_latency + LsuLatencies::kPassTransfer * (lines - 1));
  }
  // What needs no more passes takes no longer: 32 lanes on 17 lines and all banks.
  LsuBench bench(c, kL2);
  warm(bench, kData, 8192);
  OpList list;
  list.strided(bench.now() + 10, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 68);
  CHECK(bench.run(list).latency(0) == c.l1.hit_latency + 17 / c.l1.tags_per_cycle);
}

TEST_CASE("LSU: latencies below the residence are kept") {
  auto c = warm_config();
  c.mio.shuffle_latency = 1;
  LsuBench bench(c);
  OpList list;
  list.fixed(5, OpClass::kShuffle);
  list.fixed(50, OpClass::kSpecialReg);
  const LsuRun r = bench.run(list);
  CHECK(r.latency(0) == 1);
  CHECK(r.latency(1) == c.mio.special_latency);
}

TEST_CASE("LSU: k-way bank conflicts take k - 1 cycles more") {
  const auto c = warm_config();
  for (const unsigned k : {1u, 2u, 4u, 8u, 16u, 32u}) {
    LsuBench bench(c);
    OpList list;
    list.strided(5, OpClass::kLoad, MemSpace::kShared, 4, 0, 4 * k);
    list.strided(6, OpClass::kLoad, MemSpace::kShared, 4, 0, 4).subcore = 1;  // waits for the banks
    const LsuRun r = bench.run(list);
    CHECK(r.latency(0) == c.l1.shared_latency + k - 1);
    CHECK(r.latency(1) == c.l1.shared_latency + k - 1);
    CHECK(bench.pipeline().counters(0).shared_wavefronts == k + 1);
    CHECK(bench.pipeline().counters(0).shared_instructions == 2);
  }
}

TEST_CASE("LSU: shared atomics on one address go one after another") {
  const auto c = warm_config();
  LsuBench bench(c);
  OpList list;
  list.strided(5, OpClass::kAtomic, MemSpace::kShared, 4, 0, 0, 0xff);
  list.strided(105, OpClass::kReduction, MemSpace::kShared, 4, 0, 4);
  const LsuRun r = bench.run(list);
  CHECK(r.latency(0) == c.l1.shared_latency + 7);
  CHECK(r.latency(1) == LsuLatencies::kResidence);  // no result to wait for
  CHECK(r.events.size() == 4);                      // and nothing acknowledged
}

TEST_CASE("LSU: a miss costs the hit latency, the miss path and the way to L2 and back") {
  const auto c = warm_config();
  LsuBench bench(c, kL2);
  OpList list;
  list.strided(5, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4, 1);
  list.strided(1005, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4, 1);
  list.strided(2005, OpClass::kAtomic, MemSpace::kGlobal, 4, kData, 4, 1);
  list.strided(3005, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4, 1);  // the atomic took the SM's copy
  list.strided(4005, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4, 1).bypass_l1 = true;
  list.strided(5005, OpClass::kAsyncCopy, MemSpace::kGlobal, 4, kData + 4096, 4, 1);
  list.strided(6005, OpClass::kTexture, MemSpace::kTexture, 4, kData + 8192, 4, 1);
  const LsuRun r = bench.run(list);
  const Cycle miss = c.l1.hit_latency + miss_path(c);
  CHECK(r.latency(0) == miss);
  CHECK(r.latency(1) == c.l1.hit_latency);
  CHECK(r.latency(2) == miss);
  CHECK(r.latency(3) == miss);
  CHECK(r.latency(4) == miss);
  CHECK(r.latency(5) == miss);
  CHECK(r.latency(6) == miss + c.mio.texture_latency);
  const auto& l1 = bench.pipeline().counters(0).l1;
  CHECK(l1.accesses == 7);
  CHECK(l1.hits == 1);
  CHECK(l1.misses == 6);
  CHECK(l1.sectors_read == 6);
  CHECK(l1.sectors_written == 1);
  CHECK(r.requests.size() == 6);
  for (const auto& sent : r.requests)
    CHECK(sent.slice == bench.map().near_slice(sent.request.line, bench.map().half_of_sm(LsuBench::kSm)));
}

TEST_CASE("LSU: the first accesses to 2 MB wait for one translation together") {
  auto c = warm_config();
  c.tlb.miss_latency = 654;
  LsuBench bench(c, kL2);
  OpList list;
  list.strided(5, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4, 1);
  list.strided(105, OpClass::kLoad, MemSpace::kGlobal, 4, kData + 4096, 4, 1);        // the same block
  list.strided(205, OpClass::kStore, MemSpace::kGlobal, 4, kData + (2 << 20), 4, 1);  // the next
  list.strided(1505, OpClass::kLoad, MemSpace::kGlobal, 4, kData + 8192, 4, 1);       // known by now
  list.strided(2005, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4, 1);
  const LsuRun r = bench.run(list);
  const Cycle miss = c.l1.hit_latency + miss_path(c);
  CHECK(r.latency(0) == miss + 654);
  CHECK(r.result(1) == r.result(0) + 1);  // one more line through the tags
  CHECK(r.result(2) == r.dispatched(2));  // a store's data leave its registers as ever
  CHECK(r.when(MioEvent::Kind::kAcknowledged, 2) ==
        205 + 654 + LsuLatencies::kResidence + c.icnt.request_latency + kL2 + c.icnt.reply_latency);
  CHECK(r.latency(3) == miss);
  CHECK(r.latency(4) == c.l1.hit_latency);
  CHECK(bench.pipeline().counters(0).tlb_waits == 3);
}

TEST_CASE("LSU: stores give their result when they leave, the acknowledgement when L2 has them") {
  const auto c = warm_config();
  LsuBench bench(c, kL2);
  OpList list;
  list.strided(5, OpClass::kStore, MemSpace::kGlobal, 4, kData + 64, 4);  // two lines
  list.strided(1005, OpClass::kReduction, MemSpace::kGlobal, 8, kData, 0);
  list.strided(2005, OpClass::kStore, MemSpace::kLocal, 4, 16, 0).local_base = 0;
  const LsuRun r = bench.run(list);
  const auto acknowledged = [&](unsigned h) { return r.when(MioEvent::Kind::kAcknowledged, h); };
  for (unsigned h = 0; h < 3; ++h) CHECK(r.result(h) == r.dispatched(h));
  const Cycle round_trip = LsuLatencies::kResidence + c.icnt.request_latency + kL2 + c.icnt.reply_latency;
  // Two messages of 64 bytes on a port of 32: the second leaves, as a whole, two cycles after the first.
  CHECK(acknowledged(0) == 5 + round_trip + 3);
  CHECK(acknowledged(1) == 1005 + round_trip);
  CHECK(acknowledged(2) == 2005 + round_trip + 3);
  REQUIRE(r.requests.size() == 4);
  const auto& first = r.requests[0].request;
  CHECK(first.kind == icnt::AccessKind::kStore);
  CHECK(first.sectors == 0b1100);
  CHECK(first.bytes == std::array<std::uint32_t, 4>{0, 0, 0xffffffff, 0xffffffff});
  CHECK(r.requests[2].request.kind == icnt::AccessKind::kReduction);
  CHECK(r.requests[2].request.operations == 64);  // 32 lanes of two words
  CHECK(r.requests[3].request.line >= LocalWindow::kArena);
  CHECK(r.requests[3].request.sectors == 0xf);  // a row of words
  CHECK(bench.pipeline().counters(0).local_instructions == 1);
  CHECK(bench.pipeline().counters(0).global_instructions == 2);
}

TEST_CASE("LSU: without l1.cache_global only loads of local memory look in the L1") {
  for (const bool cached : {true, false}) {
    auto c = warm_config();
    c.l1.cache_global = cached;
    LsuBench bench(c, kL2);
    OpList list;
    for (const Cycle t : {5u, 1005u}) list.strided(t, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4, 1);
    for (const Cycle t : {2005u, 3005u}) list.strided(t, OpClass::kLoad, MemSpace::kLocal, 4, 0, 4, 1);
    const LsuRun r = bench.run(list);
    const Cycle hit = c.l1.hit_latency, miss = hit + miss_path(c);
    CHECK(r.latency(0) == miss);
    CHECK(r.latency(1) == (cached ? hit : miss));
    CHECK(r.latency(2) == miss);
    CHECK(r.latency(3) == hit);
    CHECK(bench.pipeline().counters(0).l1.hits == (cached ? 2 : 1));
  }
}

TEST_CASE("LSU: stores allocate whole sectors only, and only when they may") {
  for (const bool allocate : {true, false}) {
    auto c = warm_config();
    c.l1.allocate_on_store = allocate;
    LsuBench bench(c, kL2);
    OpList list;
    list.strided(5, OpClass::kStore, MemSpace::kGlobal, 4, kData, 4,
                 0x0000ffff & ~1u);  // sector 0 lacks a word
    list.strided(1005, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4, 0xff);
    list.strided(2005, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4, 0xff00);
    const LsuRun r = bench.run(list);
    CHECK(r.latency(1) == c.l1.hit_latency + miss_path(c));
    CHECK(r.latency(2) == c.l1.hit_latency + (allocate ? 0 : miss_path(c)));
  }
}

TEST_CASE("LSU: loads of a line under way merge") {
  const auto c = warm_config();
  LsuBench bench(c, kL2);
  OpList list;
  list.strided(5, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4, 0x00ff);   // sector 0
  list.strided(20, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4, 0xffff);  // sectors 0 and 1
  list.strided(40, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4, 0x00ff);
  const LsuRun r = bench.run(list);
  REQUIRE(r.requests.size() == 2);
  CHECK(r.requests[0].request.sectors == 1);
  CHECK(r.requests[1].request.sectors == 2);
  const auto& l1 = bench.pipeline().counters(0).l1;
  CHECK(l1.accesses == 4);
  CHECK(l1.hits == 0);
  CHECK(l1.misses == 2);
  CHECK(l1.mshr_merges == 2);
  CHECK(l1.requests == 3);
  CHECK(r.result(0) == 5 + c.l1.hit_latency + miss_path(c));
  CHECK(r.result(2) == r.result(0));
  CHECK(r.result(1) == r.result(0) + 15);
}

TEST_CASE("LSU: hits go on under a miss") {
  const auto c = warm_config();
  LsuBench bench(c, kL2);
  warm(bench, kData, 512);
  OpList list;
  const Cycle t = bench.now();
  list.strided(t, OpClass::kLoad, MemSpace::kGlobal, 4, kData + 4096, 4);
  list.strided(t + 2, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4);
  const LsuRun r = bench.run(list);
  CHECK(r.latency(1) == c.l1.hit_latency);
  CHECK(r.result(1) < r.result(0));
}

TEST_CASE("LSU: a hit passes the misses of all other warps, which wait for the crossbar") {
  constexpr unsigned kMisses = 24;  // loads of a line for each lane; the L1 has 1,024 lines
  constexpr Cycle kSlowL2 = 50'000;
  const auto c = warm_config();
  LsuBench bench(c, kSlowL2);
  warm(bench, kData, 512);
  OpList list;
  const Cycle t = bench.now() + 10;
  for (unsigned i = 0; i < kMisses; ++i)
    list.strided(t, OpClass::kLoad, MemSpace::kGlobal, 4, kData + (i + 1) * 32 * kLineBytes, kLineBytes);
  list.strided(t, OpClass::kLoad, MemSpace::kGlobal, 4, kData, 4);
  const LsuRun r = bench.run(list, 10'000'000);
  // Each load keeps the banks for 32 cycles; then the hit takes as long as ever.
  CHECK(r.result(kMisses) < t + (kMisses + 1) * 32 + c.l1.hit_latency);
  CHECK(r.result(0) > t + kSlowL2);
}

TEST_CASE("LSU: strides over the L1 take the cycles measured on an H200") {
  // gpu-strides: stride 1 = 1.01 cycles per warp, 2 = 2.01, 3 = 1.63, 4 = 4.01, 8 = 8.0. Stride 3 has no bank
  // conflict but three lines: half as many cycles as lines with two tags per cycle.
  for (const auto& [tags, third] : {std::pair{2u, 1.5}, {4u, 1.0}}) {
    auto c = warm_config();
    c.l1.tags_per_cycle = tags;
    for (const auto& [stride, expected] :
         {std::pair{1, 1.0}, {2, 2.0}, {3, third}, {4, 4.0}, {8, 8.0}, {32, 32.0}}) {
      LsuBench bench(c);
      warm(bench, kData, 8192);
      CHECK(cycles_per_op(bench, OpClass::kLoad, MemSpace::kGlobal, 4, 4 * stride) ==
            Approx(expected).epsilon(0.01));
    }
  }
}

TEST_CASE("LSU: rates of shared memory, wide loads, shuffles") {
  const auto c = warm_config();
  const auto rate = [&](OpClass op_class, MemSpace space, unsigned bytes, std::int64_t stride) {
    LsuBench bench(c);
    warm(bench, kData, 8192);
    return cycles_per_op(bench, op_class, space, bytes, stride);
  };
  CHECK(rate(OpClass::kLoad, MemSpace::kShared, 4, 4) == Approx(1).epsilon(0.01));
  CHECK(rate(OpClass::kLoad, MemSpace::kShared, 16, 16) == Approx(4).epsilon(0.01));
  CHECK(rate(OpClass::kLoad, MemSpace::kGlobal, 16, 16) == Approx(4).epsilon(0.01));
  CHECK(rate(OpClass::kLoad, MemSpace::kGlobal, 4, 0) == Approx(1).epsilon(0.01));
  CHECK(rate(OpClass::kShuffle, MemSpace::kNone, 4, 0) == Approx(1).epsilon(0.01));
  CHECK(rate(OpClass::kSpecialReg, MemSpace::kNone, 4, 0) == Approx(c.mio.special_interval).epsilon(0.01));
}

TEST_CASE("LSU: the sixth of six loads of a sub-core waits") {
  const auto c = warm_config();
  LsuBench bench(c);
  OpList list;
  for (int i = 0; i < 8; ++i) list.strided(100, OpClass::kLoad, MemSpace::kShared, 4, 0, 4);
  const LsuRun r = bench.run(list);
  const Cycle issue[] = {100, 101, 102, 103, 104, 107, 109, 111};
  for (unsigned i = 0; i < 8; ++i) CHECK(r.pushed[i] == issue[i]);
  // All loads done: 27 cycles for five, 30 for six on an A100 (Strelizia), of which the latency is 23.
  CHECK(r.pushed[5] - r.pushed[4] == 30 - 27);
}

TEST_CASE("LSU: one load per cycle for four sub-cores, in turn") {
  const auto c = warm_config();
  LsuBench bench(c);
  OpList list;
  for (unsigned i = 0; i < 40; ++i)
    list.strided(10, OpClass::kLoad, MemSpace::kShared, 4, 0, 4).subcore = static_cast<std::uint8_t>(i % 4);
  const LsuRun r = bench.run(list);
  for (unsigned i = 0; i < 40; ++i) CHECK(r.dispatched(i) == 10 + LsuLatencies::kResidence + i);
}

TEST_CASE("LSU: constants that a launch does not bring come from L2 once, and again after a launch") {
  auto c = lsu_config();
  c.mio.const_cold_miss = true;
  LsuBench bench(c, kL2);
  const auto latencies = [&] {
    OpList list;
    const Cycle t = bench.now();
    list.fixed(t, OpClass::kConstLoad);
    list.fixed(t + 50, OpClass::kConstLoad);  // while the line is under way
    list.fixed(t + 1000, OpClass::kConstLoad);
    const LsuRun r = bench.run(list);
    REQUIRE(r.requests.size() <= 1);
    if (!r.requests.empty()) CHECK(r.requests[0].request.kind == icnt::AccessKind::kConstant);
    return std::array{r.latency(0), r.latency(1), r.latency(2)};
  };
  const Cycle cold = c.mio.const_latency + miss_path(c), hit = c.mio.const_latency;
  CHECK(latencies() == std::array{cold, cold - 50, hit});
  CHECK(latencies() == std::array{hit, hit, hit});
  bench.pipeline().invalidate();
  CHECK(latencies() == std::array{cold, cold - 50, hit});
  CHECK(bench.pipeline().counters(0).const_instructions == 9);
}

TEST_CASE("LSU: invalidation and carve-out") {
  auto c = warm_config();
  LsuBench bench(c, kL2);
  const auto misses = [&](Address bytes) {
    const auto before = bench.pipeline().counters(0).l1.misses;
    warm(bench, kData, bytes);
    return bench.pipeline().counters(0).l1.misses - before;
  };
  CHECK(misses(32768) == 1024);
  CHECK(misses(32768) == 0);
  bench.pipeline().invalidate();
  CHECK(misses(32768) == 1024);
  bench.pipeline().set_carveout(5);  // 96 KiB of 128
  CHECK(bench.pipeline().l1().capacity() == 32768);
  CHECK(misses(32768) == 1024);
  CHECK(misses(32768) == 0);
  CHECK(misses(65536) == 1024);  // the second half; the first was there
  CHECK(misses(65536) > 1024);   // a loop twice the size leaves little
}

TEST_CASE("LSU: instruction lines share the port") {
  LsuBench bench(warm_config(), kL2);
  bench.answer = [](const icnt::Request& r) {
    CHECK(r.kind == icnt::AccessKind::kInstruction);
    CHECK(r.sectors == 0xf);
    return std::vector<std::pair<Cycle, SectorMask>>{{100, SectorMask{5}}, {120, SectorMask{10}}};
  };
  bench.fetches = {{3, 0x1000}, {3, 0x1080}};
  const LsuRun r = bench.run(OpList{});
  REQUIRE(r.lines.size() == 2);
  CHECK(r.lines[0].second == 0x1000);
  CHECK(r.lines[1].second == 0x1080);
  CHECK(r.lines[0].first == 3 + 1 + 35 + 120 + 35);
}

TEST_CASE("LSU: a full table or port holds up what is behind, and nothing is lost") {
  struct Case {
    std::uint32_t mshrs, pending, port, credits;
  };
  for (const Case& k : {Case{1, 128, 8, 16}, {256, 1, 8, 16}, {256, 128, 1, 16}, {256, 128, 1, 1}}) {
    auto c = warm_config();
    c.l1.mshrs = k.mshrs;
    c.l1.pending_instructions = k.pending;
    c.icnt.sm_queue_entries = k.port;
    c.icnt.request_credits = k.credits;
    LsuBench bench(c, kL2);
    OpList list;
    for (unsigned i = 0; i < 4; ++i)
      list.strided(0, OpClass::kLoad, MemSpace::kGlobal, 4, kData + i * 65536, 128).subcore =
          static_cast<std::uint8_t>(i);
    const LsuRun r = bench.run(list);
    CHECK(r.requests.size() == 128);
    CHECK(bench.pipeline().counters(0).l1.misses == 128);
    CHECK(bench.pipeline().backpressure_cycles() > 0);
    const Cycle round_trip = c.icnt.request_latency + kL2 + c.icnt.reply_latency;
    if (k.mshrs == 1) CHECK(r.end >= 128 * round_trip);
    if (k.pending == 1) CHECK(r.end >= 4 * round_trip);
    CHECK(bench.pipeline().quiescent());
    CHECK(bench.pipeline().credits_missing() == 0);
  }
}
