// Work-groups that use the network beside others that stream through memory and so through the L2, in one
// kernel. Usage: streaming [networking work-groups] [streaming work-groups, may be 0] [puts of each] [KiB
// that each of the others reads and writes, once] [threads of each work-group].
#include "common.hpp"

constexpr int kWords = 16;  // of a put: 64 bytes

/// `to` is in the symmetric heap: a piece for each work-group that networks.
/// `streamed` has `elements` for each of the others.
__global__ void networking_and_streaming(shmem::Handle handle, int* to, const int* from,
                                         std::uint64_t* streamed, int elements, int networking, int puts) {
  const int group = blockIdx.x;
  if (group >= networking) {
    std::uint64_t* const own = streamed + std::size_t(group - networking) * elements;
    for (int i = threadIdx.x; i < elements; i += blockDim.x) own[i] += 1;
    return;
  }
  shmem::Context context(handle);
  const int next = (context.my_pe() + 1) % context.n_pes();
  for (int i = 0; i < puts; ++i) {
    context.put_nbi(to + group * kWords, from + i, kWords, next);
    context.quiet();
  }
  context.destroy();
}

int main(int argc, char** argv) {
  const int networking = size_argument(argc, argv, 8, 1);
  const bool alone = argc > 2 && std::string(argv[2]) == "0";
  const int streaming = alone ? 0 : size_argument(argc - 1, argv + 1, 8, 1);
  const int puts = size_argument(argc - 2, argv + 2, 10, 1);
  const int each = size_argument(argc - 3, argv + 3, 32, 1) * 128;  // elements
  const int threads = size_argument(argc - 4, argv + 4, 64, kWords);
  return run_example([&] {
    shmem::Options options;
    options.work_groups = networking + streaming;
    options.heap_bytes += std::size_t(streaming) * each * sizeof(std::uint64_t);
    shmem::init(options);
    const int pes = shmem::n_pes(), words = networking * kWords, elements = streaming * each;
    const auto to = shmem::malloc<int>(words), from = shmem::malloc<int>(puts + kWords);
    const auto streamed = shmem::malloc<std::uint64_t>(elements);
    for (int pe = 0; pe < pes; ++pe) {
      std::vector<int> values(puts + kWords);
      for (int i = 0; i < puts + kWords; ++i) values[i] = 1000 * pe + i;
      upload(from.on(pe), values);
    }
    for (int pe = 0; pe < pes; ++pe)
      shmem::launch({pe, options.work_groups, unsigned(threads)}, networking_and_streaming, shmem::handle(pe),
                    to.on(pe), from.on(pe), streamed.on(pe), each, networking, puts);
    synchronize();
    bool right = true;
    for (int pe = 0; pe < pes; ++pe) {
      const int before = (pe + pes - 1) % pes;
      const auto got = values_of(to.on(pe), words);
      for (int i = 0; i < words; ++i) right &= got[i] == 1000 * before + puts - 1 + i % kWords;
      for (const std::uint64_t value : values_of(streamed.on(pe), elements)) right &= value == 1;
    }
    std::printf("%d work-groups with %d puts of %d bytes each beside %d that stream\n", networking, puts,
                4 * kWords, streaming);
    shmem::finalize();
    return right;
  });
}
