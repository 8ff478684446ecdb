// What the kernels of factorisations are called with; read by nvcc, too.
#pragma once

namespace lockstep::libraries::blas {

/// Parts of matrices, one CTA for each of a batch: rows x columns, at most 32 columns (LU, QR) or 32 x 32
/// (Cholesky).
struct PanelArguments {
  void* a;
  long long lda, stride_a;  // as those of GemmArguments
  int by_pointers;
  int rows, columns;
  int first;    // of the part's diagonal, in the matrix
  int* pivots;  // from 1, for all rows of a matrix; nullptr: rows are not exchanged
  long long stride_pivots;
  int* info;      // for each matrix; 0 or the first pivot that is zero, from 1
  int lower;      // Cholesky: the triangle
  void *tau, *t;  // QR: the factors, and the triangle T of the block reflector, of 32 x 32
};

/// Exchanges rows first to first + count as pivots say, in each column.
struct SwapArguments {
  void* a;
  long long lda, stride_a;
  int by_pointers;
  int columns, first, count, backward;
  const int* pivots;
  long long stride_pivots, batches;
};

/// Fills a matrix of rows x columns. Reflectors: from A, whose part below the diagonal they are.
struct FillArguments {
  const void* a;
  void* to;
  long long lda, ld, stride;
  int by_pointers;
  int rows, columns;
  long long batches;
};

}  // namespace lockstep::libraries::blas
