// What the examples share: errors end the program, and the verdict is one line and the exit code.
#pragma once

#include "../../include/lockstep/shmem.cuh"
#include "../check.hpp"

namespace shmem = lockstep::shmem;

/// Waits for the kernels of all PEs.
inline void synchronize() {
  for (int pe = 0; pe < shmem::n_pes(); ++pe) {
    CHECK(cudaSetDevice(pe));
    CHECK(cudaDeviceSynchronize());
  }
}

/// `count` values of the PE's memory.
template <class T>
std::vector<T> values_of(const T* memory, std::size_t count) {
  std::vector<T> values(count);
  CHECK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}
template <class T>
void upload(T* memory, const std::vector<T>& values) {
  CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
}

/// main() of an example: `body` gives whether the results are right.
template <class Body>
int run_example(Body body) {
  try {
    return verdict(body());
  } catch (const shmem::Error& error) {
    std::printf("%s\nFAIL\n", error.what());
    return 1;
  }
}
