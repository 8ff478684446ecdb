// Bits ("PTX ISA 9.0", 9.7.1 and 9.7.8): logic, shifts, fields, counting, permutation, small dot products.
#include <algorithm>

#include "exec/alu_families.hpp"
#include "exec/alu_form.hpp"

namespace lockstep::exec::alu {
namespace {

template <class T>
inline constexpr u32 kBits = 8 * sizeof(T);

template <class T>
struct And {
  static constexpr T apply(T a, T b) { return static_cast<T>(a & b); }
};
template <class T>
struct Or {
  static constexpr T apply(T a, T b) { return static_cast<T>(a | b); }
};
template <class T>
struct Xor {
  static constexpr T apply(T a, T b) { return static_cast<T>(a ^ b); }
};
template <class T>
struct Not {
  static constexpr T apply(T a) { return static_cast<T>(~a); }
};
template <>
struct Not<bool> {
  static constexpr bool apply(bool a) { return !a; }
};
template <class T>
struct Cnot {
  static constexpr T apply(T a) { return a == 0 ? 1 : 0; }
};

// Shift counts are 32 bits wide and clamped to the width; so `<<` is always defined.
template <class T>
struct Shl {
  static constexpr T apply(T a, u32 count) {
    return count >= kBits<T> ? T{0} : static_cast<T>(u64{a} << (count & 63));
  }
};
template <class T>
struct Shr {
  static constexpr T apply(T a, u32 count) {
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(a >> std::min(count, kBits<T> - 1));
    } else {
      return count >= kBits<T> ? T{0} : static_cast<T>(a >> (count & (kBits<T> - 1)));
    }
  }
};

constexpr u32 shf(u32 a, u32 b, u32 n, bool left) {
  const u64 both = u64{b} << 32 | a;
  return static_cast<u32>(left ? (both << n) >> 32 : both >> n);  // n <= 32
}
constexpr u32 shf_left_clamp(u32 a, u32 b, u32 c) { return shf(a, b, std::min(c, 32u), true); }
constexpr u32 shf_left_wrap(u32 a, u32 b, u32 c) { return shf(a, b, c & 31, true); }
constexpr u32 shf_right_clamp(u32 a, u32 b, u32 c) { return shf(a, b, std::min(c, 32u), false); }
constexpr u32 shf_right_wrap(u32 a, u32 b, u32 c) { return shf(a, b, c & 31, false); }

constexpr u64 low_mask(u32 bits) { return bits >= 64 ? ~u64{0} : (u64{1} << bits) - 1; }

template <class T>
struct Bfe {
  static constexpr T apply(T a, u32 b, u32 c) {
    using U = std::make_unsigned_t<T>;
    const u32 pos = b & 0xff, len = c & 0xff, msb = kBits<T> - 1;
    const u64 value = static_cast<U>(a);
    const u64 field = pos > msb ? 0 : (value >> pos) & low_mask(len);
    if (!std::is_signed_v<T> || len == 0) return static_cast<T>(field);
    const bool sign = (value >> std::min(pos + len - 1, msb) & 1) != 0;
    const u32 present = pos > msb ? 0 : std::min(len, msb + 1 - pos);
    return static_cast<T>(sign ? field | ~low_mask(present) : field);
  }
};
template <class T>
struct Bfi {
  static constexpr T apply(T a, T b, u32 c, u32 d) {
    const u32 pos = c & 0xff, len = d & 0xff;
    if (pos >= kBits<T>) return b;
    const u64 mask = low_mask(len) << pos;
    return static_cast<T>((u64{b} & ~mask) | (u64{a} << pos & mask));
  }
};

template <class T>
constexpr u32 top_bit(T a) {  // ~0 if no bit is set
  using U = std::make_unsigned_t<T>;
  const U value = a < 0 ? static_cast<U>(~a) : static_cast<U>(a);
  return value == 0 ? ~0u : kBits<T> - 1 - static_cast<u32>(std::countl_zero(value));
}
template <class T>
struct Bfind {
  static constexpr u32 apply(T a) { return top_bit(a); }
};
template <class T>
struct BfindShift {
  static constexpr u32 apply(T a) {
    const u32 bit = top_bit(a);
    return bit == ~0u ? bit : kBits<T> - 1 - bit;
  }
};
template <class T>
struct Popc {
  static constexpr u32 apply(T a) { return static_cast<u32>(std::popcount(a)); }
};
template <class T>
struct Clz {
  static constexpr u32 apply(T a) { return static_cast<u32>(std::countl_zero(a)); }
};
template <class T>
struct Brev {
  static constexpr T apply(T a) {
    u64 v = u64{a} << (64 - kBits<T>);
    v = (v >> 1 & 0x5555555555555555) | (v & 0x5555555555555555) << 1;
    v = (v >> 2 & 0x3333333333333333) | (v & 0x3333333333333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0f) | (v & 0x0f0f0f0f0f0f0f0f) << 4;
    return static_cast<T>(__builtin_bswap64(v));
  }
};

constexpr u32 fns(u32 mask, u32 base, s32 offset) {
  if (base > 31) return ~0u;  // undefined in PTX
  if (offset == 0) return (mask >> base & 1) != 0 ? base : ~0u;
  u32 left = static_cast<u32>(offset < 0 ? -s64{offset} : s64{offset});
  for (int pos = static_cast<int>(base); pos >= 0 && pos<32; pos += offset> 0 ? 1 : -1)
    if ((mask >> pos & 1) != 0 && --left == 0) return static_cast<u32>(pos);
  return ~0u;
}

constexpr u32 bmsk(u64 a, u64 b) {  // 64 bits, so that positions above 31 fall off
  return a >= 32 ? 0 : static_cast<u32>(low_mask(static_cast<u32>(std::min<u64>(b, 32))) << a);
}
constexpr u32 bmsk_clamp(u32 a, u32 b) { return bmsk(a, b); }
constexpr u32 bmsk_wrap(u32 a, u32 b) { return bmsk(a & 31, b & 31); }

template <class T>
constexpr T szext(T a, u32 bits) {  // bits <= 32
  if (bits == 0) return 0;
  return static_cast<T>(static_cast<T>(static_cast<u32>(a) << (32 - bits)) >> (32 - bits));
}
template <class T>
struct SzextClamp {
  static constexpr T apply(T a, u32 b) { return szext(a, std::min(b, 32u)); }
};
template <class T>
struct SzextWrap {
  static constexpr T apply(T a, u32 b) { return szext(a, b & 31); }
};

constexpr u32 pick_bytes(u32 a, u32 b, u32 selectors) {  // four 4-bit selectors; bit 3 replicates the sign
  const u64 bytes = u64{b} << 32 | a;
  u32 out = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 selector = selectors >> (4 * i);
    const u32 byte = static_cast<u32>(bytes >> (8 * (selector & 7)) & 0xff);
    out |= ((selector & 8) != 0 ? ((byte & 0x80) != 0 ? 0xffu : 0u) : byte) << (8 * i);
  }
  return out;
}
constexpr u32 prmt(u32 a, u32 b, u32 c) { return pick_bytes(a, b, c); }
/// `imm`: 16 bits of selectors for each value of c's two low bits.
constexpr u32 prmt_mode(u32 a, u32 b, u32 c, Imm imm) {
  return pick_bytes(a, b, static_cast<u32>(imm.bits >> (16 * (c & 3))) & 0xffff);
}
struct PrmtMode {
  Mod mod;
  u64 selectors;  // for c = 3, 2, 1, 0
};
constexpr PrmtMode kPrmtModes[] = {
    {Mod::kF4e, 0x6543'5432'4321'3210}, {Mod::kB4e, 0x0123'7012'6701'5670},
    {Mod::kRc8, 0x3333'2222'1111'0000}, {Mod::kEcl, 0x3333'3222'3211'3210},
    {Mod::kEcr, 0x3210'2210'1110'0000}, {Mod::kRc16, 0x3232'1010'3232'1010},
};

