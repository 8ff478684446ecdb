// The host's commands to managed memory.
#pragma once

#include <cstdint>
#include <vector>

#include "uvm/address_space.hpp"

namespace lockstep::uvm {

/// cudaMemoryAdvise, with the same values.
enum class Advice : std::uint8_t {
  kNone,
  kSetReadMostly,
  kUnsetReadMostly,
  kSetPreferredLocation,
  kUnsetPreferredLocation,
  kSetAccessedBy,
  kUnsetAccessedBy
};

/// The place that a cudaMemAdvise names.
enum class Named : std::uint8_t { kHost, kDevice, kOther };  // kOther: another device

struct ManagedCommand {
  enum class Kind : std::uint8_t {
    kAdvise,
    kPrefetch,  // migrate the range to the device, or to the host
    kHostRead,  // the host reads the range: pages on the device migrate back first
    kHostWrite,
    kDeviceRead,  // a copy or fill by the device reads the range: absent pages migrate first
    kDeviceWrite,
    kRelease,      // the range is freed: its pages are dropped, nothing is copied
    kSynchronise,  // cudaDeviceSynchronize
    kAttract,      // the directory's kAttract: as a prefetch to the device that costs no call
    // Notices, which are never completed.
    kKernel,  // a kernel begins
    kMemory,  // from now on the device has `bytes` for managed pages; never fewer than before
    kCount
  } kind = Kind::kAdvise;
  Advice advice = Advice::kNone;
  bool host = false;        // kAdvise, kPrefetch: the place is the host, otherwise the device
  std::uint32_t index = 0;  // the sender's own, returned when the command is complete
  Address address = 0;      // all but kSynchronise and notices; not rounded
  std::uint64_t bytes = 0;
  bool other = false;  // kAdvise: the place is another device, which this one can reach:
  std::uint16_t place = 0;
  bool further = false;  // of a call that another device has got as well: the call's time is counted there
};

/// Pages [first, first + pages) of one tree.
struct PageRange {
  TreeId tree = 0;
  std::uint16_t first = 0, pages = 0;
};
/// The managed pages that [address, address + bytes) touches, in ascending order of addresses, cut at trees.
/// Empty if nothing in the range is managed.
[[nodiscard]] std::vector<PageRange> pages_in(const AddressSpace& space, Address address,
                                              std::uint64_t bytes);

}  // namespace lockstep::uvm
