// Eviction priorities of the L2 that a program asks for: policies of instructions, windows of launches.
#pragma once

#include <cstdint>
#include <optional>

#include "util/l2_priority.hpp"
#include "util/types.hpp"

namespace lockstep::trace {

/// A policy that gives some of the lines one priority and the rest another, in 8 bits: 0x80 and bits 52 to 58
/// of the descriptor that PTX's createpolicy makes (libcu++, cuda/std/detail/__access_property): sixteenths
/// of the lines less one, what the rest is (0 plain, 1 first), what those are (0 plain, 1 first, 2 last, 3
/// normal). 0: there is none.
using L2Policy = std::uint8_t;
inline constexpr L2Policy kNoL2Policy = 0;
inline constexpr unsigned kL2Sixteenths = 16;

[[nodiscard]] constexpr L2Policy make_l2_policy(L2Priority of_some, L2Priority of_rest = L2Priority::kPlain,
                                                unsigned sixteenths = kL2Sixteenths) {
  return static_cast<L2Policy>(0x80u | static_cast<unsigned>(of_some) << 5 |
                               (of_rest == L2Priority::kFirst ? 0x10u : 0u) | (sixteenths - 1));
}
inline constexpr L2Policy kEvictFirstPolicy = make_l2_policy(L2Priority::kFirst);

[[nodiscard]] constexpr unsigned sixteenths_of(L2Policy policy) { return (policy & 0xfu) + 1; }
[[nodiscard]] constexpr L2Priority priority_of_some(L2Policy policy) {
  return static_cast<L2Priority>(policy >> 5 & 3);
}
[[nodiscard]] constexpr L2Priority priority_of_rest(L2Policy policy) {
  return (policy & 0x10u) != 0 ? L2Priority::kFirst : L2Priority::kPlain;
}

/// The descriptor, with all other bits as createpolicy.fractional leaves them.
[[nodiscard]] constexpr std::uint64_t l2_descriptor(L2Policy policy) {
  return std::uint64_t{0x1000000000000000} | std::uint64_t{policy & 0x7fu} << 52;
}
/// Nothing: one of createpolicy.range, whose priorities depend on the address. A descriptor without a mode
/// asks for nothing.
[[nodiscard]] constexpr std::optional<L2Policy> l2_policy_of(std::uint64_t descriptor) {
  constexpr unsigned kNone = 0, kFractional = 2;
  const auto mode = static_cast<unsigned>(descriptor >> 59 & 3);
  if (mode == kNone) return kNoL2Policy;
  if (mode != kFractional) return std::nullopt;
  return static_cast<L2Policy>(0x80u | (descriptor >> 52 & 0x7fu));
}

/// What a launch has to do with the L2 beyond its instructions (CUDA Runtime API, cudaAccessPolicyWindow).
struct L2Launch {
  static constexpr std::uint32_t kWhole = 65536;  // of `ratio`
  Address base = 0;
  std::uint64_t bytes = 0;  // of the window; 0: it has none
  std::uint32_t ratio = 0;  // of its lines get `hit`, the others `miss`
  L2Priority hit = L2Priority::kPlain, miss = L2Priority::kPlain;
  std::uint64_t set_aside = 0;  // bytes of the L2 for persisting accesses (cudaLimitPersistingL2CacheSize)
  std::uint32_t resets = 0;     // calls of cudaCtxResetPersistingL2Cache on the device before it
  friend bool operator==(const L2Launch&, const L2Launch&) = default;
};

}  // namespace lockstep::trace
