// Comparison and selection ("PTX ISA 9.0", 9.7.6 and 9.7.7): set setp selp slct.
#include <optional>

#include "exec/alu_families.hpp"
#include "exec/alu_float.hpp"
#include "exec/alu_form.hpp"

namespace lockstep::exec::alu {
namespace {

enum class Compare { kEq, kNe, kLt, kLe, kGt, kGe, kEqu, kNeu, kLtu, kLeu, kGtu, kGeu, kNum, kNan };
constexpr int kComparisons = 14;

template <class T>
constexpr auto number(T x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return x;
  } else {
    return x.value;
  }
}
template <class T>
constexpr bool unordered(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return is_nan(number(a)) || is_nan(number(b));
  }
}

template <Compare kOp, class T>
constexpr bool compare(T a, T b) {
  const auto x = number(a);
  const auto y = number(b);
  switch (kOp) {
    case Compare::kEq:
      return x == y;
    case Compare::kNe:
      return x != y && !unordered(a, b);
    case Compare::kLt:
      return x < y;
    case Compare::kLe:
      return x <= y;
    case Compare::kGt:
      return x > y;
    case Compare::kGe:
      return x >= y;
    case Compare::kEqu:
      return x == y || unordered(a, b);
    case Compare::kNeu:
      return !(x == y);
    case Compare::kLtu:
      return !(x >= y);
    case Compare::kLeu:
      return !(x > y);
    case Compare::kGtu:
      return !(x <= y);
    case Compare::kGeu:
      return !(x < y);
    case Compare::kNum:
      return !unordered(a, b);
    case Compare::kNan:
      return unordered(a, b);
  }
  return false;
}

// The instruction's constant: what to do with the comparison's outcome.
constexpr u64 kAnd = 1, kOr = 2, kXor = 3, kBool = 3;  // 0: no third operand
constexpr u64 kNegated = 4;                            // !c

constexpr bool combine(bool t, bool c, u64 how) {
  c = c != ((how & kNegated) != 0);
  return (how & kBool) == kAnd ? t && c : (how & kBool) == kOr ? t || c : t != c;
}

template <Compare kOp, class T>
struct Setp {
  static constexpr bool plain(T a, T b) { return compare<kOp>(a, b); }
  static constexpr Two<bool, bool> both(T a, T b) { return {compare<kOp>(a, b), !compare<kOp>(a, b)}; }
  static constexpr Two<bool, bool> combined(T a, T b, bool c, Imm imm) {
    const bool t = compare<kOp>(a, b);
    return {combine(t, c, imm.bits), combine(!t, c, imm.bits)};
  }
};
/// p for the lower and q for the upper element of two packs.
template <Compare kOp, class T>
struct PackedSetp {
  static constexpr Two<bool, bool> both(u32 a, u32 b) {
    return {compare<kOp>(from_bits<T>(a), from_bits<T>(b)),
            compare<kOp>(from_bits<T>(a >> 16), from_bits<T>(b >> 16))};
  }
  static constexpr Two<bool, bool> combined(u32 a, u32 b, bool c, Imm imm) {
    const auto [low, high] = both(a, b);
    return {combine(low, c, imm.bits), combine(high, c, imm.bits)};
  }
};
/// The constant's upper 32 bits are what true gives.
template <Compare kOp, class T>
struct Set {
  static constexpr u32 plain(T a, T b, Imm imm) {
    return compare<kOp>(a, b) ? static_cast<u32>(imm.bits >> 32) : 0;
  }
  static constexpr u32 combined(T a, T b, bool c, Imm imm) {
    return combine(compare<kOp>(a, b), c, imm.bits) ? static_cast<u32>(imm.bits >> 32) : 0;
  }
};
template <Compare kOp, class T>
struct PackedSet {
  static constexpr u32 value(bool low, bool high, u64 bits) {
    const u32 yes = static_cast<u32>(bits >> 32);
    return (low ? yes & 0xffff : 0) | (high ? yes & 0xffff0000 : 0);
  }
  static constexpr u32 plain(u32 a, u32 b, Imm imm) {
    const auto [low, high] = PackedSetp<kOp, T>::both(a, b);
    return value(low, high, imm.bits);
  }
  static constexpr u32 combined(u32 a, u32 b, bool c, Imm imm) {
    const auto [low, high] = PackedSetp<kOp, T>::combined(a, b, c, imm);
    return value(low, high, imm.bits);
  }
};

