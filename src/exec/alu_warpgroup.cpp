#include "exec/alu_warpgroup.hpp"

#include "exec/alu_product.hpp"

namespace lockstep::exec {
namespace {

using alu::element;
using alu::s32;
using alu::s64;
using alu::u32;
using alu::u64;
using ptx::Type;

template <Type kType, class T, std::size_t kWidth>
LOCKSTEP_INLINE void convert_as(const u32 (*from)[kWidth], int rows, int columns, bool negate,
                                T (*to)[kWidth]) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const auto value = static_cast<T>(element<kType>(from[r][c]));
      to[r][c] = negate ? -value : value;
    }
}

template <Type... kTypes, class T, std::size_t kWidth>
LOCKSTEP_INLINE void convert(Type type, const u32 (*from)[kWidth], int rows, int columns, bool negate,
                             T (*to)[kWidth]) {
  ((type == kTypes ? convert_as<kTypes>(from, rows, columns, negate, to) : void()), ...);
}

template <class T>
struct Values {
  T a[kWarpRows][kMaxWarpgroupDepth];
  T b[kMaxWarpgroupDepth][kMaxWarpgroupColumns];
};

/// One row of the result: `sum` and `step` as in mma.
template <class T, class Sum, class Step>
LOCKSTEP_INLINE void add_products(const WarpgroupProduct& p, const WarpgroupOperands& o, const Values<T>& v,
                                  int m, Sum* sum, Step step) {
  for (int k = 0; k < p.stored_depth(); ++k) {
    const T x = v.a[m][k];
    const T* const row = v.b[p.sparse ? o.at.row[m][k] : k];
    for (int n = 0; n < p.shape.n; ++n) sum[n] = step(x, row[n], sum[n]);
  }
}

LOCKSTEP_INLINE void float_body(const WarpgroupProduct& p, WarpgroupOperands& o) {
  Values<float> v;
  convert<Type::kF16, Type::kBf16, Type::kTf32, Type::kE4m3, Type::kE5m2>(p.a, o.a, kWarpRows,
                                                                          p.stored_depth(), p.negate_a, v.a);
  convert<Type::kF16, Type::kBf16, Type::kTf32, Type::kE4m3, Type::kE5m2>(p.b, o.b, p.depth(), p.shape.n,
                                                                          p.negate_b, v.b);
  const bool half = p.d == Type::kF16;
  for (int m = 0; m < kWarpRows; ++m) {
    float sum[kMaxWarpgroupColumns];
    for (int n = 0; n < p.shape.n; ++n)
      sum[n] = half ? element<Type::kF16>(o.d[m][n]) : element<Type::kF32>(o.d[m][n]);
    add_products(
        p, o, v, m, sum,
        [](float a, float b, float c) __attribute__((always_inline)) { return std::fma(a, b, c); });
    for (int n = 0; n < p.shape.n; ++n)
      o.d[m][n] = half ? alu::round_to_16<10, 15>(sum[n]) : std::bit_cast<u32>(alu::canonical(sum[n]));
  }
}
void float_base(const WarpgroupProduct& p, WarpgroupOperands& o) { float_body(p, o); }
LOCKSTEP_WIDE void float_wide(const WarpgroupProduct& p, WarpgroupOperands& o) { float_body(p, o); }

template <class T, class Step>
void integer_rows(const WarpgroupProduct& p, WarpgroupOperands& o, const Values<T>& v, Step step) {
  for (int m = 0; m < kWarpRows; ++m) {
    s64 sum[kMaxWarpgroupColumns];
    for (int n = 0; n < p.shape.n; ++n) sum[n] = static_cast<s32>(o.d[m][n]);
    add_products(p, o, v, m, sum, step);
    for (int n = 0; n < p.shape.n; ++n)
      o.d[m][n] = static_cast<u32>(p.saturate ? std::clamp<s64>(sum[n], INT32_MIN, INT32_MAX) : sum[n]);
  }
}

void integer_product(const WarpgroupProduct& p, WarpgroupOperands& o) {
  Values<s32> v;
  convert<Type::kS8, Type::kU8>(p.a, o.a, kWarpRows, p.stored_depth(), false, v.a);
  convert<Type::kS8, Type::kU8>(p.b, o.b, p.depth(), p.shape.n, false, v.b);
  integer_rows(p, o, v, [](s32 a, s32 b, s64 c) { return c + s64{a} * b; });
}

void bit_product(const WarpgroupProduct& p, WarpgroupOperands& o) {
  Values<u32> v;
  convert<Type::kB1>(p.a, o.a, kWarpRows, p.depth(), false, v.a);
  convert<Type::kB1>(p.b, o.b, p.depth(), p.shape.n, false, v.b);
  integer_rows(p, o, v, [](u32 a, u32 b, s64 c) { return c + std::popcount(a & b); });
}

bool is_byte_float(Type t) { return t == Type::kE4m3 || t == Type::kE5m2; }
bool is_byte_integer(Type t) { return t == Type::kS8 || t == Type::kU8; }

}  // namespace

void warpgroup_product(const WarpgroupProduct& p, WarpgroupOperands& operands) {
  if (p.a == Type::kB1) return bit_product(p, operands);
  if (is_byte_integer(p.a)) return integer_product(p, operands);
  return alu::has_wide_lanes() ? float_wide(p, operands) : float_base(p, operands);
}

bool is_warpgroup_product(const WarpgroupProduct& p) {
  const int k = p.sparse ? p.shape.k / 2 : p.shape.k;
  if (p.shape.m != 64 || p.shape.n == 0 || p.shape.n % 8 != 0 || p.shape.n > kMaxWarpgroupColumns)
    return false;
  const bool f32 = p.d == Type::kF32, f16 = p.d == Type::kF16;
  if (p.a == Type::kF16) return p.b == p.a && k == 16 && (f32 || f16);
  if (p.a == Type::kBf16) return p.b == p.a && k == 16 && f32;
  if (p.a == Type::kTf32) return p.b == p.a && k == 8 && f32;
  if (is_byte_float(p.a)) return is_byte_float(p.b) && k == 32 && (f32 || f16);
  if (is_byte_integer(p.a)) return is_byte_integer(p.b) && k == 32 && p.d == Type::kS32;
  return p.a == Type::kB1 && p.b == p.a && k == 256 && !p.sparse && p.d == Type::kS32;
}

}  // namespace lockstep::exec
