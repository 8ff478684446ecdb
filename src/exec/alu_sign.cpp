// Floating-point operations that do not round ("PTX ISA 9.0", 9.7.3 and 9.7.4): abs neg min max copysign
// testp. abs and neg change the sign of a NaN and keep its payload.
#include "exec/alu_families.hpp"
#include "exec/alu_float.hpp"
#include "exec/alu_form.hpp"

namespace lockstep::exec::alu {
namespace {

constexpr u16 flush16(u16 bits) { return (bits & 0x7c00) == 0 ? static_cast<u16>(bits & 0x8000) : bits; }
constexpr u32 flush16x2(u32 bits) {
  return u32{flush16(static_cast<u16>(bits))} | u32{flush16(static_cast<u16>(bits >> 16))} << 16;
}
constexpr u32 flush32(u32 bits) { return std::bit_cast<u32>(flushed(std::bit_cast<float>(bits))); }
template <class U>
constexpr U keep(U bits) {
  return bits;
}

/// Operations on the sign bits of one or two elements.
template <class U, U kSign, U (*kReady)(U) = &keep<U>>
struct Sign {
  static constexpr U abs(U a) { return static_cast<U>(kReady(a) & static_cast<U>(~kSign)); }
  static constexpr U neg(U a) { return static_cast<U>(kReady(a) ^ kSign); }
  static constexpr U copysign(U a, U b) { return static_cast<U>((a & kSign) | (b & static_cast<U>(~kSign))); }
};

enum Flag : unsigned { kFtz = 1, kNaN = 2, kXorsign = 4, kAbs = 8 };

template <class View>
constexpr bool negative(View x) {
  return std::signbit(x.value);
}

/// The lesser (or greater) of two numbers; a NaN gives way unless kFlags has kNaN. -0 is less than +0.
template <class View, bool kMax, unsigned kFlags>
struct Extreme {
  static View pick(View a, View b) {
    if constexpr ((kFlags & kNaN) != 0) {
      if (is_nan(a.value)) return a;
      if (is_nan(b.value)) return b;
    } else {
      if (is_nan(a.value)) return b;
      if (is_nan(b.value)) return a;
    }
    const bool a_is_less = a.value < b.value || (a.value == b.value && negative(a));
    return a_is_less != kMax ? a : b;
  }
  static View magnitude(View a) {
    if constexpr ((kFlags & kAbs) != 0) return {std::fabs(a.value)};
    return a;
  }
  static auto finished(View x) {
    if constexpr (std::is_same_v<View, F64>) {
      return is_nan(x.value) ? std::bit_cast<double>(kNan64) : x.value;
    } else {
      return finish<View, Post::kNone>(x.value);
    }
  }
  static auto apply(View a, View b) {
    View out = pick(magnitude(a), magnitude(b));
    if constexpr ((kFlags & kXorsign) != 0)
      if (negative(a) != negative(b)) out.value = -out.value;
    return finished(out);
  }
  static auto of_three(View a, View b, View c) {
    return finished(pick(pick(magnitude(a), magnitude(b)), magnitude(c)));
  }
};

template <class U, U kExponent, U kMantissa>
struct Testp {
  static constexpr U magnitude(U a) { return static_cast<U>(a & (kExponent | kMantissa)); }
  static constexpr bool finite(U a) { return magnitude(a) < kExponent; }
  static constexpr bool infinite(U a) { return magnitude(a) == kExponent; }
  static constexpr bool number(U a) { return magnitude(a) <= kExponent; }
  static constexpr bool notanumber(U a) { return magnitude(a) > kExponent; }
  static constexpr bool subnormal(U a) { return magnitude(a) != 0 && magnitude(a) <= kMantissa; }
  static constexpr bool normal(U a) { return finite(a) && !subnormal(a); }  // zero counts as normal
};
using Testp32 = Testp<u32, 0x7f800000, 0x007fffff>;
using Testp64 = Testp<u64, 0x7ff0000000000000, 0x000fffffffffffff>;

struct Row {
  Opcode op;
  Type type;
  unsigned flags;
  Kernel kernel;
};
constexpr Row kSigns[] = {
    {Opcode::kAbs, Type::kF32, 0, kernel<&Sign<u32, 0x80000000>::abs>},
    {Opcode::kAbs, Type::kF32, kFtz, kernel<&Sign<u32, 0x80000000, &flush32>::abs>},
    {Opcode::kAbs, Type::kF64, 0, kernel<&Sign<u64, 0x8000000000000000>::abs>},
    {Opcode::kAbs, Type::kF16, 0, rare_kernel<&Sign<u16, 0x8000>::abs>},
    {Opcode::kAbs, Type::kF16, kFtz, rare_kernel<&Sign<u16, 0x8000, &flush16>::abs>},
    {Opcode::kAbs, Type::kBf16, 0, rare_kernel<&Sign<u16, 0x8000>::abs>},
    {Opcode::kAbs, Type::kF16x2, 0, rare_kernel<&Sign<u32, 0x80008000>::abs>},
    {Opcode::kAbs, Type::kF16x2, kFtz, rare_kernel<&Sign<u32, 0x80008000, &flush16x2>::abs>},
    {Opcode::kAbs, Type::kBf16x2, 0, rare_kernel<&Sign<u32, 0x80008000>::abs>},
    {Opcode::kNeg, Type::kF32, 0, kernel<&Sign<u32, 0x80000000>::neg>},
    {Opcode::kNeg, Type::kF32, kFtz, kernel<&Sign<u32, 0x80000000, &flush32>::neg>},
    {Opcode::kNeg, Type::kF64, 0, kernel<&Sign<u64, 0x8000000000000000>::neg>},
    {Opcode::kNeg, Type::kF16, 0, rare_kernel<&Sign<u16, 0x8000>::neg>},
    {Opcode::kNeg, Type::kF16, kFtz, rare_kernel<&Sign<u16, 0x8000, &flush16>::neg>},
    {Opcode::kNeg, Type::kBf16, 0, rare_kernel<&Sign<u16, 0x8000>::neg>},
    {Opcode::kNeg, Type::kF16x2, 0, rare_kernel<&Sign<u32, 0x80008000>::neg>},
    {Opcode::kNeg, Type::kF16x2, kFtz, rare_kernel<&Sign<u32, 0x80008000, &flush16x2>::neg>},
    {Opcode::kNeg, Type::kBf16x2, 0, rare_kernel<&Sign<u32, 0x80008000>::neg>},
    {Opcode::kCopysign, Type::kF32, 0, kernel<&Sign<u32, 0x80000000>::copysign>},
    {Opcode::kCopysign, Type::kF64, 0, kernel<&Sign<u64, 0x8000000000000000>::copysign>},
};

template <class View, Type kType, unsigned kFtzFlag, unsigned kFlags>
inline constexpr Row kScalar[] = {
    {Opcode::kMin, kType, kFtzFlag | kFlags, kernel<&Extreme<View, false, kFlags>::apply>},
    {Opcode::kMax, kType, kFtzFlag | kFlags, kernel<&Extreme<View, true, kFlags>::apply>}};
template <class View, Type kType, unsigned kFtzFlag, unsigned kFlags>
inline constexpr Row kPacked[] = {{Opcode::kMin, kType, kFtzFlag | kFlags,
                                   rare_kernel<&Pack<View, u32, Extreme<View, false, kFlags>>::binary>},
                                  {Opcode::kMax, kType, kFtzFlag | kFlags,
                                   rare_kernel<&Pack<View, u32, Extreme<View, true, kFlags>>::binary>}};
template <class View, unsigned kFtzFlag, unsigned kFlags>
inline constexpr Row kThree[] = {
    {Opcode::kMin, Type::kF32, kFtzFlag | kFlags, rare_kernel<&Extreme<View, false, kFlags>::of_three>},
    {Opcode::kMax, Type::kF32, kFtzFlag | kFlags, rare_kernel<&Extreme<View, true, kFlags>::of_three>}};

constexpr unsigned kXorAbs = kXorsign | kAbs;
constexpr std::span<const Row> kTwoSources[] = {
    kSigns,
    kScalar<F64, Type::kF64, 0, 0>,
    kScalar<F32, Type::kF32, 0, 0>,
    kScalar<F32, Type::kF32, 0, kNaN>,
    kScalar<F32, Type::kF32, 0, kXorAbs>,
    kScalar<F32, Type::kF32, 0, kNaN | kXorAbs>,
    kScalar<F32Ftz, Type::kF32, kFtz, 0>,
    kScalar<F32Ftz, Type::kF32, kFtz, kNaN>,
    kScalar<F32Ftz, Type::kF32, kFtz, kXorAbs>,
    kScalar<F32Ftz, Type::kF32, kFtz, kNaN | kXorAbs>,
    kScalar<F16, Type::kF16, 0, 0>,
    kScalar<F16, Type::kF16, 0, kNaN>,
    kScalar<F16, Type::kF16, 0, kXorAbs>,
    kScalar<F16, Type::kF16, 0, kNaN | kXorAbs>,
    kScalar<F16Ftz, Type::kF16, kFtz, 0>,
    kScalar<F16Ftz, Type::kF16, kFtz, kNaN>,
    kScalar<F16Ftz, Type::kF16, kFtz, kXorAbs>,
    kScalar<F16Ftz, Type::kF16, kFtz, kNaN | kXorAbs>,
    kScalar<Bf16, Type::kBf16, 0, 0>,
    kScalar<Bf16, Type::kBf16, 0, kNaN>,
    kScalar<Bf16, Type::kBf16, 0, kXorAbs>,
    kScalar<Bf16, Type::kBf16, 0, kNaN | kXorAbs>,
    kPacked<F16, Type::kF16x2, 0, 0>,
    kPacked<F16, Type::kF16x2, 0, kNaN>,
    kPacked<F16, Type::kF16x2, 0, kXorAbs>,
    kPacked<F16, Type::kF16x2, 0, kNaN | kXorAbs>,
    kPacked<F16Ftz, Type::kF16x2, kFtz, 0>,
    kPacked<F16Ftz, Type::kF16x2, kFtz, kNaN>,
    kPacked<F16Ftz, Type::kF16x2, kFtz, kXorAbs>,
    kPacked<F16Ftz, Type::kF16x2, kFtz, kNaN | kXorAbs>,
    kPacked<Bf16, Type::kBf16x2, 0, 0>,
    kPacked<Bf16, Type::kBf16x2, 0, kNaN>,
    kPacked<Bf16, Type::kBf16x2, 0, kXorAbs>,
    kPacked<Bf16, Type::kBf16x2, 0, kNaN | kXorAbs>,
};
constexpr std::span<const Row> kThreeSources[] = {
    kThree<F32, 0, 0>,          kThree<F32, 0, kNaN>,
    kThree<F32, 0, kAbs>,       kThree<F32, 0, kNaN | kAbs>,
    kThree<F32Ftz, kFtz, 0>,    kThree<F32Ftz, kFtz, kNaN>,
    kThree<F32Ftz, kFtz, kAbs>, kThree<F32Ftz, kFtz, kNaN | kAbs>,
};

struct Property {
  Mod mod;
  Kernel f32, f64;
};
constexpr Property kProperties[] = {
    {Mod::kFinite, rare_kernel<&Testp32::finite>, rare_kernel<&Testp64::finite>},
    {Mod::kInfinite, rare_kernel<&Testp32::infinite>, rare_kernel<&Testp64::infinite>},
    {Mod::kNumber, rare_kernel<&Testp32::number>, rare_kernel<&Testp64::number>},
    {Mod::kNotanumber, rare_kernel<&Testp32::notanumber>, rare_kernel<&Testp64::notanumber>},
    {Mod::kNormal, rare_kernel<&Testp32::normal>, rare_kernel<&Testp64::normal>},
    {Mod::kSubnormal, rare_kernel<&Testp32::subnormal>, rare_kernel<&Testp64::subnormal>},
};

LaneOp select_testp(const Form& form) {
  for (const Property& property : kProperties) {
    if (form.mods().size() != 1 || !form.has(property.mod)) continue;
    if (form.type() == Type::kF32) return form.use(property.f32);
    if (form.type() == Type::kF64) return form.use(property.f64);
  }
  form.fail("no such property or type");
}

}  // namespace

LaneOp select_sign(const Form& form) {
  if (form.opcode() == Opcode::kTestp) return select_testp(form);
  constexpr ModBit kMods[] = {
      {Mod::kFtz, kFtz}, {Mod::kNaN, kNaN}, {Mod::kXorsign, kXorsign}, {Mod::kAbs, kAbs}};
  const unsigned flags = form.only(kMods);
  const std::span<const std::span<const Row>> tables =
      form.sources() == 3 ? std::span<const std::span<const Row>>(kThreeSources) : kTwoSources;
  for (const std::span<const Row> table : tables)
    for (const Row& row : table)
      if (row.op == form.opcode() && row.type == form.type() && row.flags == flags)
        return form.use(row.kernel);
  form.fail("no such floating-point form");
}

}  // namespace lockstep::exec::alu
