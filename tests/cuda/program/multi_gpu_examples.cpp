// What the programs of examples/multi_gpu do on the host, for their PTX without a CUDA compiler:
// `multi_gpu_examples PTX WHICH` prints how many of the results are wrong.
#include <algorithm>

#include "registration.hpp"

extern "C" {
int cudaGetDeviceCount(int*);
int cudaSetDevice(int);
int cudaDeviceEnablePeerAccess(int, unsigned);
int cudaMemcpyPeerAsync(void*, int, const void*, int, std::size_t, void*);
}

namespace {

constexpr int kToDevice = 1, kToHost = 2;
constexpr unsigned kNonBlocking = 1;

// The kernels of the files.
void add() {}
void tree_peer() {}
void rings() {}
void rings_words() {}
void iterate() {}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

int gpus() {
  int count = 0;
  cudaGetDeviceCount(&count);
  return count;
}
template <class T>
T* zeros_on(int gpu, std::size_t count) {
  void* memory = nullptr;
  if (cudaSetDevice(gpu) != 0 || cudaMalloc(&memory, count * sizeof(T)) != 0) std::abort();
  cudaMemset(memory, 0, count * sizeof(T));
  return static_cast<T*>(memory);
}
template <class T>
std::vector<T> values_of(const T* memory, std::size_t count) {
  std::vector<T> values(count);
  if (cudaMemcpy(values.data(), memory, count * sizeof(T), kToHost) != 0) std::abort();
  return values;
}

/// Each GPU's stream; neighbours wait for each other's work by events.
struct Streams {
  std::vector<void*> all;
  Streams() {
    for (int gpu = 0; gpu < gpus(); ++gpu) {
      cudaSetDevice(gpu);
      for (int peer = 0; peer < gpus(); ++peer)
        if (peer != gpu) cudaDeviceEnablePeerAccess(peer, 0);
      all.emplace_back();
      cudaStreamCreateWithFlags(&all.back(), kNonBlocking);
    }
  }
  /// What stream `later` gets from now on comes after what stream `first` has.
  void order(int first, int later) const {
    void* event = nullptr;
    cudaSetDevice(first);
    cudaEventCreate(&event);
    cudaEventRecord(event, all[at(first)]);
    cudaStreamWaitEvent(all[at(later)], event, 0);
  }
  void synchronize() const {
    for (int gpu = 0; gpu < gpus(); ++gpu) {
      cudaSetDevice(gpu);
      cudaDeviceSynchronize();
    }
  }
};

/// An all-reduce: element i of GPU r is (r + i) modulo 17.
struct AllReduce {
  int n;
  std::vector<float*> data;
  Streams streams;

