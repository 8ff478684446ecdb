// Matrix products of a warp ("PTX ISA 9.0", 9.7.14): wmma.mma and mma.sync; movmatrix. Sums run over k in
// ascending order from c. Products of 16-bit, 8-bit and tf32 numbers are exact; each addition rounds to fp32,
// to nearest (PTX asks for at least single precision and leaves rounding and order open), a result in f16
// once more at the end. f64 sums are chains of fused multiply-adds. Integer sums are exact and wrap, or clamp
// with .satfinite.
#include <algorithm>
#include <cmath>

#include "exec/alu_families.hpp"
#include "exec/alu_float.hpp"
#include "exec/alu_form.hpp"
#include "exec/alu_fragment.hpp"

namespace lockstep::exec::alu {
namespace {

constexpr int kMaxRows = 32, kMaxColumns = 32, kMaxDepth = 64;

/// Operands of one product, as the constant of the instruction.
struct Product {
  ptx::Shape shape;
  Type a, b, c, d;
  bool wmma = false, saturate = false, exclusive = false;  // exclusive: b1 with .xor, otherwise .and

  [[nodiscard]] constexpr u64 packed() const {
    return u64{shape.m} | u64{shape.n} << 8 | u64{shape.k} << 16 | u64{static_cast<u8>(a)} << 28 |
           u64{static_cast<u8>(b)} << 36 | u64{static_cast<u8>(c)} << 44 | u64{static_cast<u8>(d)} << 52 |
           u64{wmma} << 60 | u64{saturate} << 61 | u64{exclusive} << 62;
  }
  static constexpr Product unpacked(u64 w) {
    const auto type = [w](int at) { return static_cast<Type>(w >> at & 0xff); };
    const ptx::Shape s{static_cast<u16>(w & 0xff), static_cast<u16>(w >> 8 & 0xff),
                       static_cast<u16>(w >> 16 & 0xfff)};
    return {s,        type(28),           type(36),           type(44),
            type(52), (w >> 60 & 1) != 0, (w >> 61 & 1) != 0, (w >> 62 & 1) != 0};
  }
  [[nodiscard]] std::optional<Fragment> fragment(MatrixRole role, Type type) const {
    return wmma ? wmma_fragment(role, shape, type) : mma_fragment(role, shape, type);
  }
};

template <int kMantissa>
float fp8_to_float(u32 bits) {
  const u32 magnitude = bits & 0x7f;
  if (kMantissa == 3 && magnitude == 0x7f) return std::bit_cast<float>(kNan32);
  const float value = kMantissa == 2 ? half_to_float(static_cast<u16>(magnitude << 8))
                                     : half_to_float(static_cast<u16>(magnitude << 7)) * 256.0f;
  return (bits & 0x80) != 0 ? -value : value;
}

/// One element from its bits. tf32 numbers are the upper 19 bits of their register.
template <Type kType>
auto element(u64 bits) {
  if constexpr (kType == Type::kF16) return half_to_float(static_cast<u16>(bits));
  if constexpr (kType == Type::kBf16) return bf16_to_float(static_cast<u16>(bits));
  if constexpr (kType == Type::kTf32) return std::bit_cast<float>(static_cast<u32>(bits & 0xffffe000));
  if constexpr (kType == Type::kE4m3) return fp8_to_float<3>(static_cast<u32>(bits));
  if constexpr (kType == Type::kE5m2) return fp8_to_float<2>(static_cast<u32>(bits));
  if constexpr (kType == Type::kF32) return std::bit_cast<float>(static_cast<u32>(bits));
  if constexpr (kType == Type::kF64) return std::bit_cast<double>(bits);
  if constexpr (kType == Type::kS8) return static_cast<s32>(static_cast<s8>(bits));
  if constexpr (kType == Type::kU8) return static_cast<s32>(static_cast<u8>(bits));
  if constexpr (kType == Type::kS4) return static_cast<s32>(static_cast<s8>(bits << 4) >> 4);
  if constexpr (kType == Type::kU4) return static_cast<s32>(bits & 15);
  if constexpr (kType == Type::kU16) return static_cast<u16>(bits);
  if constexpr (kType == Type::kS32) return static_cast<s32>(bits);
  if constexpr (kType == Type::kB1) return static_cast<u32>(bits);
}

/// Calls visit(row, column, lane) for element `number` of every lane. The map is linear in a lane's group and
/// its place in the group, so the steps are taken from three of its points.
template <class Visit>
LOCKSTEP_INLINE void each_place(const Fragment& f, int number, Visit visit) {
  const MatrixPlace origin = fragment_place(f, 0, number), next = fragment_place(f, 1, number),
                    below = fragment_place(f, 4, number);
  for (int group = 0; group < 8; ++group)
    for (int i = 0; i < 4; ++i)
      visit(origin.row + group * (below.row - origin.row) + i * (next.row - origin.row),
            origin.column + group * (below.column - origin.column) + i * (next.column - origin.column),
            4 * group + i);
}

template <Type kType, class T, int kWidth>
LOCKSTEP_INLINE void gather_as(const Fragment& f, const LaneSlots* const* src, T (*out)[kWidth]) {
  const int each = f.per_register();
  for (int reg = 0; reg < f.distinct(); ++reg)
    for (int i = 0; i < each; ++i)
      each_place(f, reg * each + i, [&](int row, int column, int lane) {
        out[row][column] = static_cast<T>(element<kType>(src[reg]->lane[lane] >> (i * f.bits)));
      });
}

/// Reads a fragment's registers into rows and columns; kTypes are those that the caller's form can have.
template <Type... kTypes, class T, int kWidth>
LOCKSTEP_INLINE void gather(const Fragment& f, Type type, const LaneSlots* const* src, T (*out)[kWidth]) {
  ((type == kTypes ? gather_as<kTypes>(f, src, out) : void()), ...);
}

/// Writes the accumulator's registers; `bits_of` gives the bits of an element.
template <class T, class BitsOf>
LOCKSTEP_INLINE void scatter(const Fragment& f, const T (*in)[kMaxColumns], LaneSlots* const* dst,
                             BitsOf bits_of) {
  const int each = f.per_register();
  for (int reg = 0; reg < f.registers; ++reg) {
    if (!dst[reg]) continue;
    u64 words[kLanes] = {};
    for (int i = 0; i < each; ++i)
      each_place(f, reg * each + i, [&](int row, int column, int lane) {
        words[lane] |= bits_of(in[row][column]) << (i * f.bits);
      });
    std::copy(std::begin(words), std::end(words), dst[reg]->lane);
  }
}

template <class T>
struct Operands {
  T a[kMaxRows][kMaxDepth];
  T b[kMaxDepth][kMaxColumns];
};

/// sum[m][n] += a[m][k] b[k][n], eight columns at a time.
template <class T, class Sum, class Step>
LOCKSTEP_INLINE void accumulate(const Product& p, int depth, const Operands<T>& in, Sum (*sum)[kMaxColumns],
                                Step step) {
  for (int m = 0; m < p.shape.m; ++m)
    for (int n = 0; n < p.shape.n; n += 8) {
      Sum row[8];
      for (int i = 0; i < 8; ++i) row[i] = sum[m][n + i];
      for (int k = 0; k < depth; ++k)
        for (int i = 0; i < 8; ++i) row[i] = step(in.a[m][k], in.b[k][n + i], row[i]);
      for (int i = 0; i < 8; ++i) sum[m][n + i] = row[i];
    }
}

/// Types that a form's operands can have.
template <Type... kTypes>
struct Types {
  template <class T, int kWidth>
  LOCKSTEP_INLINE static void read(const Fragment& f, Type type, const LaneSlots* const* src,
                                   T (*out)[kWidth]) {
    gather<kTypes...>(f, type, src, out);
  }
};

/// Reads a, b and c, and calls multiply(product, depth, operands, sum).
template <class Multiplicands, class Sums, class T, class Sum, class Multiply, class BitsOf>
LOCKSTEP_INLINE void run(const LaneArgs& args, const Product& p, Multiply multiply, BitsOf bits_of) {
  Fragment a = *p.fragment(MatrixRole::kA, p.a), b = *p.fragment(MatrixRole::kB, p.b);
  const Fragment c = *p.fragment(MatrixRole::kAccumulator, p.c),
                 d = *p.fragment(MatrixRole::kAccumulator, p.d);
  const LaneSlots* const* const src = args.src;
  const int first_b = a.registers, first_c = a.registers + b.registers;
  int depth = p.shape.k;
  if (p.a == Type::kB1) {  // words of 32 bits
    depth /= 32;
    a.columns = b.rows = depth;
    a.bits = b.bits = 32;
  }
  Operands<T> in;
  Sum sum[kMaxRows][kMaxColumns];
  Multiplicands::read(a, p.a, src, in.a);
  Multiplicands::read(b, p.b, src + first_b, in.b);
  Sums::read(c, p.c, src + first_c, sum);
  multiply(depth, in, sum);
  scatter(d, sum, args.dst, bits_of);
}

LOCKSTEP_INLINE void float_body(const LaneArgs& args, u64 immediate) {
  const Product p = Product::unpacked(immediate);
  const auto multiply = [&](int depth, const Operands<float>& in, float(*sum)[kMaxColumns])
      __attribute__((always_inline)) {
    accumulate(
        p, depth, in, sum,
        [](float a, float b, float c) __attribute__((always_inline)) { return std::fma(a, b, c); });
  };
  const bool half = p.d == Type::kF16;
  run<Types<Type::kF16, Type::kBf16, Type::kTf32, Type::kE4m3, Type::kE5m2>, Types<Type::kF16, Type::kF32>,
      float, float>(args, p, multiply, [half](float x) -> u64 {
    return half ? round_to_16<10, 15>(x) : std::bit_cast<u32>(canonical(x));
  });
}
void float_base(const LaneArgs& args, u64 immediate) { float_body(args, immediate); }
LOCKSTEP_WIDE void float_wide(const LaneArgs& args, u64 immediate) { float_body(args, immediate); }

void double_product(const LaneArgs& args, u64 immediate) {
  const Product p = Product::unpacked(immediate);
  const auto multiply = [&](int depth, const Operands<double>& in, double(*sum)[kMaxColumns]) {
    accumulate(p, depth, in, sum,
               [](double a, double b, double c) { return with_payload(std::fma(a, b, c), a, b, c); });
  };
  run<Types<Type::kF64>, Types<Type::kF64>, double, double>(args, p, multiply,
                                                            [](double x) { return std::bit_cast<u64>(x); });
}

void integer_product(const LaneArgs& args, u64 immediate) {
  const Product p = Product::unpacked(immediate);
  const auto multiply = [&](int depth, const Operands<s32>& in, s64(*sum)[kMaxColumns]) {
    accumulate(p, depth, in, sum, [](s32 a, s32 b, s64 c) { return c + s64{a} * b; });
  };
  run<Types<Type::kS8, Type::kU8, Type::kS4, Type::kU4>, Types<Type::kS32>, s32, s64>(
      args, p, multiply, [&](s64 x) -> u64 {
        return static_cast<u32>(p.saturate ? std::clamp<s64>(x, INT32_MIN, INT32_MAX) : x);
      });
}

void bit_product(const LaneArgs& args, u64 immediate) {
  const Product p = Product::unpacked(immediate);
  const auto multiply = [&](int depth, const Operands<u32>& in, s64(*sum)[kMaxColumns]) {
    accumulate(p, depth, in, sum,
               [&](u32 a, u32 b, s64 c) { return c + std::popcount(p.exclusive ? a ^ b : a & b); });
  };
  run<Types<Type::kB1>, Types<Type::kS32>, u32, s64>(args, p, multiply,
                                                     [](s64 x) -> u64 { return static_cast<u32>(x); });
}

void movmatrix(const LaneArgs& args, u64) {
  u16 matrix[8][8];
  gather<Type::kU16>(kLdmatrix, Type::kU16, args.src, matrix);
  if (!args.dst[0]) return;
  for (int lane = 0; lane < kLanes; ++lane) {
    const MatrixPlace low = fragment_place(kLdmatrix, lane, 0), high = fragment_place(kLdmatrix, lane, 1);
    args.dst[0]->lane[lane] = u64{matrix[low.column][low.row]} | u64{matrix[high.column][high.row]} << 16;
  }
}

struct Row {
  Type a, b;     // allowed pairs of multiplicands
  Type sums[2];  // allowed types of c and d
  bool mixed;    // c and d may differ
  LaneFn base, wide;
};
constexpr Row kRows[] = {
    {Type::kF16, Type::kF16, {Type::kF16, Type::kF32}, true, &float_base, &float_wide},
    {Type::kBf16, Type::kBf16, {Type::kF32, Type::kF32}, false, &float_base, &float_wide},
    {Type::kTf32, Type::kTf32, {Type::kF32, Type::kF32}, false, &float_base, &float_wide},
    {Type::kE4m3, Type::kE4m3, {Type::kF16, Type::kF32}, false, &float_base, &float_wide},
    {Type::kE4m3, Type::kE5m2, {Type::kF16, Type::kF32}, false, &float_base, &float_wide},
    {Type::kE5m2, Type::kE4m3, {Type::kF16, Type::kF32}, false, &float_base, &float_wide},
    {Type::kE5m2, Type::kE5m2, {Type::kF16, Type::kF32}, false, &float_base, &float_wide},
    {Type::kF64, Type::kF64, {Type::kF64, Type::kF64}, false, &double_product, &double_product},
    {Type::kS8, Type::kS8, {Type::kS32, Type::kS32}, false, &integer_product, &integer_product},
    {Type::kS8, Type::kU8, {Type::kS32, Type::kS32}, false, &integer_product, &integer_product},
    {Type::kU8, Type::kS8, {Type::kS32, Type::kS32}, false, &integer_product, &integer_product},
    {Type::kU8, Type::kU8, {Type::kS32, Type::kS32}, false, &integer_product, &integer_product},
    {Type::kS4, Type::kS4, {Type::kS32, Type::kS32}, false, &integer_product, &integer_product},
    {Type::kS4, Type::kU4, {Type::kS32, Type::kS32}, false, &integer_product, &integer_product},
    {Type::kU4, Type::kS4, {Type::kS32, Type::kS32}, false, &integer_product, &integer_product},
    {Type::kU4, Type::kU4, {Type::kS32, Type::kS32}, false, &integer_product, &integer_product},
    {Type::kB1, Type::kB1, {Type::kS32, Type::kS32}, false, &bit_product, &bit_product},
};

enum Flag : unsigned {
  kSync = 1,
  kAligned = 2,
  kRow = 4,
  kCol = 8,
  kSatfinite = 16,
  kXor = 32,
  kAnd = 64,
  kPopc = 128,
  kMmaWord = 256,
  kRn = 512
};
constexpr ModBit kMods[] = {{Mod::kSync, kSync}, {Mod::kAligned, kAligned},     {Mod::kRow, kRow},
                            {Mod::kCol, kCol},   {Mod::kSatfinite, kSatfinite}, {Mod::kXor, kXor},
                            {Mod::kAnd, kAnd},   {Mod::kPopc, kPopc},           {Mod::kMma, kMmaWord},
                            {Mod::kRn, kRn}};

/// d, a, b, c; wmma of f16 names d and c only.
Product read_types(const Form& form, bool wmma) {
  Product p;
  p.shape = form.shape();
  p.wmma = wmma;
  p.d = form.type(0);
  const bool brief = wmma && form.types() == 2;
  p.a = brief ? Type::kF16 : form.type(1);
  p.b = brief ? Type::kF16 : form.type(2);
  p.c = brief ? form.type(1) : form.type(3);
  return p;
}

LaneOp select_product(const Form& form, bool wmma) {
  const unsigned flags = form.only(kMods);
  Product p = read_types(form, wmma);
  p.saturate = (flags & kSatfinite) != 0;
  p.exclusive = (flags & kXor) != 0;
  if (!wmma && (flags & (kRow | kCol)) != (kRow | kCol)) form.fail("expected .row.col");
  for (const Row& row : kRows) {
    if (row.a != p.a || row.b != p.b) continue;
    const auto allowed = [&](Type t) { return t == row.sums[0] || t == row.sums[1]; };
    if (!allowed(p.c) || !allowed(p.d) || (!row.mixed && p.c != p.d)) form.fail("no such types of c and d");
    if (p.a == Type::kB1 && std::popcount(flags & (kXor | kAnd)) != 1) form.fail("expected .xor or .and");
    const auto a = p.fragment(MatrixRole::kA, p.a), b = p.fragment(MatrixRole::kB, p.b);
    const auto c = p.fragment(MatrixRole::kAccumulator, p.c), d = p.fragment(MatrixRole::kAccumulator, p.d);
    if (!a || !b || !c || !d) form.fail("no such shape for these types");
    return form.use({row.base, row.wide, d->registers, a->registers + b->registers + c->registers},
                    p.packed());
  }
  form.fail("no such types of a and b");
}

}  // namespace

LaneOp select_matrix(const Form& form) {
  if (form.opcode() == Opcode::kMovmatrix) {
    constexpr ModBit kAll[] = {{Mod::kSync, 1}, {Mod::kAligned, 2}, {Mod::kTrans, 4}};
    if (form.only(kAll) != 7 || form.type() != Type::kB16) form.fail("no such movmatrix");
    return form.use({&movmatrix, &movmatrix, 1, 1});
  }
  return select_product(form, form.opcode() == Opcode::kWmma);
}

}  // namespace lockstep::exec::alu
