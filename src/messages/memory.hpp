// Memory of processes that each take their GPU for device 0, in a system where process i has device i.
#pragma once

#include "exec/address_space.hpp"
#include "trace/host_task.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::messages {

[[nodiscard]] constexpr bool is_on_device(Address address) {
  return address - exec::kArenaBase < exec::kRegionBytes;
}
/// An address of device 0 is that of the process's device; any other stays as it is.
[[nodiscard]] constexpr Address moved(Address address, std::uint16_t process) {
  return is_on_device(address) ? address + exec::device_region(process) * exec::kRegionBytes : address;
}
/// The address of a buffer. Where a host's buffers lie in its memory makes no difference in the simulated
/// system, but would, from run to run, in the recording: they all have one address.
[[nodiscard]] constexpr Address buffer_of(Address address, std::uint16_t process) {
  return is_on_device(address) ? moved(address, process) : trace::kHostMemory;
}

/// All global memory that a CTA's records name.
void move_addresses(trace::CtaTrace& cta, const trace::StaticTable& table, std::uint16_t process);

}  // namespace lockstep::messages
