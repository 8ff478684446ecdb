#include "lower/uniform.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support.hpp"
#include "trace/traced_instruction.hpp"

using namespace lockstep;
using namespace lockstep::lower;

namespace {

using Names = std::vector<std::string>;

const std::string kProduct =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %l1, %l2, %p1, 1, 1, 0, 0;\n";

Names names_of_code(const std::string& body, bool uniform = true) {
  Passes passes = test::without_setup();
  passes.uniform = uniform;
  Names found;
  for (const MachineInstruction& i : test::lowered(body, 90, passes))
    found.emplace_back(trace::opcode_of(i.text));
  return found;
}

/// In the order of the code, those of a list.
Names chosen_from(const Names& all, const Names& wanted) {
  Names found;
  for (const std::string& opcode : all)
    for (const std::string& one : wanted)
      if (opcode.substr(0, opcode.find('.')) == one) found.push_back(one);
  return found;
}

}  // namespace

TEST_CASE("descriptors of products are computed on the uniform datapath") {
  // %i1 comes from memory; %i2 and %i3 are descriptors' halves alone, %i4 is stored, too.
  const std::string body =
      "ld.global.u32 %i1, [%r1];\nand.b32 %i2, %i1, 16383;\nadd.s32 %i3, %i2, 2;\nadd.s32 %i4, %i1, 4;\n"
      "mov.b64 %l1, {%i2, %i1};\nmov.b64 %l2, {%i3, %i4};\nsetp.ne.b32 %p1, %i1, 0;\n" +
      kProduct + "st.global.u32 [%r1], %i4;\n";
  const Names integer{"LOP3", "ULOP3", "IADD3", "UIADD3", "ISETP", "UISETP", "MOV", "UMOV", "LDG", "STG"};
  const Names with = chosen_from(names_of_code(body), integer);
  const auto count = [&](const char* opcode) { return std::ranges::count(with, opcode); };
  CHECK(count("ULOP3") == 1);
  CHECK(count("UIADD3") == 1);
  CHECK(count("UISETP") == 1);
  CHECK(count("IADD3") == 1);
  CHECK(count("LOP3") + count("ISETP") + count("UMOV") == 0);
  CHECK(count("LDG") + count("STG") == 2);

  Names without = chosen_from(names_of_code(body, false), integer), renamed;
  for (const std::string& opcode : with) renamed.push_back(opcode[0] == 'U' ? opcode.substr(1) : opcode);
  CHECK(renamed == without);
}

TEST_CASE("what anything but a product reads stays a vector value, and so does what it is made of") {
  const std::string chain =
      "ld.global.u32 %i1, [%r1];\nshl.b32 %i2, %i1, 4;\nxor.b32 %i3, %i2, 5;\nmov.b64 %l1, {%i3, %i1};\n"
      "mov.b64 %l2, {%i1, %i3};\nsetp.ne.b32 %p1, %i1, 0;\n";
  const Names uniform{"USHF", "ULOP3", "ULEA", "UMOV", "UIADD3", "UISETP"};
  CHECK(chosen_from(names_of_code(chain + kProduct), uniform).size() >= 3);
  CHECK(chosen_from(
            names_of_code(chain + kProduct + "st.global.b64 [%r1], %l1;\nst.global.b64 [%r1+8], %l2;\n"),
            uniform) == Names{"UISETP"});
  CHECK(
      chosen_from(names_of_code(chain + kProduct + "@%p1 st.global.b32 [%r1], %i1;\n"), {"UISETP"}).empty());
  CHECK(chosen_from(names_of_code(chain + "st.global.b64 [%r1], %l1;\n"), uniform)
            .empty());  // no product at all
}

TEST_CASE("accumulators and guarded instructions are not uniform") {
  const std::string products =
      "ld.global.u32 %i1, [%r1];\nmov.b64 %l1, {%i1, %i1};\n@%p2 mov.b64 %l1, {%i1, %i2};\n"
      "mov.b64 %l2, %l1;\nmov.b32 %f1, %i1;\nsetp.ne.b32 %p1, %i1, 0;\n" +
      kProduct + "st.global.f32 [%r1], %f1;\n";
  // The halves of %l2 alone: %l1 also has a guarded writer, %f1 is an accumulator.
  Names found = chosen_from(names_of_code(products), {"UMOV", "UIADD3", "UISETP"});
  std::ranges::sort(found);
  CHECK(found == Names{"UISETP", "UMOV", "UMOV"});
}

TEST_CASE("opcodes that the uniform datapath does not have keep their names") {
  CHECK(uniform_opcode("IADD3.X") == "UIADD3.X");
  CHECK(uniform_opcode("LOP3.LUT") == "ULOP3.LUT");
  CHECK(uniform_opcode("MOV") == "UMOV");
  CHECK(uniform_opcode("FADD") == "FADD");
  CHECK(uniform_opcode("MOVM.16.MT88") == "MOVM.16.MT88");
  CHECK(uniform_opcode("IMAD.WIDE") == "IMAD.WIDE");
}
