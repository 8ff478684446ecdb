// Jacobi iterations on a square grid whose rows are divided among the GPUs: each stores its outermost rows into
// its neighbours' halos as well. Usage: jacobi [rows and columns], a multiple of the GPUs
#include <algorithm>

#include "gpus.hpp"

constexpr int kIterations = 20;

/// `rows` of the GPU's own, behind a row of halo and before another. `above`, `below`: the neighbours' halo rows
/// that these have for us; null at the rims, whose halo stays as it is.
__global__ void iterate(const float* from, float* to, float* above, float* below, int rows, int columns) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y + 1;
  if (x >= columns) return;
  const float* const at = from + y * columns + x;
  const bool inside = x > 0 && x + 1 < columns;
  const float value = inside ? 0.25f * ((at[-columns] + at[columns]) + (at[-1] + at[1])) : *at;
  to[y * columns + x] = value;
  if (y == 1 && above != nullptr) above[x] = value;
  if (y == rows && below != nullptr) below[x] = value;
}

/// The whole grid on the host, with a row at each rim that stays.
void iterate_on_host(std::vector<float>& grid, int columns) {
  std::vector<float> next = grid;
  for (int i = 0; i < kIterations; ++i) {
    for (int y = 1; y <= columns; ++y)
      for (int x = 1; x + 1 < columns; ++x) {
        const float* const at = &grid[y * columns + x];
        next[y * columns + x] = 0.25f * ((at[-columns] + at[columns]) + (at[-1] + at[1]));
      }
    grid.swap(next);
  }
}

int main(int argc, char** argv) {
  const int gpus = gpus_with_peer_access();
  const int columns = size_argument(argc, argv, 64 * gpus, gpus), rows = columns / gpus;
  std::vector<float> grid(static_cast<std::size_t>(columns + 2) * columns);
  Random random;
  for (float& value : grid) value = static_cast<float>(random() % 1000);
  std::vector<float*> now, next;
  std::vector<cudaStream_t> streams;
  const std::size_t count = static_cast<std::size_t>(rows + 2) * columns, bytes = count * sizeof(float);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const float* const part = grid.data() + static_cast<std::size_t>(gpu) * rows * columns;
    for (auto* buffers : {&now, &next}) {
      buffers->push_back(zeros_on<float>(gpu, count));
      CHECK(cudaMemcpy(buffers->back(), part, bytes, cudaMemcpyHostToDevice));
    }
    streams.push_back(stream_on(gpu));
  }
  synchronize(gpus);
  for (int i = 0; i < kIterations; ++i) {
    for (int gpu = 0; gpu < gpus; ++gpu) {
      float* const above = gpu > 0 ? next[gpu - 1] + (rows + 1) * columns : nullptr;
      float* const below = gpu + 1 < gpus ? next[gpu + 1] : nullptr;
      CHECK(cudaSetDevice(gpu));
      iterate<<<dim3((columns + 127) / 128, rows), 128, 0, streams[gpu]>>>(now[gpu], next[gpu], above, below, rows,
                                                                          columns);
      CHECK(cudaGetLastError());
    }
    const Marks stored(streams);
    for (int gpu = 0; gpu + 1 < gpus; ++gpu) {
      stored.wait(streams[gpu + 1], gpu);
      stored.wait(streams[gpu], gpu + 1);
    }
    now.swap(next);
  }
  synchronize(gpus);
  iterate_on_host(grid, columns);
  bool passed = true;
  std::vector<float> part(count);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    CHECK(cudaMemcpy(part.data(), now[gpu], bytes, cudaMemcpyDefault));
    passed = passed && std::equal(part.begin() + columns, part.end() - columns,
                                  grid.begin() + (static_cast<std::size_t>(gpu) * rows + 1) * columns);
  }
  return verdict(passed);
}
