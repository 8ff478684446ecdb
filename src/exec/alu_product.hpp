// Parts of matrix products: which operands an instruction has, elements from bits, fragments to and from rows
// and columns, the sum over k. Internal to src/exec.
#pragma once

#include <algorithm>
#include <cmath>

#include "exec/alu_float.hpp"
#include "exec/alu_form.hpp"
#include "exec/alu_fragment.hpp"
#include "exec/alu_sparse.hpp"

namespace lockstep::exec::alu {

inline constexpr int kMaxRows = 32, kMaxColumns = 32, kMaxDepth = 128;

/// Operands of one product, as the constant of the instruction.
struct Product {
  ptx::Shape shape;
  Type a, b, c, d;
  bool wmma = false, saturate = false, exclusive = false;  // exclusive: b1 with .xor, otherwise .and
  bool sparse = false;                                     // mma.sp
  u8 selector = 0;                                         // of the lanes with the metadata

  [[nodiscard]] constexpr u64 packed() const {
    const auto type = [](Type t, int at) { return u64{static_cast<u8>(t)} << at; };
    return u64{shape.m} | u64{shape.n} << 8 | u64{shape.k} << 16 | type(a, 28) | type(b, 35) | type(c, 42) |
           type(d, 49) | u64{wmma} << 56 | u64{saturate} << 57 | u64{exclusive} << 58 | u64{sparse} << 59 |
           u64{selector} << 60;
  }
  static constexpr Product unpacked(u64 w) {
    const auto type = [w](int at) { return static_cast<Type>(w >> at & 0x7f); };
    const auto flag = [w](int at) { return (w >> at & 1) != 0; };
    const ptx::Shape s{static_cast<u16>(w & 0xff), static_cast<u16>(w >> 8 & 0xff),
                       static_cast<u16>(w >> 16 & 0xfff)};
    return {s,        type(28), type(35), type(42), type(49),
            flag(56), flag(57), flag(58), flag(59), static_cast<u8>(w >> 60 & 3)};
  }
  [[nodiscard]] std::optional<Fragment> fragment(MatrixRole role, Type type) const {
    if (sparse) return sparse_fragment(role, shape, type);
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
template <Type kType, class Word>
auto element(Word bits) {
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

/// Where elements lie in rows of kWidth. The map is linear in a lane's group and its place in the group, with
/// the same steps for every element.
template <int kWidth>
struct Layout {
  explicit Layout(const Fragment& f) : fragment(f), origin(of(0, 0)) {
    step = of(1, 0) - origin;
    group_step = of(4, 0) - origin;
  }
  [[nodiscard]] int of(int lane, int number) const {
    const MatrixPlace at = fragment_place(fragment, lane, number);
    return at.row * kWidth + at.column;
  }
  /// Calls visit(place, lane) for element `number` of every lane.
  template <class Visit>
  LOCKSTEP_INLINE void each(int number, Visit visit) const {
    const int first = of(0, number);
    for (int group = 0; group < 8; ++group)
      for (int i = 0; i < 4; ++i) visit(first + group * group_step + i * step, 4 * group + i);
  }
  const Fragment& fragment;
  int origin, step = 0, group_step = 0;
};

template <Type kType, class T, int kWidth>
LOCKSTEP_INLINE void gather_as(const Fragment& f, const LaneValues* const* src, T (*out)[kWidth]) {
  using Word = std::conditional_t<kType == Type::kF64, u64, u32>;
  const int each = f.per_register();
  const Layout<kWidth> layout(f);
  T* const flat = &out[0][0];
  for (int reg = 0; reg < f.distinct(); ++reg) {
    Word words[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) words[lane] = static_cast<Word>(src[reg]->lane[lane]);
    for (int i = 0; i < each; ++i) {
      T values[kLanes];
      for (int lane = 0; lane < kLanes; ++lane)
        values[lane] = static_cast<T>(element<kType>(words[lane] >> (i * f.bits)));
      layout.each(reg * each + i, [&](int place, int lane) { flat[place] = values[lane]; });
    }
  }
}

/// Reads a fragment's registers into rows and columns; kTypes are those that the caller's form can have.
template <Type... kTypes, class T, int kWidth>
LOCKSTEP_INLINE void gather(const Fragment& f, Type type, const LaneValues* const* src, T (*out)[kWidth]) {
  ((type == kTypes ? gather_as<kTypes>(f, src, out) : void()), ...);
}

/// Writes the accumulator's registers; `bits_of` gives the bits of all lanes' elements.
template <class T, class BitsOf>
LOCKSTEP_INLINE void scatter(const Fragment& f, const T (*in)[kMaxColumns], LaneValues* const* dst,
                             BitsOf bits_of) {
  const int each = f.per_register();
  const Layout<kMaxColumns> layout(f);
  const T* const flat = &in[0][0];
  for (int reg = 0; reg < f.registers; ++reg) {
    if (!dst[reg]) continue;
    u64 words[kLanes] = {};
    for (int i = 0; i < each; ++i) {
      T values[kLanes];
      u64 bits[kLanes];
      layout.each(reg * each + i, [&](int place, int lane) { values[lane] = flat[place]; });
      bits_of(values, bits);
      for (int lane = 0; lane < kLanes; ++lane) words[lane] |= bits[lane] << (i * f.bits);
    }
    std::copy(std::begin(words), std::end(words), dst[reg]->lane);
  }
}

template <class T>
struct Operands {
  T a[kMaxRows][kMaxDepth];  // sparse: without the zeros
  T b[kMaxDepth][kMaxColumns];
  SparsePlaces at;  // sparse: which row of b goes with an element of a
};

/// sum[m][n] += a[m][k] b[row_of(m, k)][n], in tiles of two rows, whose sums do not wait for each other, and
/// eight columns.
template <class T, class Sum, class Step, class Row>
LOCKSTEP_INLINE void accumulate_rows(const Product& p, int depth, const Operands<T>& in,
                                     Sum (*sum)[kMaxColumns], Step step, Row row_of) {
  constexpr int kColumns = 8;
  for (int m = 0; m < p.shape.m; m += 2)
    for (int n = 0; n < p.shape.n; n += kColumns) {
      Sum upper[kColumns], lower[kColumns];
      for (int i = 0; i < kColumns; ++i) upper[i] = sum[m][n + i];
      for (int i = 0; i < kColumns; ++i) lower[i] = sum[m + 1][n + i];
      for (int k = 0; k < depth; ++k) {
        const T *const b = in.b[row_of(m, k)] + n, *const c = in.b[row_of(m + 1, k)] + n;
        const T x = in.a[m][k], y = in.a[m + 1][k];
        for (int i = 0; i < kColumns; ++i) upper[i] = step(x, b[i], upper[i]);
        for (int i = 0; i < kColumns; ++i) lower[i] = step(y, c[i], lower[i]);
      }
      for (int i = 0; i < kColumns; ++i) sum[m][n + i] = upper[i];
      for (int i = 0; i < kColumns; ++i) sum[m + 1][n + i] = lower[i];
    }
}

template <class T, class Sum, class Step>
LOCKSTEP_INLINE void accumulate(const Product& p, int depth, const Operands<T>& in, Sum (*sum)[kMaxColumns],
                                Step step) {
  if (p.sparse)
    accumulate_rows(p, depth, in, sum, step, [&](int m, int k) { return in.at.row[m][k]; });
  else
    accumulate_rows(p, depth, in, sum, step, [](int, int k) { return k; });
}

/// Types that a form's operands can have.
template <Type... kTypes>
struct Types {
  template <class T, int kWidth>
  LOCKSTEP_INLINE static void read(const Fragment& f, Type type, const LaneValues* const* src,
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
  const LaneValues* const* const src = args.src;
  const int first_b = a.registers, first_c = a.registers + b.registers;
  int depth = p.shape.k;
  if (p.a == Type::kB1) {  // words of 32 bits
    depth /= 32;
    a.columns = b.rows = depth;
    a.bits = b.bits = 32;
  }
  Operands<T> in;
  if (p.sparse) {
    depth /= 2;
    const LaneValues& metadata = *src[first_c + c.registers];
    in.at = sparse_places({p.a, p.shape.k, p.selector}, metadata);
  }
  Sum sum[kMaxRows][kMaxColumns];
  Multiplicands::read(a, p.a, src, in.a);
  Multiplicands::read(b, p.b, src + first_b, in.b);
  Sums::read(c, p.c, src + first_c, sum);
  multiply(depth, in, sum);
  scatter(d, sum, args.dst, bits_of);
}

}  // namespace lockstep::exec::alu
