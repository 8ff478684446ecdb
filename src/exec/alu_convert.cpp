// cvt ("PTX ISA 9.0", 9.7.9): between integers, to and from floating-point, packs of two.
#include <cmath>
#include <utility>

#include "exec/alu_families.hpp"
#include "exec/alu_form.hpp"
#include "exec/alu_rounding.hpp"

namespace lockstep::exec::alu {
namespace {

/// What a conversion does, as the instruction's constant.
struct Plan {
  Round round = Round::kNearest;
  bool integral = false;  // to an integral value first (.rni and the like)
  bool sat = false, satfinite = false, relu = false, ftz = false;
  u8 format = 0;  // of a floating-point result: index of kFormats
  u8 bits = 0;    // of an integer result
  bool is_signed = false;
  u8 extended = 0;   // bits that a signed integer result fills
  u8 nan_shift = 0;  // an integer result for NaN: 1 << nan_shift, 0 where it is 64
};
static_assert(sizeof(Plan) <= 16);
constexpr u64 pack(const Plan& p) {
  return u64{static_cast<u8>(p.round)} | u64{p.integral} << 3 | u64{p.sat} << 4 | u64{p.satfinite} << 5 |
         u64{p.relu} << 6 | u64{p.ftz} << 7 | u64{p.format} << 8 | u64{p.bits} << 16 |
         u64{p.is_signed} << 24 | u64{p.extended} << 32 | u64{p.nan_shift} << 40;
}
constexpr Plan unpack(u64 w) {
  const auto flag = [w](int at) { return (w >> at & 1) != 0; };
  return {static_cast<Round>(w & 7),
          flag(3),
          flag(4),
          flag(5),
          flag(6),
          flag(7),
          static_cast<u8>(w >> 8),
          static_cast<u8>(w >> 16),
          flag(24),
          static_cast<u8>(w >> 32),
          static_cast<u8>(w >> 40)};
}

struct Target {
  Type type;
  const FormatSpec* spec;
  int shift;  // of the bits within the register
};
constexpr Target kFormats[] = {{Type::kF16, &kSpecF16, 0},    {Type::kBf16, &kSpecBf16, 0},
                               {Type::kTf32, &kSpecTf32, 13}, {Type::kF32, &kSpecF32, 0},
                               {Type::kF64, &kSpecF64, 0},    {Type::kE4m3, &kSpecE4m3, 0},
                               {Type::kE5m2, &kSpecE5m2, 0}};

/// Bits of a number in a format, after what the plan says of its range.
u64 finished(u64 bits, const Plan& plan) {
  const Target& target = kFormats[plan.format];
  const FormatSpec& f = *target.spec;
  const u64 magnitude = bits & (f.sign - 1);
  const bool nan = magnitude > f.overflow || (magnitude == f.nan && f.nan == f.overflow);
  const bool negative = (bits & f.sign) != 0;
  const u64 one = static_cast<u64>(f.bias) << f.mantissa;
  if (plan.sat) bits = nan || negative ? 0 : std::min(bits, one);
  if (plan.satfinite && !nan && magnitude > f.finite) bits = (bits & f.sign) | f.finite;
  if (plan.relu && negative && !nan) bits = 0;
  if (plan.ftz && plan.format == 3 && (bits & 0x7f800000) == 0) bits &= 0x80000000;
  if (target.shift != 0 && nan) return kNan32;
  return bits << target.shift;
}

u64 to_float(double x, const Plan& plan) {
  const FormatSpec& f = *kFormats[plan.format].spec;
  if (plan.integral) x = integral(x, plan.round);
  if (is_nan(x) && plan.format == 4) return plan.sat ? 0 : std::bit_cast<u64>(x) | kQuiet64;
  if (std::isinf(x) && plan.satfinite) return finished((std::signbit(x) ? f.sign : 0) | f.finite, plan);
  u64 bits = round_double(x, f, plan.round);
  // Formats without infinity cannot distinguish overflow from NaN afterwards.
  if (plan.satfinite && f.overflow == f.nan && !is_nan(x) && (bits & (f.sign - 1)) == f.nan)
    bits = (bits & f.sign) | f.finite;
  return finished(bits, plan);
}

u64 extend(u64 value, const Plan& plan) {
  const int unused = 64 - plan.bits;
  if (!plan.is_signed) return value << unused >> unused;
  const u64 wide = static_cast<u64>(static_cast<s64>(value << unused) >> unused);
  return wide << (64 - plan.extended) >> (64 - plan.extended);
}

u64 to_integer(double x, const Plan& plan) {
  if (is_nan(x)) return extend(plan.nan_shift == 64 ? 0 : u64{1} << plan.nan_shift, plan);
  const double whole = integral(x, plan.round);
  const int digits = plan.bits - (plan.is_signed ? 1 : 0);
  const double limit = 2 * static_cast<double>(u64{1} << (digits - 1));  // first beyond the range
  const u64 top = (~u64{0} >> (64 - plan.bits)) >> (plan.is_signed ? 1 : 0);
  if (whole >= limit) return extend(top, plan);
  if (plan.is_signed) return extend(whole < -limit ? ~top : static_cast<u64>(static_cast<s64>(whole)), plan);
  return whole <= 0 ? 0 : static_cast<u64>(whole);
}

/// The NaN in single precision: sign and upper payload of the double, quiet.
u64 narrowed_nan(double nan) {
  const u64 bits = std::bit_cast<u64>(nan);
  return bits >> 63 << 31 | 0x7fc00000 | (bits >> 29 & 0x3fffff);
}

template <class View>
u64 float_to_float(View a, Imm imm) {
  const Plan plan = unpack(imm.bits);
  constexpr u8 kSingle = 3;
  if constexpr (std::is_same_v<View, F64>)
    if (plan.format == kSingle && !plan.sat && is_nan(a.value)) return narrowed_nan(a.value);
  return to_float(a.value, plan);
}
template <class View>
u64 float_to_integer(View a, Imm imm) {
  return to_integer(a.value, unpack(imm.bits));
}
template <class S>
u64 integer_to_float(S a, Imm imm) {
  const Plan plan = unpack(imm.bits);
  const bool negative = a < 0;
  const u64 magnitude = negative ? u64{0} - static_cast<u64>(a) : static_cast<u64>(a);
  return finished(round_number(negative, magnitude, 0, *kFormats[plan.format].spec, plan.round), plan);
}
template <class S>
u64 integer_to_integer(S a, Imm imm) {
  const Plan plan = unpack(imm.bits);
  if (!plan.sat) return extend(static_cast<u64>(a), plan);
  const u64 top = (~u64{0} >> (64 - plan.bits)) >> (plan.is_signed ? 1 : 0);
  if (a > 0 && static_cast<u64>(a) > top) return extend(top, plan);
  if (a < 0 && !plan.is_signed) return 0;
  if (a < 0 && static_cast<s64>(a) < static_cast<s64>(~top)) return extend(~top, plan);
  return extend(static_cast<u64>(a), plan);
}

struct Source {
  Type type;
  bool ftz;
  Kernel to_float, to_integer;
};
template <class T>
constexpr Source integer_source(Type type) {
  return {type, false, rare_kernel<&integer_to_float<T>>, rare_kernel<&integer_to_integer<T>>};
}
template <class View>
constexpr Source float_source(Type type, bool ftz) {
  return {type, ftz, rare_kernel<&float_to_float<View>>, rare_kernel<&float_to_integer<View>>};
}
constexpr Source kSources[] = {
    integer_source<u8>(Type::kU8),        integer_source<s8>(Type::kS8),
    integer_source<u16>(Type::kU16),      integer_source<s16>(Type::kS16),
    integer_source<u32>(Type::kU32),      integer_source<s32>(Type::kS32),
    integer_source<u64>(Type::kU64),      integer_source<s64>(Type::kS64),
    float_source<F32>(Type::kF32, false), float_source<F32Ftz>(Type::kF32, true),
    float_source<F64>(Type::kF64, false), float_source<F16>(Type::kF16, false),
    float_source<F16>(Type::kF16, true),  float_source<Bf16>(Type::kBf16, false),
    float_source<F64>(Type::kF64, true),
};

struct ModRound {
  Mod mod;
  Round round;
  bool integral;
};
constexpr ModRound kRounds[] = {
    {Mod::kRn, Round::kNearest, false}, {Mod::kRz, Round::kZero, false},  {Mod::kRm, Round::kDown, false},
    {Mod::kRp, Round::kUp, false},      {Mod::kRna, Round::kAway, false}, {Mod::kRni, Round::kNearest, true},
    {Mod::kRzi, Round::kZero, true},    {Mod::kRmi, Round::kDown, true},  {Mod::kRpi, Round::kUp, true},
};

/// The plan of the modifiers; the types are filled in by the caller. `rounds`: a rounding is written.
Plan read_mods(const Form& form, bool& rounds) {
  Plan plan;
  rounds = false;
  for (const Mod mod : form.mods()) {
    bool known = false;
    for (const ModRound& r : kRounds) {
      if (r.mod != mod) continue;
      if (rounds) form.fail("expected one rounding");
      plan.round = r.round;
      plan.integral = r.integral;
      known = rounds = true;
    }
    bool* const flag = mod == Mod::kSat         ? &plan.sat
                       : mod == Mod::kSatfinite ? &plan.satfinite
                       : mod == Mod::kRelu      ? &plan.relu
                       : mod == Mod::kFtz       ? &plan.ftz
                                                : nullptr;
    if (flag) *flag = true;
    if (!flag && !known) form.fail("'." + std::string(ptx::name(mod)) + "' does not belong here");
  }
  return plan;
}

u8 format_of(const Form& form, Type type) {
  for (std::size_t i = 0; i < std::size(kFormats); ++i)
    if (kFormats[i].type == type) return static_cast<u8>(i);
  form.fail("no such result type");
}

LaneOp select_scalar(const Form& form) {
  bool rounds = false;
  Plan plan = read_mods(form, rounds);
  const Type to = form.type(0), from = form.type(1);
  const bool float_to = ptx::is_float(to), float_from = ptx::is_float(from);
  const bool integer_to =
      ptx::kind(to) == ptx::TypeKind::kUnsigned || ptx::kind(to) == ptx::TypeKind::kSigned;
  if (!float_to && !integer_to) form.fail("no such result type");
  const bool narrower = float_to && float_from && ptx::bits(to) < ptx::bits(from);
  if (!rounds && (float_to != float_from || narrower || (to == Type::kTf32)))
    form.fail("expected a rounding");
  if (!float_to && float_from && !plan.integral) form.fail("expected .rni, .rzi, .rmi or .rpi");
  if (plan.integral && !float_from) form.fail("integral rounding needs a floating-point source");
  if (float_to) {
    plan.format = format_of(form, to);
  } else {
    plan.bits = static_cast<u8>(ptx::bits(to));
    plan.is_signed = ptx::is_signed(to);
    plan.extended = static_cast<u8>(std::max({plan.bits, u8{16}, static_cast<u8>(form.destination_bits())}));
    plan.nan_shift = from == Type::kF64 || plan.bits == 64 ? static_cast<u8>(plan.bits - 1) : 64;
  }
  for (const Source& source : kSources)
    if (source.type == from && source.ftz == (plan.ftz && float_from && from != Type::kBf16))
      return form.use(float_to ? source.to_float : source.to_integer, pack(plan));
  form.fail("no such source type");
}

/// Two values into the halves of a result: a in the upper.
template <class View, int kBits>
u32 two(View a, View b, Imm imm) {
  const Plan plan = unpack(imm.bits);
  return static_cast<u32>(to_float(a.value, plan) << kBits | to_float(b.value, plan));
}
u16 halves_to_fp8(u32 a, Imm imm) {
  const Plan plan = unpack(imm.bits);
  const u64 high = to_float(half_to_float(static_cast<u16>(a >> 16)), plan);
  return static_cast<u16>(high << 8 | to_float(half_to_float(static_cast<u16>(a)), plan));
}
template <int kMantissa>  // of e4m3 or e5m2
double fp8_value(u32 bits) {
  const u32 magnitude = bits & 0x7f;
  if (kMantissa == 3 && magnitude == 0x7f) return std::bit_cast<double>(kNan64);
  const float value = kMantissa == 2 ? half_to_float(static_cast<u16>(magnitude << 8))
                                     : half_to_float(static_cast<u16>(magnitude << 7)) * 256.0f;
  return (bits & 0x80) != 0 ? -double{value} : double{value};
}
template <int kMantissa>
u32 fp8_to_halves(u16 a, Imm imm) {
  const Plan plan = unpack(imm.bits);
  return static_cast<u32>(to_float(fp8_value<kMantissa>(a >> 8), plan) << 16 |
                          to_float(fp8_value<kMantissa>(a & 0xffu), plan));
}

struct Packed {
  Type to, from;
  Type element;
  Kernel kernel;
};
constexpr Packed kPacked[] = {
    {Type::kF16x2, Type::kF32, Type::kF16, rare_kernel<&two<F32, 16>>},
    {Type::kBf16x2, Type::kF32, Type::kBf16, rare_kernel<&two<F32, 16>>},
    {Type::kE4m3x2, Type::kF32, Type::kE4m3, rare_kernel<&two<F32, 8>>},
    {Type::kE5m2x2, Type::kF32, Type::kE5m2, rare_kernel<&two<F32, 8>>},
    {Type::kE4m3x2, Type::kF16x2, Type::kE4m3, rare_kernel<&halves_to_fp8>},
    {Type::kE5m2x2, Type::kF16x2, Type::kE5m2, rare_kernel<&halves_to_fp8>},
    {Type::kF16x2, Type::kE4m3x2, Type::kF16, rare_kernel<&fp8_to_halves<3>>},
    {Type::kF16x2, Type::kE5m2x2, Type::kF16, rare_kernel<&fp8_to_halves<2>>},
};

/// cvt.pack: clamps a and b and puts them below the low part of c.
u32 clamp_pack(s32 a, s32 b, Imm imm) {
  const Plan plan = unpack(imm.bits);
  const u32 mask = (1u << plan.bits) - 1;
  const u32 high = static_cast<u32>(integer_to_integer(a, imm)) & mask,
            low = static_cast<u32>(integer_to_integer(b, imm)) & mask;
  return high << plan.bits | low;
}
u32 clamp_pack_below(s32 a, s32 b, u32 c, Imm imm) {
  return c << (2 * unpack(imm.bits).bits) | clamp_pack(a, b, imm);
}

LaneOp select_pack(const Form& form) {
  constexpr ModBit kMods[] = {{Mod::kPack, 1}, {Mod::kSat, 2}};
  const Type to = form.type(0);
  const bool fits = to == Type::kU16 || to == Type::kS16 || to == Type::kU8 || to == Type::kS8 ||
                    to == Type::kU4 || to == Type::kS4;
  if (form.only(kMods) != 3 || form.type(1) != Type::kS32 || !fits) form.fail("no such cvt.pack");
  Plan plan;
  plan.sat = true;
  plan.bits = static_cast<u8>(ptx::bits(to));
  plan.is_signed = ptx::is_signed(to);
  plan.extended = 32;
  return form.use(form.sources() == 3 ? rare_kernel<&clamp_pack_below> : rare_kernel<&clamp_pack>,
                  pack(plan));
}

}  // namespace

LaneOp select_convert(const Form& form) {
  if (form.has(Mod::kPack)) return select_pack(form);
  LaneOp out;
  if (select_common_convert(form, out)) return out;
  for (const Packed& packed : kPacked) {
    if (packed.to != form.type(0) || packed.from != form.type(1)) continue;
    bool rounds = false;
    Plan plan = read_mods(form, rounds);
    if (!rounds || plan.integral) form.fail("expected a rounding");
    plan.format = format_of(form, packed.element);
    return form.use(packed.kernel, pack(plan));
  }
  return select_scalar(form);
}

}  // namespace lockstep::exec::alu
