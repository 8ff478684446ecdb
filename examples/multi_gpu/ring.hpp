// The order of a ring all-reduce.
#pragma once

#include "allreduce.hpp"

/// The chunk that a GPU sends in a step of the ring (0 to 2 * ranks - 3); it gets the one before that. In the
/// first half of the steps what comes is added, in the second it replaces.
__host__ __device__ inline int sent_chunk(int rank, int step, int ranks) {
  return (rank - step + 2 * ranks) % ranks;
}
