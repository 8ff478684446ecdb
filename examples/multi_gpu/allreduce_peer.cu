// Ring all-reduce by one kernel on each GPU: it stores to the next GPU's memory and polls flags in its own. Usage:
// allreduce_peer [elements of a chunk], a multiple of the CTAs; a GPU has as many chunks as there are GPUs.
#include "ring.hpp"

constexpr int kCtas = 4;

/// A CTA has its part of each chunk and its own flag, so CTAs of a GPU do not wait for each other.
__global__ void all_reduce(float* own, const float* inbox, float* next_inbox, const volatile int* flags,
                           volatile int* next_flags, int rank, int ranks, int chunk) {
  const int part = chunk / gridDim.x, begin = blockIdx.x * part;
  for (int step = 0; step < 2 * (ranks - 1); ++step) {
    const float* const send = own + sent_chunk(rank, step, ranks) * chunk + begin;
    float* const receive = own + sent_chunk(rank, step + 1, ranks) * chunk + begin;
    for (int i = threadIdx.x; i < part; i += blockDim.x) next_inbox[step * chunk + begin + i] = send[i];
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) {
      next_flags[blockIdx.x] = step + 1;
      while (flags[blockIdx.x] < step + 1) {
      }
      __threadfence_system();
    }
    __syncthreads();
    for (int i = threadIdx.x; i < part; i += blockDim.x) {
      const float got = inbox[step * chunk + begin + i];
      receive[i] = step < ranks - 1 ? receive[i] + got : got;
    }
    __syncthreads();
  }
}

int main(int argc, char** argv) {
  const int chunk = size_argument(argc, argv, 4096, kCtas);
  const int ranks = gpus_with_peer_access(), steps = 2 * (ranks - 1), n = ranks * chunk;
  std::vector<float*> data, inbox;  // inbox: a chunk for each step
  std::vector<int*> flags;
  std::vector<cudaStream_t> streams;
  for (int rank = 0; rank < ranks; ++rank) {
    data.push_back(zeros_on<float>(rank, n));
    inbox.push_back(zeros_on<float>(rank, (steps + 1) * static_cast<std::size_t>(chunk)));
    flags.push_back(zeros_on<int>(rank, kCtas));
    streams.push_back(stream_on(rank));
  }
  fill_ranks(data, n);
  synchronize(ranks);
  const Stopwatch watch(streams);
  for (int rank = 0; rank < ranks; ++rank) {
    const int next = (rank + 1) % ranks;
    CHECK(cudaSetDevice(rank));
    all_reduce<<<kCtas, 256, 0, streams[rank]>>>(data[rank], inbox[rank], inbox[next], flags[rank], flags[next], rank,
                                                  ranks, chunk);
    CHECK(cudaGetLastError());
  }
  watch.print(n * sizeof(float));
  synchronize(ranks);
  return verdict(sum_is_right(data, n));
}
