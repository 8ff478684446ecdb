// A square grid of Jacobi iterations whose rows are divided among the GPUs, and the right result.
#pragma once

#include <algorithm>

#include "gpus.hpp"

constexpr int kIterations = 20;

/// The mean of the four neighbours; columns at the rim stay.
__device__ inline float updated(const float* at, int x, int columns) {
  const bool inside = x > 0 && x + 1 < columns;
  return inside ? 0.25f * ((at[-columns] + at[columns]) + (at[-1] + at[1])) : *at;
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

/// What each GPU has: its rows, behind a row of halo and before another.
struct Parts {
  int gpus = 0, columns = 0, rows = 0;  // rows of each GPU
  std::vector<float> grid;              // the whole on the host, with a row at each rim that stays
  std::vector<float*> now, next;
  std::vector<cudaStream_t> streams;

  Parts(int gpu_count, int side) : gpus(gpu_count), columns(side), rows(side / gpu_count) {
    grid.resize(static_cast<std::size_t>(columns + 2) * columns);
    Random random;
    for (float& value : grid) value = static_cast<float>(random() % 1000);
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const float* const part = grid.data() + static_cast<std::size_t>(gpu) * rows * columns;
      for (auto* buffers : {&now, &next}) {
        buffers->push_back(zeros_on<float>(gpu, count()));
        CHECK(cudaMemcpy(buffers->back(), part, count() * sizeof(float), cudaMemcpyHostToDevice));
      }
      streams.push_back(stream_on(gpu));
    }
    synchronize(gpus);
  }

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(rows + 2) * columns; }

  /// Neighbours go on when both have done what they have now.
  void meet_neighbours() const {
    const Marks done(streams);
    for (int gpu = 0; gpu + 1 < gpus; ++gpu) {
      done.wait(streams[gpu + 1], gpu);
      done.wait(streams[gpu], gpu + 1);
    }
  }

  [[nodiscard]] bool are_right() {
    synchronize(gpus);
    iterate_on_host(grid, columns);
    bool right = true;
    std::vector<float> part(count());
    for (int gpu = 0; gpu < gpus; ++gpu) {
      CHECK(cudaMemcpy(part.data(), now[gpu], count() * sizeof(float), cudaMemcpyDefault));
      right = right && std::equal(part.begin() + columns, part.end() - columns,
                                  grid.begin() + (static_cast<std::size_t>(gpu) * rows + 1) * columns);
    }
    return right;
  }
};
