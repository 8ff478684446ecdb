// Vectors whose elements begin at a line of the host's cache.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace lockstep {

inline constexpr std::size_t kHostLineBytes = 64;

template <class T>
struct HostLineAllocator {
  using value_type = T;
  HostLineAllocator() = default;
  template <class U>
  HostLineAllocator(const HostLineAllocator<U>&) {}  // NOLINT(google-explicit-constructor): as std::allocator
  [[nodiscard]] T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{kHostLineBytes}));
  }
  void deallocate(T* p, std::size_t) { ::operator delete (p, std::align_val_t{kHostLineBytes}); }
  bool operator==(const HostLineAllocator&) const { return true; }
};

template <class T>
using AlignedVector = std::vector<T, HostLineAllocator<T>>;

}  // namespace lockstep
