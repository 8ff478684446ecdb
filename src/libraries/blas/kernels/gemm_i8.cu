#include "libraries/blas/kernels/gemm.cuh"

LOCKSTEP_GEMM(lockstep_blas_gemm_i8_64, signed char, int, int, 64, 64, 16, 4, 4, false)
LOCKSTEP_GEMM(lockstep_blas_gemm_i8_32, signed char, int, int, 32, 32, 16, 4, 4, false)
LOCKSTEP_GEMM(lockstep_blas_gemm_i8f32_64, signed char, float, float, 64, 64, 16, 4, 4, false)
LOCKSTEP_GEMM(lockstep_blas_gemm_i8f32_32, signed char, float, float, 32, 32, 16, 4, 4, false)
