// One thread follows a chain of pointers through memory; prints the cycles of one load. Usage: pointer_chase [bytes]
#include <vector>

#include "check.hpp"

constexpr int kLoads = 4096;
constexpr int kStride = 128;  // bytes between links: one a line

struct Result {
  unsigned last;
  long long cycles;
};

__global__ void chase(const unsigned* next, Result* result) {
  unsigned at = 0;
  for (int i = 0; i < kLoads; ++i) at = next[at];  // warm
  const long long begin = clock64();
  for (int i = 0; i < kLoads; ++i) at = next[at];
  result->cycles = clock64() - begin;
  result->last = at;
}

int main(int argc, char** argv) {
  const int bytes = size_argument(argc, argv, 1 << 18, 2 * kStride);
  const unsigned links = bytes / kStride, words = kStride / sizeof(unsigned);
  std::vector<unsigned> order(links), next(bytes / sizeof(unsigned));
  for (unsigned i = 0; i < links; ++i) order[i] = i;
  Random random;
  for (unsigned i = links - 1; i > 1; --i) {  // link 0 stays first
    const unsigned j = 1 + random() % i, kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  for (unsigned i = 0; i < links; ++i) next[order[i] * words] = order[(i + 1) % links] * words;
  unsigned* chain;
  Result *device, result;
  CHECK(cudaMalloc(&chain, bytes));
  CHECK(cudaMalloc(&device, sizeof(Result)));
  CHECK(cudaMemcpy(chain, next.data(), bytes, cudaMemcpyHostToDevice));
  chase<<<1, 1>>>(chain, device);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&result, device, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(chain));
  CHECK(cudaFree(device));
  std::printf("%d bytes: %.1f cycles a load\n", bytes, static_cast<double>(result.cycles) / kLoads);
  return verdict(result.last == order[2 * kLoads % links] * words && result.cycles > 0);
}
