// Which work of a program comes after which, by the rules of CUDA's streams and events alone.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace lockstep::cuda::test {

/// One call of a program. Streams are numbered: that of number d < devices is the default stream of device d.
struct StreamCall {
  enum class Kind {
    kKernel,
    kRecord,
    kWait,          // cudaStreamWaitEvent
    kRecordDevice,  // cuCtxRecordEvent
    kWaitDevice,    // cuCtxWaitEvent
    kSyncStream,
    kSyncEvent,
    kSyncDevice
  } kind = Kind::kKernel;
  unsigned stream = 0;
  unsigned event = 0;  // of the program's
};

struct StreamPlan {
  unsigned devices = 1, events = 3;
  struct Stream {
    unsigned device = 0;
    bool blocking = true;
  };
  std::vector<Stream> streams;  // beginning with the default streams; those of device d's events come last
  std::vector<StreamCall> calls;

  [[nodiscard]] bool is_default(unsigned stream) const { return stream < devices; }
  /// The streams in which events of a whole device are recorded and waited for.
  [[nodiscard]] unsigned records_of(unsigned device) const {
    return static_cast<unsigned>(streams.size()) - 2 * (devices - device);
  }
  [[nodiscard]] unsigned waits_of(unsigned device) const { return records_of(device) + 1; }
};

inline StreamPlan random_plan(std::mt19937& random, unsigned calls) {
  const auto pick = [&](std::size_t n) { return static_cast<unsigned>(random() % n); };
  StreamPlan plan;
  plan.devices = 1 + pick(2);
  for (unsigned d = 0; d < plan.devices; ++d) plan.streams.push_back({d, true});
  for (unsigned n = 1 + pick(4); n > 0; --n) plan.streams.push_back({pick(plan.devices), pick(3) != 0});
  const auto usable = plan.streams.size();
  for (unsigned d = 0; d < plan.devices; ++d) plan.streams.insert(plan.streams.end(), 2, {d, false});
  using Kind = StreamCall::Kind;
  for (unsigned i = 0; i < calls; ++i) {
    constexpr Kind kOften[] = {Kind::kKernel, Kind::kKernel, Kind::kKernel, Kind::kRecord, Kind::kWait};
    const unsigned roll = pick(9);
    StreamCall call;
    call.kind = roll < 5 ? kOften[roll] : roll < 8 ? kOften[pick(5)] : static_cast<Kind>(3 + pick(5));
    call.stream = pick(usable);
    call.event = pick(plan.events);
    plan.calls.push_back(call);
  }
  return plan;
}

/// Sets of calls (by index) that are complete when something is.
using CallSet = std::set<std::size_t>;

/// The rules of the CUDA Runtime API ("Stream synchronization behavior", legacy default stream; events) and
/// of the driver's cuCtxRecordEvent and cuCtxWaitEvent.
class StreamRules {
 public:
  explicit StreamRules(const StreamPlan& plan) : plan_(plan), done_(plan.streams.size()) {}

  /// What is complete before call number `index` is performed; for one of the host's, before it returns.
  CallSet next(std::size_t index) {
    using Kind = StreamCall::Kind;
    const StreamCall& call = plan_.calls[index];
    const unsigned device = plan_.streams[call.stream].device;
    switch (call.kind) {
      case Kind::kKernel:
        enter(call.stream, index);
        break;
      case Kind::kRecord:
        enter(call.stream, index);
        events_[call.event] = done_[call.stream];
        return before_;
      case Kind::kWait:
        if (!events_.contains(call.event)) return {};
        enter(call.stream, index);
        wait(call.stream, call.event);
        break;
      case Kind::kRecordDevice:
        enter(plan_.records_of(device), index);
        for (unsigned s = 0; s < done_.size(); ++s)
          if (plan_.streams[s].device == device) add(before_, done_[s]);
        add(done_[plan_.records_of(device)], before_);
        events_[call.event] = done_[plan_.records_of(device)];
        break;
      case Kind::kWaitDevice:
        if (!events_.contains(call.event)) return {};
        enter(plan_.waits_of(device), index);
        wait(plan_.waits_of(device), call.event);
        held_[device] = done_[plan_.waits_of(device)];
        break;
      case Kind::kSyncStream:  // what is in it: the default stream's later work is not
        add(host_, done_[call.stream]);
        if (plan_.is_default(call.stream)) add_blocking(host_, device);
        return host_;
      case Kind::kSyncEvent:
        if (events_.contains(call.event)) add(host_, events_[call.event]);
        return host_;
      case Kind::kSyncDevice:
        for (unsigned s = 0; s < done_.size(); ++s)
          if (plan_.streams[s].device == device) add(host_, done_[s]);
        return host_;
    }
    return before_;
  }

 private:
  static void add(CallSet& to, const CallSet& more) { to.insert(more.begin(), more.end()); }
  void add_blocking(CallSet& to, unsigned device) {
    for (unsigned s = 0; s < done_.size(); ++s)
      if (plan_.streams[s].device == device && plan_.streams[s].blocking) add(to, done_[s]);
  }
  void wait(unsigned stream, unsigned event) {
    add(before_, events_[event]);
    add(done_[stream], events_[event]);
  }
  /// The call is put into the stream.
  void enter(unsigned stream, std::size_t index) {
    const auto [device, blocking] = plan_.streams[stream];
    CallSet& mine = done_[stream];
    add(mine, host_);
    add(mine, held_[device]);
    if (plan_.is_default(stream)) add_blocking(mine, device);
    if (blocking) add(mine, done_[device]);
    before_ = mine;
    mine.insert(index);
  }

  const StreamPlan& plan_;
  std::vector<CallSet> done_;           // by stream: when its last work is
  std::map<unsigned, CallSet> events_;  // that were recorded
  std::map<unsigned, CallSet> held_;    // by device: before all that it is given
  CallSet host_, before_;
};

}  // namespace lockstep::cuda::test
