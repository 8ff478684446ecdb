// Quasirandom numbers: lockstep_rand_sobol_DISTRIBUTION.
#include "libraries/rand/sobol.hpp"

namespace lockstep::libraries::rand {
namespace {

/// Points `first` and on of dimension blockIdx.y, of which each has `points`. The number of threads in a row
/// of the grid is a power of two, so that few bits of a Gray code change from a thread's point to its next
/// one.
template <class D>
__device__ void from_sobol(const Job& job, const Word* all_directions, Word first, Long points) {
  __shared__ Word directions[kWordBits];
  if (threadIdx.x < kWordBits) directions[threadIdx.x] = all_directions[blockIdx.y * kWordBits + threadIdx.x];
  __syncthreads();
  const Word threads = gridDim.x * blockDim.x;
  const int shift = 31 - __clz(static_cast<int>(threads));
  const Long start = blockIdx.x * blockDim.x + threadIdx.x;
  Word index = first + static_cast<Word>(start);
  Word point = sobol_point(directions, index);
  auto* const out = static_cast<typename D::Value*>(job.out) + blockIdx.y * points;
  for (Long i = start; i < points; i += threads) {
    D::make(job, &point, out + i);
    index += threads;
    const int carried = shift + __ffs(static_cast<int>(index >> shift)) - 1;
    point ^= directions[shift - 1] ^ directions[carried < shift ? 31 : carried];
  }
}

}  // namespace

#define X(name, distribution)                                                                        \
  extern "C" __global__ void lockstep_rand_sobol_##name(Job job, const Word* directions, Word first, \
                                                        Long points) {                               \
    from_sobol<distribution>(job, directions, first, points);                                        \
  }
LOCKSTEP_RAND_QUASI_DISTRIBUTIONS(X)
#undef X

}  // namespace lockstep::libraries::rand
