// Cache operators of loads, as the PTX ISA describes them, in the static instructions that the model reads.
#include <catch2/catch.hpp>
#include <string>

#include "tests/lower/support.hpp"
#include "trace/traced_instruction.hpp"

using namespace lockstep;

namespace {

/// The only global load of a kernel, `load` with a register and an address behind it.
trace::StaticInst load_of(const std::string& load) {
  for (const auto& i : lower::test::lowered(load + " %f1, [%r1];\nst.global.f32 [%r1+4], %f1;\n"))
    if (i.text.find("LDG") != std::string::npos) return trace::decode_traced({i.pc, i.text, i.immediate}, 75);
  return {};
}

TEST_CASE("cache operators reach the L1: .cg and .cv pass it by, .cs goes first") {
  CHECK_FALSE(load_of("ld.global.f32").bypass_l1);
  CHECK_FALSE(load_of("ld.global.ca.f32").bypass_l1);
  CHECK(load_of("ld.global.cg.f32").bypass_l1);
  CHECK(load_of("ld.global.cv.f32").bypass_l1);
  CHECK(load_of("ld.volatile.global.f32").bypass_l1);
  CHECK(load_of("ld.global.cg.f32").l2_policy == trace::kNoL2Policy);
  CHECK(load_of("ld.global.cs.f32").l2_policy == trace::kEvictFirstPolicy);
  CHECK_FALSE(load_of("ld.global.cs.f32").bypass_l1);
}

}  // namespace
