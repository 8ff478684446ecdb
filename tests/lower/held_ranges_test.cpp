// Registers between whose uses others fit: ranges by definition, assignments that never share one at a time,
// and the registers that ptxas 13.0 needs.
#include "lower/held_ranges.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "lower/registers.hpp"
#include "tests/lower/points.hpp"
#include "tests/lower/support.hpp"

namespace lockstep::lower::test {
namespace {

bool covers(const std::vector<HeldRange>& ranges, std::uint32_t position) {
  return std::ranges::any_of(ranges, [&](HeldRange r) { return r.first <= position && position <= r.last; });
}

TEST_CASE("ranges of random functions are where registers hold what is read again, or was just written") {
  std::size_t held = 0, free = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const ptx::Function f = random_function(seed);
    const ptx::ControlFlow flow(f);
    std::vector<ptx::RegisterId> roots(f.registers.size());
    std::iota(roots.begin(), roots.end(), 0);
    const auto ranges =
        held_ranges(f, flow, ptx::Liveness(f, flow), Fusions(), roots, std::vector<bool>(roots.size(), true));
    const Points points = points_by_definition(f);
    for (const ptx::Block& block : flow.blocks()) {
      if (!block.reachable) continue;
      for (std::uint32_t at = block.first; at < block.end; ++at)
        for (const ptx::RegisterId id : roots) {
          CAPTURE(seed, at, f.registers[id].name);
          const bool holds = points[id].contains(at), covered = covers(ranges[id], at + 1);
          ++(holds ? held : free);
          // Behind a block's last instruction stands another block, which may hold what this one does not.
          if (holds != covered && (holds || at + 1 < block.end)) CHECK(holds == covered);
        }
    }
  }
  CHECK(held > 1000);
  CHECK(free > 1000);
}

TEST_CASE("values that share a register, in holes or not, never hold it at the same time") {
  unsigned kept = 0, used = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const ptx::Function f = random_function(seed);
    const Points points = points_by_definition(f);
    for (const auto holes : {RegisterAssignment::Holes::kKept, RegisterAssignment::Holes::kUsed}) {
      const RegisterAssignment registers(f, 32, without_setup(), {}, holes);
      (holes == RegisterAssignment::Holes::kKept ? kept : used) += registers.used();
      const auto words = [&](ptx::RegisterId id) { return ptx::pressure_of(f.registers[id].type).words; };
      for (ptx::RegisterId a = 0; a < f.registers.size(); ++a)
        for (ptx::RegisterId b = 0; b < a; ++b) {
          if (registers[a] == kNoRegister || registers[b] == kNoRegister) continue;
          if (registers.root(a) == registers.root(b)) continue;
          if (registers[a] + words(a) <= registers[b] || registers[b] + words(b) <= registers[a]) continue;
          CAPTURE(seed, f.registers[a].name, f.registers[b].name);
          if (!apart(points[a], points[b])) CHECK(apart(points[a], points[b]));
        }
    }
  }
  CHECK(used < kept);
}

TEST_CASE("taken positions are the union of what was taken") {
  std::mt19937 random(7);
  TakenPositions taken;
  std::set<std::uint32_t> expected;
  for (unsigned step = 0; step < 400; ++step) {
    const std::uint32_t first = static_cast<std::uint32_t>(random() % 3000);
    const HeldRange range{first, first + static_cast<std::uint32_t>(random() % (step % 3 ? 5 : 200))};
    const auto next = expected.lower_bound(range.first);
    CHECK(taken.overlaps(range) == (next != expected.end() && *next <= range.last));
    if (step % 2 == 0) continue;
    taken.take(range);
    for (std::uint32_t p = range.first; p <= range.last; ++p) expected.insert(p);
  }
}

/// A loop that uses `values` of its last turn at its begin and loads them anew at its end, and has as many
/// others in between.
std::string turning(unsigned values) {
  std::string text =
      "ld.param.u32 %i1, [n];\nmov.u32 %i0, %tid.x;\nmul.wide.u32 %l0, %i0, 4;\nadd.s64 %l1, %r1, %l0;\n";
  const auto load = [&](unsigned first, unsigned offset) {
    for (unsigned v = 0; v < values; ++v)
      text += fmt::format("ld.global.f32 %f{}, [%l1+{}];\n", first + v, offset + 512 * v);
  };
  const auto use = [&](unsigned first) {
    text += fmt::format("mov.f32 %f0, %f{};\n", first);
    for (unsigned v = 1; v < values; ++v) text += fmt::format("fma.rn.f32 %f0, %f0, %f{}, %f0;\n", first + v);
    text += "st.global.f32 [%l1], %f0;\nbar.sync 0;\n";
  };
  load(10, 4);
  text += "LOOP:\n";
  use(10);
  load(60, 65536);
  text += "bar.sync 0;\n";
  use(60);
  load(10, 131072);
  text += "bar.sync 0;\nadd.s32 %i1, %i1, -1;\nsetp.ne.s32 %p1, %i1, 0;\n@%p1 bra LOOP;\n";
  use(10);
  return text;
}

TEST_CASE("values of a loop's turns leave their registers to others in between, where there are too few") {
  // ptxas for sm_80, where full occupancy leaves 32 registers.
  for (const auto& [values, ptxas] : {std::pair{16u, 21u}, {20u, 25u}, {24u, 29u}}) {
    CAPTURE(values);
    const unsigned ours = code_of(turning(values), 80, Passes()).registers();
    CHECK(ours >= ptxas - 1);
    CHECK(ours <= ptxas + 1);
  }
}

}  // namespace
}  // namespace lockstep::lower::test
