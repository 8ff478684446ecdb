// Clusters, barriers in memory and bulk copies of sm_90.
#include <cooperative_groups.h>
#include <cuda/barrier>

__global__ void __cluster_dims__(2, 1, 1) neighbours(int* out) {
  __shared__ int value;
  cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  value = static_cast<int>(cluster.block_rank());
  cluster.sync();
  out[blockIdx.x] = *cluster.map_shared_rank(&value, cluster.block_rank() ^ 1);
  cluster.sync();
}

__global__ void bulk(const int* in, int* out) {
  __shared__ alignas(128) int tile[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  if (threadIdx.x == 0) cuda::memcpy_async(tile, in, cuda::aligned_size_t<16>(sizeof(tile)), barrier);
  barrier.arrive_and_wait();
  out[threadIdx.x] = tile[threadIdx.x];
}
