// Whose memory an address is, among the devices of a system.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

#include "util/types.hpp"

namespace lockstep::mem {

/// Ranges of addresses, each the memory of one device. Changes only between windows; many may read beside
/// each other.
class Apertures {
 public:
  /// [begin, begin + bytes) is the device's from now on, whatever it was before. Empty ranges and what lies
  /// beyond the end of the address space are left out.
  void place(Address begin, std::uint64_t bytes, std::uint16_t device);
  /// The device whose memory it is; `asker` where no range has it.
  [[nodiscard]] std::uint16_t owner(Address address, std::uint16_t asker) const {
    const auto next = ranges_.upper_bound(address);
    if (next == ranges_.begin()) return asker;
    const Range& range = std::prev(next)->second;
    return address <= range.last ? range.device : asker;
  }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }

 private:
  struct Range {
    Address last = 0;
    std::uint16_t device = 0;
  };
  void cut(Address at);

  std::map<Address, Range> ranges_;  // by first address, disjoint
};

}  // namespace lockstep::mem
