// An all-reduce's data: element i of GPU r is first r + i modulo 17, and in the end the sum of all GPUs'.
// Whole numbers in float: any order of the additions gives the same.
#pragma once

#include "gpus.hpp"

inline float first_value(int rank, int i) { return static_cast<float>((rank + i) % 17); }

inline void fill_ranks(const std::vector<float*>& data, int n) {
  std::vector<float> values(n);
  for (int rank = 0; rank < static_cast<int>(data.size()); ++rank) {
    for (int i = 0; i < n; ++i) values[i] = first_value(rank, i);
    CHECK(cudaSetDevice(rank));
    CHECK(cudaMemcpy(data[rank], values.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  }
}

inline bool sum_is_right(const std::vector<float*>& data, int n) {
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