  explicit AllReduce(int count) : n(count) {
    std::vector<float> values(at(n));
    for (int rank = 0; rank < gpus(); ++rank) {
      data.push_back(zeros_on<float>(rank, values.size()));
      for (int i = 0; i < n; ++i) values[at(i)] = static_cast<float>((rank + i) % 17);
      cudaMemcpy(data.back(), values.data(), values.size() * sizeof(float), kToDevice);
    }
  }
  [[nodiscard]] int wrong() const {
    streams.synchronize();
    int wrong = 0;
    for (float* own : data) {
      const auto values = values_of(own, at(n));
      for (int i = 0; i < n; ++i) {
        float sum = 0;
        for (int rank = 0; rank < gpus(); ++rank) sum += static_cast<float>((rank + i) % 17);
        wrong += values[at(i)] != sum ? 1 : 0;
      }
    }
    return wrong;
  }
};

// A binary tree of the GPUs.
constexpr int kChildren = 2;
int parent_of(int rank) { return (rank - 1) / kChildren; }
int place_of(int rank) { return (rank - 1) % kChildren; }
int child_of(int rank, int place) { return kChildren * rank + 1 + place; }

/// Sums go up from the last GPU to the root, each after those of its own children, and the whole sum down.
int allreduce_tree_copy() {
  AllReduce work(512);
  const std::size_t bytes = at(work.n) * sizeof(float);
  std::vector<float*> inbox;
  for (int rank = 0; rank < gpus(); ++rank) inbox.push_back(zeros_on<float>(rank, kChildren * at(work.n)));
  for (int rank = gpus() - 1; rank > 0; --rank) {
    const int parent = parent_of(rank);
    float *to = inbox[at(parent)] + at(place_of(rank) * work.n), *own = work.data[at(parent)];
    cudaSetDevice(rank);
    cudaMemcpyPeerAsync(to, parent, work.data[at(rank)], rank, bytes, work.streams.all[at(rank)]);
    work.streams.order(rank, parent);
    void* args[] = {&own, &to, &work.n};
    cudaSetDevice(parent);
    launch(&add, 2, 256, args, work.streams.all[at(parent)]);
  }
  for (int rank = 1; rank < gpus(); ++rank) {
    const int parent = parent_of(rank);
    cudaSetDevice(parent);
    cudaMemcpyPeerAsync(work.data[at(rank)], rank, work.data[at(parent)], parent, bytes,
                        work.streams.all[at(parent)]);
    work.streams.order(parent, rank);
  }
  return work.wrong();
}

int allreduce_tree_peer() {
  struct Rank {
    float *data = nullptr, *inbox = nullptr;
    int* flags = nullptr;
  };
  struct Neighbours {
    Rank parent, child[kChildren];
  };
  constexpr int kCtas = 4, kFlags = kChildren + 1;
  AllReduce work(512);
  std::vector<Rank> all;
  for (int rank = 0; rank < gpus(); ++rank)
    all.push_back({work.data[at(rank)], zeros_on<float>(rank, kChildren * at(work.n)),
                   zeros_on<int>(rank, kCtas * kFlags)});
  work.streams.synchronize();
  for (int rank = 0; rank < gpus(); ++rank) {
    Neighbours near;
    if (rank > 0) near.parent = all[at(parent_of(rank))];
    for (int c = 0; c < kChildren; ++c)
      if (child_of(rank, c) < gpus()) near.child[c] = all[at(child_of(rank, c))];
    int place = rank > 0 ? place_of(rank) : 0;
    void* args[] = {&all[at(rank)], &near, &place, &work.n};
    cudaSetDevice(rank);
    launch(&tree_peer, kCtas, 64, args, work.streams.all[at(rank)]);
  }
  return work.wrong();
}

/// Two rings, there and back; `words`: the kernel in whose inboxes each word says by itself that it has come.
int allreduce_rings(bool words) {
  struct Link {
    int place = 0;
    void *inbox = nullptr, *words = nullptr;
    int* flags = nullptr;
  };
  struct Links {
    Link ring[6];
  };
  int ranks = gpus(), rings_used = 2, chunk = 64, quarter = chunk / 4;
  constexpr int kCtas = 4;
  AllReduce work(ranks * chunk);
  std::vector<float*> inbox;
  std::vector<int*> flags;
  for (int rank = 0; rank < ranks; ++rank) {
    inbox.push_back(zeros_on<float>(rank, at(2 * ranks * chunk)));
    if (words) cudaMemset(inbox.back(), 0xff, at(2 * ranks * chunk) * sizeof(float));
    flags.push_back(zeros_on<int>(rank, kCtas));
  }
  work.streams.synchronize();
  for (int rank = 0; rank < ranks; ++rank) {
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    Links links;
    links.ring[0] = {rank, inbox[at(next)], inbox[at(next)], flags[at(next)]};
    links.ring[1] = {ranks - 1 - rank, inbox[at(before)], inbox[at(before)], flags[at(before)]};
    void* by_quads[] = {&work.data[at(rank)], &inbox[at(rank)], &flags[at(rank)], &links,
                        &rings_used,          &ranks,           &quarter};
    void* by_words[] = {&work.data[at(rank)], &inbox[at(rank)], &links, &rings_used, &ranks, &chunk};
    cudaSetDevice(rank);
    launch(words ? &rings_words : &rings, kCtas, 32, words ? by_words : by_quads, work.streams.all[at(rank)]);
  }
  return work.wrong();
}

/// Element i of block p of GPU r is r * n + p * block + i, and goes to block r of GPU p.
int all_to_all_copy() {
  const Streams streams;
  const int ranks = gpus(), block = 256, n = ranks * block;
  std::vector<int*> from, to;
  std::vector<int> values(at(n));
  for (int rank = 0; rank < ranks; ++rank) {
    from.push_back(zeros_on<int>(rank, at(n)));
    to.push_back(zeros_on<int>(rank, at(n)));
    for (int i = 0; i < n; ++i) values[at(i)] = rank * n + i;
    cudaMemcpy(from.back(), values.data(), values.size() * sizeof(int), kToDevice);
  }
  for (int distance = 0; distance < ranks; ++distance)
    for (int rank = 0; rank < ranks; ++rank) {
      const int peer = (rank + distance) % ranks;
      cudaSetDevice(rank);
      cudaMemcpyPeerAsync(to[at(peer)] + rank * block, peer, from[at(rank)] + peer * block, rank,
                          at(block) * sizeof(int), streams.all[at(rank)]);
    }
  streams.synchronize();
  int wrong = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    values = values_of(to[at(rank)], at(n));
    for (int i = 0; i < n; ++i) wrong += values[at(i)] != i / block * n + rank * block + i % block ? 1 : 0;
  }
  return wrong;
}

