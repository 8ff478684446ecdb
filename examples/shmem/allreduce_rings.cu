// All-reduce by many rings: work-group r of each PE takes part in ring r, which sums its own part of the
// data. Usage: allreduce_rings [elements of a ring's chunk] [rings]; a ring has as many chunks as there are
// PEs.
#include "common.hpp"

/// The chunk that a PE sends in a step. It receives, and adds to, the one that it sends in the next step.
__host__ __device__ inline int sent_chunk(int pe, int step, int pes) { return (pe - step + 2 * pes) % pes; }

/// All in the symmetric heap. `inbox` has a chunk for each step, `arrived` a word, of each ring.
__global__ void all_reduce(shmem::Handle handle, float* data, float* inbox, std::uint64_t* arrived,
                           int chunk) {
  shmem::Context context(handle);
  const int me = context.my_pe(), pes = context.n_pes(), steps = 2 * (pes - 1), next = (me + 1) % pes;
  data += blockIdx.x * pes * chunk;
  inbox += blockIdx.x * steps * chunk;
  arrived += blockIdx.x;
  for (int step = 0; step < steps; ++step) {
    context.put_signal(inbox + step * chunk, data + sent_chunk(me, step, pes) * chunk, chunk, arrived,
                       step + 1, shmem::SignalOp::kSet, next);
    context.wait_until<std::uint64_t>(arrived, shmem::Compare::kGreater, step);
    float* const to = data + sent_chunk(me, step + 1, pes) * chunk;
    for (int i = threadIdx.x; i < chunk; i += blockDim.x) {
      const float got = inbox[step * chunk + i];
      to[i] = step < pes - 1 ? to[i] + got : got;
    }
  }
  context.destroy();
}

int main(int argc, char** argv) {
  const int chunk = size_argument(argc, argv, 256, 1);
  const int rings = argc > 2 ? size_argument(argc - 1, argv + 1, 8, 1) : 8;
  return run_example([&] {
    int pes = 0;
    CHECK(cudaGetDeviceCount(&pes));
    const int elements = rings * pes * chunk;
    shmem::Options options;
    options.work_groups = rings;
    options.heap_bytes += 3 * sizeof(float) * elements;
    shmem::init(options);
    const auto data = shmem::malloc<float>(elements), inbox = shmem::malloc<float>(2 * elements);
    const auto arrived = shmem::malloc<std::uint64_t>(rings);
    const auto value = [](int pe, int i) { return static_cast<float>((pe + i) % 17); };
    for (int pe = 0; pe < pes; ++pe) {
      std::vector<float> own(elements);
      for (int i = 0; i < elements; ++i) own[i] = value(pe, i);
      upload(data.on(pe), own);
    }
    for (int pe = 0; pe < pes; ++pe)
      shmem::launch({pe, options.work_groups, 128}, all_reduce, shmem::handle(pe), data.on(pe), inbox.on(pe),
                    arrived.on(pe), chunk);
    synchronize();
    bool right = true;
    for (int pe = 0; pe < pes; ++pe) {
      const auto found = values_of(data.on(pe), elements);
      for (int i = 0; i < elements; ++i) {
        float sum = 0;
        for (int of = 0; of < pes; ++of) sum += value(of, i);
        right &= found[i] == sum;
      }
    }
    std::printf("%d elements of %d PEs summed by %d rings\n", elements, pes, rings);
    shmem::finalize();
    return right;
  });
}
