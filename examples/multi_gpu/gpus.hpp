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

/// Work that `to` gets from now on comes after what `from`, a stream of `gpu`, has.
inline void order(int gpu, cudaStream_t from, cudaStream_t to) {
  cudaEvent_t event = nullptr;
  CHECK(cudaSetDevice(gpu));
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaEventRecord(event, from));
  CHECK(cudaStreamWaitEvent(to, event, 0));
  CHECK(cudaEventDestroy(event));
}

inline void synchronize(int gpus) {
  for (int gpu = 0; gpu < gpus; ++gpu) {
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaDeviceSynchronize());
  }
}
