// From a function on scalars to a function on the 32 lanes of a warp. The loop over all lanes vectorises;
// where some lanes are inactive it goes through the active ones.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "exec/lane_op.hpp"

namespace lockstep::exec::alu {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/// Last parameter of a scalar function that reads the instruction's constant (LaneOp::immediate).
struct Imm {
  u64 bits;
};

/// 32 bits of which functions compute 64: where their low half depends on nothing but the operands' low
/// halves. Lanes are 64 bits wide, so vectors of them need not be packed and unpacked.
struct Low32 {
  u64 bits;  // the upper half means nothing
};

/// Result of a scalar function with two destinations.
template <class A, class B>
struct Two {
  A first;
  B second;
};

template <class T>
constexpr T from_bits(u64 bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return (bits & 1) != 0;
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<u32>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else if constexpr (std::is_same_v<T, Low32>) {
    return {bits};
  } else {
    return static_cast<T>(bits);
  }
}

template <class T>
constexpr u64 to_bits(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? 1 : 0;
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<u32>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<u64>(value);
  } else if constexpr (std::is_same_v<T, Low32>) {
    return value.bits & 0xffffffffu;
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

/// Op on 64 bits as one on 32.
template <template <class> class Op>
struct OnLow32 {
  static constexpr Low32 binary(Low32 a, Low32 b) { return {Op<u64>::apply(a.bits, b.bits)}; }
};

#define LOCKSTEP_INLINE [[gnu::always_inline]] inline
// Lane i of a destination depends on lane i of the sources only, though they may be the same register.
#if defined(__clang__)
#define LOCKSTEP_LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define LOCKSTEP_LANE_LOOP _Pragma("GCC ivdep")
#endif

template <class T>
inline constexpr int kResults = 1;
template <class A, class B>
inline constexpr int kResults<Two<A, B>> = 2;

/// Parameters of a scalar function.
template <class F>
struct Signature;
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = R;
  using Parameters = std::tuple<A...>;
  static constexpr bool kImmediate = (std::is_same_v<A, Imm> || ...);
  static constexpr std::size_t kSources = sizeof...(A) - (kImmediate ? 1 : 0);
};

/// Scalar function F on lane i.
template <auto F, std::size_t... I>
LOCKSTEP_INLINE auto one_lane(const LaneValues* const* src, int i, Imm imm, std::index_sequence<I...>) {
  using S = Signature<decltype(F)>;
  if constexpr (S::kImmediate) {
    return F(from_bits<std::tuple_element_t<I, typename S::Parameters>>(src[I]->lane[i])..., imm);
  } else {
    return F(from_bits<std::tuple_element_t<I, typename S::Parameters>>(src[I]->lane[i])...);
  }
}

inline constexpr int kFewLanes = 6;  // up to this many active lanes, one by one is cheaper than all 32

/// The loop over lanes of scalar function F, which has no side effect and is defined for all bits. kBlended:
/// where more than a few lanes are active all are computed.
template <auto F, bool kBlended>
LOCKSTEP_INLINE void run_lanes(const LaneArgs& args, u64 immediate) {
  using S = Signature<decltype(F)>;
  constexpr std::make_index_sequence<S::kSources> kIndices{};
  const LaneValues* src[S::kSources + 1];
  for (std::size_t i = 0; i < S::kSources; ++i) src[i] = args.src[i];
  const Imm imm{immediate};
  if constexpr (kResults<typename S::Result> == 2) {
    LaneValues unused;
    LaneValues* first = args.dst[0] ? args.dst[0] : &unused;
    LaneValues* second = args.dst[1] ? args.dst[1] : &unused;
    for (u32 rest = args.mask; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      const auto result = one_lane<F>(src, i, imm, kIndices);
      first->lane[i] = to_bits(result.first);
      second->lane[i] = to_bits(result.second);
    }
  } else {
    LaneValues* const dst = args.dst[0];
    if (!dst) return;
    if (args.mask == ~0u) {
      LOCKSTEP_LANE_LOOP
      for (int i = 0; i < kLanes; ++i) dst->lane[i] = to_bits(one_lane<F>(src, i, imm, kIndices));
    } else if (kBlended && std::popcount(args.mask) > kFewLanes) {
      LOCKSTEP_LANE_LOOP
      for (int i = 0; i < kLanes; ++i) {
        const u64 keep = u64{args.mask >> i & 1} - 1;
        dst->lane[i] = (dst->lane[i] & keep) | (to_bits(one_lane<F>(src, i, imm, kIndices)) & ~keep);
      }
    } else {
      for (u32 rest = args.mask; rest != 0; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        dst->lane[i] = to_bits(one_lane<F>(src, i, imm, kIndices));
      }
    }
  }
}

template <auto F>
void lanes_base(const LaneArgs& args, u64 immediate) {
  run_lanes<F, false>(args, immediate);
}

// The same for hosts with AVX2 and FMA: other instructions, the same bits. Flattened, as what is not inlined
// would be compiled for any host.
#if defined(__x86_64__)
#define LOCKSTEP_WIDE [[gnu::target("avx2,fma,bmi,bmi2,lzcnt,popcnt"), gnu::flatten]]
#else
#define LOCKSTEP_WIDE
#endif
template <auto F>
LOCKSTEP_WIDE void lanes_wide(const LaneArgs& args, u64 immediate) {
  run_lanes<F, true>(args, immediate);
}

/// Does this host have AVX2 and FMA?
[[nodiscard]] bool has_wide_lanes();

/// A lane kernel for any x86-64 host and for those with AVX2 and FMA.
struct Kernel {
  LaneFn base = nullptr;
  LaneFn wide = nullptr;
  int destinations = 0;
  int sources = 0;

  explicit constexpr operator bool() const { return base != nullptr; }
  /// The operation on this host.
  [[nodiscard]] LaneOp op(u64 immediate = 0) const;
};

template <auto F, bool kWide>
constexpr Kernel make_kernel() {
  using S = Signature<decltype(F)>;
  constexpr int kDestinations = kResults<typename S::Result>;
  if constexpr (kWide && kDestinations == 1) {
    return {&lanes_base<F>, &lanes_wide<F>, kDestinations, static_cast<int>(S::kSources)};
  } else {
    return {&lanes_base<F>, &lanes_base<F>, kDestinations, static_cast<int>(S::kSources)};
  }
}
/// The kernel of scalar function F.
template <auto F>
inline constexpr Kernel kernel = make_kernel<F, true>();
/// For functions that programs seldom use or that do not vectorise: half the code.
template <auto F>
inline constexpr Kernel rare_kernel = make_kernel<F, false>();

}  // namespace lockstep::exec::alu
