// What the programs for several GPUs share.
#pragma once

#include <vector>

#include "../check.hpp"

/// All GPUs, each with access to the memory of all others; ends the program where that is not possible.
inline int gpus_with_peer_access() {
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));
  for (int gpu = 0; gpu < gpus; ++gpu) {
    CHECK(cudaSetDevice(gpu));
    for (int peer = 0; peer < gpus; ++peer)
      if (peer != gpu) CHECK(cudaDeviceEnablePeerAccess(peer, 0));
  }
  return gpus;
}

/// `count` zeros in the memory of `gpu`, which is current afterwards.
template <class T>
T* zeros_on(int gpu, std::size_t count) {
  T* memory = nullptr;
  CHECK(cudaSetDevice(gpu));
  CHECK(cudaMalloc(&memory, count * sizeof(T)));
  CHECK(cudaMemset(memory, 0, count * sizeof(T)));
  return memory;
}

inline cudaStream_t stream_on(int gpu) {
  cudaStream_t stream = nullptr;
  CHECK(cudaSetDevice(gpu));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

/// An event for each GPU, behind all that its stream has.
class Marks {
 public:
  explicit Marks(const std::vector<cudaStream_t>& streams) : events_(streams.size()) {
    for (std::size_t gpu = 0; gpu < streams.size(); ++gpu) {
      CHECK(cudaSetDevice(static_cast<int>(gpu)));
      CHECK(cudaEventCreateWithFlags(&events_[gpu], cudaEventDisableTiming));
      CHECK(cudaEventRecord(events_[gpu], streams[gpu]));
    }
  }
  ~Marks() {
    for (const cudaEvent_t event : events_) CHECK(cudaEventDestroy(event));
  }
  Marks(const Marks&) = delete;
  Marks& operator=(const Marks&) = delete;

  /// What `stream` gets from now on comes after what that GPU's stream had.
  void wait(cudaStream_t stream, int gpu) const { CHECK(cudaStreamWaitEvent(stream, events_[gpu], 0)); }

 private:
  std::vector<cudaEvent_t> events_;
};

inline void synchronize(int gpus) {
  for (int gpu = 0; gpu < gpus; ++gpu) {
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaDeviceSynchronize());
  }
}
