// The queues of entries that a service thread serves, and what it knows of their operations.
#pragma once

#include <cstdint>
#include <vector>

#include "net/messages.hpp"
#include "net/queue_depth.hpp"
#include "util/ring.hpp"

namespace lockstep::net {

/// An operation by its queue, of the thread, and its number in the queue.
struct OperationId {
  std::uint32_t queue = 0;
  std::uint64_t number = 0;
};

/// Operations are taken from a queue in order. They may become complete, and be finished, out of order; the
/// read index is the number of finished operations in a row from the first.
class ServedQueues {
 public:
  void add(const AgentNews& queue);
  /// Of a queue that was added.
  void push(const AgentNews& operation);

  [[nodiscard]] bool any_waiting() const { return waiting_ > 0; }
  /// The next queue after `queue`, cyclically, in which an operation waits; precondition: any_waiting().
  [[nodiscard]] std::uint32_t next_waiting(std::uint32_t queue) const;
  [[nodiscard]] const trace::NetOperation& front(std::uint32_t queue) const {
    return queues_[queue].waiting.front();
  }
  [[nodiscard]] OperationId take(std::uint32_t queue, std::uint64_t ps);

  void set_complete(const OperationId& id);
  [[nodiscard]] bool complete(const OperationId& id) const {
    const Queue& queue = queues_[id.queue];
    return id.number < queue.completed || (id.number >= queue.first && queue.open[place(id)].complete);
  }
  /// Whether all before it in its queue are complete.
  [[nodiscard]] bool first_incomplete(const OperationId& id) const;
  /// The next kQuiet of the queue that has become complete so, if any; it is then marked complete.
  [[nodiscard]] bool take_quiet(std::uint32_t queue, OperationId& id);
  void wait_quiet(const OperationId& id) { queues_[id.queue].open[place(id)].quiet = true; }
  void set_finished(const OperationId& id);
  /// The status word of one of its operations is written.
  void leave(std::uint32_t queue, std::uint64_t ps) { queues_[queue].depth.leave(ps); }
  /// Whether the read index must be written once more.
  [[nodiscard]] bool advance_index(std::uint32_t queue);

  [[nodiscard]] std::uint16_t device(std::uint32_t queue) const { return queues_[queue].device; }
  [[nodiscard]] Address index(std::uint32_t queue) const { return queues_[queue].index; }
  [[nodiscard]] Address entry(const OperationId& id) const {
    const Queue& q = queues_[id.queue];
    return q.base + id.number % q.entries * trace::kNetEntryBytes;
  }
  /// The number that the next operation of the queue gets.
  [[nodiscard]] std::uint64_t next_number(std::uint32_t queue) const { return queues_[queue].taken; }
  [[nodiscard]] Address next_entry(std::uint32_t queue) const { return entry({queue, queues_[queue].taken}); }
  /// Operations that wait, are not complete or not finished.
  [[nodiscard]] std::uint64_t open() const { return waiting_ + unfinished_; }
  /// Number of operations that have been taken and not finished.
  [[nodiscard]] DepthCounters depth(std::uint64_t ps) const;
  void dump(std::string& out) const;

  template <class A>
  void persist(A& a) {
    a.members(*this, queues_, queue_of_, waiting_, unfinished_);
  }

 private:
  struct Open {
    bool complete = false, finished = false, quiet = false;
  };
  struct Queue {
    std::uint16_t device = 0;
    std::uint32_t number = 0;  // of the device
    Address base = 0, index = 0;
    std::uint64_t entries = 1;
    Ring<trace::NetOperation> waiting{4};
    std::uint64_t taken = 0;
    std::uint64_t first = 0;      // number of open's first
    std::uint64_t indexed = 0;    // what the read index says
    std::uint64_t completed = 0;  // in a row from the first on
    Ring<Open> open{4};           // complete or not, those that are not both complete and indexed
    QueueDepth depth;
    template <class A>
    void persist(A& a) {
      a.members(*this, device, number, base, index, entries, waiting, taken, first, indexed, completed, open,
                depth);
    }
  };
  [[nodiscard]] std::size_t place(const OperationId& id) const {
    return static_cast<std::size_t>(id.number - queues_[id.queue].first);
  }
  void drop_finished(Queue& queue);

  std::vector<Queue> queues_;
  std::vector<std::vector<std::uint32_t>> queue_of_;  // by device and its number there: index in queues_
  std::uint64_t waiting_ = 0, unfinished_ = 0;
};

}  // namespace lockstep::net
