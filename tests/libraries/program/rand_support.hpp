#pragma once

// What the checks of cuRAND share.
#include <cstdio>
#include <vector>

#include "api.hpp"
#include "rand_api.hpp"

inline int failures = 0;

inline void expect(bool fact, const char* what) {
  if (fact) return;
  std::printf("FAIL: %s\n", what);
  ++failures;
}

/// What `generate(generator, memory, count)` puts into memory, of the host or of the device.
template <class T, class Generate>
std::vector<T> generated(curandGenerator_t generator, bool host, std::size_t count, Generate generate) {
  std::vector<T> values(count + 1, T{77});
  T* memory = values.data();
  if (!host) {
    expect(cudaMalloc(reinterpret_cast<void**>(&memory), values.size() * sizeof(T)) == 0, "cudaMalloc");
    cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  }
  expect(generate(generator, memory, count) == CURAND_STATUS_SUCCESS, "numbers are generated");
  if (!host) {
    cudaDeviceSynchronize();
    cudaMemcpy(values.data(), memory, values.size() * sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(memory);
  }
  expect(values.back() == T{77}, "nothing is written after the end");
  values.pop_back();
  return values;
}
