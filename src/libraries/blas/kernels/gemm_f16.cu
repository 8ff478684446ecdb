#include "libraries/blas/kernels/gemm_tensor.cuh"

using HalfNumber = lockstep::libraries::blas::Half;
LOCKSTEP_TENSOR_GEMM(lockstep_blas_gemm_f16_128, __half, HalfNumber, 128, 128, 32, 64, 32, 2)
LOCKSTEP_TENSOR_GEMM(lockstep_blas_gemm_f16_64, __half, HalfNumber, 64, 64, 32, 32, 32, 4)
