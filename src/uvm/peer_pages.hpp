// Counters of managed pages that migrate between devices.
#pragma once

#include <cstdint>

namespace lockstep::uvm {

/// Pages of one other device.
struct PeerPages {
  std::uint64_t in = 0, out = 0;                // migrated
  std::uint64_t copies_in = 0, copies_out = 0;  // read-only copies of pages that stay
  friend bool operator==(const PeerPages&, const PeerPages&) = default;
};

}  // namespace lockstep::uvm
