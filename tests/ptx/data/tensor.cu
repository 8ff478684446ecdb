// Tensor-core fragments and asynchronous copies of sm_80.
#include <cuda_pipeline.h>
#include <mma.h>
#include <cooperative_groups.h>

__global__ void matrix(const half* a, const half* b, float* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

__global__ void copies(float4* out, const float4* in) {
  __shared__ float4 tile[128];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

__global__ void instructions(unsigned* out, unsigned address) {
  unsigned a[4], sum = __reduce_add_sync(0xffffffffu, threadIdx.x);
  float d[4] = {0, 0, 0, 0};
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(address));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%4,%5}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
  out[threadIdx.x] = sum + __float_as_uint(d[0] + d[1] + d[2] + d[3]);
}

__global__ void grid(unsigned* out) {
  cooperative_groups::grid_group g = cooperative_groups::this_grid();
  out[g.thread_rank()] = 1;
  g.sync();
  out[g.thread_rank()] += out[(g.thread_rank() + 1) % g.size()];
}
