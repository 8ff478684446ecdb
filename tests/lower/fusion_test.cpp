// Products and sums that the machine does in one instruction.
#include <catch2/catch.hpp>
#include <set>
#include <string>

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

}  // namespace
