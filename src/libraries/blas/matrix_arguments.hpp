// What the kernels of matrices and vectors (level 2), and of matrices element by element, are called with; read by nvcc.
#pragma once

#include "libraries/blas/gemm_arguments.hpp"

namespace lockstep::libraries::blas {

struct MatrixVectorArguments {
  const void *a, *x;
  void* y;
  long long lda, inc_x, inc_y;           // vectors begin at their first element
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

/// A matrix from another one or two.
struct MatrixArguments {
  const void *a, *b;
  void* c;
  long long lda, ldb, ldc;
  long long stride_a, stride_b, stride_c, batches;
  int by_pointers;
  int m, n;
  int op_a, op_b;
  int triangle, hermitian, unit, is_triangular;  // the other triangle is zeros
  int on_rows;                                   // dgmm: x multiplies rows
  Scalar alpha, beta;
};

}  // namespace lockstep::libraries::blas
