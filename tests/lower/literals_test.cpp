// Values that take no register: which ones the compiler knows, who can have them as operands, and where what
// has to be in a register is brought into one.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "lower/accumulators.hpp"
#include "lower/brought.hpp"
#include "lower/constants.hpp"
#include "lower/schedule.hpp"
#include "ptx/control_flow.hpp"
#include "tests/lower/support.hpp"

namespace lockstep::lower::test {
namespace {

/// Registers by name, e.g. "%i1 %l2", in order of their first use.
std::string named(const ptx::Function& f, const std::vector<bool>& which) {
  std::string names;
  for (std::size_t id = 0; id < which.size(); ++id)
    if (which[id]) names += (names.empty() ? "" : " ") + f.registers[id].name;
  return names;
}

std::string literals_of(const std::string& body, bool computed = true) {
  const ptx::Function f = function_of(body);
  return named(f, literals(f, computed));
}

/// Of a body in which %r1 is an address.
std::string without_registers(const std::string& body, bool immediates = true) {
  const ptx::Function f = function_of("ld.global.b32 %i19, [%r1];\n" + body);
  return named(f, constant_operands(f, immediates));
}

/// Runs of a body's function, of which each instruction that keeps its place is one.
struct Runs {
  explicit Runs(const std::string& body)
      : function(function_of(body)), runs(find_runs(function, ptx::ControlFlow(function))) {}
  [[nodiscard]] std::size_t of(std::uint32_t instruction) const {
    std::size_t run = 0;
    while (runs[run].end <= instruction) ++run;
    return run;
  }
  [[nodiscard]] std::size_t at_label(const std::string& name) const {
    for (const ptx::Label& l : function.labels)
      if (l.name == name) return of(l.instruction);
    return ~std::size_t{0};
  }
  ptx::Function function;
  std::vector<Run> runs;
};

constexpr Constant kNumber{Constant::Kind::kImmediate, 99}, kOther{Constant::Kind::kImmediate, 77};

/// The runs at whose end constants are brought, once for each.
std::vector<std::size_t> brought_at(const BroughtConstants& brought, std::size_t runs) {
  std::vector<std::size_t> all;
  for (std::size_t run = 0; run < runs; ++run)
    for (std::size_t n = 0; n < brought.at_end(run).size(); ++n) all.push_back(run);
  return all;
}

}  // namespace

TEST_CASE("literals: immediates, addresses of symbols, their copies and what is computed of them") {
  CHECK(literals_of("mov.b32 %i1, 7;\n") == "%i1");
  CHECK(literals_of("mov.u32 %i1, window;\n") == "%i1");
  CHECK(literals_of("mov.b32 %i1, 7;\nmov.b32 %i2, %i1;\n") == "%i1 %i2");
  CHECK(literals_of("mov.b32 %i1, 7;\nadd.s32 %i2, %i1, 9;\nshl.b32 %i3, %i2, %i1;\n") == "%i1 %i2 %i3");
  CHECK(literals_of("mov.b32 %i1, 7;\nadd.s32 %i2, %i1, 9;\n", false) == "%i1");
  CHECK(literals_of("mov.b32 %i1, 7;\nsetp.lt.s32 %p1, %i1, 9;\n") == "%i1 %p1");
  CHECK(literals_of("mov.f32 %f1, 0f40000000;\nex2.approx.f32 %f2, %f1;\n") == "%f1 %f2");
}

TEST_CASE("no literals: what is loaded, guarded, written twice, divided, or made of any of these") {
  CHECK(literals_of("ld.global.b32 %i1, [%r1];\nmov.b32 %i2, %i1;\n").empty());
  CHECK(literals_of("@%p1 mov.b32 %i1, 7;\n").empty());
  CHECK(literals_of("mov.b32 %i1, 7;\nbar.sync 0;\nmov.b32 %i1, 8;\nadd.s32 %i2, %i1, 1;\n").empty());
  CHECK(literals_of("mov.b32 %i1, 7;\ndiv.s32 %i2, %i1, 2;\nadd.s32 %i3, %i2, 1;\n") == "%i1");
  CHECK(literals_of("mov.f32 %f1, 0f40000000;\nsqrt.rn.f32 %f2, %f1;\n") == "%f1");
  CHECK(literals_of("mov.u32 %i1, %ntid.x;\nmov.u32 %i2, %tid.x;\n").empty());
  CHECK(literals_of("mov.b32 %i1, 7;\nadd.s32 %i3, %i1, %i2;\n") == "%i1");
}

TEST_CASE("arithmetic has constants as operands; addresses, stored data and other units have not") {
  const std::string number = "mov.b32 %i1, 7;\nld.global.b32 %i2, [%r1];\n";
  CHECK(without_registers(number + "add.s32 %i3, %i2, %i1;\n") == "%i1");
  CHECK(without_registers(number + "st.global.b32 [%r1], %i1;\n").empty());
  CHECK(without_registers(number + "add.s32 %i3, %i2, %i1;\nst.global.b32 [%r1], %i1;\n").empty());
  CHECK(without_registers(number + "atom.global.add.u32 %i3, [%r1], %i1;\n").empty());
  CHECK(without_registers("ld.param.u32 %i1, [n];\nadd.s32 %i2, %i1, 1;\n") == "%i1");
  CHECK(without_registers("ld.param.u32 %i1, [n];\nst.global.b32 [%r1], %i1;\n").empty());
  CHECK(without_registers("mov.u32 %i1, %ntid.x;\nadd.s32 %i2, %i1, 1;\n") == "%i1");
  CHECK(without_registers("mov.u32 %i1, %ctaid.x;\nadd.s32 %i2, %i1, 1;\n").empty());
}

TEST_CASE("shuffles have immediates for lanes and masks, shared addresses are immediates; not without them") {
  const std::string shuffle =
      "mov.b32 %i1, 16;\nmov.b32 %i2, 31;\nld.global.b32 %i3, [%r1];\nshfl.sync.bfly.b32 %i4, %i3, %i1, %i2, "
      "-1;\n";
  CHECK(without_registers(shuffle) == "%i1 %i2");
  CHECK(without_registers(shuffle, false).empty());
  CHECK(without_registers("mov.b32 %i1, 16;\nshfl.sync.bfly.b32 %i4, %i1, 1, 31, -1;\n").empty());
  const std::string access = "mov.u32 %i1, window;\nld.shared.b32 %i2, [%i1+4];\n";
  CHECK(without_registers(access) == "%i1");
  CHECK(without_registers(access, false).empty());
  CHECK(without_registers("mov.u32 %i1, window;\nst.shared.b32 [%i1], %i1;\n").empty());
}

TEST_CASE("the launch puts sizes into the constant bank, not what differs between CTAs or threads") {
  using ptx::Special;
  for (const Special s : {Special::kNtid, Special::kNctaid, Special::kDynamicSmemSize, Special::kNsmid})
    CHECK(in_constant_bank(s));
  for (const Special s : {Special::kTid, Special::kCtaid, Special::kLaneid, Special::kSmid, Special::kClock})
    CHECK_FALSE(in_constant_bank(s));
}

TEST_CASE("constants are operands of the arithmetic pipes") {
  const auto takes = [](const std::string& text) {
    return takes_constant(function_of(text).instructions.at(1));
  };
  for (const char* const text :
       {"add.s32 %i1, %i2, %i3;\n", "fma.rn.f32 %f1, %f2, %f3, %f4;\n", "mov.u32 %i1, %tid.x;\n",
        "setp.lt.s32 %p1, %i1, %i2;\n", "mul.wide.s32 %l1, %i1, 4;\n"})
    CHECK(takes(text));
  for (const char* const text : {"ld.global.b32 %i1, [%r1];\n", "st.shared.b32 [%i1], %i2;\n",
                                 "red.global.add.u32 [%r1], %i1;\n", "mov.b64 {%i1, %i2}, %l1;\n",
                                 "shfl.sync.bfly.b32 %i1, %i2, 1, 31, -1;\n", "prefetch.global.L2 [%r1];\n"})
    CHECK_FALSE(takes(text));
}

TEST_CASE("what is needed outside of loops is brought where it is needed, once") {
  const Runs f("add.s32 %i1, %i1, 99;\nbar.sync 0;\nadd.s32 %i1, %i1, 99;\n");
  BroughtConstants brought(f.function, f.runs);
  CHECK(brought.bring(kNumber));
  CHECK_FALSE(brought.bring(kNumber));
  CHECK(brought.has(kNumber));
  CHECK_FALSE(brought.has(kOther));
  brought.start_again();
  CHECK_FALSE(brought.has(kNumber));
  brought.note(0, kNumber);
  CHECK(brought_at(brought, f.runs.size()).empty());
}

TEST_CASE("what loops need is brought before the outermost of them") {
  const Runs f(
      "mov.b32 %i5, 0;\nOUTER:\nbar.sync 0;\nmov.b32 %i1, 0;\nINNER:\nadd.s32 %i1, %i1, 99;\n"
      "setp.lt.s32 %p1, %i1, %i2;\n@%p1 bra INNER;\nadd.s32 %i5, %i5, 1;\nsetp.lt.s32 %p2, %i5, %i6;\n"
      "@%p2 bra OUTER;\nBEHIND:\nadd.s32 %i7, %i7, 77;\n");
  const std::size_t inner = f.at_label("INNER"), outer = f.at_label("OUTER"), behind = f.at_label("BEHIND");
  REQUIRE(outer > 0);
  REQUIRE(inner > outer);
  BroughtConstants brought(f.function, f.runs);
  brought.note(inner, kNumber);
  brought.note(inner + 1, kNumber);
  brought.note(behind, kOther);
  CHECK(brought_at(brought, f.runs.size()) == std::vector<std::size_t>{outer - 1});
  CHECK(brought.at_end(outer - 1) == std::vector<Constant>{kNumber});
}

TEST_CASE("of two loops one behind the other each has its own before it; nothing is before the first run") {
  const Runs f(
      "mov.b32 %i1, 0;\nONE:\nadd.s32 %i1, %i1, 99;\nsetp.lt.s32 %p1, %i1, %i2;\n@%p1 bra ONE;\n"
      "mov.b32 %i3, 0;\nmov.b32 %i4, 1;\nTWO:\nadd.s32 %i3, %i3, 77;\nsetp.lt.s32 %p1, %i3, %i2;\n"
      "@%p1 bra TWO;\n");
  BroughtConstants brought(f.function, f.runs);
  brought.note(f.at_label("ONE"), kNumber);
  brought.note(f.at_label("TWO"), kOther);
  CHECK(brought.at_end(f.at_label("ONE") - 1) == std::vector<Constant>{kNumber});
  CHECK(brought.at_end(f.at_label("TWO") - 1) == std::vector<Constant>{kOther});
}

TEST_CASE("moves that only a product would read that does not add") {
  const std::string product =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %l1, %l2, ";
  const std::string moves = "mov.f32 %f1, 0f00000000;\nmov.f32 %f2, 0f00000000;\n", ends = ", 1, 1, 0, 0;\n";
  const auto unread = [&](const std::string& text) {
    const ptx::Function f = function_of(text);
    std::vector<std::uint32_t> found;
    const auto all = unread_moves(f);
    for (std::uint32_t at = 0; at < all.size(); ++at)
      if (all[at]) found.push_back(at);
    return found;
  };
  using Places = std::vector<std::uint32_t>;
  const std::string no = "setp.ne.b32 %p1, 0, 0;\n", yes = "setp.ne.b32 %p1, 1, 0;\n";
  CHECK(unread(no + moves + product + "%p1" + ends) == Places{2, 3});
  CHECK(unread(yes + moves + product + "%p1" + ends).empty());
  CHECK(unread(moves + product + "%p1" + ends).empty());  // not known
  CHECK(unread(no + moves + "add.f32 %f9, %f1, %f1;\n" + product + "%p1" + ends) == Places{3});
  CHECK(unread("mov.b32 %i1, 0;\nsetp.ne.b32 %p1, %i1, 0;\n" + moves + product + "%p1" + ends) ==
        Places{3, 4});
  CHECK(unread(no + "mov.f32 %f1, 0f00000000;\nLABEL:\nmov.f32 %f2, 0f00000000;\n@%p2 bra LABEL;\n" +
               product + "%p1" + ends)
            .empty());
  const ptx::Function f = function_of(product + "%p1" + ends);
  const ptx::Operand* adds = adds_accumulators(f.instructions.at(1));
  REQUIRE(adds != nullptr);
  CHECK(adds->reg == register_of(f, "%p1"));
  CHECK(adds_accumulators(f.instructions.at(0)) == nullptr);
}

}  // namespace lockstep::lower::test
