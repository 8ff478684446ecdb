// Tree all-reduce by one kernel on each GPU: it stores to its parent's and its children's memory and polls flags in its
// own. Usage: allreduce_tree_peer [elements of a GPU], a multiple of the CTAs
#include "tree.hpp"

constexpr int kCtas = 4, kFlags = kChildren + 1;  // of each CTA: one for each child, one for the parent

/// What a GPU has, as the others see it.
struct Rank {
  float *data, *inbox;
  volatile int* flags;
};
struct Neighbours {
  Rank parent, child[kChildren];  // null where there is none
};

__device__ void wait_for(const volatile int* flag) {
  if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
    __threadfence_system();
  }
  __syncthreads();
}

/// After what the CTA has stored.
__device__ void raise(volatile int* flag) {
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *flag = 1;
}

/// A CTA has its part of the data and its own flags, so CTAs of a GPU do not wait for each other.
__global__ void all_reduce(Rank own, Neighbours near, int place, int n) {
  const int part = n / gridDim.x, begin = blockIdx.x * part, end = begin + part, flags = blockIdx.x * kFlags;
  for (int c = 0; c < kChildren; ++c) {
    if (near.child[c].data == nullptr) continue;
    wait_for(own.flags + flags + c);
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) own.data[i] += own.inbox[c * n + i];
  }
  if (near.parent.data != nullptr) {
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) near.parent.inbox[place * n + i] = own.data[i];
    raise(near.parent.flags + flags + place);
    wait_for(own.flags + flags + kChildren);
  }
  for (int c = 0; c < kChildren; ++c) {
    if (near.child[c].data == nullptr) continue;
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) near.child[c].data[i] = own.data[i];
    raise(near.child[c].flags + flags + kChildren);
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 16384, kCtas);
  const int ranks = gpus_with_peer_access();
  std::vector<Rank> all;
  std::vector<float*> data;
  std::vector<cudaStream_t> streams;
  for (int rank = 0; rank < ranks; ++rank) {
    data.push_back(zeros_on<float>(rank, n));
    float* const inbox = zeros_on<float>(rank, kChildren * static_cast<std::size_t>(n));
    all.push_back({data[rank], inbox, zeros_on<int>(rank, kCtas * kFlags)});
    streams.push_back(stream_on(rank));
  }
  fill_ranks(data, n);
  synchronize(ranks);
  const Stopwatch watch(streams);
  for (int rank = 0; rank < ranks; ++rank) {
    Neighbours near{};
    if (rank > 0) near.parent = all[parent_of(rank)];
    for (int c = 0; c < kChildren; ++c)
      if (child_of(rank, c) < ranks) near.child[c] = all[child_of(rank, c)];
    CHECK(cudaSetDevice(rank));
    all_reduce<<<kCtas, 256, 0, streams[rank]>>>(all[rank], near, rank > 0 ? place_of(rank) : 0, n);
    CHECK(cudaGetLastError());
  }
  watch.print(n * sizeof(float));
  synchronize(ranks);
  return verdict(sum_is_right(data, n));
}
