// What createpolicy.fractional makes (PTX ISA, "createpolicy"): priorities, and fractions of lines.
#include "exec/created_policy.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace lockstep::exec {
namespace {

ptx::Form policy_form(std::initializer_list<ptx::Mod> mods) {
  ptx::Form form;
  for (const ptx::Mod mod : mods) form.mods.push_back(mod);
  return form;
}

TEST_CASE("createpolicy: the first priority is of the fraction, the second of the rest") {
  using ptx::Mod;
  const auto priorities = [](std::initializer_list<Mod> mods) {
    const trace::L2Policy policy = fractional_policy(policy_form(mods), 0.5f);
    return std::pair(trace::priority_of_some(policy), trace::priority_of_rest(policy));
  };
  CHECK(priorities({Mod::kL2EvictLast}) == std::pair(L2Priority::kLast, L2Priority::kPlain));
  CHECK(priorities({Mod::kL2EvictNormal}) == std::pair(L2Priority::kNormal, L2Priority::kPlain));
  CHECK(priorities({Mod::kL2EvictFirst, Mod::kL2EvictUnchanged}) ==
        std::pair(L2Priority::kFirst, L2Priority::kPlain));
  CHECK(priorities({Mod::kL2EvictLast, Mod::kL2EvictFirst}) ==
        std::pair(L2Priority::kLast, L2Priority::kFirst));
  CHECK(priorities({Mod::kFractional, Mod::kL2EvictLast, Mod::kL2EvictFirst}) ==
        std::pair(L2Priority::kLast, L2Priority::kFirst));  // other words of the instruction do not count
}

TEST_CASE("createpolicy: fractions are whole sixteenths, rounded up, at least one") {
  const auto form = policy_form({ptx::Mod::kL2EvictLast});
  const auto sixteenths = [&](float fraction) {
    return trace::sixteenths_of(fractional_policy(form, fraction));
  };
  for (unsigned n = 1; n <= 16; ++n) {
    const float exact = static_cast<float>(n) / 16;
    CHECK(sixteenths(exact) == n);
    CHECK(sixteenths(std::nextafter(exact, 0.0f)) == n);
    if (n < 16) CHECK(sixteenths(std::nextafter(exact, 1.0f)) == n + 1);
  }
  CHECK(sixteenths(std::numeric_limits<float>::min()) == 1);
  CHECK(sixteenths(0.0f) == 1);  // outside of what PTX allows
  CHECK(sixteenths(-1.0f) == 1);
  CHECK(sixteenths(2.0f) == 16);
}

}  // namespace
}  // namespace lockstep::exec
