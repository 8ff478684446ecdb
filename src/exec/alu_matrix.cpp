// Matrix products of a warp ("PTX ISA 9.0", 9.7.14): wmma.mma and mma.sync, mma.sp; movmatrix. Sums run over
// k in ascending order from c. Products of 16-bit, 8-bit and tf32 numbers are exact; each addition rounds to
// fp32, to nearest (PTX asks for at least single precision and leaves rounding and order open), a result in
// f16 once more at the end. f64 sums are chains of fused multiply-adds. Integer sums are exact and wrap, or
// clamp with .satfinite.
#include "exec/alu_families.hpp"
#include "exec/alu_product.hpp"

namespace lockstep::exec::alu {
namespace {

/// Bits of all lanes' elements, from what gives those of one.
template <class BitsOfOne>
struct Each {
  BitsOfOne bits_of;
  template <class T>
  LOCKSTEP_INLINE void operator()(const T* values, u64* bits) const {
    for (int lane = 0; lane < kLanes; ++lane) bits[lane] = bits_of(values[lane]);
  }
};
template <class BitsOfOne>
Each(BitsOfOne) -> Each<BitsOfOne>;  // clang 14 has no such guides of aggregates of its own

LOCKSTEP_INLINE void float_body(const LaneArgs& args, u64 immediate) {
  const Product p = Product::unpacked(immediate);
  const auto multiply = [&](int depth, const Operands<float>& in, float(*sum)[kMaxColumns])
      __attribute__((always_inline)) {
    accumulate(
        p, depth, in, sum,
        [](float a, float b, float c) __attribute__((always_inline)) { return std::fma(a, b, c); });
  };
  const bool half = p.d == Type::kF16;
  const auto bits_of = [half](const float* values, u64* bits) __attribute__((always_inline)) {
    if (half)
      for (int lane = 0; lane < kLanes; ++lane) bits[lane] = round_to_16<10, 15>(values[lane]);
    else
      for (int lane = 0; lane < kLanes; ++lane) bits[lane] = std::bit_cast<u32>(canonical(values[lane]));
  };
  run<Types<Type::kF16, Type::kBf16, Type::kTf32, Type::kE4m3, Type::kE5m2>, Types<Type::kF16, Type::kF32>,
      float, float>(args, p, multiply, bits_of);
}
void float_base(const LaneArgs& args, u64 immediate) { float_body(args, immediate); }
LOCKSTEP_WIDE void float_wide(const LaneArgs& args, u64 immediate) { float_body(args, immediate); }

void double_product(const LaneArgs& args, u64 immediate) {
  const Product p = Product::unpacked(immediate);
  const auto multiply = [&](int depth, const Operands<double>& in, double(*sum)[kMaxColumns]) {
    accumulate(p, depth, in, sum,
               [](double a, double b, double c) { return with_payload(std::fma(a, b, c), a, b, c); });
  };
  run<Types<Type::kF64>, Types<Type::kF64>, double, double>(
      args, p, multiply, Each{[](double x) { return std::bit_cast<u64>(x); }});
}

void integer_product(const LaneArgs& args, u64 immediate) {
  const Product p = Product::unpacked(immediate);
  const auto multiply = [&](int depth, const Operands<s32>& in, s64(*sum)[kMaxColumns]) {
    accumulate(p, depth, in, sum, [](s32 a, s32 b, s64 c) { return c + s64{a} * b; });
  };
  run<Types<Type::kS8, Type::kU8, Type::kS4, Type::kU4>, Types<Type::kS32>, s32, s64>(
      args, p, multiply, Each{[&](s64 x) -> u64 {
        return static_cast<u32>(p.saturate ? std::clamp<s64>(x, INT32_MIN, INT32_MAX) : x);
      }});
}

void bit_product(const LaneArgs& args, u64 immediate) {
  const Product p = Product::unpacked(immediate);
  const auto multiply = [&](int depth, const Operands<u32>& in, s64(*sum)[kMaxColumns]) {
    accumulate(p, depth, in, sum,
               [&](u32 a, u32 b, s64 c) { return c + std::popcount(p.exclusive ? a ^ b : a & b); });
  };
  run<Types<Type::kB1>, Types<Type::kS32>, u32, s64>(args, p, multiply,
                                                     Each{[](s64 x) -> u64 { return static_cast<u32>(x); }});
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
  kRn = 512,
  kSparse = 1024
};
constexpr ModBit kMods[] = {
    {Mod::kSync, kSync}, {Mod::kAligned, kAligned},     {Mod::kRow, kRow},
    {Mod::kCol, kCol},   {Mod::kSatfinite, kSatfinite}, {Mod::kXor, kXor},
    {Mod::kAnd, kAnd},   {Mod::kPopc, kPopc},           {Mod::kMma, kMmaWord},
    {Mod::kRn, kRn},     {Mod::kSp, kSparse},           {Mod::kSpOrderedMetadata, kSparse}};

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
  p.sparse = (flags & kSparse) != 0;
  if (!wmma && (flags & (kRow | kCol)) != (kRow | kCol)) form.fail("expected .row.col");
  for (const Row& row : kRows) {
    if (row.a != p.a || row.b != p.b) continue;
    const auto allowed = [&](Type t) { return t == row.sums[0] || t == row.sums[1]; };
    if (!allowed(p.c) || !allowed(p.d) || (!row.mixed && p.c != p.d)) form.fail("no such types of c and d");
    if (p.a == Type::kB1 && std::popcount(flags & (kXor | kAnd)) != 1) form.fail("expected .xor or .and");
    const auto a = p.fragment(MatrixRole::kA, p.a), b = p.fragment(MatrixRole::kB, p.b);
    const auto c = p.fragment(MatrixRole::kAccumulator, p.c), d = p.fragment(MatrixRole::kAccumulator, p.d);
    if (!a || !b || !c || !d) form.fail("no such shape for these types");
    const int sources = a->registers + b->registers + c->registers;
    if (!p.sparse) return form.use({row.base, row.wide, d->registers, sources}, p.packed());
    const u64 selector = form.constant(static_cast<std::size_t>(sources) + 1);
    if (selector >= sparse_selectors({p.a, p.shape.k, 0})) form.fail("no such sparsity selector");
    p.selector = static_cast<u8>(selector);
    return form.use({row.base, row.wide, d->registers, sources + 1}, p.packed(), 1);
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
  if (form.opcode() == Opcode::kMma && form.shape() == ptx::Shape{8, 8, 4} && form.type(1) == Type::kF16)
    return select_quad_pairs(form);
  return select_product(form, form.opcode() == Opcode::kWmma);
}

}  // namespace lockstep::exec::alu
