// PE 0 gets data from the last PE, one get after the other, of 8 bytes to a largest size. Usage:
// get_latency [bytes of the largest get] [gets of each size].
#include "common.hpp"

constexpr int kLine = 16;  // words of a line: data whose place in it differs at the two ends move more slowly

/// What the gets of a size take in `to`: whole lines.
__host__ __device__ constexpr int room(int size) { return size < kLine ? kLine : size; }

/// `from` is in the symmetric heap. `to` has the gets of each size behind those of the size before.
__global__ void get_sizes(shmem::Handle handle, std::uint64_t* to, const std::uint64_t* from, int words,
                          int gets) {
  shmem::Context context(handle);
  for (int size = 1; size <= words; size *= 2) {
    for (int i = 0; i < gets; ++i) context.get(to, from, size, context.n_pes() - 1);
    to += room(size);
  }
  context.destroy();
}

int main(int argc, char** argv) {
  const int words = size_argument(argc, argv, 4096, 8) / 8;
  const int gets = argc > 2 ? size_argument(argc - 1, argv + 1, 10, 1) : 10;
  return run_example([&] {
    shmem::init();
    const auto from = shmem::malloc<std::uint64_t>(words),
               to = shmem::malloc<std::uint64_t>(2 * words + 4 * kLine);
    std::vector<std::uint64_t> values(words);
    for (int i = 0; i < words; ++i) values[i] = 1000000007ull * (i + 1);
    upload(from.on(shmem::n_pes() - 1), values);
    shmem::launch({0, 1, 64}, get_sizes, shmem::handle(0), to.on(0), from.on(0), words, gets);
    synchronize();
    const auto got = values_of(to.on(0), 2 * words + 4 * kLine);
    bool right = true;
    int sizes = 0, at = 0;
    for (int size = 1; size <= words; at += room(size), size *= 2, ++sizes)
      for (int i = 0; i < size; ++i) right &= got[at + i] == values[i];
    std::printf("%d gets each of %d sizes, up to %d bytes\n", gets, sizes, 8 * words);
    shmem::finalize();
    return right;
  });
}
