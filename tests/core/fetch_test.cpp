// The instruction caches and their prefetchers against closed forms.
#include <catch2/catch.hpp>

#include "sm_bench.hpp"

namespace lockstep::core::test {
namespace {

TEST_CASE("straight-line code beyond the caches is fetched at the prefetcher's pace") {
  const auto run_with = [](unsigned entries) {
    auto c = small_gpu();
    c.frontend.prefetch_entries = entries;
    c.frontend.l1i_read_ahead = 0;
    c.frontend.l1i_mshrs = 16;
    Program p;
    for (unsigned i = 0; i < 800; ++i) p.add(OpClass::kAlu, {8 + i % 8}, {2});
    const Result r = run(p, c);
    REQUIRE(r.finished);
    return r;
  };
  // Without prefetch: each of the 100 lines of 8 instructions costs a whole miss.
  const Result none = run_with(0), one = run_with(1), eight = run_with(8);
  CHECK(none.counters.sm.l0i_misses == 100);
  CHECK(none.counters.sm.l1i_misses == 100);
  CHECK(one.cycles * 100 < none.cycles * 65);
  CHECK(eight.cycles * 2 < one.cycles);
  CHECK(eight.counters.sm.l1i_misses >= 100);
}

TEST_CASE("the L1I reads ahead: one round trip for many lines") {
  const auto cycles = [](unsigned lines, unsigned ahead) {
    auto c = small_gpu();
    c.frontend.l1i_read_ahead = ahead;
    c.frontend.l1i_mshrs = 64;
    Program p;
    for (unsigned i = 0; i < 8 * lines; ++i) p.add(OpClass::kFp32, {1}, {1});  // 32 cycles per line
    BenchOptions o;
    o.delay = 600;
    const Result r = run(p, c, o);
    REQUIRE(r.finished);
    return r.cycles;
  };
  CHECK(cycles(20, 32) - cycles(2, 32) == Approx(18 * 32).epsilon(0.02));  // nothing but the chain itself
  CHECK(cycles(20, 0) - cycles(2, 0) > 18 * 32 + 600);
}

TEST_CASE("code that fits the L0 is fetched from below once") {
  Program p;
  for (unsigned loop = 0; loop < 20; ++loop) {
    p.pc = 0;
    for (unsigned i = 0; i < 64; ++i) p.add(OpClass::kAlu, {8 + i % 8}, {2});
  }
  auto c = small_gpu();
  c.frontend.prefetch_entries = 0;
  const Result r = run(p, c);
  CHECK(r.counters.sm.l0i_misses == 8);
  CHECK(r.counters.sm.l0i_accesses == 20 * 8 + 8);  // each line once a pass, and again after its miss
}

}  // namespace
}  // namespace lockstep::core::test
