// Windows of shared and of local memory among generic addresses.
#pragma once

#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

inline constexpr Address kWindowBytes = Address{1} << 24;

/// That of shared memory: where addresses name CTAs of a cluster, there is one for each.
[[nodiscard]] constexpr Address shared_window_bytes(const KernelHeader& header) {
  return header.shared_ranks ? kWindowBytes * (kMaxClusterCtas + 1) : kWindowBytes;
}
[[nodiscard]] constexpr bool in_shared_window(Address address, const KernelHeader& header) {
  return header.shared_base != 0 && address >= header.shared_base &&
         address - header.shared_base < shared_window_bytes(header);
}
[[nodiscard]] constexpr bool in_local_window(Address address, const KernelHeader& header) {
  return header.local_base != 0 && address >= header.local_base && address - header.local_base < kWindowBytes;
}

}  // namespace lockstep::trace
