// The order of a tree all-reduce: sums go up a binary tree of the GPUs, whose root is GPU 0, and the whole sum down.
#pragma once

#include "allreduce.hpp"

constexpr int kChildren = 2;

__host__ __device__ inline int parent_of(int rank) { return (rank - 1) / kChildren; }
/// Which of its parent's children it is.
__host__ __device__ inline int place_of(int rank) { return (rank - 1) % kChildren; }
__host__ __device__ inline int child_of(int rank, int place) { return kChildren * rank + 1 + place; }

/// Steps from the root.
inline int level_of(int rank) {
  int level = 0;
  for (; rank > 0; rank = parent_of(rank)) ++level;
  return level;
}
