// Random programs with streams and events: the order that a trace gives their kernels, and what is held back
// behind a kernel that waits for the host, against CUDA's rules (stream_reference.hpp).
#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <map>
#include <random>
#include <string>

#include "cuda/held_work.hpp"
#include "cuda/stream_log.hpp"
#include "tests/cuda/stream_reference.hpp"

namespace lockstep::cuda::test {
namespace {

using CallKind = StreamCall::Kind;

/// For failures: "K3 R3:0 W1:0" as kind, stream, event.
std::string text_of(const StreamPlan& plan) {
  std::string text = std::to_string(plan.devices) + " devices;";
  for (std::size_t s = 0; s < plan.streams.size(); ++s)
    text += " " + std::to_string(s) + (plan.streams[s].blocking ? "b" : "n") + "@" +
            std::to_string(plan.streams[s].device);
  constexpr const char* kNames[] = {"K", "R", "W", "Rdev", "Wdev", "syncS", "syncE", "syncD"};
  text += ';';
  for (const StreamCall& call : plan.calls)
    text += std::string(" ") + kNames[static_cast<int>(call.kind)] + std::to_string(call.stream) + ":" +
            std::to_string(call.event);
  return text;
}

/// What is complete before each kernel of a log, and before the host goes on: from its commands alone.
class LogOrder {
 public:
  explicit LogOrder(const StreamLog& log) : log_(log) {}
  [[nodiscard]] const CallSet& host() const { return host_; }
  /// Before the kernel of call `index`, the last command.
  [[nodiscard]] const CallSet& before(std::size_t index) const { return before_.at(index); }

  void follow() {
    using Kind = trace::Command::Kind;
    for (; next_ < log_.commands().size(); ++next_) {
      const trace::Command& c = log_.commands()[next_];
      auto& [device, done] = streams_[c.stream];
      switch (c.kind) {
        case Kind::kKernel:
          device = c.device;
          done.insert(host_.begin(), host_.end());
          before_[c.kernel] = done;
          done.insert(c.kernel);
          break;
        case Kind::kEventRecord:
          device = c.device;
          events_.push_back(done);
          break;
        case Kind::kStreamWait:
          device = c.device;
          done.insert(events_.at(c.event).begin(), events_.at(c.event).end());
          break;
        case Kind::kEventWait:
          host_.insert(events_.at(c.event).begin(), events_.at(c.event).end());
          break;
        case Kind::kWait:
          for (const auto& [number, s] : streams_)
            if (s.device == c.device) host_.insert(s.done.begin(), s.done.end());
          break;
        default:
          break;
      }
    }
  }

 private:
  struct Stream {
    std::uint16_t device = 0;
    CallSet done;
  };
  const StreamLog& log_;
  std::size_t next_ = 0;
  std::map<std::uint64_t, Stream> streams_;
  std::vector<CallSet> events_;
  std::map<std::size_t, CallSet> before_;
  CallSet host_;
};

/// A program whose calls go into a log as the runtime puts them there.
class LoggedProgram {
 public:
  explicit LoggedProgram(const StreamPlan& plan) : plan_(plan), log_(plan.devices), order_(log_) {}

  /// What is complete before the call, or before the host goes on behind it.
  const CallSet& perform(std::size_t index) {
    const StreamCall& call = plan_.calls[index];
    const unsigned device = plan_.streams[call.stream].device;
    const auto event = events_.find(call.event);
    switch (call.kind) {
      case CallKind::kKernel: {
        enter(call.stream);
        trace::Command kernel{trace::Command::Kind::kKernel};
        kernel.kernel = static_cast<std::uint32_t>(index);
        log_.add(call.stream, kernel);
        order_.follow();
        return order_.before(index);
      }
      case CallKind::kRecord:
        enter(call.stream);
        events_[call.event] = log_.record(call.stream);
        break;
      case CallKind::kRecordDevice:
        enter(plan_.records_of(device));
        log_.wait_for_device(plan_.records_of(device));
        events_[call.event] = log_.record(plan_.records_of(device));
        break;
      case CallKind::kWait:
        if (event == events_.end()) break;
        enter(call.stream);
        log_.stream_wait(call.stream, event->second);
        break;
      case CallKind::kWaitDevice:
        if (event == events_.end()) break;
        enter(plan_.waits_of(device));
        log_.stream_wait(plan_.waits_of(device), event->second);
        log_.hold_device(plan_.waits_of(device));
        break;
      case CallKind::kSyncStream:
        log_.wait_stream(call.stream);
        break;
      case CallKind::kSyncEvent:
        if (event != events_.end()) log_.wait_event(event->second);
        break;
      case CallKind::kSyncDevice:
        log_.wait_all(device);
        break;
    }
    order_.follow();
    return order_.host();
  }

