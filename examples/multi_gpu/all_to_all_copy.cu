// All-to-all by copies: block p of each GPU goes to GPU p, each in a stream of its own. Usage: all_to_all_copy [elements
// of a block]
#include "gpus.hpp"

int main(int argc, char** argv) {
  const int block = size_argument(argc, argv, 4096, 1);
  const int ranks = gpus_with_peer_access(), n = ranks * block;
  std::vector<int*> from, to;
  std::vector<int> values(n);
  for (int rank = 0; rank < ranks; ++rank) {
    from.push_back(zeros_on<int>(rank, n));
    to.push_back(zeros_on<int>(rank, n));
    for (int i = 0; i < n; ++i) values[i] = rank * n + i;
    CHECK(cudaMemcpy(from[rank], values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  }
  synchronize(ranks);
  for (int distance = 0; distance < ranks; ++distance)  // each GPU sends to one and hears from one at a time
    for (int rank = 0; rank < ranks; ++rank) {
      const int peer = (rank + distance) % ranks;
      CHECK(cudaMemcpyPeerAsync(to[peer] + rank * block, peer, from[rank] + peer * block, rank, block * sizeof(int),
                                stream_on(rank)));
    }
  synchronize(ranks);
  bool passed = true;
  for (int rank = 0; rank < ranks; ++rank) {
    CHECK(cudaMemcpy(values.data(), to[rank], n * sizeof(int), cudaMemcpyDefault));
    for (int i = 0; i < n; ++i) passed = passed && values[i] == i / block * n + rank * block + i % block;
  }
  return verdict(passed);
}
