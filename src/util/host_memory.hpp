// The memory of the machine that the simulator runs on: hints, without effect on any result.
#pragma once

#include <cstddef>
#include <cstdint>
#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#endif

namespace lockstep {

#ifdef __GLIBC__
/// Is address space limited, or counted as memory whether it is used or not?
inline bool address_space_is_scarce() {
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA})
    if (rlimit limit{}; getrlimit(kind, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return true;
  std::ifstream policy("/proc/sys/vm/overcommit_memory");
  return policy.get() == '2';
}

/// What the heap gets at the start: half as much as the machine has memory, where address space costs
/// nothing. Huge pages have to be requested before a part of the heap is used, and malloc() gives no notice
/// when it grows.
inline std::size_t heap_reserve() {
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || bytes <= 0 || address_space_is_scarce()) return 0;
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes) / 2;
}

inline void request_huge_pages(std::uintptr_t begin, std::uintptr_t end) {
  constexpr std::uintptr_t kHugePage = 2 << 20;
  const std::uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}
#endif

/// At the start of a program: its heap is to lie in huge pages, as far as the system has them. The state of a
/// machine is visited window by window; in pages of 4 KiB that costs a translation miss at every other step
/// (8 % of the time of a matrix multiply, 40 % of that of 64 nodes). Address space is reserved, memory is
/// not.
inline void prefer_huge_pages() {
#ifdef __GLIBC__
  constexpr int kStep = 256 << 20;  // by which the heap grows
  mallopt(M_TOP_PAD, kStep);
  mallopt(M_TRIM_THRESHOLD, -1);        // what has been requested is kept
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that is allowed
  const auto heap_end = [] { return reinterpret_cast<std::uintptr_t>(sbrk(0)); };
  const std::uintptr_t before = heap_end();
  void* volatile block = std::malloc(2 << 20);  // more than what the heap has at the start
  std::free(block);
  request_huge_pages(before, heap_end());
  const std::size_t reserve = heap_reserve();
  if (heap_end() == before || reserve <= kStep) return;  // the former: malloc() is that of some tool
  mallopt(M_MMAP_MAX, 0);                                // from the heap, whatever its size
  block = std::malloc(reserve);
  mallopt(M_MMAP_MAX, 65536);  // the default
  if (!block) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  std::free(block);
  request_huge_pages(begin, begin + reserve);
#endif
}

}  // namespace lockstep
