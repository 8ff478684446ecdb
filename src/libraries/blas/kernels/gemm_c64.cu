#include "libraries/blas/kernels/gemm.cuh"

using lockstep::libraries::blas::Complex128;
LOCKSTEP_GEMM(lockstep_blas_gemm_c64_64, Complex128, Complex128, Complex128, 64, 64, 8, 4, 4, false)
LOCKSTEP_GEMM(lockstep_blas_gemm_c64_32, Complex128, Complex128, Complex128, 32, 32, 8, 2, 2, false)
