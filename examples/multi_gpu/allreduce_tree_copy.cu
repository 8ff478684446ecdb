// Tree all-reduce by copies between kernels. Usage: allreduce_tree_copy [elements of a GPU]
#include "tree.hpp"

__global__ void add(float* to, const float* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 16384, 1);
  const std::size_t bytes = n * sizeof(float);
  const int ranks = gpus_with_peer_access(), depth = level_of(ranks - 1);
  std::vector<float*> data, inbox;  // inbox: room for each child
  std::vector<cudaStream_t> streams;
  for (int rank = 0; rank < ranks; ++rank) {
    data.push_back(zeros_on<float>(rank, n));
    inbox.push_back(zeros_on<float>(rank, kChildren * static_cast<std::size_t>(n)));
    streams.push_back(stream_on(rank));
  }
  fill_ranks(data, n);
  synchronize(ranks);
  const Stopwatch watch(streams);
  for (int level = depth; level > 0; --level) {
    for (int rank = 1; rank < ranks; ++rank) {
      if (level_of(rank) != level) continue;
      const int parent = parent_of(rank);
      CHECK(cudaSetDevice(rank));
      CHECK(cudaMemcpyPeerAsync(inbox[parent] + place_of(rank) * static_cast<std::size_t>(n), parent, data[rank], rank,
                                bytes, streams[rank]));
    }
    const Marks sent(streams);
    for (int rank = 1; rank < ranks; ++rank) {
      if (level_of(rank) != level) continue;
      const int parent = parent_of(rank);
      sent.wait(streams[parent], rank);
      CHECK(cudaSetDevice(parent));
      add<<<(n + 255) / 256, 256, 0, streams[parent]>>>(data[parent],
                                                       inbox[parent] + place_of(rank) * static_cast<std::size_t>(n), n);
      CHECK(cudaGetLastError());
    }
  }
  for (int level = 1; level <= depth; ++level) {
    for (int rank = 1; rank < ranks; ++rank) {
      if (level_of(rank) != level) continue;
      const int parent = parent_of(rank);
      CHECK(cudaSetDevice(parent));
      CHECK(cudaMemcpyPeerAsync(data[rank], rank, data[parent], parent, bytes, streams[parent]));
    }
    const Marks sent(streams);
    for (int rank = 1; rank < ranks; ++rank)
      if (level_of(rank) == level) sent.wait(streams[rank], parent_of(rank));
  }
  watch.print(n * sizeof(float));
  synchronize(ranks);
  return verdict(sum_is_right(data, n));
}
