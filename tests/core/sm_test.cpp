// The SM against closed forms: dependence and issue rates, operands, barriers, fences, attribution.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>

#include "core/scheduler.hpp"
#include "sm_bench.hpp"

namespace lockstep::core::test {
namespace {

using stats::Stall;
using trace::MemSpace;

std::uint64_t stall_sum(const Result& r) {
  return std::accumulate(r.counters.sm.stalls.begin(), r.counters.sm.stalls.end(), std::uint64_t{0});
}
std::uint64_t stall(const Result& r, Stall s) { return r.counters.sm.stalls[static_cast<unsigned>(s)]; }

/// A prefetcher that keeps ahead of everything, where the front end is not what is tested.
config::GpuConfig fast_fetch() {
  auto c = small_gpu();
  c.frontend.prefetch_entries = 16;
  c.frontend.l1i_mshrs = 64;
  return c;
}

TEST_CASE("straight-line dependent chains run at the pipe's latency") {
  for (const auto& [op, latency] : {std::pair{OpClass::kFp32, 4}, {OpClass::kFp64, 8}, {OpClass::kSfu, 18}}) {
    const auto cycles = [&, op = op](unsigned count) {
      Program p;
      for (unsigned i = 0; i < count; ++i) p.add(op, {1}, {1, 2});
      return run(p, small_gpu()).cycles;
    };
    // 64 lines of code prefetched in sequence; the prefetcher keeps ahead of these rates.
    CHECK(static_cast<double>(cycles(1024) - cycles(512)) / 512 == Approx(latency).epsilon(0.01));
  }
}

TEST_CASE("a result is there exactly its latency after issue: not at N-1, yes at N") {
  for (const unsigned latency : {4u, 5u, 9u}) {
    auto c = small_gpu();
    c.pipe[static_cast<unsigned>(OpClass::kFp32)].latency = latency;
    const auto cycles = [&](bool dependent) {
      Program p;
      p.add(OpClass::kFp32, {1}, {2});
      p.add(OpClass::kAlu, {3}, {dependent ? 1u : 2u});
      return run(p, c).cycles;
    };
    CHECK(cycles(true) - cycles(false) == latency - 1);
  }
}

/// Cycles for each instruction of a body of 512 that is run again with warm caches by `warps` warps. The jump
/// back costs some ten cycles.
template <class Op>
double warm_rate(unsigned warps, Op op) {
  const auto cycles = [&](unsigned passes) {
    Program p;
    for (unsigned w = 0; w < warps; ++w) {
      if (w > 0) p.next_warp();
      for (unsigned i = 0; i < 512 * passes; ++i) {
        if (i % 512 == 0) p.pc = 0;
        p.add(op(i), {8 + i % 16}, {2});
      }
    }
    const Result r = run(p, small_gpu());
    REQUIRE(r.finished);
    return r.cycles;
  };
  return static_cast<double>(cycles(4) - cycles(2)) / 1024;
}

TEST_CASE("two pipes of interval 2 together take an instruction every cycle") {
  const auto alternate = [](unsigned i) { return i % 2 ? OpClass::kFp32 : OpClass::kAlu; };
  CHECK(warm_rate(1, [](unsigned) { return OpClass::kFp32; }) == Approx(2).epsilon(0.02));
  CHECK(warm_rate(1, alternate) == Approx(1).epsilon(0.03));
}

TEST_CASE("warps of different sub-cores do not share pipes, warps of one do") {
  const auto fp32 = [](unsigned) { return OpClass::kFp32; };
  CHECK(warm_rate(4, fp32) == Approx(2).epsilon(0.02));  // a warp on each sub-core, interval 2
  CHECK(warm_rate(8, fp32) == Approx(4).epsilon(0.02));
  CHECK(warm_rate(16, fp32) == Approx(8).epsilon(0.02));
}

TEST_CASE("a warp that ends gives its place to one of a later CTA: the sub-cores balance") {
  constexpr unsigned kLong = 512 * 8;
  const auto cycles = [](unsigned ctas, unsigned ends_late) {
    Program p(ctas);
    for (unsigned w = 0; w < 4; ++w) {
      if (w > 0) p.next_warp();
      const unsigned count = w == 0 || ends_late > w ? kLong : 1;
      for (unsigned i = 0; i < count; ++i) {
        if (i % 512 == 0) p.pc = 0;
        p.add(OpClass::kFp32, {8 + i % 16}, {2});
      }
    }
    BenchOptions o;
    o.rest_at = 2000;
    const Result r = run(p, fast_fetch(), o);
    REQUIRE(r.finished);
    return static_cast<double>(r.cycles);
  };
  // Only the first warps are long, an instruction every two cycles each: side by side with that of the CTA
  // before.
  CHECK(cycles(2, 0) == Approx(cycles(1, 0) + 2000).epsilon(0.02));
  CHECK(cycles(2, 0) < 2 * 2 * kLong);
  // With all warps long each sub-core has two.
  CHECK(cycles(2, 4) == Approx(2 * 2 * kLong).epsilon(0.03));
}

TEST_CASE("write after write waits, write after read of a fixed-latency pipe does not") {
  Program waw, war;
  waw.add(OpClass::kSfu, {1}, {2});
  waw.add(OpClass::kAlu, {1}, {2});
  war.add(OpClass::kSfu, {1}, {2});
  war.add(OpClass::kAlu, {2}, {3});
  CHECK(run(waw).cycles - run(war).cycles == 17);
}

TEST_CASE("a write waits until an earlier memory instruction has read the register") {
  Program war, none;
  for (Program* p : {&war, &none}) {
    for (int i = 0; i < 4; ++i) p->memory(OpClass::kStore, MemSpace::kShared, {}, {1, 2}, 0, 4);
    p->add(OpClass::kAlu, {p == &war ? 2u : 9u}, {3});
  }
  CHECK(run(war).cycles >= run(none).cycles);
  CHECK(stall(run(war), Stall::kShortScoreboard) > stall(run(none), Stall::kShortScoreboard));
}

TEST_CASE("stall cycles of all reasons and empty cycles are all the sub-cores' cycles") {
  for (const bool skip : {true, false}) {
    Program p(3);
    for (unsigned w = 0; w < 5; ++w) {
      if (w > 0) p.next_warp();
      for (unsigned i = 0; i < 40 + 13 * w; ++i) {
        p.memory(OpClass::kLoad, MemSpace::kGlobal, {4}, {2}, 0x7f0000000000 + 4096 * i, 4);
        p.add(OpClass::kFp32, {5}, {4, 5});
        if (i % 8 == 0) p.add(OpClass::kBarrier, {}, {}).barrier = trace::BarrierOp::kSync;
      }
    }
    BenchOptions o;
    o.skip = skip;
    const Result r = run(p, small_gpu(), o);
    REQUIRE(r.finished);
    CHECK(stall_sum(r) + r.empty == 4 * r.settled_at);
    CHECK(stall(r, Stall::kIssued) == r.counters.sm.warp_instructions);
    CHECK(r.counters.sm.warp_instructions == p.records());
    CHECK(stall(r, Stall::kLongScoreboard) > 0);
    CHECK(stall(r, Stall::kBarrier) > 0);
  }
}

TEST_CASE(
    "visiting every cycle or only those with something due gives the same counters, as does any window") {
  const auto outcome = [](Cycle window, bool skip) {
    Program p(2);
    for (unsigned w = 0; w < 6; ++w) {
      if (w > 0) p.next_warp();
      for (unsigned i = 0; i < 60; ++i) {
        if (p.pc > 640) p.pc = 16 * w;
        p.memory(i % 3 ? OpClass::kLoad : OpClass::kStore, i % 2 ? MemSpace::kGlobal : MemSpace::kShared,
                 {4 + i % 3}, {2}, 0x1000 * (i % 7) + 64 * w, 4 + 4 * (i % 5));
        p.add(OpClass::kFp32, {5}, {4, 5, 7});
        p.add(OpClass::kSfu, {6}, {5});
      }
    }
    BenchOptions o;
    o.window = window;
    o.skip = skip;
    const Result r = run(p, small_gpu(), o);
    REQUIRE(r.finished);
    std::vector<std::uint64_t> all(sizeof(stats::KernelCounters) / 8);
    std::memcpy(all.data(), &r.counters, sizeof r.counters);
    all.push_back(r.cycles);
    all.push_back(r.freed);
    return all;
  };
  const auto expected = outcome(1, false);
  for (const Cycle window : {1u, 2u, 5u, 16u}) {
    CHECK(outcome(window, true) == expected);
    CHECK(outcome(window, false) == expected);
  }
}

TEST_CASE("a barrier holds the early warps until the last arrives, plus its latency") {
  for (const unsigned latency : {5u, 40u}) {
    auto c = small_gpu();
    c.sync.barrier_latency = latency;
    const auto cycles = [&](bool with) {
      Program p;
      for (unsigned w = 0; w < 4; ++w) {
        if (w > 0) p.next_warp();
        for (unsigned i = 0; i < (w == 3 ? 100u : 1u); ++i) p.add(OpClass::kSfu, {1}, {1});
        if (with)
          p.add(OpClass::kBarrier, {}, {}).barrier = trace::BarrierOp::kSync;
        else
          p.add(OpClass::kAlu, {9}, {2});
        p.add(OpClass::kAlu, {3}, {2});
      }
      const Result r = run(p, c);
      REQUIRE(r.finished);
      return r.cycles;
    };
    CHECK(cycles(true) - cycles(false) ==
          latency - 2);  // without it the next ALU instruction follows an interval later
  }
}

TEST_CASE("named barriers join only the warps that use them; an exited warp is not waited for") {
  Program p;
  for (unsigned w = 0; w < 4; ++w) {
    if (w > 0) p.next_warp();
    p.add(OpClass::kAlu, {1}, {2});
    if (w == 3) continue;  // exits without the barrier
    p.pc = 16 + 16 * (w / 2);
    StaticInst& inst = p.add(OpClass::kBarrier, {}, {});
    inst.barrier = trace::BarrierOp::kSync;
    inst.barrier_id = static_cast<std::uint8_t>(w / 2 ? 2 : 1);
    p.add(OpClass::kAlu, {1}, {2});
  }
  const Result r = run(p);
  CHECK(r.finished);
  CHECK(r.counters.sm.barriers == 3);
}

TEST_CASE("warps that wait at different barriers for each other hang, and the dump says where") {
  Program p;
  for (unsigned w = 0; w < 2; ++w) {
    if (w > 0) p.next_warp();
    for (unsigned i = 0; i < 2; ++i) {  // warp 0: barriers 1, 2; warp 1: 2, 1
      const unsigned id = 1 + (w + i) % 2;
      p.pc = 16 * id;
      StaticInst& inst = p.add(OpClass::kBarrier, {}, {});
      inst.barrier = trace::BarrierOp::kSync;
      inst.barrier_id = static_cast<std::uint8_t>(id);
    }
  }
  BenchOptions o;
  o.limit = 20000;
  const Result r = run(p, small_gpu(), o);
  CHECK_FALSE(r.finished);
  CHECK_THAT(r.dump,
             Catch::Contains("barrier 1: arrived 1 of 2") && Catch::Contains("barrier 2: arrived 1 of 2"));
}

TEST_CASE("a fence waits for the acknowledgement of the warp's stores") {
  const auto cycles = [](bool store, Cycle delay) {
    auto c = small_gpu();
    c.sync.membar_gpu = 10;
    Program p;
    if (store)
      p.memory(OpClass::kStore, MemSpace::kGlobal, {}, {1, 2}, 0x7f0000000000, 4);
    else
      p.add(OpClass::kAlu, {9}, {2});
    p.add(OpClass::kMemBar, {}, {}).fence = trace::FenceScope::kGpu;
    p.add(OpClass::kAlu, {1}, {2});
    BenchOptions o;
    o.delay = delay;
    const Result r = run(p, c, o);
    REQUIRE(r.finished);
    return r.freed;
  };
  const Cycle cold = cycles(false, 500) - cycles(false, 100);  // the cold instruction miss
  CHECK(cycles(true, 500) - cycles(true, 100) - cold == 400);
  CHECK(cycles(true, 500) > cycles(false, 500) + 80);
}

TEST_CASE("a CTA is freed when its warps end and drained when its stores are acknowledged") {
  Program p;
  p.memory(OpClass::kStore, MemSpace::kGlobal, {}, {1, 2}, 0x7f0000000000, 4);
  BenchOptions o;
  o.delay = 700;
  const Result r = run(p, small_gpu(), o);
  REQUIRE(r.finished);
  CHECK(r.cycles - r.freed >= 700);
  CHECK(r.quiescent);
  CHECK(p.released == 1);
}

TEST_CASE("no CTA ends before the time that is given between windows, which is late while much is left") {
  const auto [ctas, stores] = GENERATE(std::pair(6u, true), std::pair(1u, false));
  constexpr unsigned kChain = 900;
  Program p(ctas);
  for (unsigned w = 0; w < 3; ++w) {
    if (w > 0) p.next_warp();
    for (unsigned i = 0; i < kChain / (w + 1); ++i)  // two pipes: one instruction per cycle
      p.add(i % 2 ? OpClass::kAlu : OpClass::kFp32, {i % 7}, {9});
    if (stores) p.memory(OpClass::kStore, MemSpace::kGlobal, {}, {1, 2}, 0x7f0000000000, 4);
  }
  std::vector<std::pair<Cycle, Cycle>> asked;
  BenchOptions o;
  o.rest_at = 0;
  o.between_windows = [&](Cycle now, Sm& sm) {
    if (now > 0) asked.emplace_back(now, sm.earliest_cta_end(now));
  };
  const Result r = run(p, fast_fetch(), o);
  REQUIRE(r.finished);
  REQUIRE(asked.size() > 50);
  if (!stores) {  // at the end the warp that is left issues in every cycle
    const Cycle freed = r.event_times.front();
    CHECK(
        std::ranges::any_of(asked, [&](const auto& a) { return a.first + 5 < freed && a.second == freed; }));
  }
  Cycle longest = 0;
  for (const auto& [now, end] : asked) {
    CHECK(end >= now);
    if (end != kNever) longest = std::max(longest, end - now);
    for (const Cycle time : r.event_times)
      if (time >= now && end > time) FAIL("asked at " << now << ": " << end << ", but one at " << time);
  }
  CHECK(longest >= kChain - 200);  // none has issued much of its longest warp's chain by then
  CHECK(longest <= kChain);
  CHECK(asked.back().second == kNever);
}

TEST_CASE("DEPBAR waits for closed groups of async copies beyond its count") {
  const auto freed = [](int allowed, std::string_view waits = "DEPBAR") {
    Program p;
    for (unsigned g = 0; g < 2; ++g) {
      p.memory(OpClass::kAsyncCopy, MemSpace::kGlobal, {}, {2}, 0x7f0000000000 + 0x10000 * g, 4);
      StaticInst& close = p.add(OpClass::kDepBar, {}, {});
      std::string_view("LDGDEPBAR").copy(close.mnemonic.data(), close.mnemonic.size());
    }
    StaticInst& wait = p.add(OpClass::kDepBar, {}, {});
    waits.copy(wait.mnemonic.data(), wait.mnemonic.size());
    wait.immediate = allowed;
    for (int i = 0; i < 60; ++i) p.add(OpClass::kSfu, {1}, {1});
    BenchOptions o;
    o.delay = 400;
    const Result r = run(p, small_gpu(), o);
    REQUIRE(r.finished);
    return r.freed;
  };
  CHECK(freed(0) > freed(2) + 300);
  CHECK(freed(1) <= freed(0));
  CHECK(freed(0, "WARPGROUP") == freed(2));  // .DEPBAR: of products, whose readers wait by themselves
}

TEST_CASE("NANOSLEEP keeps the warp for its time in core cycles") {
  for (const std::uint64_t khz : {1'000'000u, 2'000'000u}) {
    auto c = small_gpu();
    c.clock.core_khz = c.clock.icnt_khz = c.clock.l2_khz = khz;
    const auto cycles = [&](int ns) {
      Program p;
      p.add(OpClass::kSleep, {}, {}).immediate = ns;
      p.add(OpClass::kAlu, {1}, {2});
      return run(p, c).cycles;
    };
    CHECK(cycles(5000) - cycles(3000) == 2000 * khz / 1'000'000);
  }
}

TEST_CASE("operands of one bank cost register-file cycles, the register-file cache saves them") {
  auto c = fast_fetch();
  c.pipe[static_cast<unsigned>(OpClass::kFp32)].interval = 1;
  c.rf.read_window = 3;
  const auto counters = [&](bool same_bank, bool cache, bool reuse, unsigned count) {
    c.rf.cache = cache;
    Program p;
    for (unsigned i = 0; i < count; ++i) {
      const unsigned n = reuse ? 0 : 2 * (i % 2);
      if (same_bank)
        p.add(OpClass::kFp32, {20 + i % 8}, {2 + n, 6 + n, 10 + n});
      else
        p.add(OpClass::kFp32, {20 + i % 8}, {2});
    }
    const Result r = run(p, c);
    REQUIRE(r.finished);
    return r.counters.sm;
  };
  const auto conflicts = [&](bool cache, bool reuse) {  // of 512 instructions in the steady state
    return counters(true, cache, reuse, 1024).rf_conflict_cycles -
           counters(true, cache, reuse, 512).rf_conflict_cycles;
  };
  // Three reads of one single-ported bank a cycle: an instruction every three cycles.
  CHECK(conflicts(false, false) == Approx(2 * 512).epsilon(0.02));
  CHECK(conflicts(false, true) == Approx(2 * 512).epsilon(0.02));
  CHECK(conflicts(true, false) == Approx(2 * 512).epsilon(0.02));
  CHECK(conflicts(true, true) == 0);
  CHECK(counters(true, true, true, 512).rfc_hits == 3 * 511);
  CHECK(counters(false, false, false, 512).rf_conflict_cycles == 0);
}

TEST_CASE("tensor instructions occupy the unit for their multiply-accumulates over its rate") {
  auto c = small_gpu();
  c.tensor.f16 = 128;
  const auto cycles = [&](unsigned count) {
    Program p;
    for (unsigned i = 0; i < count; ++i) {
      StaticInst& inst = p.add(OpClass::kTensor, {8 + i % 16}, {2});
      inst.macs = 16 * 8 * 8;  // HMMA.1688
      inst.tensor_type = trace::TensorType::kF16;
    }
    return run(p, c).cycles;
  };
  CHECK(static_cast<double>(cycles(600) - cycles(300)) / 300 == Approx(8).epsilon(0.01));
}

TEST_CASE("each scheduling policy picks by its rule") {
  std::array<std::uint32_t, kWarpsPerSubcore> age{};
  for (unsigned i = 0; i < 16; ++i) age[i] = (i * 7) % 16;  // 0 7 14 5 12 3 10 1 8 15 6 13 4 11 2 9
  const auto choose = [&](config::SchedulerPolicy p, unsigned candidates, unsigned last) {
    return pick(p, static_cast<WarpSet16>(candidates), {last, &age});
  };
  using P = config::SchedulerPolicy;
  for (const P p : {P::kGto, P::kCggty}) CHECK(choose(p, 0xffff, 5) == 5);  // greedy
  CHECK(choose(P::kGto, 0xfffe, 0) == 7);                                   // age 1
  CHECK(choose(P::kCggty, 0xfffe, 0) == 9);                                 // age 15
  CHECK(choose(P::kLrr, 0xffff, 5) == 6);
  CHECK(choose(P::kLrr, 0x0011, 5) == 0);
  CHECK(choose(P::kLrr, 0x8001, 15) == 0);
}

TEST_CASE("predicated-off memory instructions take an issue slot and no memory") {
  Program p;
  StaticInst& inst = p.add(OpClass::kLoad, {4}, {2}, 0);
  inst.space = MemSpace::kGlobal;
  p.add(OpClass::kAlu, {5}, {4});
  const Result r = run(p);
  CHECK(r.finished);
  CHECK(r.counters.sm.l1.accesses == 0);
  CHECK(r.counters.sm.warp_instructions == 2);
  CHECK(r.counters.sm.thread_instructions == 32);
}

}  // namespace
}  // namespace lockstep::core::test
