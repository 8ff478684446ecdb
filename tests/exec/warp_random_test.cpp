// Random collective instructions of parts of a warp that a branch has separated, against what the members of
// each part hold: shuffles, votes, matches, reductions, elections, and words exchanged over bar.warp.sync.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"
#include "tests/random.hpp"

namespace lockstep::exec::test::collective {
namespace {

using U32 = std::uint32_t;
constexpr unsigned kLanes = 32, kWarps = 2, kRounds = 12;

enum class Op {
  kShuffle,
  kRotate,
  kBallot,
  kAll,
  kMatch,
  kMatchAll,
  kSum,
  kMinimum,
  kXor,
  kElect,
  kExchange,
  kCount
};

/// One part of a round: its members, what they do, and an operand that all of them have.
struct Part {
  U32 members = 0;
  Op op = Op::kShuffle;
  unsigned number = 0;
};
struct Round {
  std::array<Part, 3> parts;  // disjoint, together all lanes
};

std::vector<Round> make(lockstep::test::Random32& random) {
  std::vector<Round> rounds(kRounds);
  for (Round& round : rounds) {
    const U32 first = random(), second = random() % 4 == 0 ? ~0u : random();
    round.parts[0].members = random() % 5 == 0 ? 0 : first & second;
    round.parts[1].members = first & ~round.parts[0].members;
    round.parts[2].members = ~(round.parts[0].members | round.parts[1].members);
    for (Part& part : round.parts) {
      part.op = static_cast<Op>(random() % static_cast<unsigned>(Op::kCount));
      part.number = random() % 32;
    }
  }
  return rounds;
}

/// The n-th member from the lowest on, counted round.
unsigned member(U32 members, unsigned n) {
  n %= static_cast<unsigned>(std::popcount(members));
  for (unsigned lane = 0;; ++lane)
    if ((members >> lane & 1) != 0 && n-- == 0) return lane;
}

/// Bits: all, any, all alike.
U32 votes(const Part& part, const std::array<U32, kLanes>& held) {
  unsigned yes = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    yes += (part.members >> lane & 1) != 0 && (held[lane] >> part.number & 3) != 0 ? 1 : 0;
  const bool all = yes == static_cast<unsigned>(std::popcount(part.members)), any = yes > 0;
  return U32{all} | U32{any} << 1 | U32{all || !any} << 2;
}

/// Lane `lane` of a part whose members hold `held`.
U32 expected(const Part& part, unsigned lane, const std::array<U32, kLanes>& held) {
  const auto each = [&](auto&& f) {
    for (unsigned other = 0; other < kLanes; ++other)
      if ((part.members >> other & 1) != 0) f(other);
  };
  U32 result = 0;
  switch (part.op) {
    case Op::kShuffle:
      return held[member(part.members, part.number)];
    case Op::kRotate:  // from a member's lane that each lane computes by itself
      return held[member(part.members, held[lane] % 7 + part.number)];
    case Op::kBallot:
      each([&](unsigned other) { result |= (held[other] >> part.number & 1) << other; });
      return result;
    case Op::kAll:
      return votes(part, held);
    case Op::kMatch:
      each([&](unsigned other) { result |= U32{held[other] % 5 == held[lane] % 5} << other; });
      return result;
    case Op::kMatchAll:
      result = part.members;
      each([&](unsigned other) {
        if ((held[other] & 1) != (held[lane] & 1)) result = 0;
      });
      return result;
    case Op::kSum:
      each([&](unsigned other) { result += held[other]; });
      return result;
    case Op::kMinimum: {
      std::int32_t least = static_cast<std::int32_t>(held[lane]);
      each([&](unsigned other) { least = std::min(least, static_cast<std::int32_t>(held[other])); });
      return static_cast<U32>(least);
    }
    case Op::kXor:
      each([&](unsigned other) { result ^= held[other]; });
      return result;
    case Op::kElect:
      return static_cast<U32>(std::countr_zero(part.members)) << 1 |
             U32{lane == static_cast<unsigned>(std::countr_zero(part.members))};
    default:
      return held[member(part.members,
                         static_cast<unsigned>(std::popcount(part.members & ((1u << lane) - 1))) + 1)];
  }
}

/// `table`: of the members' lanes, in constant memory.
std::string text_of(const Part& part, unsigned table) {
  const U32 m = part.members;
  switch (part.op) {
    case Op::kShuffle:
      return fmt::format("shfl.sync.idx.b32 %y, %x, {}, 31, {};\n", member(m, part.number), m);
    case Op::kRotate:
      return fmt::format(
          "rem.u32 %a, %x, 7; add.u32 %a, %a, {}; rem.u32 %a, %a, {}; cvt.u64.u32 %l, %a;\n"
          "mov.u64 %c, lanes; add.u64 %l, %l, %c; ld.const.u8 %h, [%l+{}]; cvt.u32.u16 %a, %h; "
          "shfl.sync.idx.b32 %y, %x, %a, 31, {};\n",
          part.number, std::popcount(m), 32 * table, m);
    case Op::kBallot:
      return fmt::format("and.b32 %a, %x, {}; setp.ne.u32 %p, %a, 0; vote.sync.ballot.b32 %y, %p, {};\n",
                         1u << part.number, m);
    case Op::kAll:
      return fmt::format(
          "shr.u32 %a, %x, {0}; and.b32 %a, %a, 3; setp.ne.u32 %p, %a, 0; vote.sync.all.pred %q, %p, {1};\n"
          "selp.u32 %y, 1, 0, %q; vote.sync.any.pred %q, %p, {1}; @%q or.b32 %y, %y, 2;\n"
          "vote.sync.uni.pred %q, %p, {1}; @%q or.b32 %y, %y, 4;\n",
          part.number, m);
    case Op::kMatch:
      return fmt::format("rem.u32 %a, %x, 5; match.any.sync.b32 %y, %a, {};\n", m);
    case Op::kMatchAll:
      return fmt::format("and.b32 %a, %x, 1; match.all.sync.b32 %y|%q, %a, {};\n", m);
    case Op::kSum:
      return fmt::format("redux.sync.add.u32 %y, %x, {};\n", m);
    case Op::kMinimum:
      return fmt::format("redux.sync.min.s32 %y, %x, {};\n", m);
    case Op::kXor:
      return fmt::format("redux.sync.xor.b32 %y, %x, {};\n", m);
    case Op::kElect:
      return fmt::format("elect.sync %a|%q, {}; shl.b32 %y, %a, 1; @%q or.b32 %y, %y, 1;\n", m);
    default:
      return fmt::format(
          "st.shared.u32 [%own], %x; bar.warp.sync {0}; mov.u32 %a, %lanemask_lt; and.b32 %a, %a, {0};\n"
          "popc.b32 %a, %a; add.u32 %a, %a, 1; rem.u32 %a, %a, {1}; cvt.u64.u32 %l, %a;\n"
          "mov.u64 %c, lanes; add.u64 %l, %l, %c; ld.const.u8 %h, [%l+{2}]; cvt.u32.u16 %a, %h; shl.b32 %a, "
          "%a, 2; add.u32 %a, %a, %warp;\n"
          "ld.shared.u32 %y, [%a]; bar.warp.sync {0};\n",
          m, std::popcount(m), 32 * table);
  }
}

std::string kernel_of(const std::vector<Round>& rounds) {
  std::string lanes, body;
  unsigned table = 0, label = 0;
  for (const Round& round : rounds) {
    for (const Part& part : round.parts) {
      for (unsigned n = 0; n < kLanes; ++n)
        lanes +=
            (lanes.empty() ? "" : ", ") + std::to_string(part.members == 0 ? 0 : member(part.members, n));
      body += fmt::format("and.b32 %a, %bit, {}; setp.eq.u32 %p, %a, 0; @%p bra N{};\n", part.members, label);
      if (part.members != 0) body += text_of(part, table);
      body += fmt::format("{}N{}:\n", label % 3 == 2 ? "" : fmt::format("bra J{}; ", label / 3), label);
      ++label, ++table;
    }
    body += fmt::format("J{}: mad.lo.u32 %x, %y, 1664525, %x; st.global.u32 [%o], %y; add.u64 %o, %o, 4;\n",
                        label / 3 - 1);
  }
  return fmt::format(
      ".const .align 4 .b8 lanes[{}] = {{{}}};\n.visible .entry k(.param .u64 out) {{\n"
      ".reg .b64 %o, %l, %c; .reg .b32 %x, %y, %a, %b, %t, %bit, %own, %warp; .reg .b16 %h; .reg .pred %p, "
      "%q;\n"
      ".shared .align 4 .b8 cells[256]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %l, %t, "
      "{};\n"
      "add.u64 %o, %o, %l; and.b32 %a, %t, 31; mov.u32 %b, 1; shl.b32 %bit, %b, %a; mad.lo.u32 %x, %t, "
      "2654435761, 99;\n"
      "and.b32 %a, %t, 32; shl.b32 %a, %a, 2; mov.u32 %warp, cells; add.u32 %warp, %warp, %a; and.b32 %a, "
      "%t, 31;\n"
      "shl.b32 %a, %a, 2; add.u32 %own, %warp, %a; mov.u32 %y, 0;\n{}ret;\n}}\n",
      32 * table, lanes, 4 * rounds.size(), body);
}

TEST_CASE("collectives: parts of a warp that a branch has separated see their own members") {
  lockstep::test::Random32 random(2);
  for (int turn = 0; turn < 50; ++turn) {
    const std::vector<Round> rounds = make(random);
    const std::string text = kernel_of(rounds);
    INFO("turn " << turn << "\n" << text);
    Device device(text);
    const Address out = device.zeros<U32>(kWarps * kLanes * kRounds);
    device.run("k", {1, 1, 1}, {kWarps * kLanes, 1, 1}, Arguments(out));
    const auto found = device.read<U32>(out, kWarps * kLanes * kRounds);
    for (unsigned w = 0; w < kWarps; ++w) {
      std::array<U32, kLanes> held{};
      for (unsigned lane = 0; lane < kLanes; ++lane) held[lane] = (w * kLanes + lane) * 2654435761u + 99;
      for (unsigned r = 0; r < kRounds; ++r) {
        const std::array<U32, kLanes> before = held;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          const auto part = std::ranges::find_if(rounds[r].parts,
                                                 [&](const Part& p) { return (p.members >> lane & 1) != 0; });
          const U32 wanted = expected(*part, lane, before);
          INFO("warp " << w << ", lane " << lane << ", round " << r << ", operation "
                       << static_cast<int>(part->op));
          REQUIRE(found[(w * kLanes + lane) * kRounds + r] == wanted);
          held[lane] = wanted * 1664525 + before[lane];
        }
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::exec::test::collective
