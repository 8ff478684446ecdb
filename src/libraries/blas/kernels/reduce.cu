#include "libraries/blas/kernels/reduce.cuh"

#define LOCKSTEP_REDUCTIONS(suffix, T, Sum)             \
  LOCKSTEP_REDUCTION(dot_##suffix, Dot<T, T>)           \
  LOCKSTEP_REDUCTION(asum_##suffix, Asum<T>)            \
  LOCKSTEP_REDUCTION(nrm2_##suffix, Norm<T, T, Sum>)    \
  LOCKSTEP_REDUCTION(iamax_##suffix, Extreme<T, false>) \
  LOCKSTEP_REDUCTION(iamin_##suffix, Extreme<T, true>)

LOCKSTEP_REDUCTIONS(f32, float, SquaresOfFloats)
LOCKSTEP_REDUCTIONS(f64, double, Squares)
LOCKSTEP_REDUCTIONS(c32, Complex64, SquaresOfFloats)
LOCKSTEP_REDUCTIONS(c64, Complex128, Squares)
LOCKSTEP_REDUCTION(dot_f16, Dot<Half, float>)
LOCKSTEP_REDUCTION(dot_bf16, Dot<Bfloat, float>)
LOCKSTEP_REDUCTION(nrm2_f16, Norm<Half, float, SquaresOfFloats>)
LOCKSTEP_REDUCTION(nrm2_bf16, Norm<Bfloat, float, SquaresOfFloats>)