/// Rows of a grid on each GPU, between rows of their neighbours. The mean of four neighbours, but at the rim.
int jacobi_copy() {
  constexpr int kIterations = 5;
  const Streams streams;
  int ranks = gpus(), columns = 32;
  const int rows = 8, part = (rows + 2) * columns;
  std::vector<float> grid(at((ranks * rows + 2) * columns)), next = grid;
  for (std::size_t i = 0; i < grid.size(); ++i) grid[i] = static_cast<float>(i * i % 97);
  next = grid;
  std::vector<float*> now, then;
  for (int rank = 0; rank < ranks; ++rank)
    for (auto* buffers : {&now, &then}) {
      buffers->push_back(zeros_on<float>(rank, at(part)));
      cudaMemcpy(buffers->back(), grid.data() + rank * rows * columns, at(part) * sizeof(float), kToDevice);
    }
  for (int i = 0; i < kIterations; ++i) {
    for (int rank = 0; rank < ranks; ++rank) {
      void* args[] = {&now[at(rank)], &then[at(rank)], &columns};
      float* const own = then[at(rank)];
      cudaSetDevice(rank);
      launch_grid(&iterate, {1, static_cast<unsigned>(rows)}, {32}, args, streams.all[at(rank)]);
      const std::size_t row = at(columns) * sizeof(float);
      if (rank > 0)
        cudaMemcpyPeerAsync(then[at(rank - 1)] + (rows + 1) * columns, rank - 1, own + columns, rank, row,
                            streams.all[at(rank)]);
      if (rank + 1 < ranks)
        cudaMemcpyPeerAsync(then[at(rank + 1)], rank + 1, own + rows * columns, rank, row,
                            streams.all[at(rank)]);
    }
    for (int rank = 0; rank + 1 < ranks; ++rank) streams.order(rank, rank + 1), streams.order(rank + 1, rank);
    now.swap(then);
    for (int y = 1; y <= ranks * rows; ++y)
      for (int x = 1; x + 1 < columns; ++x) {
        const float* const c = &grid[at(y * columns + x)];
        next[at(y * columns + x)] = 0.25f * ((c[-columns] + c[columns]) + (c[-1] + c[1]));
      }
    grid.swap(next);
  }
  streams.synchronize();
  int wrong = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto values = values_of(now[at(rank)], at(part));
    for (int i = columns; i < part - columns; ++i)
      wrong += values[at(i)] != grid[at(rank * rows * columns + i)] ? 1 : 0;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 3;
  void** const handle = register_ptx(argv[1]);
  if (handle == nullptr) return 3;
  const std::string which = argv[2];
  if (which == "allreduce_tree_copy") register_kernel(handle, &add, "_Z3addPfPKfi");
  if (which == "allreduce_tree_peer")
    register_kernel(handle, &tree_peer, "_Z10all_reduce4Rank10Neighboursii");
  if (which == "jacobi_copy") register_kernel(handle, &iterate, "_Z7iteratePKfPfi");
  if (which.starts_with("allreduce_rings")) {
    register_kernel(handle, &rings, "_Z10all_reduceP6float4PKS_PVKi5Linksiii");
    register_kernel(handle, &rings_words, "_Z16all_reduce_wordsPfPVKj5Linksiii");
  }
  __cudaRegisterFatBinaryEnd(handle);
  int wrong = -1;
  if (which == "allreduce_tree_copy") wrong = allreduce_tree_copy();
  if (which == "allreduce_tree_peer") wrong = allreduce_tree_peer();
  if (which == "allreduce_rings") wrong = allreduce_rings(false);
  if (which == "allreduce_rings_words") wrong = allreduce_rings(true);
  if (which == "all_to_all_copy") wrong = all_to_all_copy();
  if (which == "jacobi_copy") wrong = jacobi_copy();
  std::printf("%d\n", wrong + cudaGetLastError());
  return 0;
}
