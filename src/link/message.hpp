// What travels between devices.
#pragma once

#include <cstdint>

#include "icnt/messages.hpp"
#include "sim/network.hpp"

namespace lockstep::link {

inline constexpr std::uint16_t kMaxDevices = 64;  // of Message::targets

/// An access to a line of another device's memory, or the reply to one. Ends are devices, hosts and NICs, by
/// the numbers of their nodes (config::SystemConfig).
struct Message {
  /// In a reply: line, kind and sectors of what is returned. `tag` is the requesting device's own handle in
  /// both directions; reply_to and kernel mean nothing outside of a device.
  icnt::Request access;
  std::uint16_t from = 0, to = 0;
  bool is_reply = false;
  /// Between NICs, of a request: the asking NIC's number of the operation, the endpoint whose memory is
  /// meant, and whether what the operation wrote before must be there first.
  bool after_data = false;
  std::uint16_t operation = 0;
  /// Not 0: multicast, and `via` the switch that makes copies of a request and one reply of the replies. Of
  /// a request: devices, bit d is device d, each of which finds its own memory by `line`; of a reply to the
  /// switch: the device that gives it.
  std::uint64_t targets = 0;
  std::uint16_t via = 0;
  std::uint16_t device = 0;
  std::uint32_t bytes = 0;  // on a wire, with headers
};

using Network = sim::Network<Message>;

}  // namespace lockstep::link
