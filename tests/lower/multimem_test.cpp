// multimem instructions as the model reads them. ptxas of CUDA 13 gives multimem.st and multimem.red the
// opcodes of st.global and red.global, and ld_reduce one of its own (LDGMC in "CUDA Binary Utilities").
#include <catch2/catch.hpp>
#include <string>

#include "tests/lower/support.hpp"
#include "trace/traced_instruction.hpp"

using namespace lockstep;

namespace {

constexpr unsigned kHopper = 90;

/// Of a kernel with the instruction, the one whose opcode begins so.
trace::StaticInst made_of(const std::string& instruction, const std::string& opcode) {
  for (const auto& i : lower::test::lowered(instruction + "\nst.shared.f32 [window], %f1;\n", kHopper))
    if (i.text.find(" " + opcode + ".") != std::string::npos)
      return trace::decode_traced({i.pc, i.text, i.immediate}, kHopper);
  FAIL(opcode);
  return {};
}

}  // namespace

TEST_CASE("multimem: one machine instruction each, of all bytes of a lane, past the L1") {
  using trace::OpClass;
  struct Row {
    const char *instruction, *opcode;
    OpClass op_class;
    unsigned bytes;
  };
  for (const Row& row :
       {Row{"multimem.ld_reduce.weak.global.add.v4.f32 {%f1,%f2,%f3,%f4}, [%r1];", "LDGMC", OpClass::kLoad,
            16},
        Row{"multimem.ld_reduce.relaxed.sys.global.min.u64 %l1, [%r1];", "LDGMC", OpClass::kLoad, 8},
        Row{"multimem.st.weak.global.v2.f32 [%r1], {%f1,%f2};", "STG", OpClass::kStore, 8},
        Row{"multimem.red.release.sys.global.add.u32 [%r1], %i1;", "REDG", OpClass::kReduction, 4}}) {
    INFO(row.instruction);
    const trace::StaticInst made = made_of(row.instruction, row.opcode);
    CHECK(made.known);
    CHECK(made.op_class == row.op_class);
    CHECK(made.access_bytes == row.bytes);
    CHECK(made.space == trace::MemSpace::kGlobal);
    CHECK(made.bypass_l1);
    CHECK(made.destinations.size == (row.op_class == OpClass::kLoad ? 1 : 0));
  }
}
