// Divergence: random control flow, structured and not, against an interpreter that runs each thread by
// itself.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test::divergence {
namespace {

constexpr unsigned kRegisters = 4, kThreads = 70, kFuel = 60;

struct Step {
  enum class Kind { kAdd, kXor, kMul, kGuardedSub, kAtomic, kCall } kind;
  unsigned to, a, b;
  std::uint32_t constant;
};

struct Block {
  std::vector<Step> steps;
  enum class End { kJump, kBranch, kTable, kReturn, kGuardedReturn, kExit } end;
  unsigned reg, bit;
  std::vector<unsigned> targets;  // kBranch: taken, not taken
};

/// Functions call only those behind them, so calls end; a block costs one unit of fuel, so loops end.
struct Program {
  std::vector<std::vector<Block>> functions;
};

Program make(std::mt19937& random) {
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  Program program;
  program.functions.resize(1 + pick(3));
  const unsigned count = static_cast<unsigned>(program.functions.size());
  for (unsigned f = 0; f < count; ++f) {
    auto& blocks = program.functions[f];
    blocks.resize(2 + pick(f == 0 ? 14 : 6));
    const unsigned n = static_cast<unsigned>(blocks.size());
    for (Block& block : blocks) {
      for (unsigned i = pick(4); i > 0; --i) {
        auto kind = static_cast<Step::Kind>(pick(f + 1 < count ? 6 : 5));
        block.steps.push_back({kind, pick(kRegisters), pick(kRegisters), pick(kRegisters), pick(1000)});
        if (kind == Step::Kind::kCall) block.steps.back().constant = f + 1 + pick(count - f - 1);
      }
      const unsigned roll = pick(16);
      block.end = roll < 3    ? Block::End::kJump
                  : roll < 11 ? Block::End::kBranch
                  : roll < 13 ? Block::End::kTable
                  : roll < 14 ? Block::End::kReturn
                  : roll < 15 ? Block::End::kGuardedReturn
                              : Block::End::kExit;
      if (block.end == Block::End::kExit && pick(3) != 0) block.end = Block::End::kBranch;
      block.reg = pick(kRegisters);
      block.bit = pick(6);
      for (int t = 0; t < 4; ++t) block.targets.push_back(pick(n));
    }
  }
  return program;
}

/// One thread, the plain way.
struct Thread {
  const Program& program;
  std::vector<std::uint32_t>& memory;
  std::uint32_t fuel = kFuel;
  bool exited = false;

  void step(const Step& s, std::uint32_t (&r)[kRegisters]) {
    switch (s.kind) {
      case Step::Kind::kAdd:
        r[s.to] = r[s.a] + r[s.b] + s.constant;
        break;
      case Step::Kind::kXor:
        r[s.to] = r[s.a] ^ (r[s.b] >> 3);
        break;
      case Step::Kind::kMul:
        r[s.to] = r[s.a] * 2654435761u + s.constant;
        break;
      case Step::Kind::kGuardedSub:
        if (r[s.b] & 2) r[s.to] = r[s.a] - s.constant;
        break;
      case Step::Kind::kAtomic:
        memory[s.constant % 8] += r[s.a];
        break;
      case Step::Kind::kCall: {
        std::uint32_t inner[kRegisters] = {r[s.a], r[s.b], 1, 2};
        run(s.constant, inner);
        r[s.to] = inner[0];
        break;
      }
    }
  }

