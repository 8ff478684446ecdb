// Integer arithmetic ("PTX ISA 9.0", 9.7.1): add sub mul mad mul24 mad24 sad div rem abs neg min max.
#include <algorithm>
#include <limits>

#include "exec/alu_families.hpp"
#include "exec/alu_form.hpp"
#include "exec/alu_lanes.hpp"

namespace lockstep::exec::alu {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

/// Type of twice the width, for full products.
template <class T>
struct Double;
template <>
struct Double<u16> {
  using Type = u32;
};
template <>
struct Double<s16> {
  using Type = s32;
};
template <>
struct Double<u32> {
  using Type = u64;
};
template <>
struct Double<s32> {
  using Type = s64;
};
template <>
struct Double<u64> {
  using Type = u128;
};
template <>
struct Double<s64> {
  using Type = s128;
};
template <class T>
using Doubled = typename Double<T>::Type;

template <class T>
constexpr T saturate(s64 value) {
  return static_cast<T>(std::clamp<s64>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

template <class T>
constexpr T wrapping_add(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b)));
}

template <class T>
struct Add {
  static constexpr T apply(T a, T b) { return wrapping_add(a, b); }
};
template <class T>
struct AddSat {
  static constexpr T apply(T a, T b) { return saturate<T>(s64{a} + b); }
};
template <class T>
struct Sub {
  static constexpr T apply(T a, T b) {
    return static_cast<T>(
        static_cast<Unsigned<T>>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b)));
  }
};
template <class T>
struct SubSat {
  static constexpr T apply(T a, T b) { return saturate<T>(s64{a} - b); }
};

template <class T>
constexpr T low_product(T a, T b) {
  return static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b));
}
template <class T>
constexpr T high_product(T a, T b) {
  return static_cast<T>((Doubled<T>{a} * Doubled<T>{b}) >> (8 * sizeof(T)));
}
template <class T>
struct MulLo {
  static constexpr T apply(T a, T b) { return low_product(a, b); }
};
template <class T>
struct MulHi {
  static constexpr T apply(T a, T b) { return high_product(a, b); }
};
template <class T>
struct MulWide {
  static constexpr Doubled<T> apply(T a, T b) {
    return static_cast<Doubled<T>>(Doubled<T>{a} * Doubled<T>{b});
  }
};
template <class T>
struct MadLo {
  static constexpr T apply(T a, T b, T c) { return wrapping_add(low_product(a, b), c); }
};
template <class T>
struct MadHi {
  static constexpr T apply(T a, T b, T c) { return wrapping_add(high_product(a, b), c); }
};
template <class T>
struct MadHiSat {
  static constexpr T apply(T a, T b, T c) { return saturate<T>(s64{high_product(a, b)} + c); }
};
template <class T>
struct MadWide {
  static constexpr Doubled<T> apply(T a, T b, Doubled<T> c) {
    return wrapping_add(MulWide<T>::apply(a, b), c);
  }
};

/// The low 24 bits of a 32-bit value.
template <class T>
constexpr s64 low24(T value) {
  const u32 shifted = static_cast<u32>(value) << 8;
  return s64{static_cast<T>(shifted)} >> 8;
}
template <class T>
struct Mul24Lo {
  static constexpr T apply(T a, T b) { return static_cast<T>(low24(a) * low24(b)); }
};
template <class T>
struct Mul24Hi {
  static constexpr T apply(T a, T b) { return static_cast<T>((low24(a) * low24(b)) >> 16); }
};
template <class T>
struct Mad24Lo {
  static constexpr T apply(T a, T b, T c) { return wrapping_add(Mul24Lo<T>::apply(a, b), c); }
};
template <class T>
struct Mad24Hi {
  static constexpr T apply(T a, T b, T c) { return wrapping_add(Mul24Hi<T>::apply(a, b), c); }
};
template <class T>
struct Mad24HiSat {
  static constexpr T apply(T a, T b, T c) { return saturate<T>(s64{Mul24Hi<T>::apply(a, b)} + c); }
};

template <class T>
struct Sad {
  static constexpr T apply(T a, T b, T c) {
    return wrapping_add(a < b ? Sub<T>::apply(b, a) : Sub<T>::apply(a, b), c);
  }
};

// Division by zero is unspecified in PTX; all ones is what the instruction sequences of ptxas give.
template <class T>
struct Div {
  static constexpr T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Sub<T>::apply(0, a);
    return static_cast<T>(a / b);
  }
};
template <class T>
struct Rem {
  static constexpr T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};

template <class T>
struct Neg {
  static constexpr T apply(T a) { return Sub<T>::apply(0, a); }
};
template <class T>
struct Abs {
  static constexpr T apply(T a) { return a < 0 ? Sub<T>::apply(0, a) : a; }
};
template <class T>
struct Min {
  static constexpr T apply(T a, T b) { return a < b ? a : b; }
};
template <class T>
struct Max {
  static constexpr T apply(T a, T b) { return a > b ? a : b; }
};
template <class T>
struct MinRelu {
  static constexpr T apply(T a, T b) { return std::max<T>(Min<T>::apply(a, b), 0); }
};
template <class T>
struct MaxRelu {
  static constexpr T apply(T a, T b) { return std::max<T>(Max<T>::apply(a, b), 0); }
};

