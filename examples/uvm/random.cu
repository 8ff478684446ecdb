// Random: a table of 8-byte words is updated at places that a second array names (1048576: 12 MB managed).
// Usage: random [n]
#include <vector>

#include "../check.hpp"

__global__ void update(unsigned long long* table, const unsigned* places, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicXor(&table[places[i]], static_cast<unsigned long long>(i));
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 20, 1);
  unsigned long long* table;
  unsigned* places;
  CHECK(cudaMallocManaged(&table, n * sizeof(*table)));
  CHECK(cudaMallocManaged(&places, n * sizeof(*places)));
  Random random;
  for (int i = 0; i < n; ++i) {
    table[i] = static_cast<unsigned long long>(i);
    places[i] = random() % static_cast<unsigned>(n);
  }
  std::vector<unsigned long long> expected(table, table + n);
  update<<<(n + 255) / 256, 256>>>(table, places, n);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) expected[places[i]] ^= static_cast<unsigned long long>(i);
  bool good = true;
  for (int i = 0; i < n; ++i) good = good && table[i] == expected[i];
  return verdict(good);
}
