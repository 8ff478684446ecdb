#include "libraries/blas/kernels/gemm.cuh"

LOCKSTEP_GEMM(lockstep_blas_gemm_f64_64, double, double, double, 64, 64, 16, 4, 4, false)
LOCKSTEP_GEMM(lockstep_blas_gemm_f64_32, double, double, double, 32, 32, 16, 4, 4, false)
