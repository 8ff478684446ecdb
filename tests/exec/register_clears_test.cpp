// Where registers that may be read before they are written become 0, against walks along random paths.
#include "exec/register_clears.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "ptx/liveness.hpp"
#include "ptx/parser.hpp"
#include "tests/exec/support.hpp"
#include "tests/random.hpp"

namespace lockstep::exec::test {
namespace {

using lockstep::test::Random32;

struct Cleared {
  explicit Cleared(const std::string& body)
      : module(ptx::parse(std::string(kHeader) + ".entry k(.param .u64 out) {\n" + body + "}\n", "c.ptx")),
        function(module.functions.front()),
        flow(function),
        live(ptx::Liveness(function, flow).live_before(0)),
        clears(place_clears(function, flow, live)) {}

  [[nodiscard]] std::vector<ptx::RegisterId> at(std::uint32_t instruction) const {
    const auto found = std::ranges::find(clears, instruction, &RegisterClear::instruction);
    return found == clears.end() ? std::vector<ptx::RegisterId>{} : found->registers;
  }
  [[nodiscard]] std::size_t names(std::uint32_t instruction) const { return at(instruction).size(); }

  /// A thread's way: each register is cleared once, before it is named.
  void walk(Random32& random) const {
    std::set<ptx::RegisterId> done;
    std::uint32_t i = 0;
    for (unsigned steps = 0; steps < 300; ++steps) {
      if (i > 0 || steps == 0)
        for (const ptx::RegisterId id : at(i)) REQUIRE(done.insert(id).second);
      const ptx::RegisterUse use = ptx::register_use(function.instructions[i]);
      for (const auto* named : {&use.reads, &use.writes})
        for (const ptx::RegisterId id : *named)
          if (std::ranges::binary_search(live, id)) REQUIRE(done.contains(id));
      const ptx::Block& block = flow.blocks()[flow.block_of(i)];
      if (++i < block.end) continue;
      if (block.successors.empty()) return;
      i = flow.blocks()[block.successors[random() % block.successors.size()]].first;
    }
  }

  ptx::Module module;
  const ptx::Function& function;
  ptx::ControlFlow flow;
  std::vector<ptx::RegisterId> live;
  std::vector<RegisterClear> clears;
};

/// Blocks that name a few registers and go on anywhere.
std::string random_body(Random32& random) {
  const unsigned blocks = 2 + random() % 10, registers = 1 + random() % 6;
  std::string body = ".reg .u32 %r<8>; .reg .pred %p<3>;\n";
  for (unsigned b = 0; b < blocks; ++b) {
    body += fmt::format("L{}:\n", b);
    for (unsigned n = random() % 3; n > 0; --n)
      body += fmt::format("{}add.u32 %r{}, %r{}, 1;\n", random() % 3 == 0 ? "@%p1 " : "",
                          random() % registers, random() % registers);
    if (random() % 4 == 0) body += fmt::format("setp.eq.u32 %p1, %r{}, 0;\n", random() % registers);
    if (random() % 5 == 0) body += "@%p2 exit;\n";
    if (random() % 2 == 0) body += fmt::format("@%p{} bra L{};\n", 1 + random() % 2, random() % blocks);
    if (random() % 6 == 0) body += fmt::format("bra L{};\n", random() % blocks);
  }
  return body + "ret;\n";
}

}  // namespace

TEST_CASE("clears: on random paths of random functions each register is cleared once, before it is named") {
  Random32 random(3);
  unsigned late = 0;
  for (unsigned n = 0; n < 300; ++n) {
    const std::string body = random_body(random);
    CAPTURE(body);
    const Cleared c(body);
    std::vector<ptx::RegisterId> all;
    for (const RegisterClear& clear : c.clears) {
      CHECK(std::ranges::is_sorted(clear.registers));
      all.insert(all.end(), clear.registers.begin(), clear.registers.end());
      late += clear.instruction > 0;
    }
    std::ranges::sort(all);
    CHECK(all == c.live);
    CHECK(std::ranges::is_sorted(c.clears, {}, &RegisterClear::instruction));
    for (unsigned path = 0; path < 10; ++path) c.walk(random);
  }
  CHECK(late > 20);
}

TEST_CASE("clears: threads that leave early pass none; what a loop names is cleared before it") {
  const Cleared c(R"(
  .reg .u32 %r<6>; .reg .pred %p<4>;
  mov.u32 %r1, %tid.x;
  setp.gt.u32 %p1, %r1, 7;
  @%p1 bra OUT;
  setp.gt.u32 %p2, %r1, 3;
LOOP:
  @%p2 add.u32 %r2, %r2, 1;
  @%p2 mov.u32 %r3, 5;
  @%p2 bra LOOP;
  add.u32 %r2, %r2, %r3;
  @%p2 mov.u32 %r4, 5;
  st.global.v2.u32 [0], {%r2, %r4};
OUT:
  ret;
)");
  REQUIRE(c.clears.size() == 2);
  CHECK(c.clears[0].instruction == 3);
  CHECK(c.names(3) == 2);  // %r2 and %r3, ahead of the loop
  CHECK(c.clears[1].instruction == 7);
  CHECK(c.names(7) == 1);  // %r4
}

TEST_CASE("clears: not before an instruction whose guard may be among what is cleared") {
  const Cleared c(R"(
  .reg .u32 %r<4>; .reg .pred %p<3>;
  mov.u32 %r1, %tid.x;
  setp.gt.u32 %p1, %r1, 7;
  @%p1 bra OUT;
  @%p2 add.u32 %r2, %r2, 1;
  st.global.u32 [0], %r2;
OUT:
  ret;
)");
  REQUIRE(c.clears.size() == 1);
  CHECK(c.clears[0].instruction == 0);
  CHECK(c.names(0) == 2);
}

TEST_CASE(
    "clears: a register that only some threads write is 0 for the others of every CTA, after it had values") {
  Device device(R"(
.entry k(.param .u64 out) {
  .reg .u32 %r<9>; .reg .u64 %d<4>; .reg .pred %p<4>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  setp.eq.u32 %p1, %r2, 3;
  @%p1 bra OUT;
  and.b32 %r5, %r4, 3;
  setp.eq.u32 %p2, %r5, 1;
  @%p2 bra ODD;
  setp.eq.u32 %p3, %r5, 2;
  @%p3 mov.u32 %r6, 77;
ODD:
  ld.param.u64 %d1, [out];
  mad.wide.u32 %d2, %r4, 4, %d1;
  st.global.u32 [%d2], %r6;
  mov.u32 %r6, 99;
  st.global.u32 [%d2+4096], %r6;
OUT:
  ret;
})");
  constexpr std::uint32_t kThreads = 96, kCtas = 8;
  const Address out = device.zeros<std::uint32_t>(4096);
  device.run("k", {kCtas, 1, 1}, {kThreads, 1, 1}, Arguments(out));
  const auto found = device.read<std::uint32_t>(out, kThreads * kCtas);
  for (std::uint32_t t = 0; t < kThreads * kCtas; ++t) {
    CAPTURE(t);
    CHECK(found[t] == (t % 4 == 2 && t / kThreads != 3 ? 77 : 0));
  }
}

}  // namespace lockstep::exec::test
