// Structured sparsity: which elements of a row of A are stored ("PTX ISA 9.0", 9.7.14.6 sparse matrix
// storage).
#pragma once

#include <cstdint>

#include "exec/lane_op.hpp"
#include "ptx/words.hpp"

namespace lockstep::exec::alu {

struct Sparsity {
  ptx::Type type;             // of A
  int depth;                  // k of the whole matrix
  std::uint8_t selector = 0;  // which lanes of a quad give the metadata
};

/// Column of the whole matrix for each stored element of a tile of 16 rows.
struct SparsePlaces {
  std::uint8_t row[16][64];
};

/// Values that the selector may have: below this.
[[nodiscard]] std::uint64_t sparse_selectors(const Sparsity& s);

/// `metadata`: four bits for every group of four elements (tf32: two, 4-bit integers: eight). Lane 4 g + i
/// holds those of rows g and g + 8.
[[nodiscard]] SparsePlaces sparse_places(const Sparsity& s, const LaneValues& metadata);

}  // namespace lockstep::exec::alu
