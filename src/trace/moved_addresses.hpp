// Moves a CTA's global memory to another place of the address space.
#pragma once

#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

/// Programs with separate address spaces share that of a system: each device has a region, in which an
/// address of its program keeps its low 44 bits. (CUDA's allocations of a process lie within far less than
/// 2^44 bytes.) The simulator's own addresses are below the regions. Those of 16 devices end at 2^49, as what
/// GPUs translate does; those of Command::kMaxDevices at device_region(kMaxDevices).
inline constexpr Address kRegionBytes = Address{1} << 44;
[[nodiscard]] constexpr Address device_region(std::uint16_t device) {
  return (Address{1} << 48) + device * kRegionBytes;
}
[[nodiscard]] constexpr Address moved(Address address, Address region) {
  return region + (address & (kRegionBytes - 1));
}

/// Whether an access is one of global memory, textures included: by its first lane's address, as the SM
/// decides it.
[[nodiscard]] bool is_global(const StaticInst& inst, Address first, const KernelHeader& header);

/// Moves the addresses of global memory to the region: also those of textures, constants, and of generic
/// accesses outside the windows of shared and local memory.
void move_addresses(CtaTrace& cta, const StaticTable& table, const KernelHeader& header, Address region);

}  // namespace lockstep::trace
