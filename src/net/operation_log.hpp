// Operations and activity of agents over time, for the timeline.
#pragma once

#include <cstdint>
#include <vector>

#include "net/entry_times.hpp"
#include "net/thread_counters.hpp"
#include "trace/net_operation.hpp"

namespace lockstep::net {

/// What a service thread is busy with.
enum class Work : std::uint8_t {
  kCall,      // from when an entry has been seen until its doorbell is rung, or it is finished
  kComplete,  // from when a completion record has been seen until it has been finished
};

/// The log of one agent. Times in ps from the beginning of the simulation.
struct OperationLog {
  struct Operation {
    trace::NetOperation what;
    std::uint16_t device = 0;  // that requested it
    Address entry = 0;         // in whose queue; 0: none
    bool blocking = false;     // the agent's stages end with kFinished
    Moments at{};
    EntryTimes::Around around{};  // known at the run's end
  };
  struct Span {
    std::uint8_t what = 0;  // Work; of a process trace::HostTask::Kind
    std::uint64_t from = 0, to = 0;
  };
  std::vector<Operation> operations;  // in the order of their ends
  std::vector<Span> work;             // one after the other

  template <class A>
  void persist(A& a) {
    a.members(*this, operations, work);
  }
};

/// The current activity of a service thread, if any.
class OpenWork {
 public:
  /// Nothing if it has already begun.
  void begin(Work what, std::uint64_t ps) {
    if (open_) return;
    open_ = true;
    what_ = what;
    from_ = ps;
  }
  void end(std::uint64_t ps, OperationLog* log) {
    if (open_ && log) log->work.push_back({static_cast<std::uint8_t>(what_), from_, ps});
    open_ = false;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, open_, what_, from_);
  }

 private:
  bool open_ = false;
  Work what_ = Work::kCall;
  std::uint64_t from_ = 0;
};

}  // namespace lockstep::net
