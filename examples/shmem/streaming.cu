// Work-groups that use the network beside others that stream through memory and so through the L2, in one
// kernel. Usage: streaming [networking work-groups] [streaming work-groups] [puts of each].
#include "common.hpp"

constexpr int kWords = 16;                   // of a put: 64 bytes
constexpr int kElements = 4096, kTimes = 2;  // that a streaming work-group reads and writes, and how often

/// `to` is in the symmetric heap: a piece for each work-group that networks.
__global__ void networking_and_streaming(shmem::Handle handle, int* to, const int* from, float* streamed,
                                         int networking, int puts) {
  const int group = blockIdx.x;
  if (group >= networking) {
    float* const own = streamed + (group - networking) * kElements;
    for (int time = 0; time < kTimes; ++time)
      for (int i = threadIdx.x; i < kElements; i += blockDim.x) own[i] += 1;
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
  const int streaming = argc > 2 ? size_argument(argc - 1, argv + 1, 8, 1) : 8;
  const int puts = argc > 3 ? size_argument(argc - 2, argv + 2, 10, 1) : 10;
  return run_example([&] {
    shmem::Options options;
    options.work_groups = networking + streaming;
    shmem::init(options);
    const int pes = shmem::n_pes(), words = networking * kWords, elements = streaming * kElements;
    const auto to = shmem::malloc<int>(words), from = shmem::malloc<int>(puts + kWords);
    const auto streamed = shmem::malloc<float>(elements);
    for (int pe = 0; pe < pes; ++pe) {
      std::vector<int> values(puts + kWords);
      for (int i = 0; i < puts + kWords; ++i) values[i] = 1000 * pe + i;
      upload(from.on(pe), values);
    }
    for (int pe = 0; pe < pes; ++pe)
      shmem::launch({pe, options.work_groups, 64}, networking_and_streaming, shmem::handle(pe), to.on(pe),
                    from.on(pe), streamed.on(pe), networking, puts);
    synchronize();
    bool right = true;
    for (int pe = 0; pe < pes; ++pe) {
      const int before = (pe + pes - 1) % pes;
      const auto got = values_of(to.on(pe), words);
      for (int i = 0; i < words; ++i) right &= got[i] == 1000 * before + puts - 1 + i % kWords;
      for (const float value : values_of(streamed.on(pe), elements)) right &= value == kTimes;
    }
    std::printf("%d work-groups with %d puts of %d bytes each beside %d that stream\n", networking, puts,
                4 * kWords, streaming);
    shmem::finalize();
    return right;
  });
}
