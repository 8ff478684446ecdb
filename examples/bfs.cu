// Breadth-first search of a random graph in managed memory that host and device share; one kernel a level.
// Usage: bfs [nodes]
#include <vector>

#include "check.hpp"

constexpr int kDegree = 6;
constexpr int kUnseen = -1;

__managed__ int found_next;  // whether this level found a node

__global__ void expand(const int* edges, int* levels, int nodes, int level) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes || levels[node] != level) return;
  for (int e = 0; e < kDegree; ++e) {
    const int other = edges[node * kDegree + e];
    if (atomicCAS(&levels[other], kUnseen, level + 1) == kUnseen) found_next = 1;
  }
}

/// Levels by a queue on the host.
std::vector<int> search(const int* edges, int nodes) {
  std::vector<int> levels(nodes, kUnseen), queue{0};
  levels[0] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (int e = 0; e < kDegree; ++e) {
      const int other = edges[queue[head] * kDegree + e];
      if (levels[other] != kUnseen) continue;
      levels[other] = levels[queue[head]] + 1;
      queue.push_back(other);
    }
  }
  return levels;
}

int main(int argc, char** argv) {
  const int nodes = size_argument(argc, argv, 1 << 15, 1);
  int *edges, *levels;
  CHECK(cudaMallocManaged(&edges, static_cast<std::size_t>(nodes) * kDegree * sizeof(int)));
  CHECK(cudaMallocManaged(&levels, nodes * sizeof(int)));
  Random random;
  for (int i = 0; i < nodes * kDegree; ++i) edges[i] = static_cast<int>(random() % nodes);
  for (int i = 0; i < nodes; ++i) levels[i] = i == 0 ? 0 : kUnseen;
  int level = 0;
  do {
    found_next = 0;
    expand<<<(nodes + 255) / 256, 256>>>(edges, levels, nodes, level++);
    CHECK(cudaDeviceSynchronize());
  } while (found_next);
  const std::vector<int> expected = search(edges, nodes);
  bool passed = true;
  for (int i = 0; i < nodes; ++i) passed = passed && levels[i] == expected[i];
  std::printf("%d levels\n", level);
  CHECK(cudaFree(edges));
  CHECK(cudaFree(levels));
  return verdict(passed);
}
