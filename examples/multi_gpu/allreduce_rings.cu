// Ring all-reduce for speed, by one kernel on each GPU. Usage: allreduce_rings [elements of a chunk] [CTAs]
// [rings]; a GPU has as many chunks as there are GPUs. CTAs share the work, and each belongs to one of up to
// 6 rings, which pass the GPUs in different orders: between four GPUs 6 rings use every link. Chunks of at
// most kSmall elements go word by word, each of which shows by itself that it has arrived, so that no fence
// is needed. Further arguments: [all-reduces in a row] (those that go word by word; one where it is not
// given) and [host threads], 1 or one for each GPU.
#include <algorithm>
#include <thread>

#include "ring.hpp"

constexpr int kMaxRings = 6, kThreads = 512, kSmall = 1 << 20;
constexpr int kMaxCalls = 5;             // of eight GPUs: their sums are whole numbers in float still
constexpr unsigned kEmpty = 0xffffffff;  // in an inbox: a word that has not arrived; as a float it is a NaN

/// A GPU in a ring: its place there, and the next GPU's memory.
struct Link {
  int place;
  float4* inbox;
  volatile unsigned* words;
  volatile int* flags;
};
struct Links {
  Link ring[kMaxRings];
};

/// In 16 bytes at once. `quarter`: a chunk's quads.
__global__ void all_reduce(float4* own, const float4* inbox, const volatile int* flags, Links links,
                           int rings, int ranks, int quarter) {
  const Link link = links.ring[blockIdx.x % rings];
  const int part = quarter / gridDim.x, begin = blockIdx.x * part;
  for (int step = 0; step < 2 * (ranks - 1); ++step) {
    const float4* const send = own + sent_chunk(link.place, step, ranks) * quarter + begin;
    float4* const receive = own + sent_chunk(link.place, step + 1, ranks) * quarter + begin;
    for (int i = threadIdx.x; i < part; i += blockDim.x) link.inbox[step * quarter + begin + i] = send[i];
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) {
      link.flags[blockIdx.x] = step + 1;
      while (flags[blockIdx.x] < step + 1) {
      }
      __threadfence_system();
    }
    __syncthreads();
    for (int i = threadIdx.x; i < part; i += blockDim.x) {
      float4 got = inbox[step * quarter + begin + i];
      if (step < ranks - 1) {
        const float4 had = receive[i];
        got = make_float4(had.x + got.x, had.y + got.y, had.z + got.z, had.w + got.w);
      }
      receive[i] = got;
    }
    __syncthreads();
  }
}

/// Each thread has its elements and waits for no other.
__global__ void all_reduce_words(float* own, const volatile unsigned* words, Links links, int rings,
                                 int ranks, int chunk) {
  const Link link = links.ring[blockIdx.x % rings];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < chunk; i += gridDim.x * blockDim.x) {
    float value = own[link.place * chunk + i];
    for (int step = 0; step < 2 * (ranks - 1); ++step) {
      link.words[step * chunk + i] = __float_as_uint(value);
      unsigned got = kEmpty;
      while (got == kEmpty) got = words[step * chunk + i];
      value = __uint_as_float(got);
      float* const receive = own + sent_chunk(link.place, step + 1, ranks) * chunk + i;
      if (step < ranks - 1) value += *receive;
      *receive = value;
    }
  }
}

/// The GPUs in the order of a ring: two orders by two swaps, each there and back.
std::vector<int> order_of(int ring, int ranks) {
  std::vector<int> order(ranks);
  for (int i = 0; i < ranks; ++i) order[i] = i;
  if (ring / 2 == 1 && ranks > 3) std::swap(order[ranks - 2], order[ranks - 1]);
  if (ring / 2 == 2 && ranks > 3) std::swap(order[1], order[2]);
  if (ring % 2 == 1) std::reverse(order.begin(), order.end());
  return order;
}

int main(int argc, char** argv) {
  const int ctas = size_argument(argc - 1, argv + 1, 8, 1), rings = size_argument(argc - 2, argv + 2, 1, 1);
  if (rings > kMaxRings || ctas % rings != 0) return verdict(false);
  const int first = argc > 1 ? std::atoi(argv[1]) : 0;
  const bool small = first > 0 && first <= kSmall;
  const int chunk = size_argument(argc, argv, 4096 * ctas, small ? 1 : 4 * ctas);
  const int calls = size_argument(argc - 3, argv + 3, 1, 1),
            threads = size_argument(argc - 4, argv + 4, 1, 1);
  if (calls > kMaxCalls || (calls > 1 && !small)) return verdict(false);
  const int ranks = gpus_with_peer_access(), steps = 2 * (ranks - 1), n = ranks * chunk;
  const std::size_t room = (steps + 1) * static_cast<std::size_t>(chunk);  // a chunk for each step
  std::vector<float*> data, inbox;
  std::vector<unsigned*> words;
  std::vector<int*> flags;
  std::vector<cudaStream_t> streams;
  for (int rank = 0; rank < ranks; ++rank) {
    data.push_back(zeros_on<float>(rank, n));
    inbox.push_back(zeros_on<float>(rank, small ? 1 : room));
    words.push_back(zeros_on<unsigned>(rank, small ? calls * room : 1));
    CHECK(cudaMemset(words[rank], 0xff, (small ? calls * room : 1) * sizeof(unsigned)));
    flags.push_back(zeros_on<int>(rank, ctas));
    streams.push_back(stream_on(rank));
  }
  fill_ranks(data, n);
  synchronize(ranks);
  std::vector<Links> links(ranks);
  for (int ring = 0; ring < rings; ++ring) {
    const std::vector<int> order = order_of(ring, ranks);
    for (int place = 0; place < ranks; ++place) {
      const int next = order[(place + 1) % ranks];
      links[order[place]].ring[ring] = {place, reinterpret_cast<float4*>(inbox[next]), words[next],
                                        flags[next]};
    }
  }
  const auto launch = [&](int rank, int call) {
    CHECK(cudaSetDevice(rank));
    if (small) {
      Links shifted = links[rank];  // each all-reduce has words of its own
      for (Link& link : shifted.ring) link.words += call * room;
      all_reduce_words<<<ctas, kThreads, 0, streams[rank]>>>(data[rank], words[rank] + call * room, shifted,
                                                             rings, ranks, chunk);
    } else {
      all_reduce<<<ctas, kThreads, 0, streams[rank]>>>(reinterpret_cast<float4*>(data[rank]),
                                                       reinterpret_cast<float4*>(inbox[rank]), flags[rank],
                                                       links[rank], rings, ranks, chunk / 4);
    }
    CHECK(cudaGetLastError());
  };
  const Stopwatch watch(streams);
  if (threads == 1) {
    for (int call = 0; call < calls; ++call)
      for (int rank = 0; rank < ranks; ++rank) launch(rank, call);
  } else {
    std::vector<std::thread> hosts;
    for (int rank = 0; rank < ranks; ++rank)
      hosts.emplace_back([&, rank] {
        for (int call = 0; call < calls; ++call) launch(rank, call);
      });
    for (std::thread& host : hosts) host.join();
  }
  watch.print(n * sizeof(float));
  synchronize(ranks);
  return verdict(sum_is_right(data, n, calls));
}
