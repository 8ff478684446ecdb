// Jacobi iterations on several GPUs, halos by copies between kernels. Usage: jacobi_copy [rows and columns], a multiple of
// the GPUs
#include "jacobi.hpp"

__global__ void iterate(const float* from, float* to, int columns) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y + 1;
  if (x < columns) to[y * columns + x] = updated(from + y * columns + x, x, columns);
}

int main(int argc, char** argv) {
  const int gpus = gpus_with_peer_access();
  Parts parts(gpus, size_argument(argc, argv, 64 * gpus, gpus));
  const int columns = parts.columns, rows = parts.rows;
  const std::size_t row = columns * sizeof(float);
  for (int i = 0; i < kIterations; ++i) {
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const cudaStream_t stream = parts.streams[gpu];
      float* const next = parts.next[gpu];
      CHECK(cudaSetDevice(gpu));
      iterate<<<dim3((columns + 127) / 128, rows), 128, 0, stream>>>(parts.now[gpu], next, columns);
      CHECK(cudaGetLastError());
      if (gpu > 0)
        CHECK(cudaMemcpyPeerAsync(parts.next[gpu - 1] + (rows + 1) * columns, gpu - 1, next + columns, gpu, row, stream));
      if (gpu + 1 < gpus)
        CHECK(cudaMemcpyPeerAsync(parts.next[gpu + 1], gpu + 1, next + rows * columns, gpu, row, stream));
    }
    parts.meet_neighbours();
    parts.now.swap(parts.next);
  }
  return verdict(parts.are_right());
}
