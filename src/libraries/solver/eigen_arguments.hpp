// What the kernels of eigenvalues are called with; read by nvcc, too.
#pragma once

namespace lockstep::libraries::solver {

struct EigenArguments {
  void* a;  // one triangle of a symmetric matrix; eigenvectors at the end
  long long lda;
  int n, lower, vectors;
  void *whole, *rotated;  // n x n each: the matrix, which becomes diagonal, and the product of all rotations
  void* rotations;        // cosine and sine of each pair
  void* values;           // eigenvalues, ascending
  int* info;              // 0, or the number of sweeps that were not enough
};

}  // namespace lockstep::libraries::solver
