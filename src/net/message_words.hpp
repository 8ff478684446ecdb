// Where hosts are told of messages that have a number (trace::HostTask).
#pragma once

#include <cstdint>

#include "trace/host_task.hpp"
#include "util/types.hpp"

namespace lockstep::net {

/// Words of the receiver's host, that the message has arrived or is offered, and of its sender's, that it is
/// accepted. Each has one signal.
enum class MessageWord : std::uint8_t { kArrived, kOffered, kAccepted };
inline constexpr Address kMessageWords = Address{3} << 60;  // behind kNotices (net/messages.hpp)
[[nodiscard]] constexpr Address message_word(MessageWord word, std::uint16_t from, std::uint16_t to,
                                             std::uint64_t number) {
  constexpr Address kBytes = 8, kWords = 4, kMaxDevices = 64;
  return kMessageWords +
         (((to * kMaxDevices + from) * trace::kMaxMessages + number) * kWords + static_cast<Address>(word)) *
             kBytes;
}

}  // namespace lockstep::net
