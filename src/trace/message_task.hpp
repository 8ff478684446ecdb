// Tasks of hosts that an MPI library's calls consist of (src/messages), beside those of host_task.hpp.
#pragma once

#include <cstdint>

#include "trace/host_task.hpp"

namespace lockstep::trace {

/// Further kinds of HostTask, in the order of their values. Messages from one process to another are numbered
/// from 0 on: the number stands in HostTask::instructions, and kCall's time (Command::Call) as well.
namespace message_task {
inline constexpr HostTask::Kind kMessage{HostTask::kKinds},  // sends a message as kSend does: an eager one
    kOffer{5},    // likewise by rendezvous: the data leave when `peer` has accepted it
    kAccept{6},   // from here on a message of `peer`, an offered one, has a place to be written to
    kArrived{7},  // complete when that message of `peer` has come
    kSent{8},     // complete when that message to `peer` is acknowledged; one that was not offered: at once
    kEnter{9},    // a call of the library that waits for nothing
    kCall{10};    // a call of the CUDA runtime, or its return from a wait
}  // namespace message_task

inline constexpr std::uint64_t kAllHostTasks = 11;        // kinds
inline constexpr std::uint64_t kMostMessages = 1 << 24;   // from one process to another
inline constexpr Address kHostMemory = Address{1} << 62;  // from here on: a process's host's
inline constexpr std::uint32_t kMessageVersion = 8;       // of compact traces that have such tasks

[[nodiscard]] constexpr bool is_message_task(const HostTask& task) {
  return task.kind >= message_task::kMessage;
}
/// It has a peer and the number of a message.
[[nodiscard]] constexpr bool names_message(HostTask::Kind kind) {
  return kind >= message_task::kMessage && kind <= message_task::kSent;
}

/// The kind of host_task.hpp with which statistics count it.
[[nodiscard]] constexpr HostTask::Kind counted_as(HostTask::Kind kind) {
  using namespace message_task;
  if (kind < kMessage) return kind;
  if (kind == kMessage || kind == kOffer) return HostTask::Kind::kSend;
  if (kind == kAccept || kind == kArrived) return HostTask::Kind::kReceive;
  return kind == kSent ? HostTask::Kind::kFlush : HostTask::Kind::kCompute;
}

}  // namespace lockstep::trace
