// Approximate floating-point functions ("PTX ISA 9.0", 9.7.3 to 9.7.5): rcp div sqrt rsqrt sin cos lg2 ex2
// tanh with .approx or .full. Computed in double by series whose error is far below the ISA's bounds, with no
// library function, so that every host gives the same bits; the results are near to the correctly rounded
// ones.
#include <cmath>

#include "exec/alu_families.hpp"
#include "exec/alu_float.hpp"
#include "exec/alu_form.hpp"

namespace lockstep::exec::alu {
namespace {

/// a + x (b + x (c + ...)).
template <class... C>
constexpr double series(double x, double first, C... rest) {
  if constexpr (sizeof...(C) == 0) {
    return first;
  } else {
    return first + x * series(x, rest...);
  }
}

constexpr double kLn2 = 0.693147180559945309417;

constexpr double exp2_of(double x) {
  if (is_nan(x)) return x;
  const double clamped = x < -1000 ? -1000 : x > 1000 ? 1000 : x;
  constexpr double kMagic = 0x1.8p52;
  const double whole = (clamped + kMagic) - kMagic;
  const double f = (clamped - whole) * kLn2;
  const double power = series(f, 1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320,
                              1. / 362880, 1. / 3628800);
  const s64 exponent = static_cast<s64>(static_cast<s32>(whole)) + 1023;
  return power * std::bit_cast<double>(static_cast<u64>(exponent) << 52);
}

constexpr double log2_of(double x) {
  if (is_nan(x) || x < 0) return std::bit_cast<double>(kNan64);
  if (x == 0) return -std::numeric_limits<double>::infinity();
  const u64 bits = std::bit_cast<u64>(x);
  if (bits == 0x7ff0000000000000) return x;
  double exponent =
      static_cast<double>(static_cast<s32>(bits >> 52) - 1023);  // no subnormal: sources have 32 bits
  double m = std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  const bool high = m > 1.41421356237309505;
  m = high ? m / 2 : m;
  exponent = high ? exponent + 1 : exponent;
  const double t = (m - 1) / (m + 1), t2 = t * t;
  return exponent + t * series(t2, 2, 2. / 3, 2. / 5, 2. / 7, 2. / 9, 2. / 11, 2. / 13, 2. / 15) / kLn2;
}

/// x less a multiple of the period `high + low`, rounded to the nearest; `multiple` is that number.
double reduce(double x, double high, double low, double& multiple) {
  multiple = std::nearbyint(x / high);
  return (x - multiple * high) - multiple * low;
}

/// sin or cos: quadrant 0 or 1 later. Beyond 10^5 the error grows with the argument (PTX bounds it within 2
/// pi).
double sine(double x, int quadrant) {
  constexpr double kTwoPi = 0x1.921fb544p2, kTwoPiLow = 0x1.0b4611a626331p-32;
  constexpr double kHalfPi = kTwoPi / 4, kHalfPiLow = kTwoPiLow / 4;
  double multiple = 0;
  for (int i = 0; i < 3; ++i) x = reduce(x, kTwoPi, kTwoPiLow, multiple);  // 2^128 needs three steps
  const double r = reduce(x, kHalfPi, kHalfPiLow, multiple), r2 = r * r;
  if (is_nan(r)) return r;
  const int turn = (static_cast<int>(multiple) + quadrant) & 3;
  const double s =
      r * series(r2, 1, -1. / 6, 1. / 120, -1. / 5040, 1. / 362880, -1. / 39916800, 1. / 6227020800);
  const double c = series(r2, 1, -1. / 2, 1. / 24, -1. / 720, 1. / 40320, -1. / 3628800, 1. / 479001600);
  const double value = (turn & 1) != 0 ? c : s;
  return (turn & 2) != 0 ? -value : value;
}

double tanh_of(double x) {
  const double size = std::fabs(x);
  if (size < 0x1p-8) return x * series(x * x, 1, -1. / 3, 2. / 15, -17. / 315);
  return std::copysign(1 - 2 / (exp2_of(2 * size / kLn2) + 1), x);
}

struct Rcp {
  static double of(double x) { return 1 / x; }
};
struct Sqrt {
  static double of(double x) { return std::sqrt(x); }
};
struct Rsqrt {
  static double of(double x) { return 1 / std::sqrt(x); }
};
struct Sin {
  static double of(double x) { return x == 0 ? x : sine(x, 0); }
};
struct Cos {
  static double of(double x) { return sine(x, 1); }
};
struct Lg2 {
  static double of(double x) { return log2_of(x); }
};
struct Ex2 {
  static double of(double x) { return exp2_of(x); }
};
struct Tanh {
  static double of(double x) { return tanh_of(x); }
};

template <class View, class Fn>
struct Approx {
  static auto apply(View a) { return finish<View, Post::kNone>(static_cast<Narrow>(Fn::of(a.value)), a); }

