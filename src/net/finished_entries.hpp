// What a service thread writes to status words and read indices when entries are finished.
#pragma once

#include <cstdint>

#include "net/clock.hpp"
#include "net/served_queues.hpp"
#include "net/thread_counters.hpp"
#include "util/ring.hpp"

namespace lockstep::net {

/// An entry that is finished.
struct FinishedEntry {
  OperationId id;
  trace::NetOperation operation{};
  bool counts = false;  // its times, now that all of them are known
  Moments at{};
};

/// One after the other: the status word of an entry, with which it leaves its queue, then the queue's read
/// index, once for each finished entry in a row. `Port`: as ServiceThread's.
template <class Port>
class FinishedEntries {
 public:
  FinishedEntries(Port& port, ServedQueues& queues, ThreadCounters& counters, const Clock& clock)
      : port_(&port), queues_(&queues), counters_(&counters), clock_(clock) {}

  void push(const FinishedEntry& one) { finished_.push(one); }
  [[nodiscard]] bool empty() const { return finished_.empty(); }
  /// A quiet that waits until all operations before it in its queue are complete.
  void push_quiet(const FinishedEntry& quiet) {
    queues_->wait_quiet(quiet.id);
    quiets_.push(quiet);
  }
  /// Pushes the quiets of the queue that need not wait any longer, complete at `ps`.
  void take_quiets(std::uint32_t queue, std::uint64_t ps) {
    for (OperationId id; queues_->take_quiet(queue, id);) {
      std::size_t i = 0;
      while (quiets_[i].id.queue != id.queue || quiets_[i].id.number != id.number) ++i;
      FinishedEntry quiet = quiets_[i];
      for (; i > 0; --i) quiets_[i] = quiets_[i - 1];
      quiets_.pop();
      quiet.at[static_cast<std::size_t>(Moment::kComplete)] = ps;
      finished_.push(quiet);
    }
  }

  /// Precondition of both: not empty. They return the number of replies that will come.
  [[nodiscard]] unsigned write_status(Cycle now) {
    FinishedEntry& one = finished_.front();
    const std::uint16_t device = queues_->device(one.id.queue);
    const Address entry = queues_->entry(one.id);
    queues_->set_finished(one.id);
    queues_->leave(one.id.queue, clock_.ps(now));
    if (one.counts) {
      one.at[static_cast<std::size_t>(Moment::kFinished)] = clock_.ps(now);
      counters_->add(one.operation, device, entry, one.at, true);
    }
    return port_->store(now, device, entry);
  }
  /// After the status is written, until `done`.
  [[nodiscard]] unsigned write_index(Cycle now, bool& done) {
    const FinishedEntry& one = finished_.front();
    done = !queues_->advance_index(one.id.queue);
    if (!done) return port_->store(now, queues_->device(one.id.queue), queues_->index(one.id.queue));
    finished_.pop();
    return 0;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(port_), a.given(queues_), a.given(counters_), a.given(clock_), finished_,
              quiets_);
  }

 private:
  Port* port_;
  ServedQueues* queues_;
  ThreadCounters* counters_;
  Clock clock_;
  Ring<FinishedEntry> finished_, quiets_;
};

}  // namespace lockstep::net
