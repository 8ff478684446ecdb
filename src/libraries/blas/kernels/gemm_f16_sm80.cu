#include "libraries/blas/kernels/gemm_mma.cuh"

LOCKSTEP_MMA_GEMM(lockstep_blas_gemm_f16_sm80_128, Half, 128, 128, 64, 64, 2)
LOCKSTEP_MMA_GEMM(lockstep_blas_gemm_f16_sm80_64, Half, 64, 64, 32, 32, 4)
