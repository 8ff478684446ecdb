// What the kernels of band and packed matrices are called with; read by nvcc, too.
#pragma once

#include "libraries/blas/gemm_arguments.hpp"

namespace lockstep::libraries::blas {

/// A matrix of m x n of which `below` diagonals under the main one and `above` over it are stored: in a band
/// (LAPACK's, with the diagonals as rows), or packed, column after column of one triangle.
struct StoredMatrix {
  void* a;
  long long lda;  // of a band
  int packed;
  int m, n, below, above;
};

struct StoredArguments {
  StoredMatrix matrix;
  const void* x;
  void* y;
  long long inc_x, inc_y;  // vectors begin at their first element
  int op;
  int symmetric;  // the diagonals on the other side are the same,
  int hermitian;  // or their conjugates
  int unit;       // the main diagonal is ones
  int conjugate_alpha;
  int to_packed;  // of copies between a packed triangle and that of a whole matrix y, of leading dimension
                  // inc_y
  Scalar alpha, beta;
};

}  // namespace lockstep::libraries::blas
