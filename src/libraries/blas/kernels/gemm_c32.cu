#include "libraries/blas/kernels/gemm.cuh"

using lockstep::libraries::blas::Complex64;
LOCKSTEP_GEMM(lockstep_blas_gemm_c32_64, Complex64, Complex64, Complex64, 64, 64, 8, 4, 4, false)
LOCKSTEP_GEMM(lockstep_blas_gemm_c32_32, Complex64, Complex64, Complex64, 32, 32, 8, 2, 2, false)
