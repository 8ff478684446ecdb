#include "libraries/blas/kernels/vector.cuh"

#define LOCKSTEP_VECTORS(suffix, T)             \
  LOCKSTEP_VECTOR(axpy_##suffix, axpy<T, T>)    \
  LOCKSTEP_VECTOR(scal_##suffix, scal<T, T, T>) \
  LOCKSTEP_VECTOR(copy_##suffix, copy<T>)       \
  LOCKSTEP_VECTOR(swap_##suffix, exchange<T>)

LOCKSTEP_VECTORS(f32, float)
LOCKSTEP_VECTORS(f64, double)
LOCKSTEP_VECTORS(c32, Complex64)
LOCKSTEP_VECTORS(c64, Complex128)
LOCKSTEP_VECTOR(axpy_f16, axpy<Half, float>)
LOCKSTEP_VECTOR(axpy_bf16, axpy<Bfloat, float>)
LOCKSTEP_VECTOR(scal_f16, scal<Half, float, float>)
LOCKSTEP_VECTOR(scal_bf16, scal<Bfloat, float, float>)
LOCKSTEP_VECTOR(scal_c32_f32, scal<Complex64, Complex64, float>)
LOCKSTEP_VECTOR(scal_c64_f64, scal<Complex128, Complex128, double>)
LOCKSTEP_VECTOR(rot_f32_f32, rot<float, float, float>)
LOCKSTEP_VECTOR(rot_f64_f64, rot<double, double, double>)
LOCKSTEP_VECTOR(rot_c32_f32, rot<Complex64, float, float>)
LOCKSTEP_VECTOR(rot_c64_f64, rot<Complex128, double, double>)
LOCKSTEP_VECTOR(rot_c32_c32, rot<Complex64, float, Complex64>)
LOCKSTEP_VECTOR(rot_c64_c64, rot<Complex128, double, Complex128>)
