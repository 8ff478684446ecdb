// What the kernels of singular values are called with; read by nvcc, too.
#pragma once

namespace lockstep::libraries::solver {

/// Where a matrix of singular vectors goes: `columns` of them, of each matrix of a batch.
struct SingularVectors {
  void* data;
  long long ld, stride;
  int columns;     // 0: none are wanted
  int transposed;  // they are rows
};

/// A = U diag(s) V^T of `matrices` of m x n. The kernels work on A or its transpose, whichever has no more
/// columns than rows.
struct SvdArguments {
  const void* a;
  long long lda, stride_a;
  int m, n;
  void* values;  // descending
  int unsorted;  // as they are found, zeros last
  SingularVectors u, v;
  void *tall, *right;  // for each matrix: max(m, n) x min(m, n), and min(m, n) x min(m, n) elements
  double* numbers;     // for each matrix: 2 min(m, n) + max(m, n)
  int max_sweeps;
  int failure;  // `info` where these were not enough
  int* info;
  double*
      residual;  // what is beside the diagonal of U^T A V, and the number of sweeps, of the first matrix; or
  int* sweeps;   // nullptr
};

}  // namespace lockstep::libraries::solver
