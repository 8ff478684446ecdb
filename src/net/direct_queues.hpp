// Queues that belong to a NIC: kernels write to them directly, without an agent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "icnt/entry_log.hpp"
#include "net/messages.hpp"
#include "net/operations.hpp"
#include "net/queue_pair.hpp"
#include "util/ring.hpp"

namespace lockstep::net {

/// A kernel's store to the status word of an entry rings the doorbell; the entries, in device memory, are the
/// NIC's commands. Doorbells of a queue come in the order of its entries. When an operation is complete, and
/// those before it in its queue are, the NIC writes the entry's status word and the queue's read index,
/// whether the operation blocks or not: only then can the place be reused. So a quiet is an operation without
/// data.
class DirectQueues {
 public:
  DirectQueues(Operations& operations, const Clock& clock) : operations_(&operations), clock_(clock) {}

  void receive(Cycle now, const AgentNews& news);
  /// The store of a kernel on the device.
  void ring(Cycle now, std::uint16_t device, const icnt::Request& store);

  /// Whether all operations reported to it have been processed, as far as the doorbell has been rung.
  [[nodiscard]] bool idle() const { return counters_.found == counters_.records; }
  [[nodiscard]] const ThreadCounters& counters() const { return counters_; }
  /// When doorbells of entries have come.
  [[nodiscard]] const std::vector<icnt::EntryTime>& visible_entries() const { return visible_; }
  /// Number of entries that have been begun and not finished.
  [[nodiscard]] DepthCounters depth(std::uint64_t ps) const;
  /// Before the run: keeps operations. Not owned.
  void record(OperationLog& log) { counters_.log = &log; }
  void dump(std::string& out) const;

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(operations_), a.given(clock_), queues_, visible_, counters_);
    for (auto& of_device : queues_)
      for (auto& queue : of_device) queue->pair->counters = &counters_;
  }

 private:
  struct Queue {
    std::uint32_t number = 0;  // of the device
    std::unique_ptr<QueuePair> pair;
    Ring<trace::NetOperation> waiting{4};  // reported
    std::uint64_t rung = 0, begun = 0;
    /// Makes the pair where it is read.
    template <class A>
    void persist(A& a) {
      std::uint32_t entries = pair ? pair->entries() : 0;
      std::uint16_t device = pair ? pair->device : std::uint16_t{0};
      a(entries, device);
      if (a.reading()) pair = std::make_unique<QueuePair>(entries, device, device);
      a.members(*this, number, pair, waiting, rung, begun);
    }
  };
  void begin(Cycle now, Queue& queue);

  Operations* operations_;
  Clock clock_;
  std::vector<std::vector<std::unique_ptr<Queue>>> queues_;  // by device and number
  std::vector<icnt::EntryTime> visible_;
  ThreadCounters counters_;
};

}  // namespace lockstep::net
