// For GPUs whose tensor cores have no bfloat16.
#include "libraries/blas/kernels/gemm.cuh"

using lockstep::libraries::blas::Bfloat;
LOCKSTEP_GEMM(lockstep_blas_gemm_bf16_64, Bfloat, Bfloat, float, 64, 64, 16, 4, 4, false)
LOCKSTEP_GEMM(lockstep_blas_gemm_bf16_32, Bfloat, Bfloat, float, 32, 32, 16, 4, 4, false)
LOCKSTEP_GEMM(lockstep_blas_gemm_bf16f32_64, Bfloat, float, float, 64, 64, 16, 4, 4, false)
LOCKSTEP_GEMM(lockstep_blas_gemm_bf16f32_32, Bfloat, float, float, 32, 32, 16, 4, 4, false)
