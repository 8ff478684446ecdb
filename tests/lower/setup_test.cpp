// What machine code has besides what PTX says: the stack pointer, descriptors, loads of parameters. The first
// two kernels are as ptxas 13.0 has them (decoded from its cubins).
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/lower/support.hpp"
#include "trace/traced_instruction.hpp"

using namespace lockstep;

namespace {

using Codes = std::vector<std::string>;

Codes opcodes(const std::string& body, unsigned arch) {
  Codes found;
  for (const auto& i : lower::test::lowered(body, arch, {})) found.emplace_back(trace::opcode_of(i.text));
  return found;
}

auto count(const Codes& codes, const std::string& opcode) { return std::ranges::count(codes, opcode); }

const std::string kAdd =
    "ld.param.u32 %i1, [n];\nmov.u32 %i2, %ntid.x;\nmov.u32 %i3, %ctaid.x;\nmov.u32 %i4, %tid.x;\n"
    "mad.lo.s32 %i5, %i3, %i2, %i4;\nmul.wide.s32 %l1, %i5, 4;\nadd.s64 %l2, %r1, %l1;\n"
    "ld.global.b32 %i6, [%l2];\nadd.s32 %i7, %i6, %i1;\nst.global.b32 [%l2], %i7;\n";

TEST_CASE("a kernel begins with its stack pointer, which takes R1") {
  for (const unsigned arch : {70u, 75u, 80u, 90u}) {
    const auto code = lower::test::lowered(kAdd, arch, {});
    CHECK(code.front().text == (arch < 90 ? "1 R1 MOV 0 0" : "1 R1 LDC 0 0"));
    for (std::size_t i = 1; i < code.size(); ++i) CHECK(code[i].text.find(" R1 ") == std::string::npos);
    CHECK(lower::test::lowered(kAdd, arch).front().text.find(" R1 ") == std::string::npos);
  }
}

TEST_CASE("accesses to global memory need a descriptor from sm_80 on, once") {
  CHECK(count(opcodes(kAdd, 75), "ULDC.64") == 0);
  CHECK(count(opcodes(kAdd, 80), "ULDC.64") == 1);
  CHECK(count(opcodes("ld.shared.b32 %i1, [window];\nst.shared.b32 [window+4], %i1;\n", 80), "ULDC.64") == 0);
}

TEST_CASE("sm_90 loads parameters: addresses into registers, numbers into uniform ones") {
  CHECK(opcodes(kAdd, 80) ==
        Codes{"MOV", "S2R", "S2R", "IMAD", "MOV", "IMAD.WIDE", "ULDC.64", "LDG.E", "IADD3", "STG.E", "EXIT"});
  CHECK(opcodes(kAdd, 90) == Codes{"LDC", "S2R", "S2R", "ULDC", "IMAD", "LDC.64", "IMAD.WIDE", "ULDC.64",
                                   "LDG.E", "ULDC", "IADD3", "STG.E", "EXIT"});
  CHECK(opcodes("ld.global.b32 %i1, [%r1];\nst.global.b32 [%r1+4], %i1;\n", 90) ==
        Codes{"LDC", "LDC.64", "ULDC.64", "LDG.E", "STG.E", "EXIT"});
}

TEST_CASE("what a loop needs is brought before it, once") {
  const std::string loop =
      "mov.b32 %i1, 0;\nLOOP:\nmad.lo.s32 %i1, %i1, 77, 99;\nld.shared.b32 %i2, [window];\n"
      "setp.lt.s32 %p1, %i1, %i2;\n@%p1 bra LOOP;\nst.global.b32 [%r1], %i1;\n";
  const Codes code = opcodes(loop, 80);
  const auto product = std::ranges::find(code, "IMAD") - code.begin();
  CHECK(std::ranges::find(code.begin() + product, code.end(), "BRA") != code.end());
  CHECK(code[static_cast<std::size_t>(product) - 1] != "MOV");
  CHECK(count(code, "MOV") == 5);  // stack pointer, the address's halves, what begins as 0, one of 77 and 99
  const std::string nested = "mov.b32 %i3, 0;\nOUTER:\nbar.sync 0;\n" + loop +
                             "add.s32 %i3, %i3, 1;\nsetp.lt.s32 %p2, %i3, 5;\n@%p2 bra OUTER;\n";
  const Codes both = opcodes(nested, 80);
  const auto barrier = std::ranges::find(both, "BAR.SYNC.DEFER_BLOCKING");
  CHECK(std::ranges::count(barrier, both.end(), "MOV") == 1);  // what begins as 0
}

}  // namespace