struct Comparison {
  Kernel setp = {}, setp_both = {}, setp_combined = {}, set = {}, set_combined = {};
};
template <Compare kOp, class T>
constexpr Comparison scalar() {
  return {kernel<&Setp<kOp, T>::plain>, kernel<&Setp<kOp, T>::both>, kernel<&Setp<kOp, T>::combined>,
          rare_kernel<&Set<kOp, T>::plain>, rare_kernel<&Set<kOp, T>::combined>};
}
template <Compare kOp, class T>
constexpr Comparison packed() {
  return {kernel<&PackedSetp<kOp, T>::both>, kernel<&PackedSetp<kOp, T>::both>,
          kernel<&PackedSetp<kOp, T>::combined>, rare_kernel<&PackedSet<kOp, T>::plain>,
          rare_kernel<&PackedSet<kOp, T>::combined>};
}

/// Of 32 bits, as 64: signed numbers in the upper half, others with zeros there.
template <Compare kOp, class T>
constexpr bool compare_low32(Low32 a, Low32 b) {
  if constexpr (std::is_signed_v<T>)
    return compare<kOp>(static_cast<s64>(a.bits << 32), static_cast<s64>(b.bits << 32));
  else
    return compare<kOp>(static_cast<s64>(a.bits & 0xffffffffu), static_cast<s64>(b.bits & 0xffffffffu));
}
template <Compare kOp, class T>
constexpr Comparison whole_number() {
  Comparison kernels = scalar<kOp, T>();
  if constexpr (sizeof(T) == sizeof(u32)) kernels.setp = kernel<&compare_low32<kOp, T>>;
  return kernels;
}

using Comparisons = std::array<Comparison, kComparisons>;
template <class T>
constexpr Comparisons integers() {
  return {whole_number<Compare::kEq, T>(), whole_number<Compare::kNe, T>(), whole_number<Compare::kLt, T>(),
          whole_number<Compare::kLe, T>(), whole_number<Compare::kGt, T>(), whole_number<Compare::kGe, T>()};
}
template <class T, std::size_t... I>
constexpr Comparisons floats(std::index_sequence<I...>) {
  return {scalar<static_cast<Compare>(I), T>()...};
}
template <class T, std::size_t... I>
constexpr Comparisons packs(std::index_sequence<I...>) {
  return {packed<static_cast<Compare>(I), T>()...};
}
constexpr std::make_index_sequence<kComparisons> kEach{};

struct Row {
  Type type;
  bool ftz;
  Comparisons kernels;
};
constexpr Row kRows[] = {
    {Type::kU16, false, integers<u16>()},       {Type::kS16, false, integers<s16>()},
    {Type::kU32, false, integers<u32>()},       {Type::kS32, false, integers<s32>()},
    {Type::kU64, false, integers<u64>()},       {Type::kS64, false, integers<s64>()},
    {Type::kB16, false, integers<u16>()},       {Type::kB32, false, integers<u32>()},
    {Type::kB64, false, integers<u64>()},       {Type::kF32, false, floats<F32>(kEach)},
    {Type::kF32, true, floats<F32Ftz>(kEach)},  {Type::kF64, false, floats<F64>(kEach)},
    {Type::kF16, false, floats<F16>(kEach)},    {Type::kF16, true, floats<F16Ftz>(kEach)},
    {Type::kBf16, false, floats<Bf16>(kEach)},  {Type::kF16x2, false, packs<F16>(kEach)},
    {Type::kF16x2, true, packs<F16Ftz>(kEach)}, {Type::kBf16x2, false, packs<Bf16>(kEach)},
};

struct Name {
  Mod mod;
  Compare op;
};
constexpr Name kNames[] = {
    {Mod::kEq, Compare::kEq},   {Mod::kNe, Compare::kNe},   {Mod::kLt, Compare::kLt},
    {Mod::kLe, Compare::kLe},   {Mod::kGt, Compare::kGt},   {Mod::kGe, Compare::kGe},
    {Mod::kLo, Compare::kLt},   {Mod::kLs, Compare::kLe},   {Mod::kHi, Compare::kGt},
    {Mod::kHs, Compare::kGe},   {Mod::kEqu, Compare::kEqu}, {Mod::kNeu, Compare::kNeu},
    {Mod::kLtu, Compare::kLtu}, {Mod::kLeu, Compare::kLeu}, {Mod::kGtu, Compare::kGtu},
    {Mod::kGeu, Compare::kGeu}, {Mod::kNum, Compare::kNum}, {Mod::kNan, Compare::kNan},
};

