// Dispatch and combine of a mixture of experts: each token goes to the PE of its expert, which works on it
// and sends it back. Work-group q of each PE deals with PE q. Usage: all_to_all [tokens of a PE] [elements of
// a token].
#include "common.hpp"

constexpr int kExpertsOfPe = 2;

/// All in the symmetric heap, by this PE's addresses. Boxes and words are for each other PE.
struct Exchange {
  const float* tokens;
  const int* experts;  // by token
  float* results;
  float *out, *in, *back;          // tokens to send, received, and come back, with room for all of a PE
  int *out_experts, *in_experts;   // by token in these
  std::uint64_t *arrived, *ready;  // 1 + how many tokens there are; 1 once they have come back
};

__global__ void dispatch_and_combine(shmem::Handle handle, Exchange x, int tokens, int elements) {
  shmem::Context context(handle);
  const int me = context.my_pe(), other = blockIdx.x;
  const int own = me * tokens, box = other * tokens;  // where boxes begin: on the other PE, here
  int count = 0;
  for (int token = 0; token < tokens; ++token) {
    if (x.experts[token] / kExpertsOfPe != other) continue;
    for (int i = threadIdx.x; i < elements; i += blockDim.x)
      x.out[(box + count) * elements + i] = x.tokens[token * elements + i];
    if (threadIdx.x == 0) x.out_experts[box + count] = x.experts[token];
    ++count;
  }
  context.put_nbi(x.in_experts + own, x.out_experts + box, count, other);
  context.put_signal(x.in + own * elements, x.out + box * elements, count * elements, x.arrived + me,
                     count + 1, shmem::SignalOp::kSet, other);

  context.wait_until<std::uint64_t>(x.arrived + other, shmem::Compare::kNotEqual, 0);
  const int here = static_cast<int>(*(volatile std::uint64_t*)(x.arrived + other)) - 1;
  for (int i = threadIdx.x; i < here * elements; i += blockDim.x)
    x.in[box * elements + i] *= static_cast<float>(1 + x.in_experts[box + i / elements]);
  context.put_signal(x.back + own * elements, x.in + box * elements, here * elements, x.ready + me, 1,
                     shmem::SignalOp::kSet, other);

  context.wait_until<std::uint64_t>(x.ready + other, shmem::Compare::kEqual, 1);
  for (int token = 0, at = 0; token < tokens; ++token) {
    if (x.experts[token] / kExpertsOfPe != other) continue;
    for (int i = threadIdx.x; i < elements; i += blockDim.x)
      x.results[token * elements + i] = x.back[(box + at) * elements + i];
    ++at;
  }
  context.destroy();
}

int main(int argc, char** argv) {
  const int tokens = size_argument(argc, argv, 32, 1);
  const int elements = argc > 2 ? size_argument(argc - 1, argv + 1, 64, 1) : 64;
  return run_example([&] {
    int pes = 0;
    CHECK(cudaGetDeviceCount(&pes));
    shmem::Options options;
    const int own = tokens * elements, all = pes * own;
    options.work_groups = pes;
    options.heap_bytes += 5 * sizeof(float) * all;
    shmem::init(options);
    const auto data = shmem::malloc<float>(own), results = shmem::malloc<float>(own);
    const auto experts = shmem::malloc<int>(tokens);
    const auto out = shmem::malloc<float>(all), in = shmem::malloc<float>(all),
               back = shmem::malloc<float>(all);
    const auto out_experts = shmem::malloc<int>(pes * tokens), in_experts = shmem::malloc<int>(pes * tokens);
    const auto arrived = shmem::malloc<std::uint64_t>(pes), ready = shmem::malloc<std::uint64_t>(pes);
    const auto value = [](int pe, int i) { return static_cast<float>((3 * pe + i) % 101); };
    std::vector<std::vector<int>> chosen(pes);
    Random random;
    for (int pe = 0; pe < pes; ++pe) {
      std::vector<float> values(own);
      for (int i = 0; i < own; ++i) values[i] = value(pe, i);
      for (int i = 0; i < tokens; ++i)
        chosen[pe].push_back(static_cast<int>(random() % (kExpertsOfPe * pes)));
      upload(data.on(pe), values);
      upload(experts.on(pe), chosen[pe]);
    }
    for (int pe = 0; pe < pes; ++pe) {
      const Exchange x{data.on(pe), experts.on(pe),     results.on(pe),    out.on(pe),     in.on(pe),
                       back.on(pe), out_experts.on(pe), in_experts.on(pe), arrived.on(pe), ready.on(pe)};
      shmem::launch({pe, options.work_groups, 64}, dispatch_and_combine, shmem::handle(pe), x, tokens,
                    elements);
    }
    synchronize();
    bool right = true;
    for (int pe = 0; pe < pes; ++pe) {
      const auto found = values_of(results.on(pe), own);
      for (int i = 0; i < own; ++i)
        right &= found[i] == value(pe, i) * static_cast<float>(1 + chosen[pe][i / elements]);
    }
    std::printf("%d tokens of %d elements from each of %d PEs to %d experts and back\n", tokens, elements,
                pes, kExpertsOfPe * pes);
    shmem::finalize();
    return right;
  });
}
