#include "libraries/blas/kernels/gemm.cuh"

LOCKSTEP_GEMM(lockstep_blas_gemm_f32_128, float, float, float, 128, 128, 8, 8, 8, false)
LOCKSTEP_GEMM(lockstep_blas_gemm_f32_64, float, float, float, 64, 64, 16, 4, 4, false)
LOCKSTEP_GEMM(lockstep_blas_gemm_f32_32, float, float, float, 32, 32, 16, 4, 4, false)
