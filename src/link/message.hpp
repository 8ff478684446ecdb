// What travels between devices.
#pragma once

#include <cstdint>

#include "icnt/messages.hpp"
#include "sim/network.hpp"

namespace lockstep::link {

inline constexpr std::uint16_t kMostDevices = 64;  // of Message::targets

/// An access to a line of another device's memory, or the answer to one.
struct Message {
  /// Of an answer: line, kind and sectors of what comes back. `tag` is the asking device's own handle in both
  /// directions; reply_to and kernel mean nothing outside of a device.
  icnt::Request access;
  std::uint16_t from = 0, to = 0;  // devices
  bool answer = false;
  /// Not 0: multicast, and `via` the switch that makes copies of a request and one answer of the answers. Of
  /// a request: devices, bit d is device d, each of which finds its own memory by `line`; of an answer to the
  /// switch: the device that gives it.
  std::uint64_t targets = 0;
  std::uint16_t via = 0;
  std::uint32_t bytes = 0;  // on a wire, with headers
};

using Network = sim::Network<Message>;

}  // namespace lockstep::link
