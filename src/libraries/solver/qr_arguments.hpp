// What the kernels of QR factors are called with; read by nvcc, too.
#pragma once

namespace lockstep::libraries::solver {

/// A panel of at most 32 columns, whose diagonal begins at its first element.
struct QrArguments {
  void* a;
  long long lda;
  int rows, columns;
  void* tau;  // a factor for each column
  void* t;    // the triangle of the block reflector I - V T V^T, of 32 x 32
  void* v;    // V, with its ones and zeros; its leading dimension is `rows`
};

}  // namespace lockstep::libraries::solver
