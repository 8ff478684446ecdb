// Mixed: breadth-first search level by level, two kernels a level, over a random graph of n nodes with six edges
// each (262144: 9.75 MB managed). Usage: bfs [n]
#include <vector>

#include "../check.hpp"

constexpr int kDegree = 6, kThreads = 512;

struct Node {
  int first, edges;
};

__global__ void expand(const Node* nodes, const int* edges, char* front, char* next, const char* seen, int* cost,
                       int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !front[v]) return;
  front[v] = 0;
  const Node node = nodes[v];
  for (int e = node.first; e < node.first + node.edges; ++e) {
    const int u = edges[e];
    if (seen[u]) continue;
    cost[u] = cost[v] + 1;
    next[u] = 1;
  }
}

__global__ void advance(char* front, char* next, char* seen, int* more, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !next[v]) return;
  front[v] = 1;
  seen[v] = 1;
  next[v] = 0;
  *more = 1;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 18, 1);
  Node* nodes;
  int *edges, *cost, *more;
  char *front, *next, *seen;
  CHECK(cudaMallocManaged(&nodes, n * sizeof(Node)));
  CHECK(cudaMallocManaged(&edges, n * kDegree * sizeof(int)));
  CHECK(cudaMallocManaged(&front, n));
  CHECK(cudaMallocManaged(&next, n));
  CHECK(cudaMallocManaged(&seen, n));
  CHECK(cudaMallocManaged(&cost, n * sizeof(int)));
  CHECK(cudaMalloc(&more, sizeof(int)));
  Random random;
  for (int v = 0; v < n; ++v) {
    nodes[v] = {v * kDegree, kDegree};
    for (int e = 0; e < kDegree; ++e) edges[v * kDegree + e] = static_cast<int>(random() % static_cast<unsigned>(n));
    cost[v] = -1;
    front[v] = next[v] = seen[v] = 0;
  }
  front[0] = seen[0] = 1;
  cost[0] = 0;
  const int blocks = (n + kThreads - 1) / kThreads;
  for (int again = 1; again;) {
    again = 0;
    CHECK(cudaMemcpy(more, &again, sizeof(int), cudaMemcpyHostToDevice));
    expand<<<blocks, kThreads>>>(nodes, edges, front, next, seen, cost, n);
    advance<<<blocks, kThreads>>>(front, next, seen, more, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&again, more, sizeof(int), cudaMemcpyDeviceToHost));
  }
  std::vector<int> expected(n, -1), queue{0};
  expected[0] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (int e = 0; e < kDegree; ++e) {
      const int u = edges[queue[i] * kDegree + e];
      if (expected[u] >= 0) continue;
      expected[u] = expected[queue[i]] + 1;
      queue.push_back(u);
    }
  bool good = true;
  for (int v = 0; v < n; ++v) good = good && cost[v] == expected[v];
  return verdict(good);
}
