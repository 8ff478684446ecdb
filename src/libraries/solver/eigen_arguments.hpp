// What the kernels of eigenvalues are called with; read by nvcc, too.
#pragma once

namespace lockstep::libraries::solver {

/// Which eigenvalues are wanted: all, those from `first` on to before `last`, in order, or those above `low`
/// up to `high`.
enum EigenRange { kAllValues = 0, kValuesByIndex = 1, kValuesBySize = 2 };

/// Of a batch, with a CTA for each matrix.
struct EigenArguments {
  void* a;  // one triangle of a symmetric matrix; eigenvectors at the end
  long long lda, stride_a;
  int n, lower, vectors;
  void *whole, *rotated;  // n x n each: the matrix, which becomes diagonal, and the product of all rotations
  void* rotations;        // cosine and sine of each pair
  void* values;           // eigenvalues, ascending
  int range, first, last;
  double low, high;
  int unsorted;       // values as they are on the diagonal
  int* found;         // how many values there are in the range; or nullptr
  const int* before;  // where that is not zero nothing is done, and `info` is n more; or nullptr
  int max_sweeps;
  int failure;  // `info` where these were not enough
  int* info;
  double*
      residual;  // what is beside the diagonal at the end, and the number of sweeps, of the first matrix; or
  int* sweeps;   // nullptr
};

}  // namespace lockstep::libraries::solver
