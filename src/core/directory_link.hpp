// How a part of a device communicates with the directory of managed pages.
#pragma once

#include <cstdint>

#include "sim/clock.hpp"
#include "sim/network.hpp"
#include "uvm/directory_messages.hpp"

namespace lockstep::core {

using DirectoryRequests = sim::Network<uvm::DirectoryRequest>;
using DirectoryCommands = sim::Network<uvm::DirectoryCommand>;

/// The channels of a GMMU or a peer port.
struct DirectoryLink {
  DirectoryRequests* up = nullptr;  // null: one device, no directory
  const DirectoryCommands* down = nullptr;
  std::uint32_t index = 0;       // source in `up`, destination in `down`
  Cycle latency = 1;             // of `up`, in cycles of the device
  sim::ClockRatio to_directory;  // its clock
  Cycle span = 64;               // cycles that an order may be ahead

  explicit operator bool() const { return up != nullptr; }
  void send(Cycle now, const uvm::DirectoryRequest& request) const {
    up->send(index, 0, to_directory.ceil(now + latency), request);
  }
};

}  // namespace lockstep::core
