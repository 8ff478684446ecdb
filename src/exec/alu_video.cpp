// Video instructions ("PTX ISA 9.0", 9.7.17 and 9.7.18): on one part of a word, on two halves, on four bytes.
// Programs use them seldom: one function goes through what the instruction's constant says.
#include <algorithm>

#include "exec/alu_families.hpp"
#include "exec/alu_form.hpp"

namespace lockstep::exec::alu {
namespace {

enum class Op : u8 { kAdd, kSub, kAbsdiff, kMin, kMax, kAvrg, kShl, kShr, kSet };
enum class Second : u8 { kNone, kAdd, kMin, kMax };
enum class Compare : u8 { kEq, kNe, kLt, kLe, kGt, kGe };

/// A part of a word: its first bit and its width.
struct Part {
  u8 at = 0, bits = 32;
};

/// The instruction as its constant holds it.
struct Plan {
  Op op{};
  Compare compare{};
  Second second{};
  bool signed_d = false, signed_a = false, signed_b = false, sat = false, wrap = false, merge = false;
  u8 elements = 1;  // 1: parts; 2 or 4: selectors and mask
  Part d, a, b;
  u16 select_a = 0, select_b = 0;  // four bits per element: which of the eight bytes or four halves
  u8 mask = 0;
};

// 64 bits: what both sorts have, then parts or selectors.
constexpr u64 pack_part(Part p) { return u64{p.at} / 8 | u64{p.bits} / 8 << 3; }
constexpr Part unpack_part(u64 w) {
  return {static_cast<u8>((w & 7) * 8), static_cast<u8>((w >> 3 & 7) * 8)};
}
constexpr u64 pack(const Plan& p) {
  const u64 head = u64{static_cast<u8>(p.op)} | u64{static_cast<u8>(p.compare)} << 4 |
                   u64{static_cast<u8>(p.second)} << 8 | u64{p.signed_d} << 10 | u64{p.signed_a} << 11 |
                   u64{p.signed_b} << 12 | u64{p.sat} << 13 | u64{p.wrap} << 14 | u64{p.merge} << 15 |
                   u64{p.elements} << 16;
  const u64 parts = pack_part(p.d) | pack_part(p.a) << 8 | pack_part(p.b) << 16;
  const u64 lists = u64{p.select_a} | u64{p.select_b} << 16 | u64{p.mask} << 32;
  return head | (p.elements == 1 ? parts : lists) << 20;
}
constexpr Plan unpack(u64 w) {
  const auto flag = [w](int at) { return (w >> at & 1) != 0; };
  Plan p{static_cast<Op>(w & 15),
         static_cast<Compare>(w >> 4 & 15),
         static_cast<Second>(w >> 8 & 3),
         flag(10),
         flag(11),
         flag(12),
         flag(13),
         flag(14),
         flag(15),
         static_cast<u8>(w >> 16 & 15),
         {},
         {},
         {}};
  w >>= 20;
  if (p.elements == 1) {
    p.d = unpack_part(w);
    p.a = unpack_part(w >> 8);
    p.b = unpack_part(w >> 16);
  } else {
    p.select_a = static_cast<u16>(w);
    p.select_b = static_cast<u16>(w >> 16);
    p.mask = static_cast<u8>(w >> 32);
  }
  return p;
}

constexpr s64 extract(u64 word, int at, int bits, bool is_signed) {
  const u64 top = word << (64 - at - bits);
  return is_signed ? static_cast<s64>(top) >> (64 - bits) : static_cast<s64>(top >> (64 - bits));
}
template <class Wide>
constexpr Wide clamp(Wide value, int bits, bool is_signed) {
  const Wide one = 1;
  const Wide low = is_signed ? -(one << (bits - 1)) : Wide{0},
             high = (one << (is_signed ? bits - 1 : bits)) - 1;
  return value < low ? low : value > high ? high : value;
}
constexpr bool compare(s64 a, s64 b, Compare how) {
  switch (how) {
    case Compare::kEq:
      return a == b;
    case Compare::kNe:
      return a != b;
    case Compare::kLt:
      return a < b;
    case Compare::kLe:
      return a <= b;
    case Compare::kGt:
      return a > b;
    default:
      return a >= b;
  }
}

/// Exact: a shift left needs 65 bits.
template <class Wide>
Wide first_operation(s64 a, s64 b, const Plan& p) {
  const s64 count = p.wrap ? b & 31 : std::min<s64>(b, 32);
  switch (p.op) {
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kAbsdiff:
      return a < b ? b - a : a - b;
    case Op::kMin:
      return std::min(a, b);
    case Op::kMax:
      return std::max(a, b);
    case Op::kAvrg:
      return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case Op::kShl:
      return Wide{a} * (Wide{1} << count);
    case Op::kShr:
      return a >> count;
    default:
      return compare(a, b, p.compare);
  }
}

u32 one_part(const Plan& p, u32 a, u32 b, u32 c) {
  s128 value = first_operation<s128>(extract(a, p.a.at, p.a.bits, p.signed_a),
                                     extract(b, p.b.at, p.b.bits, p.signed_b), p);
  const u32 part_mask = static_cast<u32>(~u64{0} >> (64 - p.d.bits)) << p.d.at;
  if (p.sat) value = clamp(value, p.merge ? p.d.bits : 32, p.signed_d);
  const u32 word = static_cast<u32>(static_cast<u128>(value));
  if (p.merge) return (word << p.d.at & part_mask) | (c & ~part_mask);
  switch (p.second) {
    case Second::kAdd:
      return word + c;
    case Second::kMin:
      return p.signed_d ? static_cast<u32>(std::min(static_cast<s32>(word), static_cast<s32>(c)))
                        : std::min(word, c);
    case Second::kMax:
      return p.signed_d ? static_cast<u32>(std::max(static_cast<s32>(word), static_cast<s32>(c)))
                        : std::max(word, c);
    default:
      return word;
  }
}

u32 several(const Plan& p, u32 a, u32 b, u32 c) {
  const int bits = 32 / p.elements;
  const u64 both = u64{b} << 32 | a;
  const u32 element_mask = static_cast<u32>((u64{1} << bits) - 1);
  u32 out = p.second == Second::kAdd ? c : 0;
  for (int i = 0; i < p.elements; ++i) {
    const auto pick = [&](u16 select, bool is_signed) {
      return extract(both, (select >> (4 * i) & 15) * bits, bits, is_signed);
    };
    s64 value = first_operation<s64>(pick(p.select_a, p.signed_a), pick(p.select_b, p.signed_b), p);
    if (p.sat) value = clamp(value, bits, p.signed_d);
    const bool chosen = (p.mask >> i & 1) != 0;
    if (p.second == Second::kAdd) {
      out += chosen ? static_cast<u32>(value) : 0;
    } else {
      out |= ((chosen ? static_cast<u32>(value) : c >> (i * bits)) & element_mask) << (i * bits);
    }
  }
  return out;
}

u32 video_two(u32 a, u32 b, Imm imm) { return one_part(unpack(imm.bits), a, b, 0); }
u32 video_three(u32 a, u32 b, u32 c, Imm imm) {
  const Plan p = unpack(imm.bits);
  return p.elements == 1 ? one_part(p, a, b, c) : several(p, a, b, c);
}

// vmad. The product is negated when exactly one of a and b is.
struct Mad {
  bool signed_a, signed_b, negate_product, negate_c, plus_one, sat;
  u8 shift;
  Part a, b;
};
constexpr u64 pack(const Mad& m) {
  return u64{m.signed_a} | u64{m.signed_b} << 1 | u64{m.negate_product} << 2 | u64{m.negate_c} << 3 |
         u64{m.plus_one} << 4 | u64{m.sat} << 5 | u64{m.shift} << 8 | pack_part(m.a) << 16 |
         pack_part(m.b) << 24;
}
u32 vmad(u32 a, u32 b, u32 c, Imm imm) {
  const auto flag = [&](int at) { return (imm.bits >> at & 1) != 0; };
  const Part pa = unpack_part(imm.bits >> 16), pb = unpack_part(imm.bits >> 24);
  const bool signed_result = flag(0) || flag(1) || flag(2) || flag(3);
  s128 sum = s128{extract(a, pa.at, pa.bits, flag(0))} * extract(b, pb.at, pb.bits, flag(1));
  if (flag(2)) sum = -sum;
  const s64 addend = signed_result ? s64{static_cast<s32>(c)} : s64{c};
  // Negation of c is of its 32 bits, as ~c + 1.
  sum += flag(3) ? s128{static_cast<s32>(~c)} + 1 : s128{addend};
  sum += flag(4) ? 1 : 0;
  sum >>= static_cast<int>(imm.bits >> 8 & 0xff);
  if (flag(5)) {
    const s128 low = signed_result ? s128{INT32_MIN} : 0,
               high = signed_result ? s128{INT32_MAX} : s128{0xffffffff};
    sum = sum < low ? low : sum > high ? high : sum;
  }
  return static_cast<u32>(static_cast<u128>(sum));
}

struct Row {
  Opcode op;
  Op does;
  u8 elements;
};
constexpr Row kRows[] = {
    {Opcode::kVadd, Op::kAdd, 1},          {Opcode::kVsub, Op::kSub, 1},
    {Opcode::kVabsdiff, Op::kAbsdiff, 1},  {Opcode::kVmin, Op::kMin, 1},
    {Opcode::kVmax, Op::kMax, 1},          {Opcode::kVshl, Op::kShl, 1},
    {Opcode::kVshr, Op::kShr, 1},          {Opcode::kVset, Op::kSet, 1},
    {Opcode::kVadd2, Op::kAdd, 2},         {Opcode::kVsub2, Op::kSub, 2},
    {Opcode::kVavrg2, Op::kAvrg, 2},       {Opcode::kVabsdiff2, Op::kAbsdiff, 2},
    {Opcode::kVmin2, Op::kMin, 2},         {Opcode::kVmax2, Op::kMax, 2},
    {Opcode::kVset2, Op::kSet, 2},         {Opcode::kVadd4, Op::kAdd, 4},
    {Opcode::kVsub4, Op::kSub, 4},         {Opcode::kVavrg4, Op::kAvrg, 4},
    {Opcode::kVabsdiff4, Op::kAbsdiff, 4}, {Opcode::kVmin4, Op::kMin, 4},
    {Opcode::kVmax4, Op::kMax, 4},         {Opcode::kVset4, Op::kSet, 4},
};

using Unit = ptx::Selector::Unit;

Part part_of(const Form& form, const ptx::Selector& s) {
  if (s.unit == Unit::kNone) return {};
  const bool byte = s.unit == Unit::kByte;
  if (s.count != 1 || s.parts[0] >= (byte ? 4 : 2)) form.fail("expected .b0 to .b3, .h0 or .h1");
  return {static_cast<u8>(s.parts[0] * (byte ? 8 : 16)), static_cast<u8>(byte ? 8 : 16)};
}

/// Which element of {b, a} each element takes; `first` where nothing is written. The leftmost digit is the
/// last element.
u16 list_of(const Form& form, const ptx::Selector& s, int elements, int first) {
  u16 out = 0;
  for (int i = 0; i < elements; ++i) {
    int from = first + i;
    if (s.unit != Unit::kNone) {
      if (s.count != elements || (s.unit == Unit::kByte) != (elements == 4)) form.fail("no such selector");
      from = s.parts[static_cast<std::size_t>(elements - 1 - i)];
    }
    if (from >= 2 * elements) form.fail("no such element");
    out = static_cast<u16>(out | from << (4 * i));
  }
  return out;
}
u8 mask_of(const Form& form, const ptx::Selector& s, int elements) {
  if (s.unit == Unit::kNone) return static_cast<u8>((1 << elements) - 1);
  u8 out = 0;
  for (int i = 0; i < s.count; ++i) {
    if (s.parts[static_cast<std::size_t>(i)] >= elements || (s.unit == Unit::kByte) != (elements == 4))
      form.fail("no such mask");
    out = static_cast<u8>(out | 1 << s.parts[static_cast<std::size_t>(i)]);
  }
  return out;
}

/// Comparison, saturation, shift mode and second operation from the modifiers.
void read_mods(const Form& form, Plan& p) {
  constexpr Mod kCompares[] = {Mod::kEq, Mod::kNe, Mod::kLt, Mod::kLe, Mod::kGt, Mod::kGe};
  bool compares = false, mode = false;
  for (const Mod mod : form.mods()) {
    const auto* const compare = std::find(std::begin(kCompares), std::end(kCompares), mod);
    if (compare != std::end(kCompares)) {
      p.compare = static_cast<Compare>(compare - std::begin(kCompares));
      compares = true;
    } else if (mod == Mod::kSat) {
      p.sat = true;
    } else if (mod == Mod::kClamp || mod == Mod::kWrap) {
      p.wrap = mod == Mod::kWrap;
      mode = true;
    } else if (mod == Mod::kAdd || mod == Mod::kMin || mod == Mod::kMax) {
      p.second = mod == Mod::kAdd ? Second::kAdd : mod == Mod::kMin ? Second::kMin : Second::kMax;
    } else {
      form.fail("unexpected ." + std::string(ptx::name(mod)));
    }
  }
  if (compares != (p.op == Op::kSet)) form.fail("a comparison is missing or does not belong here");
  if (mode != (p.op == Op::kShl || p.op == Op::kShr))
    form.fail(".clamp or .wrap is missing or does not belong here");
}

void read_types(const Form& form, Plan& p) {
  const std::size_t first = p.op == Op::kSet ? 0 : 1;  // vset's result is unsigned
  for (std::size_t i = 0; i < first + 2; ++i)
    if (form.type(i) != Type::kU32 && form.type(i) != Type::kS32) form.fail("expected .u32 or .s32");
  p.signed_d = first == 1 && form.is_signed(0);
  p.signed_a = form.is_signed(first);
  p.signed_b = form.is_signed(first + 1);
}

LaneOp select_vmad(const Form& form) {
  constexpr ModBit kMods[] = {{Mod::kSat, 1}, {Mod::kPo, 2}, {Mod::kShr7, 4}, {Mod::kShr15, 8}};
  const unsigned flags = form.only(kMods);
  if (form.types() != 3 || (flags & 12) == 12) form.fail("no such vmad");
  const Operand &a = form.source(0), &b = form.source(1), &c = form.source(2);
  Mad m{form.is_signed(1),
        form.is_signed(2),
        a.negated != b.negated,
        c.negated,
        (flags & 2) != 0,
        (flags & 1) != 0,
        static_cast<u8>((flags & 4) != 0   ? 7
                        : (flags & 8) != 0 ? 15
                                           : 0),
        part_of(form, a.selector),
        part_of(form, b.selector)};
  if ((m.negate_product && m.negate_c) || (m.plus_one && (a.negated || b.negated || c.negated)))
    form.fail("no such negation");
  return form.use(rare_kernel<&vmad>, pack(m));
}

}  // namespace

LaneOp select_video(const Form& form) {
  if (form.opcode() == Opcode::kVmad) return select_vmad(form);
  const auto* const row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.op == form.opcode(); });
  Plan p;
  p.op = row->does;
  p.elements = row->elements;
  read_types(form, p);
  read_mods(form, p);
  const ptx::Selector &d = form.operands().front().selector, &a = form.source(0).selector,
                      &b = form.source(1).selector;
  if (p.elements == 1) {
    p.merge = d.unit != Unit::kNone;
    p.d = part_of(form, d);
    p.a = part_of(form, a);
    p.b = part_of(form, b);
    const bool three = p.merge || p.second != Second::kNone;
    if (p.merge && p.second != Second::kNone) form.fail("merges or has a second operation, not both");
    return form.use(three ? rare_kernel<&video_three> : rare_kernel<&video_two>, pack(p));
  }
  if (p.second == Second::kMin || p.second == Second::kMax || (p.sat && p.second == Second::kAdd))
    form.fail("no such second operation");
  p.select_a = list_of(form, a, p.elements, 0);
  p.select_b = list_of(form, b, p.elements, p.elements);
  p.mask = mask_of(form, d, p.elements);
  return form.use(rare_kernel<&video_three>, pack(p));
}

}  // namespace lockstep::exec::alu