 private:
  void enter(unsigned stream) {
    log_.enter(stream, plan_.streams[stream].blocking, plan_.streams[stream].device);
  }
  const StreamPlan& plan_;
  StreamLog log_;
  LogOrder order_;
  std::map<unsigned, std::uint32_t> events_;  // by the program's: the log's
};

CallSet kernels_of(const StreamPlan& plan, CallSet calls) {
  std::erase_if(calls, [&](std::size_t i) { return plan.calls[i].kind != CallKind::kKernel; });
  return calls;
}
bool is_host_wait(const StreamCall& call) { return call.kind >= CallKind::kSyncStream; }

TEST_CASE("in a trace a kernel comes after what CUDA's rules say, and after nothing else") {
  std::size_t ordered = 0, unordered = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const StreamPlan plan = random_plan(random, 4 + seed % 40);
    CAPTURE(seed, text_of(plan));
    StreamRules rules(plan);
    LoggedProgram program(plan);
    for (std::size_t i = 0; i < plan.calls.size(); ++i) {
      CAPTURE(i);
      const CallSet expected = kernels_of(plan, rules.next(i)), found = program.perform(i);
      if (plan.calls[i].kind != CallKind::kKernel && !is_host_wait(plan.calls[i])) continue;
      REQUIRE(found == expected);
      if (plan.calls[i].kind != CallKind::kKernel) continue;
      ordered += expected.size();
      for (std::size_t k = 0; k < i; ++k)
        unordered += plan.calls[k].kind == CallKind::kKernel && !expected.contains(k);
    }
  }
  CHECK(ordered > 10'000);
  CHECK(unordered > 10'000);
}

/// Held work as the runtime keeps it: in the order of the calls. Kernels are stuck until they are freed.
class HeldProgram {
 public:
  explicit HeldProgram(const StreamPlan& plan) : plan_(plan), streams_(plan.streams.size()) {
    for (std::uint32_t s = 0; s < streams_.size(); ++s) {
      streams_[s].number = s;
      streams_[s].device = plan.streams[s].device;
      streams_[s].is_default = plan.is_default(s);
      streams_[s].flags = plan.streams[s].blocking ? 0 : kStreamNonBlocking;
    }
  }

  void call(std::size_t index, bool stuck) {
    const StreamCall& call = plan_.calls[index];
    const unsigned device = plan_.streams[call.stream].device;
    Work work;
    work.stream = &streams_[call.stream];
    work.number = index + 1;
    const bool of_device = call.kind == CallKind::kRecordDevice || call.kind == CallKind::kWaitDevice;
    if (call.kind == CallKind::kKernel) work.operation = KernelLaunch{};
    if (call.kind == CallKind::kRecord || call.kind == CallKind::kRecordDevice) {
      work.operation = RecordEvent{nullptr, false, of_device};
      if (of_device) work.stream = &streams_[plan_.records_of(device)];
      records_[call.event] = work.number;
    }
    if (call.kind == CallKind::kWait || call.kind == CallKind::kWaitDevice) {
      if (!records_.contains(call.event)) return;
      work.operation = WaitEvent{nullptr, false, of_device};
      if (of_device) work.stream = &streams_[plan_.waits_of(device)];
      if (is_held(records_[call.event])) work.after = records_[call.event];
    }
    if (stuck) stuck_.insert(work.number);
    all_.push_back(std::move(work));
    go_on();
  }
  void free(std::size_t index) {
    stuck_.erase(index + 1);
    go_on();
  }
  [[nodiscard]] CallSet held() const {
    CallSet found;
    for (const Work& work : all_) found.insert(work.number - 1);
    return found;
  }
  /// Would the host's call wait for any of it?
  [[nodiscard]] bool waits(const StreamCall& call) const {
    if (call.kind == CallKind::kSyncStream) return held_.has(streams_[call.stream]);
    if (call.kind == CallKind::kSyncDevice) return held_.has_device(plan_.streams[call.stream].device);
    return records_.contains(call.event) && held_.holds(records_.at(call.event));
  }

 private:
  [[nodiscard]] bool is_held(std::uint64_t number) const {
    return std::ranges::any_of(all_, [&](const Work& work) { return work.number == number; });
  }
  void go_on() {
    held_ = {};
    for (auto at = all_.begin(); at != all_.end();) {
      if (stuck_.contains(at->number) || held_.holds(*at)) {
        held_.add(*at++);
        continue;
      }
      for (Work& later : all_)
        if (later.after == at->number) later.after = 0;
      at = all_.erase(at);
    }
  }
  const StreamPlan& plan_;
  std::vector<StreamState> streams_;
  std::list<Work> all_;
  Held held_;
  std::set<std::uint64_t> stuck_;
  std::map<unsigned, std::uint64_t> records_;  // by event: its latest record
};

bool meet(const CallSet& a, const CallSet& b) {
  return std::ranges::any_of(a, [&](std::size_t i) { return b.contains(i); });
}

TEST_CASE("what comes after a kernel that waits by CUDA's rules is held back, and nothing else") {
  std::size_t held = 0, free = 0, waits = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const StreamPlan plan = random_plan(random, 4 + seed % 40);
    CAPTURE(seed, text_of(plan));
    StreamRules rules(plan);
    HeldProgram program(plan);
    CallSet stuck;
    std::map<std::size_t, CallSet> before;  // of calls that are not the host's
    for (std::size_t i = 0; i < plan.calls.size(); ++i) {
      CAPTURE(i);
      const CallSet first = rules.next(i);
      if (is_host_wait(plan.calls[i])) {
        REQUIRE(program.waits(plan.calls[i]) == meet(first, stuck));
        waits += meet(first, stuck);
        for (const std::size_t kernel : std::exchange(stuck, {})) program.free(kernel);  // the host goes on
        REQUIRE(program.held().empty());
        continue;
      }
      before[i] = first;
      if (plan.calls[i].kind == CallKind::kKernel && random() % 4 == 0) stuck.insert(i);
      program.call(i, stuck.contains(i));
      if (!stuck.empty() && random() % 6 == 0) {
        const std::size_t freed = *std::next(stuck.begin(), static_cast<long>(random() % stuck.size()));
        stuck.erase(freed);
        program.free(freed);
      }
      CallSet expected = stuck;
      for (const auto& [call, needs] : before)
        if (meet(needs, stuck)) expected.insert(call);
      REQUIRE(program.held() == expected);
      held += expected.size() - stuck.size();
      free += before.size() - expected.size();
    }
  }
  CHECK(held > 10'000);
  CHECK(free > 10'000);
  CHECK(waits > 500);
}

}  // namespace
}  // namespace lockstep::cuda::test
