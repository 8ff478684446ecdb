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

/// `times`: of as many all-reduces in a row, each of the sums before it.
inline bool sum_is_right(const std::vector<float*>& data, int n, int times = 1) {
  float more = 1;
  for (int i = 1; i < times; ++i) more *= static_cast<float>(data.size());
  bool right = true;
  std::vector<float> values(n);
  for (float* own : data) {
    CHECK(cudaMemcpy(values.data(), own, n * sizeof(float), cudaMemcpyDefault));
    for (int i = 0; i < n; ++i) {
      float sum = 0;
      for (int rank = 0; rank < static_cast<int>(data.size()); ++rank) sum += first_value(rank, i);
      right = right && values[i] == more * sum;
    }
  }
  return right;
}

/// The time from when all streams begin until all have done what they got in between; printed with the bus bandwidth as
/// nccl-tests counts it, 2 (ranks - 1) / ranks of the bytes of one GPU.
class Stopwatch {
 public:
  explicit Stopwatch(const std::vector<cudaStream_t>& streams) : streams_(streams) {
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreate(&begin_));
    CHECK(cudaEventCreate(&end_));
    CHECK(cudaEventRecord(begin_, streams[0]));
    for (const cudaStream_t stream : streams) CHECK(cudaStreamWaitEvent(stream, begin_, 0));
  }
  ~Stopwatch() {
    CHECK(cudaEventDestroy(begin_));
    CHECK(cudaEventDestroy(end_));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  void print(std::size_t bytes) const {
    const Marks done(streams_);
    for (std::size_t gpu = 1; gpu < streams_.size(); ++gpu) done.wait(streams_[0], static_cast<int>(gpu));
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventRecord(end_, streams_[0]));
    CHECK(cudaEventSynchronize(end_));
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
    const double ranks = static_cast<double>(streams_.size());
    std::printf("%zu bytes: %.2f us, %.3f GB/s\n", bytes, milliseconds * 1e3,
                static_cast<double>(bytes) / (milliseconds * 1e6) * 2 * (ranks - 1) / ranks);
  }

 private:
  const std::vector<cudaStream_t>& streams_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};
