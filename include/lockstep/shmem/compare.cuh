// Comparisons of words, and waiting for them.
#pragma once

#include "memory.cuh"

namespace lockstep::shmem {

enum class Compare : std::uint8_t { kEqual, kNotEqual, kGreater, kGreaterEqual, kLess, kLessEqual };

namespace detail {

template <class T>
__device__ T load_system(const T* word) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a word of 4 or 8 bytes");
  if constexpr (sizeof(T) == 4)
    return static_cast<T>(load_acquire_system(reinterpret_cast<const std::uint32_t*>(word)));
  else
    return static_cast<T>(load_acquire_system(reinterpret_cast<const std::uint64_t*>(word)));
}

template <class T>
__device__ bool holds(T is, Compare compare, T value) {
  switch (compare) {
    case Compare::kEqual:
      return is == value;
    case Compare::kNotEqual:
      return is != value;
    case Compare::kGreater:
      return is > value;
    case Compare::kGreaterEqual:
      return is >= value;
    case Compare::kLess:
      return is < value;
    case Compare::kLessEqual:
      return is <= value;
  }
  return false;
}

template <class T>
__device__ void wait_for(const T* word, Compare compare, T value) {
  while (!holds(load_system(word), compare, value)) {
  }
}

}  // namespace detail

}  // namespace lockstep::shmem
