// What is part of another instruction or of none: addresses of accesses, pairs that are one instruction,
// branches that guards replace, policies of the L2; looked at one by one.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "lower/addresses.hpp"
#include "lower/fusion.hpp"
#include "lower/l2_policies.hpp"
#include "lower/predication.hpp"
#include "ptx/control_flow.hpp"
#include "tests/lower/support.hpp"

namespace lockstep::lower::test {
namespace {

/// Which instructions of a body are part of an access, and what the access reads for it: "2:%i1".
std::string folded(const std::string& body, unsigned arch = 75) {
  const ptx::Function f = function_of(body);
  auto found = folded_addresses(f, find_runs(f, ptx::ControlFlow(f)), arch);
  std::ranges::sort(found, {}, &FoldedAddress::at);
  std::string text;
  for (const FoldedAddress& a : found)
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", a.at, f.registers[a.from].name);
  return text;
}

/// Pairs of a body: "1+3" where instruction 3 does also what 1 does.
std::string pairs(const std::string& body, bool integers = true, unsigned arch = 80) {
  const ptx::Function f = function_of(body);
  const Fusions fusions(f, find_runs(f, ptx::ControlFlow(f)), {}, integers, arch);
  std::string text;
  std::vector<bool> taken(f.instructions.size());
  for (std::uint32_t at = 0; at < f.instructions.size(); ++at)
    if (const Fused* both = fusions.at(at)) {
      text += fmt::format("{}{}+{}", text.empty() ? "" : " ", both->producer, at);
      taken[both->producer] = true;
      const ptx::Operand& read = f.instructions[at].operands.at(both->operand);
      CHECK(read.reg == f.instructions[both->producer].operands[0].reg);
    }
  for (std::uint32_t at = 0; at < f.instructions.size(); ++at) CHECK(fusions.gone(at) == taken[at]);
  return text;
}

/// What predication makes of a body, one character for each instruction behind the parameter: '.' as it was,
/// 'x' gone, 'g' guarded now, 'w' guarded where no lane's old value matters, 'o' not guarded but optional.
std::string predicated(const std::string& body, std::uint32_t length = 1) {
  const ptx::Function f = function_of(body);
  const Predicated p = predicate(not_unrolled(f), std::vector<std::uint32_t>(f.instructions.size(), length));
  std::string text;
  for (std::uint32_t at = 1; at < f.instructions.size(); ++at) {
    const auto& before = f.instructions[at].guard;
    const auto& now = p.function.instructions[at].guard;
    const bool is_new = now.has_value() && !(now == before);
    text += p.gone[at] ? 'x' : is_new ? (now->whole ? 'w' : 'g') : p.optional[at] ? 'o' : '.';
    CHECK(p.carrier[at] == at);
    CHECK(p.origin[at] == at);
  }
  return text;
}

std::optional<trace::L2Policy> policy(const std::string& make, const std::string& access) {
  const ptx::Function f = function_of(make + access);
  return L2Policies(f).of(f.instructions.at(f.instructions.size() - 2));
}

}  // namespace

TEST_CASE("sums with constants, small shifts and products of numbers are part of shared accesses") {
  const std::string load = "ld.shared.b32 %i9, [%i5];\n";
  CHECK(folded("add.s32 %i5, %i1, 16;\n" + load) == "1:%i1");
  CHECK(folded("add.s32 %i5, 16, %i1;\n" + load) == "1:%i1");
  CHECK(folded("shl.b32 %i5, %i1, 2;\n" + load) == "1:%i1");
  CHECK(folded("shl.b32 %i5, %i1, 4;\n" + load) == "1:%i1");
  CHECK(folded("shl.b32 %i5, %i1, 1;\n" + load).empty());
  CHECK(folded("shl.b32 %i5, %i1, 5;\n" + load).empty());
  CHECK(folded("mad.lo.s32 %i5, 4, 8, %i1;\n" + load) == "1:%i1");
  CHECK(folded("mov.u32 %i6, window;\nadd.s32 %i5, %i1, %i6;\n" + load) == "2:%i1");
  CHECK(folded("mov.u32 %i6, window;\nadd.s32 %i5, %i1, %i6;\n" + load, 90).empty());
  CHECK(folded("shl.b32 %i5, %i1, 2;\n" + load, 90).empty());
  CHECK(folded("add.s32 %i5, %i1, 16;\n" + load, 90) == "1:%i1");
  CHECK(folded("shl.b32 %i4, %i1, 2;\nadd.s32 %i5, %i4, 16;\n" + load) == "1:%i1 2:%i4");
  CHECK(folded("shl.b32 %i4, %i1, 2;\nshl.b32 %i5, %i4, 2;\n" + load) == "2:%i4");  // one scale
  CHECK(folded("add.s32 %i5, %i1, %i2;\n" + load).empty());
}

TEST_CASE("addresses that something else reads, or whose source changes, are computed") {
  const std::string load = "ld.shared.b32 %i9, [%i5];\n", sum = "add.s32 %i5, %i1, 16;\n";
  CHECK(folded(sum + load + "ld.shared.b32 %i8, [%i5+4];\n") == "1:%i1");
  CHECK(folded(sum + load + "xor.b32 %i8, %i5, 1;\n").empty());
  CHECK(folded(sum + load + "ld.global.b32 %i8, [%r1];\nadd.s32 %i5, %i8, 1;\n" + load).empty());
  CHECK(folded(sum + "st.shared.b32 [%i5], %i5;\n").empty());
  CHECK(folded("mov.b32 %i1, 3;\n" + sum + load + "mov.b32 %i1, 4;\n") == "2:%i1");
  CHECK(folded("mov.b32 %i1, 3;\n" + sum + "mov.b32 %i1, 4;\n" + load).empty());
  CHECK(folded(sum + "ld.local.b32 %i9, [%i5];\n").empty());
  CHECK(folded("@%p1 add.s32 %i5, %i1, 16;\n" + load).empty());
}

TEST_CASE("the register with which an access addresses shared memory") {
  const auto address = [](const std::string& text) {
    const ptx::Function f = function_of(text);
    const ptx::RegisterId* id = shared_address(f.instructions.at(1));
    return id == nullptr ? std::string("none") : f.registers[*id].name;
  };
  CHECK(address("ld.shared.b32 %i1, [%i5+8];\n") == "%i5");
  CHECK(address("ld.shared.b32 %i5, [%i5];\n") == "%i5");
  CHECK(address("st.shared.v2.b32 [%i5], {%i1, %i2};\n") == "%i5");
  CHECK(address("atom.shared.add.u32 %i1, [%i5], %i2;\n") == "%i5");
  CHECK(address("red.shared.add.u32 [%i5], %i2;\n") == "%i5");
  CHECK(address("st.shared.v2.b32 [%i5], {%i1, %i5};\n") == "none");
  CHECK(address("atom.shared.add.u32 %i1, [%i5], %i5;\n") == "none");
  CHECK(address("ld.shared.b32 %i1, [window];\n") == "none");
  CHECK(address("ld.global.b32 %i1, [%l5];\n") == "none");
  CHECK(address("add.s32 %i1, %i5, 1;\n") == "none");
}

TEST_CASE("pairs that are one instruction, where nothing else reads the first or changes what it reads") {
  CHECK(pairs("mul.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;\n") == "1+2");
  CHECK(pairs("mul.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;\n", false) == "1+2");
  CHECK(pairs("mul.f32 %f3, %f1, %f2;\nmov.f32 %f1, 0f00000000;\nadd.f32 %f4, %f3, %f1;\n").empty());
  CHECK(pairs("mul.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;\nadd.f32 %f5, %f3, %f2;\n").empty());
  CHECK(pairs("@%p1 mul.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;\n").empty());
  CHECK(pairs("add.s32 %i4, %i1, %i2;\nadd.s32 %i5, %i4, %i3;\n") == "1+2");
  CHECK(pairs("add.s32 %i4, %i1, %i2;\nadd.s32 %i5, %i4, %i3;\n", false).empty());
  CHECK(pairs("add.s32 %i4, %i1, %i2;\nbar.sync 0;\nadd.s32 %i5, %i4, %i3;\n").empty());
  CHECK(pairs("and.b32 %i4, %i1, %i2;\nxor.b32 %i5, %i3, %i4;\n") == "1+2");
  CHECK(pairs("and.b64 %l4, %l1, %l2;\nxor.b32 %i5, %i3, %i4;\n").empty());
  CHECK(pairs("mul.wide.s32 %l3, %i1, 4;\nadd.s64 %l4, %l3, %l1;\nadd.s64 %l5, %l3, %l2;\n") == "1+2 1+3");
  CHECK(pairs("shl.b64 %l3, %l1, 3;\nadd.s64 %l4, %l3, %l1;\nadd.s64 %l5, %l3, %l2;\n").empty());
  CHECK(pairs("shl.b64 %l3, %l1, 3;\nadd.s64 %l4, %l3, %l1;\nadd.s64 %l5, %l3, %l2;\n", true, 70) ==
        "1+2 1+3");
}

TEST_CASE("an instruction that reads a result twice does not take in what makes it") {
  CHECK(pairs("mul.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f3;\n").empty());
  CHECK(pairs("add.s32 %i4, %i1, %i2;\nadd.s32 %i5, %i4, %i4;\n").empty());
  CHECK(pairs("shl.b32 %i4, %i1, 3;\nadd.s32 %i5, %i4, %i4;\n").empty());
  CHECK(pairs("mul.wide.s32 %l3, %i1, 4;\nadd.s64 %l4, %l3, %l3;\n").empty());
}

TEST_CASE("under a short branch memory and what is read later are guarded, the rest is executed by all") {
  const std::string tail = "JOIN:\nst.global.b32 [%r1], %i9;\n", branch = "@%p1 bra JOIN;\n";
  // The branch, a value that only the if reads, a load, one that is read behind it, the store, the end.
  CHECK(predicated(branch + "add.s32 %i2, %i1, 1;\nadd.s32 %i9, %i2, 5;\n" + tail) == "xog..");
  CHECK(predicated(branch + "ld.global.b32 %i3, [%r1+8];\nst.global.b32 [%r1+4], %i3;\n" + tail) == "xww..");
  const std::string sum = branch + "add.s32 %i9, %i1, 1;\n" + tail;
  CHECK(predicated(sum, 6) == "xg..");  // %p1 is the same in all lanes
  CHECK(predicated(sum, 7) == "....");
  const std::string differs = "mov.u32 %i5, %tid.x;\nsetp.lt.s32 %p1, %i5, %i1;\n";
  CHECK(predicated(differs + sum, 8) == "..xg..");
  CHECK(predicated(differs + sum, 9) == "......");
  CHECK(predicated(branch + "@%p2 add.s32 %i9, %i1, 1;\n" + tail) == "....");
  CHECK(predicated(branch + "setp.lt.s32 %p1, %i1, 3;\n" + tail) == "....");  // what decides
  CHECK(predicated(branch + "bar.sync 0;\n" + tail) == "....");
}

TEST_CASE("of if and else each side has the guard of its own lanes, and the jump between is gone") {
  const std::string body =
      "@%p1 bra ELSE;\nadd.s32 %i9, %i1, 1;\nbra JOIN;\nELSE:\nadd.s32 %i9, %i1, 2;\nJOIN:\n"
      "st.global.b32 [%r1], %i9;\n";
  CHECK(predicated(body) == "xwxg..");  // the second keeps what the first has written in other lanes
  const ptx::Function f = function_of(body);
  const Predicated p = predicate(not_unrolled(f), std::vector<std::uint32_t>(f.instructions.size(), 1));
  const ptx::RegisterId decides = register_of(f, "%p1");
  const auto guard = [&](std::uint32_t at) { return p.function.instructions[at].guard.value(); };
  CHECK((guard(2).reg == decides && guard(2).negated));
  CHECK((guard(4).reg == decides && !guard(4).negated));
  CHECK(may_be_predicated(f));
  CHECK_FALSE(may_be_predicated(function_of("bra L;\nL:\n@%p1 add.s32 %i9, %i1, 1;\n")));
  const Predicated same = unpredicated(not_unrolled(f));
  CHECK(same.function.instructions.size() == f.instructions.size());
  CHECK(std::ranges::count(same.gone, true) == 0);
  CHECK(std::ranges::count(same.optional, true) == 0);
}

TEST_CASE(
    "policies of the L2 come from qualifiers, or from registers that are written once with a constant") {
  using trace::make_l2_policy;
  const std::string hint = "ld.global.L2::cache_hint.b32 %i1, [%r1], %l7;\n";
  const std::string make = "createpolicy.fractional.L2::evict_last.b64 %l7, 0.5;\n";
  const auto half = make_l2_policy(L2Priority::kLast, L2Priority::kPlain, 8);
  CHECK(policy("", "ld.global.b32 %i1, [%r1];\n") == trace::kNoL2Policy);
  CHECK(policy("", "ld.global.L2::evict_first.b32 %i1, [%r1];\n") == make_l2_policy(L2Priority::kFirst));
  CHECK(policy(make, hint) == half);
  CHECK(policy("createpolicy.fractional.L2::evict_last.b64 %l6, 0.5;\nmov.b64 %l7, %l6;\n", hint) == half);
  CHECK(policy("mov.b64 %l7, 0x12F0000000000000;\n", hint) == make_l2_policy(L2Priority::kFirst));
  CHECK_FALSE(policy("", hint));
  CHECK_FALSE(policy(make + "mov.b64 %l7, 0x12F0000000000000;\n", hint));
  CHECK_FALSE(policy("@%p1 " + make, hint));
  CHECK_FALSE(policy("createpolicy.fractional.L2::evict_last.b64 %l7, %f1;\n", hint));
}

}  // namespace lockstep::lower::test
