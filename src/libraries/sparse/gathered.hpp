// A matrix of any format, or its transpose, as rows.
#pragma once

#include "libraries/sparse/descriptors.hpp"
#include "libraries/sparse/sort.hpp"

namespace lockstep::libraries::sparse {

/// For CSR as it is, and for CSC transposed, this is a view; otherwise the structure is worked out in
/// `stream`.
class Gathered {
 public:
  /// `which` of a batch.
  Gathered(const SparseMatrix& matrix, int operation, int which, Stream stream, bool lasting = false);

  Rows rows;

 private:
  void from_offsets(const SparseMatrix& matrix, bool transposed, Stream stream, bool lasting);
  void from_coordinates(const SparseMatrix& matrix, bool transposed, Stream stream, bool lasting);

  Memory offsets_, expanded_;
  Sorted sorted_;
};

}  // namespace lockstep::libraries::sparse
