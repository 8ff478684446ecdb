// All-reduce by many rings: work-group r of each PE takes part in ring r, which sums its own part of the
// data. In the form inter, the PEs' processes on their hosts make one ring of all data, with a kernel for
// each sum; in the form cpu they sum, too. Usage: allreduce_rings [elements of a ring's chunk] [rings]
// [form]; a ring has as many chunks as there are PEs.
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

__global__ void add(float* to, const float* from, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    to[i] += from[i];
}

struct Buffers {
  shmem::Symmetric<float> data, inbox;
  shmem::Symmetric<std::uint64_t> arrived;
};

void by_kernels(const Buffers& b, int rings, int chunk) {
  for (int pe = 0; pe < shmem::n_pes(); ++pe)
    shmem::launch({pe, unsigned(rings), 128}, all_reduce, shmem::handle(pe), b.data.on(pe), b.inbox.on(pe),
                  b.arrived.on(pe), chunk);
}

void between_kernels(const Buffers& b, int rings, int part) {
  const auto all = shmem::host_processes();
  const int pes = shmem::n_pes();
  for (int step = 0; step < 2 * (pes - 1); ++step) {
    const bool reduces = step < pes - 1;
    const auto to = [&](int pe) {
      return reduces ? b.inbox.on(pe) + step * part : b.data.on(pe) + sent_chunk(pe, step, pes) * part;
    };
    for (int pe = 0; pe < pes; ++pe)
      all[pe].send(to(pe), b.data.on(pe) + sent_chunk(pe, step, pes) * part, part, (pe + 1) % pes);
    for (int pe = 0; pe < pes; ++pe) {
      all[pe].receive((pe + pes - 1) % pes);
      if (reduces)
        shmem::launch({pe, unsigned(rings), 128}, add, b.data.on(pe) + sent_chunk(pe, step + 1, pes) * part,
                      (const float*)b.inbox.on(pe) + step * part, part);
    }
  }
}

int main(int argc, char** argv) {
  const int chunk = size_argument(argc, argv, 256, 1);
  const int rings = argc > 2 ? size_argument(argc - 1, argv + 1, 8, 1) : 8;
  const std::string form = argc > 3 ? argv[3] : "intra";
  return run_example([&] {
    if (form != "intra" && form != "inter" && form != "cpu")
      throw shmem::Error("allreduce_rings: form " + form + "; expected intra, inter or cpu");
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
    const Buffers buffers{data, inbox, arrived};
    if (form == "intra") by_kernels(buffers, rings, chunk);
    if (form == "inter") between_kernels(buffers, rings, rings * chunk);
    if (form == "cpu")
      shmem::all_reduce(shmem::host_processes(), data, inbox, elements,
                        [](float a, float b) { return a + b; });
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
