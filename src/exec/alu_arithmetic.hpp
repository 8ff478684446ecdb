// Floating-point operations with IEEE rounding, under whatever rounding mode the host has. Everything is in
// an unnamed namespace on purpose: alu_directed.cpp has its own copy, compiled with -frounding-math.
#pragma once

#include <cmath>

#include "exec/alu_float.hpp"
#include "exec/alu_form.hpp"

namespace lockstep::exec::alu {
namespace {

template <class View>
inline constexpr bool kIsHalf = std::is_same_v<View, F16> || std::is_same_v<View, F16Ftz>;
template <class View>
inline constexpr bool kIsPackable = kIsHalf<View> || std::is_same_v<View, Bf16>;

/// Type of exact products. Those of half precision have 22 bits and are multiples of 2^-48. Its sums rounded
/// to single precision can be rounded again, since 24 >= 2 * 11 + 2 (Figueroa, "When is double rounding
/// innocuous?", SIGNUM Newsletter 1995); what would be a subnormal half is exact.
template <class View>
using Product = std::conditional_t<kIsHalf<View>, float, Arithmetic<View>>;

template <class View>
LOCKSTEP_INLINE auto sum(View a, View b, Product<View> sign) {
  if constexpr (std::is_same_v<View, Bf16>) {
    return add_to_odd(double{a.value}, sign * b.value);
  } else {
    return sign > 0 ? a.value + b.value : a.value - b.value;
  }
}

template <class View, Post kPost>
struct Add {
  static auto apply(View a, View b) { return finish<View, kPost>(sum(a, b, 1), a, b); }
};
template <class View, Post kPost>
struct Sub {
  static auto apply(View a, View b) { return finish<View, kPost>(sum(a, b, -1), a, b); }
};
template <class View, Post kPost>
struct Mul {
  using T = Product<View>;
  static auto apply(View a, View b) { return finish<View, kPost>(T{a.value} * T{b.value}, a, b); }
};
template <class View, Post kPost>
struct Fma {
  static auto apply(View a, View b, View c) {
    if constexpr (kIsPackable<View>) {
      using T = Product<View>;
      return finish<View, kPost>(add_to_odd(T{a.value} * T{b.value}, T{c.value}), a, b, c);
    } else {
      return finish<View, kPost>(std::fma(a.value, b.value, c.value), a, b, c);
    }
  }
};
template <class View, Post kPost>
struct Div {
  static auto apply(View a, View b) { return finish<View, kPost>(a.value / b.value, a, b); }
};
template <class View, Post kPost>
struct Rcp {
  using T = Arithmetic<View>;
  static auto apply(View a) { return finish<View, kPost>(T{1} / a.value, a); }
};
template <class View, Post kPost>
struct Sqrt {
  static auto apply(View a) { return finish<View, kPost>(std::sqrt(a.value), a); }
};

/// What a form has besides opcode, type and rounding.
enum Flag : unsigned { kFtz = 16, kSat = 32, kRelu = 64 };

struct Row {
  Opcode op;
  Type type;
  unsigned flags;
  Kernel kernel;
};

inline const Kernel* find(std::span<const std::span<const Row>> tables, Opcode op, Type type,
                          unsigned flags) {
  for (const std::span<const Row> table : tables)
    for (const Row& row : table)
      if (row.op == op && row.type == type && row.flags == flags) return &row.kernel;
  return nullptr;
}

template <template <class, Post> class Op, Opcode kOp>
inline constexpr Row kSingle[] = {{kOp, Type::kF32, 0, alu::kernel<&Op<F32, Post::kNone>::apply>},
                                  {kOp, Type::kF32, kFtz, alu::kernel<&Op<F32Ftz, Post::kNone>::apply>},
                                  {kOp, Type::kF64, 0, alu::kernel<&Op<F64, Post::kNone>::apply>}};
template <template <class, Post> class Op, Opcode kOp>
inline constexpr Row kSaturated[] = {
    {kOp, Type::kF32, kSat, alu::kernel<&Op<F32, Post::kSat>::apply>},
    {kOp, Type::kF32, kFtz | kSat, alu::kernel<&Op<F32Ftz, Post::kSat>::apply>}};

template <class View, class Whole, template <class, Post> class Op, Post kPost = Post::kNone>
constexpr auto pack2 = &Pack<View, Whole, Op<View, kPost>>::binary;
template <class View, class Whole, template <class, Post> class Op, Post kPost = Post::kNone>
constexpr auto pack3 = &Pack<View, Whole, Op<View, kPost>>::ternary;

constexpr Row kF32x2[] = {
    {Opcode::kAdd, Type::kF32x2, 0, alu::kernel<pack2<F32, u64, Add>>},
    {Opcode::kAdd, Type::kF32x2, kFtz, alu::kernel<pack2<F32Ftz, u64, Add>>},
    {Opcode::kSub, Type::kF32x2, 0, alu::kernel<pack2<F32, u64, Sub>>},
    {Opcode::kSub, Type::kF32x2, kFtz, alu::kernel<pack2<F32Ftz, u64, Sub>>},
    {Opcode::kMul, Type::kF32x2, 0, alu::kernel<pack2<F32, u64, Mul>>},
    {Opcode::kMul, Type::kF32x2, kFtz, alu::kernel<pack2<F32Ftz, u64, Mul>>},
    {Opcode::kFma, Type::kF32x2, 0, alu::kernel<pack3<F32, u64, Fma>>},
    {Opcode::kFma, Type::kF32x2, kFtz, alu::kernel<pack3<F32Ftz, u64, Fma>>},
};

// The operations that have all rounding modes.
constexpr std::span<const Row> kRoundedTables[] = {
    kSingle<Add, Opcode::kAdd>,   kSaturated<Add, Opcode::kAdd>,
    kSingle<Sub, Opcode::kSub>,   kSaturated<Sub, Opcode::kSub>,
    kSingle<Mul, Opcode::kMul>,   kSaturated<Mul, Opcode::kMul>,
    kSingle<Fma, Opcode::kFma>,   kSaturated<Fma, Opcode::kFma>,
    kSingle<Fma, Opcode::kMad>,   kSaturated<Fma, Opcode::kMad>,
    kSingle<Div, Opcode::kDiv>,   kSingle<Rcp, Opcode::kRcp>,
    kSingle<Sqrt, Opcode::kSqrt>, kF32x2,
};

}  // namespace
}  // namespace lockstep::exec::alu
