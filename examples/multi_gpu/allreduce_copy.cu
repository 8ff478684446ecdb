// Ring all-reduce by copies between kernels. Usage: allreduce_copy [elements of a chunk]; a GPU has as many chunks
// as there are GPUs.
#include "ring.hpp"

__global__ void add(float* to, const float* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}

int main(int argc, char** argv) {
  const int chunk = size_argument(argc, argv, 4096, 1);
  const std::size_t bytes = chunk * sizeof(float);
  const int ranks = gpus_with_peer_access(), steps = 2 * (ranks - 1), n = ranks * chunk;
  std::vector<float*> data, inbox;  // inbox: a chunk for each step
  std::vector<cudaStream_t> streams;
  for (int rank = 0; rank < ranks; ++rank) {
    data.push_back(zeros_on<float>(rank, n));
    inbox.push_back(zeros_on<float>(rank, (steps + 1) * static_cast<std::size_t>(chunk)));
    streams.push_back(stream_on(rank));
  }
  fill_ranks(data, n);
  synchronize(ranks);
  const Stopwatch watch(streams);
  for (int step = 0; step < steps; ++step) {
    for (int rank = 0; rank < ranks; ++rank) {
      const int next = (rank + 1) % ranks;
      CHECK(cudaSetDevice(rank));
      CHECK(cudaMemcpyPeerAsync(inbox[next] + step * chunk, next,
                                data[rank] + sent_chunk(rank, step, ranks) * chunk, rank, bytes, streams[rank]));
    }
    const Marks sent(streams);
    for (int rank = 0; rank < ranks; ++rank) {
      sent.wait(streams[rank], (rank + ranks - 1) % ranks);
      float* const to = data[rank] + sent_chunk(rank, step + 1, ranks) * chunk;
      const float* const from = inbox[rank] + step * chunk;
      CHECK(cudaSetDevice(rank));
      if (step < ranks - 1) {
        add<<<(chunk + 255) / 256, 256, 0, streams[rank]>>>(to, from, chunk);
        CHECK(cudaGetLastError());
      } else {
        CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, streams[rank]));
      }
    }
  }
  watch.print(n * sizeof(float));
  synchronize(ranks);
  return verdict(sum_is_right(data, n));
}
