#include "libraries/blas/kernels/matrix_vector.cuh"

#define LOCKSTEP_LEVEL_2(suffix, T)                         \
  LOCKSTEP_MATRIX_VECTOR(gemv_n_##suffix, gemv_n<T>)        \
  LOCKSTEP_MATRIX_VECTOR(gemv_t_##suffix, gemv_t<T>)        \
  LOCKSTEP_MATRIX_VECTOR(symv_##suffix, symv<T>)            \
  LOCKSTEP_MATRIX_VECTOR(trmv_##suffix, trmv<T>)            \
  LOCKSTEP_MATRIX_VECTOR(trsv_##suffix, trsv<T>)            \
  LOCKSTEP_MATRIX_VECTOR(ger_##suffix, rank_one<T>)         \
  LOCKSTEP_MATRIX_VECTOR(expand_##suffix, expand<T, false>) \
  LOCKSTEP_MATRIX_VECTOR(expand_triangle_##suffix, expand<T, true>)

LOCKSTEP_LEVEL_2(f32, float)
LOCKSTEP_LEVEL_2(f64, double)
LOCKSTEP_LEVEL_2(c32, Complex64)
LOCKSTEP_LEVEL_2(c64, Complex128)
