// The memory that a service thread and a NIC share: commands one way, completion records the other.
#pragma once

#include <cstdint>
#include <vector>

#include "net/queue_depth.hpp"
#include "net/thread_counters.hpp"
#include "trace/net_operation.hpp"
#include "util/types.hpp"

namespace lockstep::net {

struct Command {
  trace::NetOperation operation;
  Moments at{};
  [[nodiscard]] std::uint64_t& moment(Moment m) { return at[static_cast<std::size_t>(m)]; }
};

/// Two rings of entries of 64 bytes. The values are kept here, since the timing model's memory has none. A
/// reader has received a message that was sent after the value was written, so write and read are never in
/// the same window. Command k is at place (k - first) mod n; likewise the records, each of which names a
/// command's place and has a word that gets a signal.
struct QueuePair {
  QueuePair(std::uint32_t entries, std::uint16_t memory_owner, std::uint16_t of_device)
      : command(entries), record(entries), owner(memory_owner), device(of_device) {}
  [[nodiscard]] std::uint32_t entries() const { return static_cast<std::uint32_t>(command.size()); }
  [[nodiscard]] std::uint32_t place(std::uint64_t number) const {
    return static_cast<std::uint32_t>((number - first) % command.size());
  }
  /// Number of signals that the word of record `number` has received when the record is there.
  [[nodiscard]] std::uint32_t signals(std::uint64_t number) const {
    return static_cast<std::uint32_t>((number - first) / command.size() + 1);
  }
  [[nodiscard]] Address command_address(std::uint64_t number) const {
    return commands + place(number) * trace::kNetEntryBytes;
  }
  [[nodiscard]] Address record_address(std::uint64_t number) const {
    return records + place(number) * trace::kNetEntryBytes;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, command, record, a.given(owner), a.given(device), commands, records, first, a.given(nic),
              a.given(doorbell), records_written, index, entries_open, a.given(counters));
  }

  std::vector<Command> command;
  std::vector<std::uint32_t> record;  // by place: that of the command which is complete
  std::uint16_t owner = 0;            // the endpoint whose memory both rings are in
  std::uint16_t device = 0;           // whose operations they are
  // Set before the first doorbell, and later only while nothing is under way.
  Address commands = 0, records = 0;
  std::uint64_t first = 0;            // number of the first command and record there
  std::uint16_t nic = 0;              // that executes them
  Address doorbell = 0;               // of that NIC
  std::uint64_t records_written = 0;  // the NIC's own count

  // For a queue that belongs to the NIC (net::DirectQueues): its entries are the commands, and their status
  // words and the read index are the records. `record` says by place whether a command is complete.
  Address index = 0;
  QueueDepth entries_open;  // begun and not finished
  ThreadCounters* counters =
      nullptr;  // where the NIC counts it; null: a service thread finishes its operations
};

}  // namespace lockstep::net
