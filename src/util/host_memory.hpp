// The memory of the machine that the simulator runs on: hints, without effect on any result.
#pragma once

#include <cstddef>
#include <cstdint>
#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#endif

namespace lockstep {

/// At the start of a program: its heap is to lie in huge pages, as far as the system has them. The state of a
/// GPU is visited window by window; in pages of 4 KiB that costs a translation miss at every other step (8 %
/// of the time of a matrix multiply). Address space is reserved, memory is not.
inline void prefer_huge_pages() {
#ifdef __GLIBC__
  constexpr int kReserve = 256 << 20;  // the heap grows by that much at a time
  constexpr std::uintptr_t kHugePage = 2 << 20;
  mallopt(M_TOP_PAD, kReserve);
  mallopt(M_TRIM_THRESHOLD, 2 * kReserve);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that is allowed
  const auto before = reinterpret_cast<std::uintptr_t>(sbrk(0));
  void* volatile const block = std::malloc(kHugePage);  // more than what the heap has at the start
  std::free(block);
  const auto after = reinterpret_cast<std::uintptr_t>(sbrk(0));
  const std::uintptr_t first = (before + kHugePage - 1) / kHugePage * kHugePage;
  if (first < after) madvise(reinterpret_cast<void*>(first), after - first, MADV_HUGEPAGE);
#endif
}

}  // namespace lockstep
