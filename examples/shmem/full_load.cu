// Every work-group that a GPU of 12 compute units holds gets 64 bytes from the next PE, again and again.
// Usage: full_load [work-groups] [gets of each] [threads of each work-group]. On compnet_8, where a warp stands for the
// wave that a work-group is in ComP-Net: full_load 480 10 32.
#include "common.hpp"

constexpr int kWords = 8;  // of a get

/// Work-group g gets piece g, g + 1, and so on; `sums` has what its threads make of them.
__global__ void load(shmem::Handle handle, std::uint64_t* inboxes, const std::uint64_t* pieces,
                     std::uint64_t* sums, int gets) {
  shmem::Context context(handle);
  std::uint64_t* const inbox = inboxes + kWords * blockIdx.x;
  std::uint64_t sum = 0;
  for (int i = 0; i < gets; ++i) {
    context.get(inbox, pieces + kWords * ((blockIdx.x + i) % gridDim.x), kWords,
                (context.my_pe() + 1) % context.n_pes());
    if (threadIdx.x < kWords) sum += inbox[threadIdx.x];
  }
  if (threadIdx.x < kWords) sums[kWords * blockIdx.x + threadIdx.x] = sum;
  context.destroy();
}

std::uint64_t piece_word(int pe, int word) { return 1000003ull * word + pe; }

int main(int argc, char** argv) {
  const int groups = size_argument(argc, argv, 480, 1);
  const int gets = argc > 2 ? size_argument(argc - 1, argv + 1, 10, 1) : 10;
  const int threads = argc > 3 ? size_argument(argc - 2, argv + 2, 64, kWords) : 64;
  return run_example([&] {
    shmem::Options options;
    options.work_groups = groups;
    shmem::init(options);
    const int pes = shmem::n_pes(), words = kWords * groups;
    const auto inboxes = shmem::malloc<std::uint64_t>(words), pieces = shmem::malloc<std::uint64_t>(words),
               sums = shmem::malloc<std::uint64_t>(words);
    for (int pe = 0; pe < pes; ++pe) {
      std::vector<std::uint64_t> own(words);
      for (int i = 0; i < words; ++i) own[i] = piece_word(pe, i);
      upload(pieces.on(pe), own);
    }
    for (int pe = 0; pe < pes; ++pe)
      shmem::launch({pe, options.work_groups, static_cast<unsigned>(threads)}, load, shmem::handle(pe),
                    inboxes.on(pe), pieces.on(pe), sums.on(pe), gets);
    synchronize();
    bool right = true;
    for (int pe = 0; pe < pes; ++pe) {
      const auto found = values_of(sums.on(pe), words);
      for (int i = 0; i < words; ++i) {
        std::uint64_t sum = 0;
        for (int k = 0; k < gets; ++k)
          sum += piece_word((pe + 1) % pes, kWords * ((i / kWords + k) % groups) + i % kWords);
        right &= found[i] == sum;
      }
    }
    std::printf("%d work-groups on each PE, %d gets of %d bytes each\n", groups, gets, 8 * kWords);
    shmem::finalize();
    return right;
  });
}
