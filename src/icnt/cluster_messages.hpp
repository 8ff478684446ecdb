// What the SMs of a cluster send each other.
#pragma once

#include <array>
#include <cstdint>

#include "trace/kernel_trace.hpp"
#include "util/types.hpp"

namespace lockstep::icnt {

/// A CTA's cluster.
struct ClusterPlace {
  std::uint64_t number = 0;                                 // of the cluster in its kernel
  std::uint8_t ranks = 1, rank = 0;                         // CTAs of the cluster; which of them it is
  std::array<std::uint16_t, trace::kMaxClusterCtas> sms{};  // by rank
};

struct ClusterMessage {
  enum class Kind : std::uint8_t {
    kAccess,   // of lanes to the receiver's shared memory
    kReply,    // with the data or old values of an access
    kData,     // of a bulk copy to the receiver's shared memory
    kSignal,   // only for an mbarrier there
    kBarrier,  // all threads of the sender's CTA have arrived at the cluster's barrier
    kGone,     // they have ended
  } kind = Kind::kAccess;
  std::uint8_t kernel = 0;      // slot
  std::uint8_t from = 0;        // rank of the sender's CTA
  std::uint8_t to = 0;          // rank of the receiver's
  std::uint8_t wavefronts = 1;  // kAccess, kData: passes over the receiver's banks
  bool replies = false;         // kAccess: a kReply goes back
  std::uint16_t bytes = 0;      // of data in the message
  std::uint16_t reply_bytes = 0;
  std::uint32_t tag = 0;                   // kAccess, kReply: the sender's own handle
  std::uint32_t mbarrier = 0, events = 0;  // that the mbarrier of the receiver's CTA has had with it; 0: none
  std::uint32_t filled = 0;                // kSignal: bytes that a multicast has brought to the receiver, too
  std::uint64_t cluster = 0;               // its number
};

}  // namespace lockstep::icnt