/// What a form of set or setp asks for.
struct Request {
  std::optional<Compare> op;
  u64 how = 0;
  bool ftz = false;
};
Request read_mods(const Form& form) {
  Request request;
  for (const Mod mod : form.mods()) {
    if (mod == Mod::kFtz) {
      request.ftz = true;
    } else if (!request.op) {
      for (const Name& name : kNames)
        if (name.mod == mod) request.op = name.op;
      if (!request.op) form.fail("expected a comparison");
    } else if (request.how == 0) {
      request.how = mod == Mod::kAnd ? kAnd : mod == Mod::kOr ? kOr : mod == Mod::kXor ? kXor : 0;
      if (request.how == 0) form.fail("expected .and, .or or .xor");
    } else {
      form.fail("unexpected ." + std::string(ptx::name(mod)));
    }
  }
  if (!request.op) form.fail("expected a comparison");
  if (request.how != 0 && form.source(2).negated) request.how |= kNegated;
  return request;
}

const Comparison& find(const Form& form, const Request& request, Type type) {
  const Comparison* any = nullptr;
  for (const Row& row : kRows)
    if (row.type == type && row.ftz == request.ftz) any = &row.kernels[static_cast<std::size_t>(*request.op)];
  const bool bits_only = type == Type::kB16 || type == Type::kB32 || type == Type::kB64;
  if (!any || !any->setp || (bits_only && *request.op > Compare::kNe))
    form.fail("no such comparison for this type");
  return *any;
}

LaneOp select_setp(const Form& form) {
  const Request request = read_mods(form);
  const Comparison& kernels = find(form, request, form.type());
  if (request.how != 0) return form.use(kernels.setp_combined, request.how);
  return form.use(form.destinations() == 2 ? kernels.setp_both : kernels.setp);
}

LaneOp select_set(const Form& form) {
  struct True {
    Type type;
    u64 value;
  };
  constexpr True kTrue[] = {
      {Type::kU32, 0xffffffff}, {Type::kS32, 0xffffffff},   {Type::kF32, 0x3f800000},
      {Type::kU16, 0xffff},     {Type::kS16, 0xffff},       {Type::kF16, 0x3c00},
      {Type::kBf16, 0x3f80},    {Type::kF16x2, 0x3c003c00}, {Type::kBf16x2, 0x3f803f80}};
  const Request request = read_mods(form);
  const Comparison& kernels = find(form, request, form.type(1));
  for (const True& yes : kTrue) {
    if (yes.type != form.type(0)) continue;
    const u64 how = request.how | yes.value << 32;
    return form.use(request.how != 0 ? kernels.set_combined : kernels.set, how);
  }
  form.fail("no such result type");
}

/// Without a branch, which would keep the loop over the lanes from becoming one over vectors.
constexpr u64 chosen(u64 a, u64 b, u64 p) {
  const u64 first = u64{0} - (p & 1);
  return (a & first) | (b & ~first);
}
constexpr u16 selp16(u16 a, u16 b, u64 p) { return static_cast<u16>(chosen(a, b, p)); }
constexpr Low32 selp32(Low32 a, Low32 b, u64 p) { return {chosen(a.bits, b.bits, p)}; }
template <class T, class C>
struct Slct {
  static constexpr T apply(T a, T b, C c) { return number(c) >= 0 ? a : b; }
};
template <class T>
using SlctS32 = Slct<T, s32>;
template <class T>
using SlctF32 = Slct<T, F32>;
template <class T>
using SlctFtz = Slct<T, F32Ftz>;

struct BySize {
  Kernel b16, b32, b64;
};
constexpr BySize kSelp{kernel<&selp16>, kernel<&selp32>, kernel<&chosen>};
template <template <class> class Op>
constexpr BySize by_size{kernel<&Op<u16>::apply>, kernel<&Op<u32>::apply>, kernel<&Op<u64>::apply>};

const Kernel& of_size(const Form& form, const BySize& kernels) {
  const unsigned bits = ptx::bits(form.type());
  if (bits != 16 && bits != 32 && bits != 64) form.fail("no such type");
  return bits == 16 ? kernels.b16 : bits == 32 ? kernels.b32 : kernels.b64;
}

LaneOp select_slct(const Form& form) {
  constexpr ModBit kFtz[] = {{Mod::kFtz, 1}};
  const bool ftz = form.only(kFtz) != 0;
  const Type by = form.type(1);
  if (by != Type::kF32 && (by != Type::kS32 || ftz)) form.fail("selects by .s32 or .f32");
  return form.use(of_size(form, by == Type::kS32 ? by_size<SlctS32>
                                : ftz            ? by_size<SlctFtz>
                                                 : by_size<SlctF32>));
}

}  // namespace

LaneOp select_compare(const Form& form) {
  switch (form.opcode()) {
    case Opcode::kSetp:
      return select_setp(form);
    case Opcode::kSet:
      return select_set(form);
    case Opcode::kSlct:
      return select_slct(form);
    default:
      form.no_mods();
      return form.use(of_size(form, kSelp));
  }
}

}  // namespace lockstep::exec::alu
