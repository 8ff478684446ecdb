// Mixed: alignment scores of two sequences, one launch for each diagonal of 16 x 16 tiles, forth to the middle and
// on to the corner (1024: 127 launches, 8.1 MB managed). Usage: wavefront [n]
#include <algorithm>
#include <vector>

#include "../check.hpp"

constexpr int kTile = 16, kPenalty = 10;

__global__ void diagonal(const int* similar, int* score, int columns, int first_x, int first_y) {
  __shared__ int tile[kTile + 1][kTile + 1], s[kTile][kTile];
  const int tx = threadIdx.x;
  const int x0 = (first_x + static_cast<int>(blockIdx.x)) * kTile, y0 = (first_y - static_cast<int>(blockIdx.x)) * kTile;
  int* const corner = score + y0 * columns + x0;  // the row and column before the tile
  if (tx == 0) tile[0][0] = corner[0];
  for (int y = 0; y < kTile; ++y) s[y][tx] = similar[(y0 + y + 1) * columns + x0 + tx + 1];
  tile[tx + 1][0] = corner[(tx + 1) * columns];
  tile[0][tx + 1] = corner[tx + 1];
  __syncthreads();
  for (int d = 0; d < 2 * kTile - 1; ++d) {
    const int y = d - tx;
    if (y >= 0 && y < kTile) {
      const int match = tile[y][tx] + s[y][tx];
      tile[y + 1][tx + 1] = max(match, max(tile[y + 1][tx], tile[y][tx + 1]) - kPenalty);
    }
    __syncthreads();
  }
  for (int y = 0; y < kTile; ++y) corner[(y + 1) * columns + tx + 1] = tile[y + 1][tx + 1];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1024, kTile), columns = n + 1, tiles = n / kTile;
  const std::size_t cells = static_cast<std::size_t>(columns) * columns;
  int *similar, *score;
  CHECK(cudaMallocManaged(&similar, cells * sizeof(int)));
  CHECK(cudaMallocManaged(&score, cells * sizeof(int)));
  Random random;
  for (std::size_t i = 0; i < cells; ++i) {
    similar[i] = static_cast<int>(random() % 21) - 10;
    score[i] = 0;
  }
  for (int i = 1; i < columns; ++i) score[i] = score[i * columns] = -kPenalty * i;
  std::vector<int> expected(score, score + cells);
  for (int d = 0; d < 2 * tiles - 1; ++d) {
    const int x = std::max(0, d - tiles + 1), y = std::min(d, tiles - 1);
    diagonal<<<y - x + 1, kTile>>>(similar, score, columns, x, y);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  for (int y = 1; y < columns; ++y)
    for (int x = 1; x < columns; ++x) {
      const std::size_t i = static_cast<std::size_t>(y) * columns + x;
      const int match = expected[i - columns - 1] + similar[i];
      expected[i] = std::max(match, std::max(expected[i - 1], expected[i - columns]) - kPenalty);
    }
  return verdict(std::equal(expected.begin(), expected.end(), score));
}
