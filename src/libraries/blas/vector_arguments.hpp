// What the kernels of vectors are called with; read by nvcc, too.
#pragma once

#include "libraries/blas/gemm_arguments.hpp"

namespace lockstep::libraries::blas {

/// Vectors begin at their first element, also where they are walked backwards.
struct VectorArguments {
  void *x, *y;
  long long n, inc_x, inc_y;
  Scalar alpha, beta;  // of rotations: cosine and sine
  void* partial;       // one for each CTA
  int partials;
  void* result;
  int result_is_64;  // an index of 64 bits
  int conjugate;     // x of a dot product
};

}  // namespace lockstep::libraries::blas
