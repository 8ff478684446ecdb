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

/// The next block of MT19937 from the last, in three parts, as each needs the one before it.
__device__ inline void next_block(const Word* last, Word* next) {
  constexpr int kCount = Twister::kWords, kPart = Twister::kWords - Twister::kDistance;
#pragma unroll 1
  for (int first = 0; first < kCount; first += kPart) {
    const int i = first + threadIdx.x;
    if (threadIdx.x < kPart && i < kCount)
      next[i] = Twister::step(last[i], i + 1 < kCount ? last[i + 1] : next[0],
                              first == 0 ? last[i + Twister::kDistance] : next[i - kPart]);
    __syncthreads();
  }
}
/// One CTA; `block` is the last one, of which `used` words are used.
template <class D>
__device__ void from_twister(const Job& job, Word* block, Word used) {
  constexpr int kCount = Twister::kWords;
  __shared__ Word blocks[2][kCount];  // a group may begin in one and end in the next
  for (int i = threadIdx.x; i < kCount; i += blockDim.x) blocks[0][i] = block[i];
  __syncthreads();
  const Long groups = (job.count + D::kValues - 1) / D::kValues;
  Long group = 0, next_word = used, made = kCount;
#pragma unroll 1
  while (true) {
    Long ready = (made - next_word) / D::kWords;
    if (ready > groups - group) ready = groups - group;
#pragma unroll 1
    for (Word k = threadIdx.x; k < ready; k += blockDim.x) {
      Word words[D::kWords];
#pragma unroll
      for (int i = 0; i < D::kWords; ++i) {
        const Long at = next_word + k * D::kWords + i;
        words[i] = Twister::temper(blocks[at / kCount % 2][at % kCount]);
      }
      write_group<D>(job, group + k, words);
    }
    group += ready, next_word += ready * D::kWords;
    if (group == groups) break;
    __syncthreads();
    next_block(blocks[(made / kCount - 1) % 2], blocks[made / kCount % 2]);
    made += kCount;
  }
  for (int i = threadIdx.x; i < kCount; i += blockDim.x) block[i] = blocks[(made / kCount - 1) % 2][i];
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
  extern "C" __global__ void lockstep_rand_mt19937_##name(Job job, Word* block, Word used) {         \
    from_twister<distribution>(job, block, used);                                                    \
  }                                                                                                  \
  extern "C" __global__ void lockstep_rand_philox_##name(Job job, Long seed, Long position) {        \
    from_counter<distribution>(job, seed, position);                                                 \
  }
LOCKSTEP_RAND_DISTRIBUTIONS(X)
#undef X

}  // namespace lockstep::libraries::rand
