#include "libraries/blas/kernels/gemm.cuh"

LOCKSTEP_GEMM(lockstep_blaslt_f32_64, float, float, float, 64, 64, 16, 4, 4, true)
LOCKSTEP_GEMM(lockstep_blaslt_f32_32, float, float, float, 32, 32, 16, 4, 4, true)
