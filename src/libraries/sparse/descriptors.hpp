// What programs describe their vectors and matrices by.
#pragma once

#include "libraries/common/handles.hpp"
#include "libraries/sparse/abi.hpp"
#include "libraries/sparse/views.hpp"

namespace lockstep::libraries::sparse {

struct SparseVector {
  long long size, entries;
  void* indices;
  void* values;
  int index_type, base, type;

  [[nodiscard]] Indices view() const { return {indices, index_type == kIndex64, base}; }
};

struct DenseVector {
  long long size;
  void* values;
  int type;
};

struct SparseMatrix {
  int format;
  long long rows, columns, entries;
  void* first;   // CSR: offsets of rows; CSC: of columns; COO: rows
  void* second;  // CSR, COO: columns; CSC: rows
  void* values;
  int first_type, second_type, base, type;
  int batch = 1;
  long long first_stride = 0, second_stride = 0;  // from one matrix of a batch to the next
  int fill_mode = kLower, diagonal_type = kNonUnit;

  [[nodiscard]] Indices first_view() const { return {first, first_type == kIndex64, base}; }
  [[nodiscard]] Indices second_view() const { return {second, second_type == kIndex64, base}; }
  /// The sizes of op(matrix).
  [[nodiscard]] long long rows_after(int operation) const { return operation == kAsIs ? rows : columns; }
  [[nodiscard]] long long columns_after(int operation) const { return operation == kAsIs ? columns : rows; }
};

struct DenseMatrix {
  long long rows, columns, leading;
  void* values;
  int type, order;
  int batch = 1;
  long long stride = 0;

  [[nodiscard]] long long rows_after(int operation) const { return operation == kAsIs ? rows : columns; }
  [[nodiscard]] long long columns_after(int operation) const { return operation == kAsIs ? columns : rows; }
  /// Of op(matrix); of one of a batch.
  [[nodiscard]] Dense view(int operation, int which = 0) const;
};

/// What `descriptor` is; throws kInvalidValue where it is none.
template <class T>
[[nodiscard]] T& described(const void* descriptor) {
  try {
    return handles<T>().get(descriptor);
  } catch (const Error&) {
    throw Error(Failure::kInvalidValue);
  }
}

}  // namespace lockstep::libraries::sparse
