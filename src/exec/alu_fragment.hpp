// Which element of a matrix each lane's registers hold, for wmma, mma.sync, ldmatrix and stmatrix. One rule
// serves all: it is the documented layout of mma.sync ("PTX ISA 9.0", 9.7.14.5), and for wmma, whose layout
// PTX leaves open, the same rule in tiles of eight rows or columns.
#pragma once

#include <bit>
#include <optional>

#include "ptx/words.hpp"

namespace lockstep::exec {

/// The multiplicands are M x K and K x N, the accumulator M x N.
enum class MatrixRole : std::uint8_t { kA, kB, kAccumulator };

struct Fragment {
  MatrixRole role{};
  int rows = 0, columns = 0;
  int bits = 0;       ///< of one element
  int registers = 0;  ///< of each lane: 64 bits wide where bits is 64, else 32

  /// Elements in one register, the first in its lowest bits.
  [[nodiscard]] constexpr int per_register() const {
    return bits >= 32 ? 1 : 32 >> std::countr_zero(static_cast<unsigned>(bits));
  }
  /// Elements of one lane. wmma's f16 multiplicands repeat some: those of register r are also in r +
  /// distinct().
  [[nodiscard]] constexpr int elements() const { return registers * per_register(); }
  /// Registers of one lane that hold different elements.
  [[nodiscard]] constexpr int distinct() const {
    return rows * columns / 32 >> std::countr_zero(static_cast<unsigned>(per_register()));
  }
};

struct MatrixPlace {
  int row, column;
  friend constexpr bool operator==(const MatrixPlace&, const MatrixPlace&) = default;
};

/// `number` divided by a power of two, as all numbers of rows and columns are: this is asked for each
/// register of each product.
struct Divided {
  int quotient, rest;
};
constexpr Divided divide(int number, int by) {
  return {number >> std::countr_zero(static_cast<unsigned>(by)), number & (by - 1)};
}

/// Element number `element` (register times per_register() plus its number within) of a lane.
constexpr MatrixPlace fragment_place(const Fragment& f, int lane, int element) {
  const int group = lane / 4, in_group = lane % 4, each = f.per_register();
  const int reg = divide(divide(element, each).quotient, f.distinct()).rest,
            within = divide(element, each).rest;
  if (f.role == MatrixRole::kAccumulator) {  // tiles of 8x8, downwards; two neighbours per lane
    const int number = reg * each + within;
    const Divided tile = divide(number / 2, f.rows / 8);
    return {group + 8 * tile.rest, 8 * tile.quotient + 2 * in_group + number % 2};
  }
  const int block = 4 * each;  // of k: one register of the four lanes of a group
  if (f.role == MatrixRole::kA) {
    const Divided at = divide(reg, f.rows / 8);
    return {group + 8 * at.rest, block * at.quotient + each * in_group + within};
  }
  const Divided at = divide(reg, divide(f.rows, block).quotient);
  return {block * at.rest + each * in_group + within, group + 8 * at.quotient};
}

/// Fragments of wmma for a shape and element type; nullopt where PTX has none.
std::optional<Fragment> wmma_fragment(MatrixRole role, ptx::Shape shape, ptx::Type type);
/// Fragments of mma.sync.
std::optional<Fragment> mma_fragment(MatrixRole role, ptx::Shape shape, ptx::Type type);

/// Fragments of mma.sp; `shape` has the k of the whole matrices. The fragment of A is that of its elements
/// that are stored, half as many columns.
std::optional<Fragment> sparse_fragment(MatrixRole role, ptx::Shape shape, ptx::Type type);

/// ldmatrix and stmatrix .m8n8 .b16, movmatrix: register i of a lane holds two neighbours of a row of matrix
/// i (with .trans of a column); lanes 8i to 8i+7 give the addresses of its rows.
inline constexpr Fragment kLdmatrix{MatrixRole::kAccumulator, 8, 8, 16, 1};

}  // namespace lockstep::exec