 private:
  using Narrow = Arithmetic<View>;
};

/// PTX gives zero, or NaN for infinite a, where 1/b would be subnormal.
template <class View>
struct DivApprox {
  static auto apply(View a, View b) {
    const float quotient =
        std::fabs(b.value) > 0x1p126f ? a.value * std::copysign(0.0f, b.value) : a.value / b.value;
    return finish<View, Post::kNone>(quotient, a, b);
  }
};
template <class View>
struct DivFull {
  static auto apply(View a, View b) { return finish<View, Post::kNone>(a.value / b.value, a, b); }
};

/// rcp and rsqrt .approx.ftz.f64 read and write the upper 32 bits only, subnormals as zeros.
constexpr u64 upper(u64 bits) { return bits & 0xffffffff00000000; }
template <class Fn>
struct Gross {
  static u64 apply(u64 a) {
    const u64 in = (a & 0x7ff0000000000000) == 0 ? a & 0x8000000000000000 : upper(a);
    const double result = Fn::of(std::bit_cast<double>(in));
    const u64 bits = std::bit_cast<u64>(result);
    if (is_nan(result) || is_nan(std::bit_cast<double>(a))) return upper(u64{kNan32} << 32);
    return (bits & 0x7ff0000000000000) == 0 ? bits & 0x8000000000000000 : upper(bits);
  }
};

enum Flag : unsigned { kApprox = 1, kFtz = 2, kFull = 4 };
struct Row {
  Opcode op;
  Type type;
  unsigned flags;
  Kernel kernel;
};
template <Opcode kOp, class Fn>
inline constexpr Row kSingle[] = {{kOp, Type::kF32, kApprox, kernel<&Approx<F32, Fn>::apply>},
                                  {kOp, Type::kF32, kApprox | kFtz, kernel<&Approx<F32Ftz, Fn>::apply>}};
constexpr Row kOthers[] = {
    {Opcode::kDiv, Type::kF32, kApprox, kernel<&DivApprox<F32>::apply>},
    {Opcode::kDiv, Type::kF32, kApprox | kFtz, kernel<&DivApprox<F32Ftz>::apply>},
    {Opcode::kDiv, Type::kF32, kFull, kernel<&DivFull<F32>::apply>},
    {Opcode::kDiv, Type::kF32, kFull | kFtz, kernel<&DivFull<F32Ftz>::apply>},
    {Opcode::kRsqrt, Type::kF64, kApprox, kernel<&Approx<F64, Rsqrt>::apply>},
    {Opcode::kRsqrt, Type::kF64, kApprox | kFtz, rare_kernel<&Gross<Rsqrt>::apply>},
    {Opcode::kRcp, Type::kF64, kApprox | kFtz, rare_kernel<&Gross<Rcp>::apply>},
    {Opcode::kTanh, Type::kF32, kApprox, kernel<&Approx<F32, Tanh>::apply>},
    {Opcode::kTanh, Type::kF16, kApprox, rare_kernel<&Approx<F16, Tanh>::apply>},
    {Opcode::kTanh, Type::kBf16, kApprox, rare_kernel<&Approx<Bf16, Tanh>::apply>},
    {Opcode::kTanh, Type::kF16x2, kApprox, rare_kernel<&Pack<F16, u32, Approx<F16, Tanh>>::unary>},
    {Opcode::kTanh, Type::kBf16x2, kApprox, rare_kernel<&Pack<Bf16, u32, Approx<Bf16, Tanh>>::unary>},
    {Opcode::kEx2, Type::kF16, kApprox, rare_kernel<&Approx<F16, Ex2>::apply>},
    {Opcode::kEx2, Type::kF16x2, kApprox, rare_kernel<&Pack<F16, u32, Approx<F16, Ex2>>::unary>},
    {Opcode::kEx2, Type::kBf16, kApprox | kFtz, rare_kernel<&Approx<Bf16Ftz, Ex2>::apply>},
    {Opcode::kEx2, Type::kBf16x2, kApprox | kFtz,
     rare_kernel<&Pack<Bf16Ftz, u32, Approx<Bf16Ftz, Ex2>>::unary>},
};
constexpr std::span<const Row> kTables[] = {
    kSingle<Opcode::kRcp, Rcp>,     kSingle<Opcode::kSqrt, Sqrt>,
    kSingle<Opcode::kRsqrt, Rsqrt>, kSingle<Opcode::kSin, Sin>,
    kSingle<Opcode::kCos, Cos>,     kSingle<Opcode::kLg2, Lg2>,
    kSingle<Opcode::kEx2, Ex2>,     kOthers,
};

}  // namespace

LaneOp select_approx(const Form& form) {
  constexpr ModBit kMods[] = {{Mod::kApprox, kApprox}, {Mod::kFtz, kFtz}, {Mod::kFull, kFull}};
  const unsigned flags = form.only(kMods);
  for (const std::span<const Row> table : kTables)
    for (const Row& row : table)
      if (row.op == form.opcode() && row.type == form.type() && row.flags == flags)
        return form.use(row.kernel);
  form.fail("no such approximate form");
}

}  // namespace lockstep::exec::alu