constexpr u32 lop3_bits(u32 a, u32 b, u32 c, u64 table) {
  u32 out = 0;
  for (u32 i = 0; i < 8; ++i) {
    if ((table >> i & 1) == 0) continue;
    out |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  }
  return out;
}
constexpr u32 lop3(u32 a, u32 b, u32 c, Imm imm) { return lop3_bits(a, b, c, imm.bits); }
/// Bit 8 of `imm`: .and (otherwise .or); bit 9: q is negated.
constexpr Two<u32, bool> lop3_predicate(u32 a, u32 b, u32 c, u32 /*table*/, bool q, Imm imm) {
  const u32 d = lop3_bits(a, b, c, imm.bits);
  const bool other = q != ((imm.bits & 0x200) != 0);
  return {d, (imm.bits & 0x100) != 0 ? (d != 0) && other : (d != 0) || other};
}

template <class A, class B>
constexpr u32 dp4a(u32 a, u32 b, u32 c) {
  for (int i = 0; i < 4; ++i)
    c += static_cast<u32>(s32{static_cast<A>(a >> (8 * i))} * s32{static_cast<B>(b >> (8 * i))});
  return c;
}
template <class A, class B, int kFirst>
constexpr u32 dp2a(u32 a, u32 b, u32 c) {
  for (int i = 0; i < 2; ++i)
    c += static_cast<u32>(s32{static_cast<A>(a >> (16 * i))} * s32{static_cast<B>(b >> (8 * (kFirst + i)))});
  return c;
}

