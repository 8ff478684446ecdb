// Jacobi iterations on several GPUs: each stores its outermost rows into its neighbours' halos as well. Usage: jacobi
// [rows and columns], a multiple of the GPUs
#include "jacobi.hpp"

/// `above`, `below`: the neighbours' halo rows that these have for us; null at the rims, whose halo stays as it is.
__global__ void iterate(const float* from, float* to, float* above, float* below, int rows, int columns) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y + 1;
  if (x >= columns) return;
  const float value = updated(from + y * columns + x, x, columns);
  to[y * columns + x] = value;
  if (y == 1 && above != nullptr) above[x] = value;
  if (y == rows && below != nullptr) below[x] = value;
}

int main(int argc, char** argv) {
  const int gpus = gpus_with_peer_access();
  Parts parts(gpus, size_argument(argc, argv, 64 * gpus, gpus));
  const int columns = parts.columns, rows = parts.rows;
  for (int i = 0; i < kIterations; ++i) {
    for (int gpu = 0; gpu < gpus; ++gpu) {
      float* const above = gpu > 0 ? parts.next[gpu - 1] + (rows + 1) * columns : nullptr;
      float* const below = gpu + 1 < gpus ? parts.next[gpu + 1] : nullptr;
      CHECK(cudaSetDevice(gpu));
      iterate<<<dim3((columns + 127) / 128, rows), 128, 0, parts.streams[gpu]>>>(parts.now[gpu], parts.next[gpu], above,
                                                                                below, rows, columns);
      CHECK(cudaGetLastError());
    }
    parts.meet_neighbours();
    parts.now.swap(parts.next);
  }
  return verdict(parts.are_right());
}
