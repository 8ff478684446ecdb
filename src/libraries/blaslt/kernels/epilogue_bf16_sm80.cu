#include "libraries/blas/kernels/gemm_tensor.cuh"

using lockstep::libraries::blas::Bfloat;
LOCKSTEP_TENSOR_GEMM(lockstep_blaslt_bf16_sm80_128, __nv_bfloat16, Bfloat, Bfloat, 128, 128, 32, 64, 32, true)
LOCKSTEP_TENSOR_GEMM(lockstep_blaslt_bf16_sm80_64, __nv_bfloat16, Bfloat, Bfloat, 64, 64, 32, 32, 32, true)
LOCKSTEP_TENSOR_GEMM(lockstep_blaslt_bf16f32_sm80_128, __nv_bfloat16, Bfloat, float, 128, 128, 32, 64, 32,
                     true)
LOCKSTEP_TENSOR_GEMM(lockstep_blaslt_bf16f32_sm80_64, __nv_bfloat16, Bfloat, float, 64, 64, 32, 32, 32, true)
