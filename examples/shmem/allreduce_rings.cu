// All-reduce by many rings: work-group r of each PE takes part in ring r, which sums its own part of the
// data. In the form inter, the PEs' processes on their hosts make one ring of all data, with a kernel for
// each sum; in the form cpu they sum, too. Usage: allreduce_rings [elements of a ring's chunk] [rings]
// [form]; a ring has as many chunks as there are PEs.
#include <algorithm>

#include "common.hpp"

/// The chunk that a PE sends in a step. It receives, and adds to, the one that it sends in the next step.
__host__ __device__ inline int sent_chunk(int pe, int step, int pes) { return (pe - step + 2 * pes) % pes; }

/// Adds `count` elements, four at a time where `count` and the addresses allow that, from the lane `first`
/// on.
__device__ inline void add_elements(float* to, const float* from, int count, int first, int lanes) {
  if (count % 4 != 0) {
    for (int i = first; i < count; i += lanes) to[i] += from[i];
    return;
  }
  for (int i = first; i < count / 4; i += lanes) {
    const float4 a = reinterpret_cast<const float4*>(to)[i], b = reinterpret_cast<const float4*>(from)[i];
    reinterpret_cast<float4*>(to)[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  }
}

/// All in the symmetric heap. `inbox` has a chunk for each step that sums, `arrived` a word, of each ring.
/// A complete sum goes straight into the next PE's `data`: it contains what that PE has sent from there, so
/// nothing there is still to be sent.
__global__ void all_reduce(shmem::Handle handle, float* data, float* inbox, std::uint64_t* arrived,
                           int chunk) {
  shmem::Context context(handle);
  const int me = context.my_pe(), pes = context.n_pes(), sums = pes - 1, next = (me + 1) % pes;
  data += blockIdx.x * pes * chunk;
  inbox += blockIdx.x * sums * chunk;
  arrived += blockIdx.x;
  for (int step = 0; step < 2 * sums; ++step) {
    float* const own = data + sent_chunk(me, step, pes) * chunk;
    context.put_signal(step < sums ? inbox + step * chunk : own, own, chunk, arrived, step + 1,
                       shmem::SignalOp::kSet, next);
    context.wait_until<std::uint64_t>(arrived, shmem::Compare::kGreater, step);
    if (step < sums)
      add_elements(data + sent_chunk(me, step + 1, pes) * chunk, inbox + step * chunk, chunk, threadIdx.x,
                   blockDim.x);
  }
  context.destroy();
}

__global__ void add(float* to, const float* from, int count) {
  add_elements(to, from, count, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
}

/// Element i of a PE's data is value(pe, i), so that of the sum depends on i % kPeriod alone.
constexpr int kPeriod = 17;
inline float value(int pe, int i) { return static_cast<float>((pe + i) % kPeriod); }

__global__ void count_wrong(const float* data, const float* expected, int count, int* wrong) {
  const int lanes = gridDim.x * blockDim.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x, found = 0;
  for (int place = i % kPeriod; i < count; i += lanes, place = (place + lanes) % kPeriod)
    found += data[i] != expected[place];
  if (found > 0) atomicAdd(wrong, found);
}

struct Buffers {
  shmem::Symmetric<float> data, inbox, expected;
  shmem::Symmetric<std::uint64_t> arrived;
  shmem::Symmetric<int> wrong;
};

/// Copies within the device: they take less time, here and in the simulator, than all data from the host.
void fill(float* data, int pe, int elements) {
  int filled = std::min(64 * kPeriod, elements);
  std::vector<float> first(filled);
  for (int i = 0; i < filled; ++i) first[i] = value(pe, i);
  upload(data, first);
  CHECK(cudaSetDevice(pe));
  for (; filled < elements; filled = std::min(2 * filled, elements))
    CHECK(cudaMemcpy(data + filled, data, sizeof(float) * std::min(filled, elements - filled),
                     cudaMemcpyDeviceToDevice));
}

/// The data of all PEs, and the sums that are expected.
void fill_all(const Buffers& b, bool in_host_memory, int elements) {
  const auto fill_memory = [=](int pe) {
    for (int i = 0; i < elements; ++i) b.data.on(pe)[i] = value(pe, i);
  };
  if (in_host_memory)
    for (const shmem::HostProcess& p : shmem::host_processes()) p.compute(0, 0, [=] { fill_memory(p.pe()); });
  std::vector<float> sums(kPeriod);
  for (int pe = 0; pe < shmem::n_pes(); ++pe) {
    if (!in_host_memory) fill(b.data.on(pe), pe, elements);
    for (int i = 0; i < kPeriod; ++i) sums[i] += value(pe, i);
  }
  synchronize();
  for (int pe = 0; pe < shmem::n_pes(); ++pe) upload(b.expected.on(pe), sums);
}

/// Whether all PEs have these sums.
bool right(const Buffers& b, bool in_host_memory, int elements, int work_groups) {
  const auto count = [=](int pe) {
    for (int i = 0; i < elements; ++i) *b.wrong.on(pe) += b.data.on(pe)[i] != b.expected.on(pe)[i % kPeriod];
  };
  if (in_host_memory) {
    for (const shmem::HostProcess& p : shmem::host_processes()) p.compute(0, 0, [=] { count(p.pe()); });
  } else {
    for (int pe = 0; pe < shmem::n_pes(); ++pe)
      shmem::launch({pe, unsigned(work_groups), 128}, count_wrong, (const float*)b.data.on(pe),
                    (const float*)b.expected.on(pe), elements, b.wrong.on(pe));
  }
  synchronize();
  bool all = true;
  for (int pe = 0; pe < shmem::n_pes(); ++pe) all &= values_of(b.wrong.on(pe), 1)[0] == 0;
  return all;
}

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
    const std::size_t inboxes =
        form == "cpu" ? shmem::reduce_inbox<float>(elements) : std::size_t(rings) * (pes - 1) * chunk;
    shmem::Options options;
    options.work_groups = rings;
    options.heap_bytes += sizeof(float) * (elements + inboxes);
    shmem::init(options);
    const Buffers buffers{shmem::malloc<float>(elements), shmem::malloc<float>(inboxes),
                          shmem::malloc<float>(kPeriod), shmem::malloc<std::uint64_t>(rings),
                          shmem::malloc<int>(1)};
    const bool in_host_memory = form == "cpu";
    fill_all(buffers, in_host_memory, elements);
    if (form == "intra") by_kernels(buffers, rings, chunk);
    if (form == "inter") between_kernels(buffers, rings, rings * chunk);
    if (form == "cpu")
      shmem::all_reduce(shmem::host_processes(), buffers.data, buffers.inbox, elements,
                        [](float a, float b) { return a + b; });
    synchronize();
    const bool all = right(buffers, in_host_memory, elements, rings);
    std::printf("%d elements of %d PEs summed by %d rings\n", elements, pes, rings);
    shmem::finalize();
    return all;
  });
}
