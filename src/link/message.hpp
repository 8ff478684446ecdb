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
  /// both directions; kernel means nothing outside of a device, and neither does reply_to, which holds
  /// device() or via() there.
  icnt::Request access;
  /// Not 0: multicast, and via() the switch that makes copies of a request and one reply of the replies. Of
  /// a request: devices, bit d is device d, each of which finds its own memory by `line`; of a reply to the
  /// switch: the device that gives it.
  std::uint64_t targets = 0;
  std::uint16_t from = 0, to = 0;
  /// Between NICs, of a request: the asking NIC's number of the operation, device() the endpoint whose memory
  /// is meant, and whether what the operation wrote before must be there first.
  std::uint16_t operation = 0;
  bool after_data : 1 = false;
  bool is_reply : 1 = false;
  std::uint16_t bytes : 14 = 0;  // on a wire, with headers

  [[nodiscard]] std::uint16_t device() const { return access.reply_to; }
  [[nodiscard]] std::uint16_t via() const { return access.reply_to; }
  void set_device(std::uint16_t endpoint) { access.reply_to = endpoint; }
  void set_via(std::uint16_t node) { access.reply_to = node; }
  /// config::largest_message() is far below what there is place for.
  void set_bytes(std::uint32_t on_wire) { bytes = on_wire & 0x3fff; }
};

// With its place in a queue (sim::kEntryAlign) a cache line: messages are most of what systems move.
static_assert(sizeof(Message) == 56);

using Network = sim::Network<Message>;

}  // namespace lockstep::link