  void run(unsigned function, std::uint32_t (&r)[kRegisters]) {
    const auto& blocks = program.functions[function];
    for (unsigned at = 0;;) {
      if (fuel == 0) return;
      --fuel;
      const Block& block = blocks[at];
      for (const Step& s : block.steps) {
        step(s, r);
        if (exited) return;
      }
      const std::uint32_t value = r[block.reg] >> block.bit;
      switch (block.end) {
        case Block::End::kJump:
          at = block.targets[0];
          break;
        case Block::End::kBranch:
          at = block.targets[value & 1 ? 0 : 1];
          break;
        case Block::End::kTable:
          at = block.targets[value & 3];
          break;
        case Block::End::kReturn:
          return;
        case Block::End::kGuardedReturn:
          if (value & 1) return;
          at = block.targets[1];
          break;
        case Block::End::kExit:
          exited = true;
          return;
      }
    }
  }
};

std::string text_of(const Step& s) {
  switch (s.kind) {
    case Step::Kind::kAdd:
      return fmt::format("  add.u32 r{0}, r{1}, r{2};\n  add.u32 r{0}, r{0}, {3};\n", s.to, s.a, s.b,
                         s.constant);
    case Step::Kind::kXor:
      return fmt::format("  shr.u32 t, r{}, 3;\n  xor.b32 r{}, r{}, t;\n", s.b, s.to, s.a);
    case Step::Kind::kMul:
      return fmt::format("  mul.lo.u32 t, r{}, 2654435761;\n  add.u32 r{}, t, {};\n", s.a, s.to, s.constant);
    case Step::Kind::kGuardedSub:
      return fmt::format("  and.b32 t, r{}, 2;\n  setp.ne.u32 p, t, 0;\n  @p sub.u32 r{}, r{}, {};\n", s.b,
                         s.to, s.a, s.constant);
    case Step::Kind::kAtomic:
      return fmt::format("  atom.global.add.u32 t, [cells+{}], r{};\n", s.constant % 8 * 4, s.a);
    case Step::Kind::kCall:
      return fmt::format(
          "  {{ .param .b32 a; .param .b32 b; .param .b32 c; .param .align 4 .b8 d[8];\n"
          "    st.param.b32 [a], r{}; st.param.b32 [b], r{}; st.param.b32 [c], fuel;\n"
          "    call (d), f{}, (a, b, c);\n"
          "    ld.param.b32 r{}, [d]; ld.param.b32 fuel, [d+4]; }}\n",
          s.a, s.b, s.constant, s.to);
  }
  return {};
}

std::string text_of(const Block& block, unsigned f, unsigned index) {
  std::string text =
      fmt::format("B{}_{}:\n  setp.eq.u32 p, fuel, 0;\n  @p bra END;\n  sub.u32 fuel, fuel, 1;\n", f, index);
  for (const Step& s : block.steps) text += text_of(s);
  text += fmt::format("  shr.u32 t, r{}, {};\n", block.reg, block.bit);
  const auto label = [&](int t) { return fmt::format("B{}_{}", f, block.targets[static_cast<unsigned>(t)]); };
  const std::string test = "  and.b32 t, t, 1;\n  setp.ne.u32 p, t, 0;\n";
  switch (block.end) {
    case Block::End::kJump:
      return text + "  bra " + label(0) + ";\n";
    case Block::End::kBranch:
      return text + test + "  @p bra " + label(0) + ";\n  bra " + label(1) + ";\n";
    case Block::End::kTable:
      return text +
             fmt::format("  and.b32 t, t, 3;\n T{}: .branchtargets {}, {}, {}, {};\n  brx.idx t, T{};\n",
                         index, label(0), label(1), label(2), label(3), index);
    case Block::End::kReturn:
      return text + "  bra END;\n";
    case Block::End::kGuardedReturn:  // a guarded `ret` in functions; the kernel stores its result first
      return text + test +
             (f == 0 ? "  @p bra END;\n"
                     : "  @!p bra N" + std::to_string(index) +
                           ";\n  st.param.b32 [res], r0;\n  st.param.b32 [res+4], fuel;\nN" +
                           std::to_string(index) + ":\n  @p ret;\n") +
             "  bra " + label(1) + ";\n";
    case Block::End::kExit:
      return text + "  exit;\n";
  }
  return text;
}

std::string text_of(const Program& program) {
  std::string text = ".global .align 4 .b8 cells[32];\n";
  for (unsigned f = static_cast<unsigned>(program.functions.size()); f-- > 0;) {
    const std::string registers = "  .reg .pred p; .reg .b32 r<4>, t, fuel; .reg .b64 at, place;\n";
    if (f == 0) {
      text +=
          ".visible .entry run(.param .u64 out) {\n" + registers +
          fmt::format(
              "  mov.u32 r0, %tid.x;\n  mul.lo.u32 r1, r0, 40503;\n  shr.u32 r2, r0, 2;\n  mov.u32 r3, 7;\n"
              "  mov.u32 fuel, {};\n",
              kFuel);
    } else {
      text +=
          fmt::format(
              ".func (.param .align 4 .b8 res[8]) f{}(.param .b32 a, .param .b32 b, .param .b32 c) {{\n", f) +
          registers +
          "  ld.param.b32 r0, [a];\n  ld.param.b32 r1, [b];\n  mov.u32 r2, 1;\n  mov.u32 r3, 2;\n"
          "  ld.param.b32 fuel, [c];\n";
    }
    for (unsigned b = 0; b < program.functions[f].size(); ++b) text += text_of(program.functions[f][b], f, b);
    text += "END:\n";
    text += f == 0 ? "  ld.param.u64 at, [out];\n  mov.u32 t, %tid.x;\n  mul.wide.u32 place, t, 16;\n"
                     "  add.u64 at, at, place;\n  st.global.v4.u32 [at], {r0, r1, r2, r3};\n  ret;\n}\n"
                   : "  st.param.b32 [res], r0;\n  st.param.b32 [res+4], fuel;\n  ret;\n}\n";
  }
  return text;
}

void compare(const Program& program) {
  const std::string text = text_of(program);
  INFO(text);
  std::vector<std::uint32_t> expected(kThreads * kRegisters, 0xdead), memory(8);
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    std::uint32_t r[kRegisters] = {t, t * 40503, t >> 2, 7};
    Thread thread{program, memory};
    thread.run(0, r);
    if (!thread.exited) std::copy_n(r, kRegisters, expected.begin() + t * kRegisters);
  }
  Device device(text);
  const Address out = device.array(std::vector<std::uint32_t>(kThreads * kRegisters, 0xdead));
  device.run("run", {1, 1, 1}, {kThreads, 1, 1}, Arguments(out));
  REQUIRE(device.read<std::uint32_t>(out, kThreads * kRegisters) == expected);
  const Address cells = device.image->address(device.program.find_variable("cells").value());
  REQUIRE(device.read<std::uint32_t>(cells, 8) == memory);
}

TEST_CASE("random control flow gives what each thread alone gives") {
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    compare(make(random));
  }
}

TEST_CASE("random control flow, many programs", "[slow]") {
  for (std::uint32_t seed = 1000; seed <= 6000; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    compare(make(random));
  }
}

TEST_CASE("repeated runs give the same memory") {
  std::mt19937 random(99);
  const std::string text = text_of(make(random));
  std::vector<std::uint32_t> first;
  for (int round = 0; round < 3; ++round) {
    Device device(text);
    const Address out = device.zeros<std::uint32_t>(4 * kThreads);
    device.run("run", {9, 1, 1}, {kThreads, 1, 1}, Arguments(out));
    auto now = device.read<std::uint32_t>(out, 4 * kThreads);
    if (round == 0) first = now;
    CHECK(now == first);
  }
}

}  // namespace
}  // namespace lockstep::exec::test::divergence
