// A managed vector that all GPUs share: in each round a GPU works on another part of it, which it takes from its
// neighbour. The factors, which all read, are copied to each GPU once; a counter stays on GPU 0, and the others add
// to it from where they are. Usage: managed_vector [elements], a multiple of the GPUs
#include <algorithm>

#include "gpus.hpp"

constexpr int kFactors = 1024;

__global__ void scale(float* part, const float* factors, int count, unsigned* touched) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) part[i] = part[i] * factors[i % kFactors] + 1.0f;
  if (threadIdx.x == 0) atomicAdd_system(touched, 1u);
}

template <class T>
T* managed(std::size_t count) {
  T* memory = nullptr;
  CHECK(cudaMallocManaged(&memory, count * sizeof(T)));
  return memory;
}

int main(int argc, char** argv) {
  const int gpus = gpus_with_peer_access();
  const int count = size_argument(argc, argv, 65536 * gpus, gpus), part = count / gpus, blocks = (part + 255) / 256;
  float* const vector = managed<float>(count);
  float* const factors = managed<float>(kFactors);
  unsigned* const touched = managed<unsigned>(1);
  Random random;
  std::vector<float> expected(count);
  for (int i = 0; i < count; ++i) expected[i] = vector[i] = static_cast<float>(random() % 16);
  for (int i = 0; i < kFactors; ++i) factors[i] = static_cast<float>(random() % 2);
  *touched = 0;
  const cudaMemLocation first{cudaMemLocationTypeDevice, 0};
  CHECK(cudaMemAdvise(factors, kFactors * sizeof(float), cudaMemAdviseSetReadMostly, first));
  CHECK(cudaMemAdvise(touched, sizeof(unsigned), cudaMemAdviseSetPreferredLocation, first));
  CHECK(cudaSetDevice(0));
  CHECK(cudaMemPrefetchAsync(touched, sizeof(unsigned), first, 0, nullptr));
  for (int round = 0; round < gpus; ++round) {
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const std::size_t begin = static_cast<std::size_t>((gpu + round) % gpus) * part;
      CHECK(cudaSetDevice(gpu));
      scale<<<blocks, 256>>>(vector + begin, factors, part, touched);
      CHECK(cudaGetLastError());
    }
    synchronize(gpus);
  }
  for (int round = 0; round < gpus; ++round)
    for (int i = 0; i < count; ++i) expected[i] = expected[i] * factors[i % part % kFactors] + 1.0f;
  const bool passed = std::equal(expected.begin(), expected.end(), vector) &&
                      *touched == static_cast<unsigned>(gpus * gpus * blocks);
  CHECK(cudaFree(vector));
  CHECK(cudaFree(factors));
  CHECK(cudaFree(touched));
  return verdict(passed);
}
