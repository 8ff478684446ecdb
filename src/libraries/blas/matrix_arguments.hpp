// What the kernels of matrices and vectors (level 2), and of matrices element by element, are called with;
// read by nvcc.
#pragma once

#include "libraries/blas/gemm_arguments.hpp"

namespace lockstep::libraries::blas {

struct MatrixVectorArguments {
  const void *a, *x;
  void* y;
  long long lda, inc_x, inc_y;             // vectors begin at their first element
  long long stride_a, stride_x, stride_y;  // between the members of a batch
  long long batches;
  int by_pointers;
  int m, n;
  int op;
  int triangle;   // that A is stored in
  int hermitian;  // the other triangle is the conjugate
  int unit;       // the diagonal is ones
  int conjugate_alpha;
  Scalar alpha, beta;
};

/// C := alpha op(A) + beta op(B); or C := A diag(x), with B the vector.
struct MatrixArguments {
  const void *a, *b;
  void* c;
  long long lda, ldb, ldc;
  int m, n;
  int op_a, op_b;
  int by_rows;  // the vector multiplies rows
  Scalar alpha, beta;
};

/// X of M X = alpha B in place of B, for `vectors` right-hand sides of `size` elements, at most 32. M(i, k)
/// is A(i, k), or
/// (`across`) A(k, i).
struct SolveArguments {
  const void* a;
  void* b;
  long long lda, ldb;
  long long stride_a, stride_b;  // as those of GemmArguments
  long long batches;
  int by_pointers;
  int size, vectors;
  int along_rows;                       // a right-hand side is a row of B
  int across, conjugated, lower, unit;  // lower: M
  Scalar alpha;
};

}  // namespace lockstep::libraries::blas
