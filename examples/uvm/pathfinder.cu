// Streaming: cheapest way through a grid of rows x columns costs, several rows a launch, each row needing its
// neighbours of the row before (50000 200 10: 20 launches, 38.5 MB managed). Usage: pathfinder [columns [rows [height]]]
#include <algorithm>
#include <utility>
#include <vector>

#include "../check.hpp"

constexpr int kBlock = 256;

__global__ void rows_on(const int* wall, const int* from, int* to, int columns, int rows, int height) {
  __shared__ int before[kBlock], now[kBlock];
  const int tx = threadIdx.x, x = static_cast<int>(blockIdx.x) * (kBlock - 2 * height) - height + tx;
  const bool inside = x >= 0 && x < columns;
  before[tx] = inside ? from[x] : 1 << 28;
  __syncthreads();
  for (int r = 0; r < rows; ++r) {
    if (inside && tx > r && tx < kBlock - 1 - r) {
      const int best = min(min(before[tx - 1], before[tx]), before[tx + 1]);
      now[tx] = best + wall[r * columns + x];
    } else {
      now[tx] = 1 << 28;
    }
    __syncthreads();
    before[tx] = now[tx];
    __syncthreads();
  }
  if (inside && tx >= height && tx < kBlock - height) to[x] = before[tx];
}

int main(int argc, char** argv) {
  const int columns = size_argument(argc, argv, 50000, 1), rows = argc > 2 ? std::atoi(argv[2]) : 200,
            height = argc > 3 ? std::atoi(argv[3]) : 10;
  int *wall, *a, *b;
  CHECK(cudaMallocManaged(&wall, static_cast<std::size_t>(rows - 1) * columns * sizeof(int)));
  CHECK(cudaMallocManaged(&a, columns * sizeof(int)));
  CHECK(cudaMallocManaged(&b, columns * sizeof(int)));
  Random random;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows - 1) * columns; ++i) wall[i] = static_cast<int>(random() % 10);
  for (int x = 0; x < columns; ++x) a[x] = static_cast<int>(random() % 10);
  std::vector<int> best(a, a + columns), next(columns);
  const int inner = kBlock - 2 * height;
  for (int r = 0; r < rows - 1; r += height) {
    rows_on<<<(columns + inner - 1) / inner, kBlock>>>(wall + static_cast<std::size_t>(r) * columns, a, b, columns,
                                                       std::min(height, rows - 1 - r), height);
    std::swap(a, b);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  for (int r = 0; r < rows - 1; ++r) {
    for (int x = 0; x < columns; ++x)
      next[x] = wall[static_cast<std::size_t>(r) * columns + x] +
                std::min({best[std::max(0, x - 1)], best[x], best[std::min(columns - 1, x + 1)]});
    std::swap(best, next);
  }
  return verdict(std::equal(best.begin(), best.end(), a));
}
