// The device's virtual address space: where global memory and the windows of generic addresses lie.
#pragma once

#include <cstdint>

#include "util/types.hpp"

namespace lockstep::exec {

/// State spaces as a generic address sees them.
enum class Space : std::uint8_t { kGlobal, kShared, kLocal, kParam, kConstant };

#if defined(__SANITIZE_THREAD__)
#define LOCKSTEP_EXEC_LOW_ARENA 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LOCKSTEP_EXEC_LOW_ARENA 1
#endif
#endif

/// First address of the device arena: far from where Linux puts programs, heaps and libraries on x86-64 and
/// AArch64. ThreadSanitizer only lets a program use the lowest 512 GiB there.
#ifdef LOCKSTEP_EXEC_LOW_ARENA
inline constexpr Address kArenaBase = Address{1} << 36;
inline constexpr std::uint64_t kRegionBytes = std::uint64_t{128} << 30;
#else
inline constexpr Address kArenaBase = Address{1} << 45;
inline constexpr std::uint64_t kRegionBytes = std::uint64_t{256} << 30;
#endif

/// Regions of kRegionBytes: device 0's memory, managed memory, page-locked host memory, then the memory of
/// devices 1, 2 ...
inline constexpr unsigned kMaxDevices = 64;
/// Bit d: device d.
using DeviceSet = std::uint64_t;
[[nodiscard]] constexpr DeviceSet device_bit(unsigned device) { return DeviceSet{1} << device; }
[[nodiscard]] constexpr unsigned device_region(unsigned device) { return device == 0 ? 0 : device + 2; }

/// Windows of the generic address space. Nothing is mapped there on the host: the executor translates. Each
/// thread (local), CTA (shared) or kernel (param) finds its own memory at the start of the window.
inline constexpr unsigned kLocalWindowBits = 24;
inline constexpr unsigned kSharedWindowBits = 29;
inline constexpr unsigned kParamWindowBits = 16;
inline constexpr Address kLocalWindow = 0x7000'0000;
inline constexpr Address kParamWindow = 0x7200'0000;
inline constexpr Address kSharedWindow = 0x8000'0000;

/// Local memory of alloca lies from here on in the thread's window, behind frames.
inline constexpr Address kStackOffset = Address{1} << (kLocalWindowBits - 1);

/// Shared memory of a cluster: addresses below 2^24 are the CTA's own, those of rank r begin at (r + 1)
/// << 24.
inline constexpr unsigned kSharedRankShift = 24;

[[nodiscard]] constexpr bool in_shared_window(Address a) {
  return a >> kSharedWindowBits == kSharedWindow >> kSharedWindowBits;
}
[[nodiscard]] constexpr bool in_local_window(Address a) {
  return a >> kLocalWindowBits == kLocalWindow >> kLocalWindowBits;
}
[[nodiscard]] constexpr bool in_param_window(Address a) {
  return a >> kParamWindowBits == kParamWindow >> kParamWindowBits;
}

/// The space that a generic address lies in; constants are part of global memory here.
[[nodiscard]] constexpr Space space_of(Address a) {
  if (in_shared_window(a)) return Space::kShared;
  if (in_local_window(a)) return Space::kLocal;
  return in_param_window(a) ? Space::kParam : Space::kGlobal;
}

}  // namespace lockstep::exec
