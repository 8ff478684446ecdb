// What kernels are given: kept free of anything but plain data.
#pragma once

namespace lockstep::libraries::sparse {

/// Indices of either width.
struct Indices {
  const void* data = nullptr;
  int wide = 0;
  int base = 0;
};

/// A matrix as rows of entries: those of row r are offsets[r] to offsets[r + 1]. Where `order` is given,
/// entry k is at place order[k] of `columns` and of the values.
struct Rows {
  Indices offsets;
  Indices columns;
  const int* order = nullptr;
  const void* values = nullptr;
  long long count = 0;
  int conjugate = 0;
};

/// A number that is here or in the device's memory.
template <class T>
struct Scalar {
  const T* pointer;
  T value;
};

/// The entries of a product of sparse matrices: entry k is the sum of the products starts[k] to starts[k +
/// 1], whose factors are at these places of the two matrices' values.
struct ProductEntries {
  const int* starts = nullptr;
  const int* a_places = nullptr;
  const int* b_places = nullptr;
  long long count = 0;
};

/// The structure of a CSR matrix with narrow indices.
struct Pattern {
  const int* offsets;
  const int* columns;
  int base;
};

/// What takes the place of pivots that are not larger than `tolerance`.
template <class T>
struct Boost {
  int enabled = 0;
  Scalar<double> tolerance{};
  Scalar<T> value{};
};

/// Element (i, j) of a dense matrix is data[i * row + j * column].
struct Dense {
  void* data = nullptr;
  long long row = 0;
  long long column = 0;
  int conjugate = 0;
};

/// How a triangular system is solved: rows[level_starts[l]] and on up to the next level's do not depend on
/// each other.
struct Levels {
  const int* rows = nullptr;
  const int* starts = nullptr;
  int upper = 0;
  int unit = 0;
};

/// Systems with three or five diagonals, from the lowest one on; element i of system s is at i * systems + s,
/// and each diagonal has one for each row.
template <class T>
struct Diagonals {
  T* values[5];
  T* x;  // the right-hand sides, then the solutions
  int size;
  long long systems;
};

}  // namespace lockstep::libraries::sparse