/// Op on the two 16-bit halves of a word.
template <template <class> class Op, class T>
struct Halves {
  static constexpr u32 apply(u32 a, u32 b) {
    const auto half = [&](int shift) {
      return u32{static_cast<u16>(Op<T>::apply(static_cast<T>(a >> shift), static_cast<T>(b >> shift)))}
             << shift;
    };
    return half(0) | half(16);
  }
};

enum Mode : unsigned { kPlain = 0, kLo = 1, kHi = 2, kWide = 4, kSat = 8, kRelu = 16 };

struct Row {
  Opcode op;
  unsigned mode;
  ByInteger kernels;
};

template <template <class> class Op>
constexpr ByInteger all() {
  return {kernel<&Op<u16>::apply>, kernel<&Op<s16>::apply>, kernel<&Op<u32>::apply>,
          kernel<&Op<s32>::apply>, kernel<&Op<u64>::apply>, kernel<&Op<s64>::apply>};
}
template <template <class> class Op>
constexpr ByInteger all_and_packed() {
  ByInteger out = all<Op>();
  out.u16x2 = kernel<&Halves<Op, u16>::apply>;
  out.s16x2 = kernel<&Halves<Op, s16>::apply>;
  return out;
}
template <template <class> class Op>
constexpr ByInteger all_signed() {
  return {.s16 = kernel<&Op<s16>::apply>, .s32 = kernel<&Op<s32>::apply>, .s64 = kernel<&Op<s64>::apply>};
}
template <template <class> class Op>
constexpr ByInteger upto32() {
  return {.u16 = kernel<&Op<u16>::apply>,
          .s16 = kernel<&Op<s16>::apply>,
          .u32 = kernel<&Op<u32>::apply>,
          .s32 = kernel<&Op<s32>::apply>};
}
template <template <class> class Op>
constexpr ByInteger only32() {
  return {.u32 = kernel<&Op<u32>::apply>, .s32 = kernel<&Op<s32>::apply>};
}
template <template <class> class Op>
constexpr ByInteger only_s32() {
  return {.s32 = kernel<&Op<s32>::apply>};
}
template <template <class> class Op>
constexpr ByInteger relu() {
  return {.s32 = kernel<&Op<s32>::apply>, .s16x2 = kernel<&Halves<Op, s16>::apply>};
}

/// With Op on 64 bits for 32.
template <template <class> class Op>
constexpr ByInteger on_low32(ByInteger out) {
  out.u32 = out.s32 = kernel<&OnLow32<Op>::binary>;
  return out;
}

constexpr Row kRows[] = {
    {Opcode::kAdd, kPlain, on_low32<Add>(all_and_packed<Add>())},
    {Opcode::kAdd, kSat, only_s32<AddSat>()},
    {Opcode::kSub, kPlain, on_low32<Sub>(all_and_packed<Sub>())},
    {Opcode::kSub, kSat, only_s32<SubSat>()},
    {Opcode::kMul, kLo, all<MulLo>()},
    {Opcode::kMul, kHi, all<MulHi>()},
    {Opcode::kMul, kWide, upto32<MulWide>()},
    {Opcode::kMad, kLo, all<MadLo>()},
    {Opcode::kMad, kHi, all<MadHi>()},
    {Opcode::kMad, kHi | kSat, only_s32<MadHiSat>()},
    {Opcode::kMad, kWide, upto32<MadWide>()},
    {Opcode::kMul24, kLo, only32<Mul24Lo>()},
    {Opcode::kMul24, kHi, only32<Mul24Hi>()},
    {Opcode::kMad24, kLo, only32<Mad24Lo>()},
    {Opcode::kMad24, kHi, only32<Mad24Hi>()},
    {Opcode::kMad24, kHi | kSat, only_s32<Mad24HiSat>()},
    {Opcode::kSad, kPlain, all<Sad>()},
    {Opcode::kDiv, kPlain, all<Div>()},
    {Opcode::kRem, kPlain, all<Rem>()},
    {Opcode::kAbs, kPlain, all_signed<Abs>()},
    {Opcode::kNeg, kPlain, all_signed<Neg>()},
    {Opcode::kMin, kPlain, all_and_packed<Min>()},
    {Opcode::kMin, kRelu, relu<MinRelu>()},
    {Opcode::kMax, kPlain, all_and_packed<Max>()},
    {Opcode::kMax, kRelu, relu<MaxRelu>()},
};

constexpr ModBit kModes[] = {
    {Mod::kLo, kLo}, {Mod::kHi, kHi}, {Mod::kWide, kWide}, {Mod::kSat, kSat}, {Mod::kRelu, kRelu}};

}  // namespace

LaneOp select_integer(const Form& form) {
  const unsigned mode = form.only(kModes);
  if (ptx::kind(form.type()) == ptx::TypeKind::kBits) form.fail("needs .u or .s");
  for (const Row& row : kRows)
    if (row.op == form.opcode() && row.mode == mode) return form.use(row.kernels.of(form.type(0)));
  form.fail("no such integer form");
}

}  // namespace lockstep::exec::alu
