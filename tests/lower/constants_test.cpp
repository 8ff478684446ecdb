// Numbers that the compiler knows: what is computed of them, what they make shorter, how they reach their
// readers.
#include <catch2/catch.hpp>
#include <string>

#include "tests/lower/support.hpp"
#include "trace/traced_instruction.hpp"

using namespace lockstep;

namespace {

/// Mnemonics of what a body is that makes %i9 of %i1, or %l4 of %l1 and %l2, but for accesses, the end, and
/// the two that bring the address.
std::vector<std::string> folded_mnemonics(const std::string& body) {
  std::vector<std::string> found;
  for (const auto& i :
       lower::test::lowered("ld.global.b32 %i1, [%r1];\nld.global.v2.b64 {%l1, %l2}, [%r1+16];\n" + body +
                            "st.global.b32 [%r1], %i9;\nst.global.b64 [%r1+8], %l4;\n")) {
    const std::string_view opcode = trace::opcode_of(i.text);
    const std::string mnemonic{opcode.substr(0, opcode.find('.'))};
    if (mnemonic != "LDG" && mnemonic != "STG" && mnemonic != "EXIT") found.push_back(mnemonic);
  }
  REQUIRE((found.size() > 2 && found[0] == "MOV" && found[1] == "MOV"));
  return {found.begin() + 2, found.end()};
}

using Codes = std::vector<std::string>;

// As ptxas 13.0 has the same text for sm_75 (decoded from its cubins).

TEST_CASE("arithmetic and conversions of numbers are done by the compiler, divisions are not") {
  CHECK(folded_mnemonics(
            "mov.b32 %i5, 7;\nadd.s32 %i6, %i5, 9;\nmul.lo.s32 %i7, %i6, %i5;\nshl.b32 %i8, %i7, 2;\n"
            "xor.b32 %i9, %i8, %i1;\n") == Codes{"LOP3"});
  CHECK(
      folded_mnemonics("mov.f32 %f1, 0f41500000;\nadd.f32 %f2, %f1, 0f40400000;\ncvt.rzi.s32.f32 %i5, %f2;\n"
                       "xor.b32 %i9, %i5, %i1;\n") == Codes{"LOP3"});
  CHECK(folded_mnemonics(
            "mov.f32 %f1, 0f41500000;\nrcp.rn.f32 %f2, %f1;\nmov.b32 %f3, %i1;\nmul.f32 %f4, %f3, %f2;\n"
            "mov.b32 %i9, %f4;\n")
            .size() > 4);
  CHECK(folded_mnemonics("mov.b32 %i5, 100;\nrem.s32 %i6, %i5, 7;\nxor.b32 %i9, %i6, %i1;\n").size() > 10);
}

TEST_CASE("a value that is written twice is not a constant") {
  CHECK(folded_mnemonics("mov.b32 %i5, 7;\nadd.s32 %i6, %i5, 9;\nbar.sync 0;\nmov.b32 %i5, %i1;\n"
                         "xor.b32 %i9, %i6, %i5;\n") == Codes{"MOV", "IADD3", "BAR", "MOV", "LOP3"});
}

TEST_CASE("divisions by a number, products with one are shorter") {
  // The signed ones take one fewer in a kernel of nothing else, these in one that stores by an index.
  CHECK(folded_mnemonics("rem.s32 %i9, %i1, 13;\n").size() == 17);
  CHECK(folded_mnemonics("div.s32 %i9, %i1, 13;\n").size() == 19);
  CHECK(folded_mnemonics("rem.u32 %i9, %i1, 13;\n").size() == 13);
  CHECK(folded_mnemonics("div.u32 %i9, %i1, 13;\n").size() == 14);
  CHECK(folded_mnemonics("mov.b32 %i5, 13;\nrem.u32 %i9, %i1, %i5;\n").size() == 13);
  CHECK(folded_mnemonics("mul.lo.s64 %l4, %l1, 1000;\n") == Codes{"IMAD", "IMAD", "IADD3"});
  CHECK(folded_mnemonics("mul.lo.s64 %l3, %l1, 1000;\nadd.s64 %l4, %l3, %l2;\n") ==
        Codes{"IMAD", "IMAD", "IADD3"});
}

TEST_CASE("an instruction names one constant, a move brings the other once") {
  CHECK(folded_mnemonics("mad.lo.s32 %i9, %i1, 77, 99;\n") == Codes{"MOV", "IMAD"});
  CHECK(folded_mnemonics("mad.lo.s32 %i5, %i1, 77, 99;\nmad.lo.s32 %i9, %i5, 77, 99;\n") ==
        Codes{"MOV", "IMAD", "IMAD"});
  CHECK(folded_mnemonics("mad.lo.s32 %i9, %i1, 77, 0;\n") == Codes{"IMAD"});
  CHECK(folded_mnemonics("shl.b32 %i5, %i1, 3;\nadd.s32 %i9, %i5, 99;\n") == Codes{"LEA"});
}

TEST_CASE("halves of a value and copies of one are no moves") {
  CHECK(folded_mnemonics("cvt.s64.s32 %l3, %i1;\nxor.b64 %l4, %l3, %l1;\n") == Codes{"SHF", "LOP3", "LOP3"});
  CHECK(folded_mnemonics("cvt.u32.u64 %i5, %l1;\nxor.b32 %i9, %i5, %i1;\n") == Codes{"LOP3"});
  CHECK(folded_mnemonics(
            "mov.b32 %i5, %i1;\nadd.s32 %i6, %i5, %i1;\nxor.b32 %i7, %i1, %i6;\nmul.lo.s32 %i8, %i5, %i6;\n"
            "mad.lo.s32 %i9, %i8, %i7, %i1;\n") == Codes{"IADD3", "LOP3", "IMAD", "IMAD"});
}

}  // namespace
