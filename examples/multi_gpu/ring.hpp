// A ring all-reduce's data: element i of GPU r is first r + i modulo 17, and in the end the sum of all GPUs'.
// Whole numbers in float: any order of the additions gives the same.
#pragma once

#include "gpus.hpp"

inline float first_value(int rank, int i) { return static_cast<float>((rank + i) % 17); }

/// The chunk that a GPU sends in a step of the ring (0 to 2 * ranks - 3); it gets the one before that. In the
/// first half of the steps what comes is added, in the second it replaces.
__host__ __device__ inline int sent_chunk(int rank, int step, int ranks) {
  return (rank - step + 2 * ranks) % ranks;
}

inline void fill_ring(const std::vector<float*>& data, int n) {
  std::vector<float> values(n);
  for (int rank = 0; rank < static_cast<int>(data.size()); ++rank) {
    for (int i = 0; i < n; ++i) values[i] = first_value(rank, i);
    CHECK(cudaSetDevice(rank));
    CHECK(cudaMemcpy(data[rank], values.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  }
}

inline bool ring_is_right(const std::vector<float*>& data, int n) {
  bool right = true;
  std::vector<float> values(n);
  for (float* own : data) {
    CHECK(cudaMemcpy(values.data(), own, n * sizeof(float), cudaMemcpyDefault));
    for (int i = 0; i < n; ++i) {
      float sum = 0;
      for (int rank = 0; rank < static_cast<int>(data.size()); ++rank) sum += first_value(rank, i);
      right = right && values[i] == sum;
    }
  }
  return right;
}
