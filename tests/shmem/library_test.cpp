// The host side of the library without a simulator: a CUDA runtime that knows nothing of it.
#include <catch2/catch.hpp>

#include "examples/shmem/without_nvcc.hpp"
#include "lockstep/shmem/host.h"

extern "C" {
const char* cudaGetErrorString(int) { return "an error"; }
int cudaGetDeviceCount(int* count) { return *count = 1, 0; }
int cudaGetDevice(int* device) { return *device = 0; }
int cudaSetDevice(int) { return 0; }
int cudaDeviceSynchronize() { return 0; }
int cudaMalloc(void**, std::size_t) { return 2; }
int cudaFree(void*) { return 0; }
int cudaMemset(void*, int, std::size_t) { return 0; }
}

namespace shmem = lockstep::shmem;

TEST_CASE("Library: init() fails if no agent would serve the queues, before it allocates memory") {
  CHECK_THROWS_WITH(shmem::init(), Catch::Matchers::Contains("does not run under `lockstep exec`"));
  CHECK(shmem::n_pes() == 0);
  CHECK_THROWS_WITH(shmem::finalize(), Catch::Matchers::Contains("init() has not been called"));
}
