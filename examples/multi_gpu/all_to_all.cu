// All-to-all: block p of each GPU goes to GPU p, by stores to its memory. Usage: all_to_all [elements of a
// block]
#include "gpus.hpp"

constexpr int kMaxGpus = 16;
struct Targets {
  int* memory[kMaxGpus];
};

__global__ void scatter(const int* from, Targets targets, int rank, int ranks, int block) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < ranks * block) targets.memory[i / block][rank * block + i % block] = from[i];
}

int main(int argc, char** argv) {
  const int block = size_argument(argc, argv, 4096, 1);
  const int ranks = gpus_with_peer_access(), n = ranks * block;
  std::vector<int*> from;
  Targets to{};
  std::vector<int> values(n);
  for (int rank = 0; rank < ranks; ++rank) {
    from.push_back(zeros_on<int>(rank, n));
    to.memory[rank] = zeros_on<int>(rank, n);
    for (int i = 0; i < n; ++i) values[i] = rank * n + i;
    CHECK(cudaMemcpy(from[rank], values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  }
  synchronize(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    CHECK(cudaSetDevice(rank));
    scatter<<<(n + 255) / 256, 256>>>(from[rank], to, rank, ranks, block);
    CHECK(cudaGetLastError());
  }
  synchronize(ranks);
  bool passed = true;
  for (int rank = 0; rank < ranks; ++rank) {
    CHECK(cudaMemcpy(values.data(), to.memory[rank], n * sizeof(int), cudaMemcpyDefault));
    for (int i = 0; i < n; ++i) passed = passed && values[i] == i / block * n + rank * block + i % block;
  }
  return verdict(passed);
}
