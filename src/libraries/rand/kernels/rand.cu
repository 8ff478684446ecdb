// Random numbers: lockstep_rand_GENERATOR_DISTRIBUTION.
#include "libraries/rand/distributions.hpp"

namespace lockstep::libraries::rand {
namespace {

template <class D>
__device__ void write_group(const Job& job, Long group, const Word* words) {
  typename D::Value values[D::kValues];
  D::make(job, words, values);
  auto* const out = static_cast<typename D::Value*>(job.out);
#pragma unroll
  for (int i = 0; i < D::kValues; ++i)
    if (group * D::kValues + i < job.count) out[group * D::kValues + i] = values[i];
}

/// One thread a stream; the first group is of stream `cursor`.
template <class D, class State>
__device__ void from_streams(const Job& job, State* states, Word cursor) {
  const Word stream = blockIdx.x * blockDim.x + threadIdx.x;
  const Long groups = (job.count + D::kValues - 1) / D::kValues;
  Long group = (stream - cursor) % kStreams;
  if (stream >= kStreams || group >= groups) return;
  State state = states[stream];
  for (; group < groups; group += kStreams) {
    Word words[D::kWords];
#pragma unroll
    for (int i = 0; i < D::kWords; ++i) words[i] = state.next();
    write_group<D>(job, group, words);
  }
  states[stream] = state;
}

/// Each thread has four words at a time.
template <class D>
__device__ void from_counter(const Job& job, Long seed, Long position) {
  constexpr int kGroups = 4 / D::kWords;
  const Long groups = (job.count + D::kValues - 1) / D::kValues;
  const Long threads = static_cast<Long>(gridDim.x) * blockDim.x;
  for (Long quad = blockIdx.x * static_cast<Long>(blockDim.x) + threadIdx.x; quad * kGroups < groups;
       quad += threads) {
    Word words[4];
    Philox::four(seed, position + 4 * quad, words);
#pragma unroll
    for (int i = 0; i < kGroups; ++i)
      if (quad * kGroups + i < groups) write_group<D>(job, quad * kGroups + i, words + i * D::kWords);
  }
}

}  // namespace

#define X(name, distribution)                                                                        \
  extern "C" __global__ void lockstep_rand_xorwow_##name(Job job, Xorwow* states, Word cursor) {     \
    from_streams<distribution>(job, states, cursor);                                                 \
  }                                                                                                  \
  extern "C" __global__ void lockstep_rand_mrg32k3a_##name(Job job, Mrg32k3a* states, Word cursor) { \
    from_streams<distribution>(job, states, cursor);                                                 \
  }                                                                                                  \
  extern "C" __global__ void lockstep_rand_philox_##name(Job job, Long seed, Long position) {        \
    from_counter<distribution>(job, seed, position);                                                 \
  }
LOCKSTEP_RAND_DISTRIBUTIONS(X)
#undef X

}  // namespace lockstep::libraries::rand
