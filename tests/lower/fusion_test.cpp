// Products and sums that the machine does in one instruction.
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/lower/support.hpp"
#include "trace/traced_instruction.hpp"

using namespace lockstep;

namespace {

/// The float arithmetic of a kernel with this body, which makes %f4 and %d4 of %f1, %f2, %d1 and %d2.
std::multiset<std::string> arithmetic(const std::string& body) {
  std::multiset<std::string> found;
  for (const auto& i :
       lower::test::lowered("ld.global.f32 %f1, [%r1];\nld.global.f32 %f2, [%r1+4];\n"
                            "ld.global.f64 %d1, [%r1+8];\nld.global.f64 %d2, [%r1+16];\n" +
                            body + "st.global.f32 [%r1], %f4;\nst.global.f64 [%r1+8], %d4;\n")) {
    const std::string opcode{trace::opcode_of(i.text)};
    if (opcode[0] == 'D' || opcode[0] == 'F') found.insert(opcode);
  }
  return found;
}

// What ptxas 13.0 makes of the same text for sm_75, but for the order.
TEST_CASE("a product and the sum that alone reads it are one instruction") {
  CHECK(arithmetic("mul.ftz.f32 %f3, %f1, %f2;\nsub.ftz.f32 %f4, %f2, %f3;\n"
                   "mul.f64 %d3, %d1, %d2;\nadd.f64 %d4, %d3, %d1;\n") ==
        std::multiset<std::string>{"FFMA", "DFMA"});
  // Two products: one of them.
  CHECK(arithmetic("mul.f32 %f3, %f1, %f2;\nmul.f32 %f5, %f1, %f1;\nadd.f32 %f4, %f3, %f5;\n"
                   "mul.f64 %d3, %d1, %d2;\nsub.f64 %d4, %d3, %d1;\n") ==
        std::multiset<std::string>{"FMUL", "FFMA", "DFMA"});
}

TEST_CASE("what names its rounding or is read again stays two instructions") {
  CHECK(arithmetic("mul.rn.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;\n"
                   "mul.f64 %d3, %d1, %d2;\nadd.rn.f64 %d4, %d3, %d1;\n") ==
        std::multiset<std::string>{"FMUL", "FADD", "DMUL", "DADD"});
  CHECK(arithmetic("mul.f32 %f3, %f1, %f2;\nadd.f32 %f5, %f3, %f1;\nmul.rn.f32 %f4, %f5, %f3;\n"
                   "mul.f64 %d3, %d1, %d2;\nadd.f64 %d4, %d3, %d1;\n") ==
        std::multiset<std::string>{"FMUL", "FADD", "FMUL", "DFMA"});
}

/// Mnemonics of what a body is that makes %i9 (or %l4) of %i1 to %i4, %l1 and %l2.
std::vector<std::string> fused_mnemonics(const std::string& body, unsigned arch = 75) {
  std::vector<std::string> found;
  for (const auto& i : lower::test::lowered(
           "ld.global.v4.b32 {%i1, %i2, %i3, %i4}, [%r1];\nld.global.v2.b64 {%l1, %l2}, [%r1+16];\n" + body +
               "st.global.b32 [%r1], %i9;\nst.global.b64 [%r1], %l4;\n",
           arch)) {
    const std::string_view opcode = trace::opcode_of(i.text);
    const std::string mnemonic{opcode.substr(0, opcode.find('.'))};
    if (!std::set<std::string>{"LDG", "STG", "MOV", "EXIT"}.contains(mnemonic)) found.push_back(mnemonic);
  }
  return found;
}

using Codes = std::vector<std::string>;

// Each as ptxas 13.0 has it for sm_75, sm_80 and sm_90 (decoded from its cubins), but for IMAD in place of an
// IADD3 or shift here and there.
TEST_CASE("two sums, two logic operations, a shift and a sum are one instruction") {
  CHECK(fused_mnemonics("add.s32 %i5, %i1, %i2;\nadd.s32 %i9, %i5, %i3;\n") == Codes{"IADD3"});
  CHECK(fused_mnemonics("sub.s32 %i5, %i1, %i2;\nsub.s32 %i9, %i3, %i5;\n") == Codes{"IADD3"});
  CHECK(fused_mnemonics("neg.s32 %i5, %i1;\nadd.s32 %i9, %i5, %i3;\n") == Codes{"IADD3"});
  CHECK(fused_mnemonics("and.b32 %i5, %i1, %i2;\nor.b32 %i9, %i5, %i3;\n") == Codes{"LOP3"});
  CHECK(fused_mnemonics("not.b32 %i5, %i1;\nand.b32 %i9, %i5, %i3;\n") == Codes{"LOP3"});
  CHECK(fused_mnemonics("shl.b32 %i5, %i1, 3;\nadd.s32 %i9, %i5, %i2;\n") == Codes{"LEA"});
  CHECK(fused_mnemonics("shl.b32 %i5, %i1, 3;\nsub.s32 %i9, %i2, %i5;\n") == Codes{"IMAD"});
  CHECK(fused_mnemonics("shl.b64 %l3, %l1, 3;\nadd.s64 %l4, %l3, %l2;\n") == Codes{"LEA", "LEA"});
  CHECK(fused_mnemonics("mul.lo.s32 %i5, %i1, %i2;\nadd.s32 %i9, %i5, %i3;\n") == Codes{"IMAD"});
  CHECK(fused_mnemonics("setp.lt.s32 %p1, %i1, %i2;\nsetp.lt.s32 %p2, %i3, %i4;\nand.pred %p3, %p1, %p2;\n"
                        "selp.b32 %i9, %i1, %i4, %p3;\n") == Codes{"ISETP", "ISETP", "SEL"});
}

TEST_CASE("of a chain every second one is taken in") {
  CHECK(fused_mnemonics("xor.b32 %i5, %i1, %i2;\nxor.b32 %i6, %i5, %i3;\nxor.b32 %i9, %i6, %i4;\n") ==
        Codes{"LOP3", "LOP3"});
  CHECK(fused_mnemonics("add.s32 %i5, %i1, %i2;\nadd.s32 %i6, %i3, %i4;\nadd.s32 %i9, %i5, %i6;\n") ==
        Codes{"IADD3", "IADD3"});
  CHECK(fused_mnemonics("shr.s32 %i5, %i1, 31;\nshr.u32 %i6, %i5, 27;\nadd.s32 %i7, %i1, %i6;\n"
                        "shr.s32 %i9, %i7, 5;\n") == Codes{"SHF", "LEA", "SHF"});
}

TEST_CASE("what several read is taken in only where it is a shift that all of them take in") {
  CHECK(fused_mnemonics("shl.b32 %i5, %i1, 3;\nadd.s32 %i6, %i5, %i2;\nadd.s32 %i7, %i5, %i3;\n"
                        "mul.lo.s32 %i9, %i6, %i7;\n") == Codes{"LEA", "LEA", "IMAD"});
  CHECK(fused_mnemonics("add.s32 %i5, %i1, %i2;\nadd.s32 %i6, %i5, %i3;\nadd.s32 %i7, %i5, %i4;\n"
                        "mul.lo.s32 %i9, %i6, %i7;\n") == Codes{"IADD3", "IADD3", "IADD3", "IMAD"});
  CHECK(fused_mnemonics("shl.b32 %i5, %i1, 3;\nor.b32 %i9, %i5, %i2;\n") == Codes{"SHF", "LOP3"});
}

TEST_CASE("a wide product is part of every sum that reads it, where nothing else does") {
  CHECK(fused_mnemonics("mul.wide.s32 %l3, %i1, 4;\nadd.s64 %l5, %l3, %l1;\nadd.s64 %l6, %l3, %l2;\n"
                        "xor.b64 %l4, %l5, %l6;\n") == Codes{"IMAD", "IMAD", "LOP3", "LOP3"});
  CHECK(fused_mnemonics("mul.wide.s32 %l3, %i1, 4;\nadd.s64 %l5, %l3, %l1;\nxor.b64 %l4, %l5, %l3;\n") ==
        Codes{"IMAD", "IADD3", "IADD3", "LOP3", "LOP3"});
  CHECK(fused_mnemonics("shl.b64 %l3, %l1, 3;\nadd.s64 %l5, %l3, %l1;\nadd.s64 %l6, %l3, %l2;\n"
                        "xor.b64 %l4, %l5, %l6;\n")
            .size() == 8);
}

TEST_CASE("64-bit products and sums with another sum") {
  const Codes product = {"IMAD", "IMAD", "IMAD", "IADD3"};
  CHECK(fused_mnemonics("mul.lo.s64 %l4, %l1, %l2;\n") == product);
  CHECK(fused_mnemonics("mad.lo.s64 %l4, %l1, %l2, %l1;\n") == product);
  CHECK(fused_mnemonics("mul.lo.s64 %l3, %l1, %l2;\nadd.s64 %l4, %l3, %l1;\n") == product);
  const std::string sum = "ld.global.b64 %l5, [%r1+32];\nadd.s64 %l3, %l1, %l2;\nadd.s64 %l6, %l3, %l5;\n";
  CHECK(fused_mnemonics(sum + "mov.b64 %l4, %l6;\n") == Codes{"IADD3", "IADD3"});
  CHECK(fused_mnemonics(sum + "add.s64 %l4, %l6, %l1;\n") == Codes(4, "IADD3"));
}

// As ptxas 13.0 has it; on sm_90 without the three instructions that find the window once.
TEST_CASE("accesses to shared memory take in constants, and a scale before sm_90") {
  const std::string indexed =
      "shl.b32 %i5, %i1, 2;\nmov.b32 %i6, window;\nadd.s32 %i7, %i6, %i5;\nld.shared.b32 %i9, [%i7];\n";
  CHECK(fused_mnemonics(indexed, 75) == Codes{"LDS"});
  CHECK(fused_mnemonics(indexed, 80) == Codes{"LDS"});
  CHECK(fused_mnemonics(indexed, 90) == Codes{"LEA", "LDS"});
  CHECK(fused_mnemonics("mov.b32 %i6, window;\nld.shared.b32 %i9, [%i6+16];\n", 75) == Codes{"LDS"});
  CHECK(fused_mnemonics("shl.b32 %i5, %i1, 5;\nmov.b32 %i6, window;\nadd.s32 %i7, %i6, %i5;\n"
                        "ld.shared.b32 %i9, [%i7];\n",
                        75) == Codes{"SHF", "LDS"});
  CHECK(fused_mnemonics("shl.b32 %i5, %i1, 2;\nmov.b32 %i6, window;\nadd.s32 %i7, %i6, %i5;\n"
                        "atom.shared.exch.b32 %i9, [%i7], %i2;\n",
                        75) == Codes{"ATOMS"});
}

TEST_CASE("lanes and masks of a shuffle are part of it") {
  const auto shuffle = [](const std::string& moves, const std::string& operands) {
    return lower::test::lowered(moves + "mov.b32 %i1, %tid.x;\nshfl.sync.down.b32 %i2, %i1, " + operands +
                                ";\nmatch.any.sync.b32 %i3, %i2, -1;\nst.global.b32 [%r1], %i3;\n")
        .size();
  };
  CHECK(shuffle("mov.b32 %i4, 16;\nmov.b32 %i5, 31;\nmov.b32 %i6, -1;\n", "%i4, %i5, %i6") ==
        shuffle("", "16, 31, -1"));
  CHECK(shuffle("ld.global.b32 %i4, [%r1];\n", "%i4, 31, -1") == shuffle("", "16, 31, -1") + 1);
}

TEST_CASE("an address that something else reads is computed") {
  CHECK(fused_mnemonics("add.s32 %i7, %i1, 1024;\nld.shared.b32 %i8, [%i7];\nxor.b32 %i9, %i8, %i7;\n", 75) ==
        Codes{"IADD3", "LDS", "LOP3"});
}

}  // namespace

namespace {

/// Sums of 64 bits, in two instructions, of a wide product before a barrier.
std::size_t sums_of_halves(const std::string& step) {
  std::size_t found = 0;
  for (const auto& i :
       lower::test::lowered("ld.global.u32 %i1, [%r1];\nmul.wide.s32 %l1, %i1, 4;\nbar.sync 0;\n" + step +
                            "bar.sync 0;\nadd.s64 %l2, %l1, %r1;\nst.global.u32 [%l2], %i1;\n"))
    found += trace::opcode_of(i.text) == "IADD3.X";
  return found;
}

}  // namespace

TEST_CASE("a wide product is part of a sum behind a barrier, unless its factor is another one by then") {
  CHECK(sums_of_halves("") == 0);
  CHECK(sums_of_halves("add.s32 %i1, %i1, 1;\n") == 1);
}
