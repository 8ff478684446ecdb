// Which registers hold values at the same time, by definition; how often registers are named; how many a
// thread gets.
#include "lower/live_points.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "lower/register_needs.hpp"
#include "lower/registers.hpp"
#include "lower/schedule.hpp"
#include "lower/use_counts.hpp"
#include "tests/lower/points.hpp"
#include "tests/lower/support.hpp"

namespace lockstep::lower::test {
TEST_CASE("registers of random kernels are apart where no instruction has both behind it, also when joined") {
  std::size_t yes = 0, no = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const ptx::Function f = random_function(seed);
    const ptx::ControlFlow flow(f);
    const auto n = static_cast<ptx::RegisterId>(f.registers.size());
    LivePoints points(f, flow, ptx::Liveness(f, flow), std::vector<bool>(n, true));
    Points expected = points_by_definition(f);
    for (ptx::RegisterId a = 0; a < n; ++a)
      for (ptx::RegisterId b = 0; b < a; ++b) {
        const bool both = apart(expected[a], expected[b]);
        ++(both ? yes : no);
        if (points.apart(a, b) == both) continue;
        CAPTURE(seed, f.registers[a].name, f.registers[b].name);
        CHECK(points.apart(a, b) == both);
      }
    points.join(1, 0);  // now 0 stands for both
    expected[0].insert(expected[1].begin(), expected[1].end());
    for (ptx::RegisterId b = 2; b < n; ++b) CHECK(points.apart(0, b) == apart(expected[0], expected[b]));
  }
  CHECK(yes > 1000);
  CHECK(no > 1000);
}

TEST_CASE("registers are counted once for each instruction that names them") {
  const ptx::Function f = function_of(
      "add.s32 %i1, %i2, %i2;\n@%p1 mov.b32 %i1, %i3;\nst.global.v2.b32 [%r1], {%i1, %i2};\n"
      "mov.b64 {%i4, %i5}, %l1;\n");
  const UseCounts counts(f);
  const auto check = [&](const char* name, std::uint32_t writes, std::uint32_t reads) {
    CAPTURE(name);
    CHECK(counts.writes[register_of(f, name)] == writes);
    CHECK(counts.reads[register_of(f, name)] == reads);
  };
  check("%i1", 2, 2);  // the guarded move keeps the old value in some lanes
  check("%i2", 0, 2);
  check("%i3", 0, 1);
  check("%i4", 1, 0);
  check("%l1", 0, 1);
  check("%p1", 0, 1);
  check("%r1", 1, 1);
}

TEST_CASE("values at once: 64-bit ones count twice, constants and predicates not at all") {
  const std::string loads =
      "ld.global.b32 %i1, [%r1];\nld.global.b32 %i2, [%r1+4];\nld.global.b64 %l1, [%r1+8];\n"
      "setp.lt.s32 %p1, %i1, %i2;\nmov.b32 %i3, 77;\n";
  const std::string uses =
      "add.s32 %i2, %i2, %i3;\nst.global.b64 [%r1], %l1;\nst.global.b32 [%r1+8], %i1;\n"
      "@%p1 st.global.b32 [%r1+12], %i2;\n";
  Passes all, none = all;
  none.constants = false;
  const ptx::Function f = function_of(loads + uses);
  CHECK(values_at_once(f, all) == 2 + 1 + 1 + 2);       // the address, two words, a pair
  CHECK(values_at_once(f, none) == 2 + 1 + 1 + 2 + 1);  // and the number
}

TEST_CASE("a thread gets the registers that ptxas gives it") {
  const auto get = [](unsigned values, unsigned arch) { return registers_for(values, {}, arch); };
  // Loops with 32, 64 and 128 accumulators, sm_86: register_needs.hpp.
  CHECK(get(45, 86) == 48);
  CHECK(get(80, 86) == 80);
  CHECK(get(152, 86) == 168);
  // What full occupancy leaves is free: the programming guide's tables.
  for (const unsigned values : {1u, 20u, 32u}) CHECK(get(values, 80) == 32);
  for (const unsigned values : {1u, 33u, 40u}) CHECK(get(values, 86) == 40);
  for (const unsigned values : {1u, 50u, 64u}) CHECK(get(values, 75) == 64);
  CHECK(get(400, 80) == 255);
}

TEST_CASE("of more registers than full occupancy leaves, as many as let the same number of warps stay") {
  for (unsigned values = 33; values <= 255; ++values) {
    CAPTURE(values);
    const unsigned registers = registers_for(values, {}, 80), needed = (values + 7) / 8 * 8;
    const auto groups = [](unsigned r) { return 65536 / (128 * r); };  // of four warps
    CHECK(registers >= std::min(needed, 255u));
    if (registers < 255) {
      CHECK(registers % 8 == 0);
      CHECK(groups(registers) == groups(needed));
      CHECK((registers + 8 > 255 || groups(registers + 8) < groups(needed)));
    }
  }
}

TEST_CASE("directives limit a thread's registers") {
  ptx::Directives d;
  d.maxnreg = 64;
  CHECK(registers_for(152, d, 86) == 64);
  d = {};
  d.maxntid = {256, 1, 1};
  d.minnctapersm = 2;
  CHECK(registers_for(152, d, 80) == 128);  // 64 K registers for 512 threads
  d.maxntid = {16, 16, 2};
  CHECK(registers_for(152, d, 80) == 64);  // for 1024
  d = {};
  d.reqntid = {1024, 1, 1};
  CHECK(registers_for(100, d, 80) == 64);  // for one CTA
  CHECK(registers_for(40, d, 80) == 64);   // one CTA stays anyway
  d.minnctapersm = 4;
  CHECK(registers_for(100, d, 80) == 32);  // no less than full occupancy
}

}  // namespace lockstep::lower::test
