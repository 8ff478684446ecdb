// The most frequent conversions of cvt, as functions of their own.
#include <cmath>

#include "exec/alu_families.hpp"
#include "exec/alu_form.hpp"
#include "exec/alu_rounding.hpp"

namespace lockstep::exec::alu {
namespace {

template <class D, class S>
constexpr D cut(S a) {
  return static_cast<D>(a);
}
template <class D, class S>
D nearest(S a) {
  return static_cast<D>(a);
}
u64 widen(F32 a) {
  const double x = a.value;
  return std::bit_cast<u64>(x);
}
/// Keeps sign and upper payload of a NaN, as the host does.
float narrow(F64 a) { return static_cast<float>(a.value); }
float half_to_single(F16 a) { return canonical(a.value); }
float bf16_to_single(Bf16 a) { return canonical(a.value); }
u16 single_to_half(F32 a) { return round_to_half(a.value); }
u16 single_to_bf16(F32 a) { return round_to_bf16(a.value); }
u32 singles_to_halves(F32 a, F32 b) { return u32{round_to_half(a.value)} << 16 | round_to_half(b.value); }
u32 singles_to_bf16s(F32 a, F32 b) { return u32{round_to_bf16(a.value)} << 16 | round_to_bf16(b.value); }
float saturated(F32 a) { return after<Post::kSat>(a.value); }
template <Round kRound>
float whole_single(F32 a) {
  return canonical(static_cast<float>(integral(a.value, kRound)));
}
template <Round kRound>
double whole_double(F64 a) {
  return with_payload(integral(a.value, kRound), a.value);
}
template <Round kRound>
s32 single_to_s32(F32 a) {
  const double whole = integral(is_nan(a.value) ? 0 : a.value, kRound);
  const double clamped = whole < -0x1p31 ? -0x1p31 : whole > 0x1.fffffffcp30 ? 0x1.fffffffcp30 : whole;
  return static_cast<s32>(clamped);
}

template <Round kRound>
u32 single_to_u32(F32 a) {
  const double whole = integral(is_nan(a.value) ? 0 : a.value, kRound);
  return static_cast<u32>(whole <= 0 ? 0 : whole > 0x1.fffffffep31 ? 0x1.fffffffep31 : whole);
}
/// To 10 bits of mantissa, ties away from zero.
u32 single_to_tf32(F32 a) {
  constexpr u32 kDropped = 13;
  const u32 bits = std::bit_cast<u32>(a.value), magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return kNan32;
  const u32 rounded = (magnitude + (1u << (kDropped - 1))) >> kDropped << kDropped;
  return (bits & 0x80000000) | std::min(rounded, u32{0x7f800000});
}

struct Fast {
  Type to, from;
  Mod rounding;  // kPack where none is written
  Kernel kernel;
};
constexpr Mod kNoRounding = Mod::kPack;
constexpr Fast kFast[] = {
    {Type::kS64, Type::kS32, kNoRounding, kernel<&cut<s64, s32>>},
    {Type::kU64, Type::kU32, kNoRounding, kernel<&cut<u64, u32>>},
    {Type::kS64, Type::kU32, kNoRounding, kernel<&cut<u64, u32>>},
    {Type::kU32, Type::kU64, kNoRounding, kernel<&cut<u32, u64>>},
    {Type::kU32, Type::kU16, kNoRounding, kernel<&cut<u32, u16>>},
    {Type::kU16, Type::kU32, kNoRounding, kernel<&cut<u16, u32>>},
    {Type::kF64, Type::kF32, kNoRounding, kernel<&widen>},
    {Type::kF32, Type::kF64, Mod::kRn, kernel<&narrow>},
    {Type::kF32, Type::kF16, kNoRounding, kernel<&half_to_single>},
    {Type::kF32, Type::kBf16, kNoRounding, kernel<&bf16_to_single>},
    {Type::kF16, Type::kF32, Mod::kRn, kernel<&single_to_half>},
    {Type::kBf16, Type::kF32, Mod::kRn, kernel<&single_to_bf16>},
    {Type::kF16x2, Type::kF32, Mod::kRn, kernel<&singles_to_halves>},
    {Type::kBf16x2, Type::kF32, Mod::kRn, kernel<&singles_to_bf16s>},
    {Type::kF32, Type::kS32, Mod::kRn, kernel<&nearest<float, s32>>},
    {Type::kF32, Type::kU32, Mod::kRn, kernel<&nearest<float, u32>>},
    {Type::kF64, Type::kS32, Mod::kRn, kernel<&nearest<double, s32>>},
    {Type::kF64, Type::kU32, Mod::kRn, kernel<&nearest<double, u32>>},
    {Type::kF32, Type::kF32, Mod::kSat, kernel<&saturated>},
    {Type::kF32, Type::kF32, Mod::kRni, kernel<&whole_single<Round::kNearest>>},
    {Type::kF32, Type::kF32, Mod::kRzi, kernel<&whole_single<Round::kZero>>},
    {Type::kF32, Type::kF32, Mod::kRmi, kernel<&whole_single<Round::kDown>>},
    {Type::kF32, Type::kF32, Mod::kRpi, kernel<&whole_single<Round::kUp>>},
    {Type::kF64, Type::kF64, Mod::kRni, kernel<&whole_double<Round::kNearest>>},
    {Type::kF64, Type::kF64, Mod::kRzi, kernel<&whole_double<Round::kZero>>},
    {Type::kF64, Type::kF64, Mod::kRmi, kernel<&whole_double<Round::kDown>>},
    {Type::kF64, Type::kF64, Mod::kRpi, kernel<&whole_double<Round::kUp>>},
    {Type::kS32, Type::kF32, Mod::kRzi, kernel<&single_to_s32<Round::kZero>>},
    {Type::kS32, Type::kF32, Mod::kRni, kernel<&single_to_s32<Round::kNearest>>},
    {Type::kU32, Type::kF32, Mod::kRzi, kernel<&single_to_u32<Round::kZero>>},
    {Type::kTf32, Type::kF32, Mod::kRna, kernel<&single_to_tf32>},
};

}  // namespace

bool select_common_convert(const Form& form, LaneOp& out) {
  if (form.mods().size() > 1 || form.types() != 2) return false;
  if (ptx::is_signed(form.type()) && form.destination_bits() > ptx::bits(form.type())) return false;
  const Mod rounding = form.mods().empty() ? kNoRounding : form.mods()[0];
  for (const Fast& f : kFast)
    if (f.to == form.type(0) && f.from == form.type(1) && f.rounding == rounding) {
      out = form.use(f.kernel);
      return true;
    }
  return false;
}

}  // namespace lockstep::exec::alu
