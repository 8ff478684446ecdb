// The host's commands to managed memory.
#pragma once

#include <cstdint>
#include <vector>

#include "uvm/address_space.hpp"

namespace lockstep::uvm {

/// cudaMemoryAdvise, with its values.
enum class Advice : std::uint8_t {
  kNone,
  kSetReadMostly,
  kUnsetReadMostly,
  kSetPreferredLocation,
  kUnsetPreferredLocation,
  kSetAccessedBy,
  kUnsetAccessedBy
};

/// The place that an advice names.
enum class Named : std::uint8_t { kHost, kDevice, kOther };  // kOther: another device

struct ManagedCommand {
  enum class Kind : std::uint8_t {
    kAdvise,
    kPrefetch,  // bring the range to the device, or to the host
    kHostRead,  // the host reads the range: what is on the device comes back first
    kHostWrite,
    kDeviceRead,  // a copy or fill by the device reads the range: what is absent comes first
    kDeviceWrite,
    kRelease,      // the range is freed: its pages are nowhere, nothing is copied
    kSynchronise,  // cudaDeviceSynchronize
    kAttract,      // the directory's kAttract: as a prefetch to the device that costs no call
    // Notices, which are never completed.
    kKernel,  // a kernel begins
    kMemory,  // from now on the device has `bytes` for managed pages; never fewer than before
    kCount
  } kind = Kind::kAdvise;
  Advice advice = Advice::kNone;
  bool host = false;        // kAdvise, kPrefetch: the place that is named is the host, else the device
  std::uint32_t index = 0;  // the sender's own, returned when the order is complete
  Address address = 0;      // all but kSynchronise and notices; not rounded
  std::uint64_t bytes = 0;
  bool other = false;  // kAdvise: the place is another device, which this one can reach:
  std::uint16_t place = 0;
  bool further = false;  // of one call, for another device: the call's own time is spent already
};

/// Pages [first, first + pages) of one tree.
struct PageRange {
  TreeId tree = 0;
  std::uint16_t first = 0, pages = 0;
};
/// The managed pages that [address, address + bytes) touches, in ascending order of addresses, cut at trees.
/// Empty where nothing of it is managed.
[[nodiscard]] std::vector<PageRange> pages_in(const AddressSpace& space, Address address,
                                              std::uint64_t bytes);

}  // namespace lockstep::uvm
