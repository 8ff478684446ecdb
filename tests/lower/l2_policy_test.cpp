// Eviction priorities of the L2 from PTX to the static instructions that the model reads.
#include <catch2/catch.hpp>
#include <string>

#include "tests/lower/support.hpp"
#include "trace/traced_instruction.hpp"

using namespace lockstep;

namespace {

using trace::make_l2_policy;

/// Of the access of global memory that comes first in a kernel's machine code.
trace::L2Policy policy_of(const std::string& ptx) {
  for (const auto& i : lower::test::lowered(ptx)) {
    const trace::StaticInst inst = trace::decode_traced({i.pc, i.text, i.immediate}, 80);
    if (inst.space == trace::MemSpace::kGlobal) return inst.l2_policy;
  }
  return 0xff;
}
/// Of a load with the policy that `make` leaves in %l7.
trace::L2Policy hinted(const std::string& make) {
  return policy_of(make + "ld.global.L2::cache_hint.f32 %f1, [%r1], %l7;\nst.global.f32 [%r1+4], %f1;\n");
}

TEST_CASE("createpolicy and L2::cache_hint: constants of the program reach the access") {
  CHECK(hinted("createpolicy.fractional.L2::evict_last.b64 %l7;\n") == make_l2_policy(L2Priority::kLast));
  CHECK(hinted("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %l7, 0.25;\n") ==
        make_l2_policy(L2Priority::kLast, L2Priority::kFirst, 4));
  CHECK(hinted("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %l7, 0.5;\n") ==
        make_l2_policy(L2Priority::kLast, L2Priority::kPlain, 8));
  CHECK(hinted("createpolicy.fractional.L2::evict_normal.b64 %l7;\n") == make_l2_policy(L2Priority::kNormal));
  // CUTLASS, TMA::CacheHintSm90: EVICT_FIRST, EVICT_LAST; EVICT_NORMAL asks for nothing.
  CHECK(hinted("mov.b64 %l7, 0x12F0000000000000;\n") == make_l2_policy(L2Priority::kFirst));
  CHECK(hinted("mov.b64 %l6, 0x14F0000000000000;\ncreatepolicy.cvt.L2.b64 %l7, %l6;\n") ==
        make_l2_policy(L2Priority::kLast));
  CHECK(trace::priority_of_some(hinted("mov.b64 %l7, 0x1000000000000000;\n")) == L2Priority::kPlain);
}

TEST_CASE("policies that are no constants have no effect, which is said") {
  for (const std::string make : {"cvt.u64.u32 %l6, %i1;\ncreatepolicy.cvt.L2.b64 %l7, %l6;\n",
                                 "createpolicy.fractional.L2::evict_last.b64 %l7, %f2;\n",
                                 "createpolicy.range.global.L2::evict_last.b64 %l7, [%r1], 1024, 2048;\n"}) {
    INFO(make);
    CHECK(hinted(make) == trace::kNoL2Policy);
    const auto remarks =
        lower::test::code_of(make + "ld.global.L2::cache_hint.f32 %f1, [%r1], %l7;\n").remarks();
    REQUIRE(remarks.size() == 1);
    CHECK(remarks[0].starts_with("L2::cache_hint: a policy that is no constant"));
  }
}

TEST_CASE("stores, atomics and asynchronous copies have hints, too") {
  const std::string make = "createpolicy.fractional.L2::evict_first.b64 %l7;\n";
  const auto first = make_l2_policy(L2Priority::kFirst);
  CHECK(policy_of(make + "st.global.L2::cache_hint.u32 [%r1], %i1, %l7;\n") == first);
  CHECK(policy_of(make + "red.global.add.L2::cache_hint.u32 [%r1], %i1, %l7;\n") == first);
  CHECK(policy_of("ld.global.f32 %f1, [%r1];\nst.global.f32 [%r1+4], %f1;\n") == trace::kNoL2Policy);
}

}  // namespace
