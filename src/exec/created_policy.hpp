// What createpolicy makes.
#pragma once

#include <algorithm>
#include <cmath>

#include "ptx/instruction.hpp"
#include "trace/l2_policy.hpp"

namespace lockstep::exec {

/// The eviction priority that a qualifier names; nothing: it names none. Unchanged: a plain access.
[[nodiscard]] constexpr std::optional<L2Priority> l2_priority_of(ptx::Mod mod) {
  switch (mod) {
    case ptx::Mod::kL2EvictFirst:
      return L2Priority::kFirst;
    case ptx::Mod::kL2EvictLast:
      return L2Priority::kLast;
    case ptx::Mod::kL2EvictNormal:
      return L2Priority::kNormal;
    case ptx::Mod::kL2EvictUnchanged:
      return L2Priority::kPlain;
    default:
      return std::nullopt;
  }
}

/// createpolicy.fractional's policy for `fraction`, in (0, 1], of the lines: in whole sixteenths, rounded up.
[[nodiscard]] inline trace::L2Policy fractional_policy(const ptx::Form& form, float fraction) {
  L2Priority given[2] = {L2Priority::kPlain, L2Priority::kPlain};
  std::size_t count = 0;
  for (const ptx::Mod mod : form.mods)
    if (const auto priority = l2_priority_of(mod); priority && count < 2) given[count++] = *priority;
  const float part = std::ceil(std::clamp(fraction, 0.0f, 1.0f) * trace::kL2Sixteenths);
  return trace::make_l2_policy(given[0], given[1], std::max(static_cast<unsigned>(part), 1u));
}

}  // namespace lockstep::exec
