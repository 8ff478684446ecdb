#include "exec/alu_warpgroup.hpp"

#include "exec/alu_product.hpp"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

template <class Step>
LOCKSTEP_INLINE void add_all_products(const WarpgroupProduct& p, const WarpgroupOperands& o,
                                      const Values<float>& v, float (*sum)[kMaxWarpgroupColumns], Step step) {
  for (int m = 0; m < kWarpRows; ++m) add_products(p, o, v, m, sum[m], step);
}
LOCKSTEP_INLINE float fused(float a, float b, float c) { return std::fma(a, b, c); }

template <class BitsOf>
LOCKSTEP_INLINE void to_bits(const float (*sum)[kMaxWarpgroupColumns], int columns,
                             u32 (*to)[kMaxWarpgroupColumns], BitsOf bits_of) {
  for (int m = 0; m < kWarpRows; ++m)
    for (int n = 0; n < columns; ++n) to[m][n] = bits_of(sum[m][n]);
}

/// `add(values, sum)`: sum += a b.
template <class Add>
LOCKSTEP_INLINE void float_body(const WarpgroupProduct& p, WarpgroupOperands& o, Add add) {
  Values<float> v;
  convert<Type::kF16, Type::kBf16, Type::kTf32, Type::kE4m3, Type::kE5m2>(p.a, o.a, kWarpRows,
                                                                          p.stored_depth(), p.negate_a, v.a);
  convert<Type::kF16, Type::kBf16, Type::kTf32, Type::kE4m3, Type::kE5m2>(p.b, o.b, p.depth(), p.shape.n,
                                                                          p.negate_b, v.b);
  float sum[kWarpRows][kMaxWarpgroupColumns];
  convert<Type::kF16, Type::kF32>(p.d, o.d, kWarpRows, p.shape.n, false, sum);
  add(v, sum);
  if (p.d == Type::kF16)
    to_bits(sum, p.shape.n, o.d, [](float x) { return u32{alu::round_to_half(x)}; });
  else
    to_bits(sum, p.shape.n, o.d, [](float x) { return std::bit_cast<u32>(alu::canonical(x)); });
}

void float_base(const WarpgroupProduct& p, WarpgroupOperands& o) {
  float_body(p, o, [&](const Values<float>& v, float(*sum)[kMaxWarpgroupColumns]) {
    add_all_products(p, o, v, sum, fused);
  });
}

#if defined(__x86_64__)
/// sum += a b for a tile of rows from m on and columns from n on, whose sums stay in registers. By
/// intrinsics, as compilers keep the tile in memory.
constexpr int kTileRows = 8, kTileColumns = 8;
LOCKSTEP_WIDE void add_tile(const Values<float>& v, int depth, int m, int n,
                            float (*sum)[kMaxWarpgroupColumns]) {
  __m256 tile[kTileRows];
  for (int i = 0; i < kTileRows; ++i) tile[i] = _mm256_loadu_ps(&sum[m + i][n]);
  for (int k = 0; k < depth; ++k) {
    const __m256 row = _mm256_loadu_ps(&v.b[k][n]);
    for (int i = 0; i < kTileRows; ++i)
      tile[i] = _mm256_fmadd_ps(_mm256_set1_ps(v.a[m + i][k]), row, tile[i]);
  }
  for (int i = 0; i < kTileRows; ++i) _mm256_storeu_ps(&sum[m + i][n], tile[i]);
}

LOCKSTEP_WIDE void float_wide(const WarpgroupProduct& p, WarpgroupOperands& o) {
  float_body(p, o, [&](const Values<float>& v, float(*sum)[kMaxWarpgroupColumns]) {
    if (p.sparse) return add_all_products(p, o, v, sum, fused);
    for (int m = 0; m < kWarpRows; m += kTileRows)
      for (int n = 0; n < p.shape.n; n += kTileColumns) add_tile(v, p.depth(), m, n, sum);
  });
}
#else
void float_wide(const WarpgroupProduct& p, WarpgroupOperands& o) { float_base(p, o); }
#endif

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