enum Mode : unsigned {
  kPlain = 0,
  kL = 1,
  kR = 2,
  kClamp = 4,
  kWrap = 8,
  kShiftamt = 16,
  kLo = 32,
  kHi = 64
};
constexpr ModBit kModes[] = {
    {Mod::kL, kL},   {Mod::kR, kR},  {Mod::kClamp, kClamp}, {Mod::kWrap, kWrap}, {Mod::kShiftamt, kShiftamt},
    {Mod::kLo, kLo}, {Mod::kHi, kHi}};

struct Row {
  Opcode op;
  unsigned mode;
  ByInteger kernels;
  Kernel predicate = {};
};

template <template <class> class Op>
constexpr ByInteger unsigned_all() {
  return {.u16 = kernel<&Op<u16>::apply>, .u32 = kernel<&Op<u32>::apply>, .u64 = kernel<&Op<u64>::apply>};
}
/// With Op on 64 bits for 32.
template <template <class> class Op>
constexpr ByInteger logic() {
  ByInteger kernels = unsigned_all<Op>();
  kernels.u32 = kernel<&OnLow32<Op>::binary>;
  return kernels;
}
template <template <class> class Op>
constexpr ByInteger unsigned_wide() {
  return {.u32 = kernel<&Op<u32>::apply>, .u64 = kernel<&Op<u64>::apply>};
}
template <template <class> class Op>
constexpr ByInteger all() {
  return {.u16 = kernel<&Op<u16>::apply>,
          .s16 = kernel<&Op<s16>::apply>,
          .u32 = kernel<&Op<u32>::apply>,
          .s32 = kernel<&Op<s32>::apply>,
          .u64 = kernel<&Op<u64>::apply>,
          .s64 = kernel<&Op<s64>::apply>};
}
template <template <class> class Op>
constexpr ByInteger wide() {
  return {.u32 = kernel<&Op<u32>::apply>,
          .s32 = kernel<&Op<s32>::apply>,
          .u64 = kernel<&Op<u64>::apply>,
          .s64 = kernel<&Op<s64>::apply>};
}
template <template <class> class Op>
constexpr ByInteger words() {
  return {.u32 = kernel<&Op<u32>::apply>, .s32 = kernel<&Op<s32>::apply>};
}
template <auto F>
constexpr ByInteger word() {
  return {.u32 = kernel<F>};
}

