// What travels between devices.
#pragma once

#include <cstdint>

#include "icnt/messages.hpp"
#include "sim/network.hpp"

namespace lockstep::link {

/// An access to a line of another device's memory, or the answer to one.
struct Message {
  /// Of an answer: line, kind and sectors of what comes back. `tag` is the asking device's own handle in both
  /// directions; reply_to and kernel mean nothing outside of a device.
  icnt::Request access;
  std::uint16_t from = 0, to = 0;  // devices
  bool answer = false;
  std::uint32_t bytes = 0;  // on a wire, with headers
};

using Network = sim::Network<Message>;

}  // namespace lockstep::link