constexpr Row kRows[] = {
    {Opcode::kAnd, kPlain, logic<And>(), kernel<&And<bool>::apply>},
    {Opcode::kOr, kPlain, logic<Or>(), kernel<&Or<bool>::apply>},
    {Opcode::kXor, kPlain, logic<Xor>(), kernel<&Xor<bool>::apply>},
    {Opcode::kNot, kPlain, unsigned_all<Not>(), kernel<&Not<bool>::apply>},
    {Opcode::kCnot, kPlain, unsigned_all<Cnot>()},
    {Opcode::kShl, kPlain, unsigned_all<Shl>()},
    {Opcode::kShr, kPlain, all<Shr>()},
    {Opcode::kShf, kL | kClamp, word<&shf_left_clamp>()},
    {Opcode::kShf, kL | kWrap, word<&shf_left_wrap>()},
    {Opcode::kShf, kR | kClamp, word<&shf_right_clamp>()},
    {Opcode::kShf, kR | kWrap, word<&shf_right_wrap>()},
    {Opcode::kBfe, kPlain, wide<Bfe>()},
    {Opcode::kBfi, kPlain, unsigned_wide<Bfi>()},
    {Opcode::kBfind, kPlain, wide<Bfind>()},
    {Opcode::kBfind, kShiftamt, wide<BfindShift>()},
    {Opcode::kPopc, kPlain, unsigned_wide<Popc>()},
    {Opcode::kClz, kPlain, unsigned_wide<Clz>()},
    {Opcode::kBrev, kPlain, unsigned_wide<Brev>()},
    {Opcode::kFns, kPlain, word<&fns>()},
    {Opcode::kBmsk, kClamp, word<&bmsk_clamp>()},
    {Opcode::kBmsk, kWrap, word<&bmsk_wrap>()},
    {Opcode::kSzext, kClamp, words<SzextClamp>()},
    {Opcode::kSzext, kWrap, words<SzextWrap>()},
};

/// Kernels of a dot product by the signedness of a and b.
struct DotRow {
  Opcode op;
  unsigned mode;
  Kernel by_sign[2][2];
};
constexpr DotRow kDots[] = {
    {Opcode::kDp4a,
     kPlain,
     {{kernel<&dp4a<u8, u8>>, kernel<&dp4a<u8, s8>>}, {kernel<&dp4a<s8, u8>>, kernel<&dp4a<s8, s8>>}}},
    {Opcode::kDp2a,
     kLo,
     {{kernel<&dp2a<u16, u8, 0>>, kernel<&dp2a<u16, s8, 0>>},
      {kernel<&dp2a<s16, u8, 0>>, kernel<&dp2a<s16, s8, 0>>}}},
    {Opcode::kDp2a,
     kHi,
     {{kernel<&dp2a<u16, u8, 2>>, kernel<&dp2a<u16, s8, 2>>},
      {kernel<&dp2a<s16, u8, 2>>, kernel<&dp2a<s16, s8, 2>>}}},
};

LaneOp select_lop3(const Form& form) {
  const u64 table = form.constant(3);
  if (table > 255) form.fail("the table must be 0 to 255");
  if (form.mods().empty()) return form.use(kernel<&lop3>, table, 1);
  constexpr ModBit kBool[] = {{Mod::kAnd, 0x100}, {Mod::kOr, 0}};
  return form.use(kernel<&lop3_predicate>, table | form.only(kBool) | (form.source(4).negated ? 0x200 : 0));
}

LaneOp select_prmt(const Form& form) {
  if (form.mods().empty()) return form.use(kernel<&prmt>);
  for (const PrmtMode& mode : kPrmtModes)
    if (form.mods().size() == 1 && form.has(mode.mod)) return form.use(kernel<&prmt_mode>, mode.selectors);
  form.fail("expected one of .f4e .b4e .rc8 .ecl .ecr .rc16");
}

}  // namespace

LaneOp select_bits(const Form& form) {
  if (form.opcode() == Opcode::kLop3) return select_lop3(form);
  if (form.opcode() == Opcode::kPrmt) return select_prmt(form);
  const unsigned mode = form.only(kModes);
  for (const DotRow& row : kDots)
    if (row.op == form.opcode() && row.mode == mode)
      return form.use(row.by_sign[form.is_signed(0) ? 1 : 0][form.is_signed(1) ? 1 : 0]);
  for (const Row& row : kRows)
    if (row.op == form.opcode() && row.mode == mode)
      return form.use(form.type() == Type::kPred ? row.predicate : row.kernels.of(form.type()));
  form.fail("no such form");
}

}  // namespace lockstep::exec::alu
