#include "messages/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "messages/memory.hpp"
#include "trace/kernel_trace.hpp"
#include "util/error.hpp"

namespace lockstep::messages {
namespace {

using trace::HostTask;
using Kind = HostTask::Kind;

/// What tells the messages from one process to another apart: communicator, call of a collective there (-1:
/// point to point), tag or step.
using Key = std::tuple<std::uint64_t, std::int64_t, std::int64_t>;

/// A task whose message is not known yet.
struct Step {
  enum class What : std::uint8_t { kSend, kAccept, kSent, kArrived, kCombine } what = What::kSend;
  std::uint64_t position = 0;
  bool within = false;
  std::uint16_t peer = 0;
  Key key{};                           // kSend, kAccept
  std::uint64_t bytes = 0;             // kSend, kCombine
  Address address = 0;                 // kSend, kAccept
  std::size_t begun = 0;               // kSent, kArrived: index of the step that began it
  std::optional<std::size_t> match{};  // kSend, kAccept: index of the other process's step
  std::uint64_t number = 0;            // kSend: among all to that process
};

/// The steps of a process.
class Process {
 public:
  Process(const Recording& recording, AllReduce all_reduce)
      : recording_(&recording), all_reduce_(all_reduce) {
    find_sources();
    for (const Call& call : recording.calls) add(call);
  }
  std::vector<Step> steps;

 private:
  class Collected;

  /// Where a receive gets its message from is known when it is complete.
  void find_sources() {
    for (const Call& call : recording_->calls)
      if (call.kind == Call::Kind::kComplete) complete_[call.request] = &call;
  }

  void add(const Call& call);
  void add_complete(const Call& call);
  void add_collective(const Call& call);

  const Recording* recording_;
  AllReduce all_reduce_;
  std::map<std::uint64_t, const Call*> complete_;      // by request
  std::map<std::uint64_t, std::size_t> begun_;         // by request: its step
  std::map<std::uint64_t, std::int64_t> collectives_;  // by communicator's id: calls so far
};

/// A collective call's messages as steps.
class Process::Collected final : public CollectiveSteps {
 public:
  Collected(Process& process, const Call& call, std::int64_t number)
      : process_(process),
        call_(call),
        communicator_(process.recording_->communicators[call.communicator]),
        number_(number) {}

  void send(std::uint32_t to, std::uint32_t step, std::uint64_t bytes) override {
    Step& s = add(Step::What::kSend, to, step);
    s.bytes = bytes;
    s.address = call_.send;
  }
  void accept(std::uint32_t from, std::uint32_t step) override {
    add(Step::What::kAccept, from, step).address = call_.receive;
  }
  void wait() override {
    for (const bool sends : {false, true})
      for (const std::size_t begun : open_)
        if ((process_.steps[begun].what == Step::What::kSend) == sends)
          push({sends ? Step::What::kSent : Step::What::kArrived}).begun = begun;
    open_.clear();
  }
  void combine(std::uint64_t bytes) override { push({Step::What::kCombine}).bytes = bytes; }

 private:
  Step& add(Step::What what, std::uint32_t member, std::uint32_t step) {
    open_.push_back(process_.steps.size());
    Step& s = push({what});
    s.peer = communicator_.members[member];
    s.key = {communicator_.id, number_, step};
    return s;
  }
  Step& push(Step step) {
    step.position = call_.position;
    step.within = std::exchange(within_, true);
    return process_.steps.emplace_back(step);
  }

  Process& process_;
  const Call& call_;
  const Communicator& communicator_;
  std::int64_t number_;
  bool within_ = false;
  std::vector<std::size_t> open_;
};

void Process::add(const Call& call) {
  if (call.kind == Call::Kind::kCollective) return add_collective(call);
  if (call.kind == Call::Kind::kComplete) return add_complete(call);
  const bool sends = call.kind == Call::Kind::kSend;
  Step step{sends ? Step::What::kSend : Step::What::kAccept, call.position, call.within};
  const auto complete = complete_.find(call.request);
  if (!sends && complete == complete_.end()) return;  // cancelled, or the program did not ask
  const std::uint64_t id = recording_->communicators[call.communicator].id;
  const Call& from = sends ? call : *complete->second;
  step.peer = from.peer;
  step.key = {id, -1, from.tag};
  step.bytes = sends ? call.bytes.front() : 0;
  step.address = sends ? call.send : call.receive;
  begun_[call.request] = steps.size();
  steps.push_back(step);
}

void Process::add_complete(const Call& call) {
  const std::size_t begun = begun_.at(call.request);
  Step step{steps[begun].what == Step::What::kSend ? Step::What::kSent : Step::What::kArrived, call.position,
            call.within};
  step.begun = begun;
  steps.push_back(step);
}

void Process::add_collective(const Call& call) {
  const Communicator& c = recording_->communicators[call.communicator];
  const auto me = std::find(c.members.begin(), c.members.end(), recording_->rank);
  if (me == c.members.end())
    throw UserError(fmt::format("process {} calls a communicator that it is not in", recording_->rank));
  Collected collected(*this, call, collectives_[c.id]++);
  perform(call, static_cast<std::uint32_t>(me - c.members.begin()),
          static_cast<std::uint32_t>(c.members.size()), all_reduce_, collected);
}

/// Numbers the messages, and finds for each the two steps that it is of.
void match(std::vector<Process>& processes) {
  using Line = std::tuple<std::uint16_t, std::uint16_t, Key>;  // from, to
  std::map<Line, std::vector<std::size_t>> sends;
  std::map<std::pair<std::uint16_t, std::uint16_t>, std::uint64_t> numbers;
  const auto count = static_cast<std::uint16_t>(processes.size());
  for (std::uint16_t p = 0; p < count; ++p)
    for (std::size_t s = 0; s < processes[p].steps.size(); ++s) {
      Step& step = processes[p].steps[s];
      if (step.what != Step::What::kSend) continue;
      step.number = numbers[{p, step.peer}]++;
      sends[{p, step.peer, step.key}].push_back(s);
    }
  std::map<Line, std::size_t> received;
  for (std::uint16_t p = 0; p < count; ++p)
    for (std::size_t s = 0; s < processes[p].steps.size(); ++s) {
      Step& step = processes[p].steps[s];
      if (step.what != Step::What::kAccept) continue;
      const Line line{step.peer, p, step.key};
      const std::size_t number = received[line]++;
      const auto found = sends.find(line);
      if (found == sends.end() || number >= found->second.size())
        throw UserError(
            fmt::format("process {} receives a message of process {} (tag {}) that was not recorded there", p,
                        step.peer, std::get<2>(step.key)));
      step.match = found->second[number];
      processes[step.peer].steps[*step.match].match = s;
    }
}

/// Combining takes two loads, an operation, a store and the loop's share for each 32 bytes, and moves three
/// operands: as in include/lockstep/shmem/host_process.h.
HostTask combining(std::uint64_t bytes) {
  HostTask task;
  task.instructions = (bytes + 31) / 32 * 5;
  task.bytes = 3 * bytes;
  return task;
}

class Tasks {
 public:
  Tasks(const std::vector<Process>& processes, std::uint16_t me, const Protocol& protocol)
      : processes_(processes), me_(me), protocol_(protocol) {
    for (const Step& step : processes[me].steps) add(step);
  }
  std::vector<PlacedTask> all;

 private:
  /// A message without a receive has no buffer to wait for.
  [[nodiscard]] bool is_offered(const Step& send) const {
    return send.match && send.bytes > protocol_.eager_bytes;
  }
  [[nodiscard]] const Step& send_of(const Step& accept) const {
    return processes_[accept.peer].steps[*accept.match];
  }
  void push(const Step& step, HostTask task) {
    task.within = step.within;
    all.push_back({step.position, task});
  }
  void add(const Step& step) {
    HostTask task;
    task.peer = step.peer;
    switch (step.what) {
      case Step::What::kCombine:
        return push(step, combining(step.bytes));
      case Step::What::kSend:
        task.kind = is_offered(step) ? Kind::kOffer : Kind::kMessage;
        task.instructions = step.number;
        task.bytes = step.bytes;
        task.local = buffer_of(step.address, me_);
        task.remote = step.match ? buffer_of(processes_[step.peer].steps[*step.match].address, step.peer)
                                 : trace::kHostMemory;
        return push(step, task);
      case Step::What::kAccept:
        task.instructions = send_of(step).number;
        // An eager message needs no place: this is but the call.
        task.kind = is_offered(send_of(step)) ? Kind::kAccept : Kind::kEnter;
        return push(step, task);
      default:
        return wait(step);
    }
  }
  void wait(const Step& step) {
    const Step& begun = processes_[me_].steps[step.begun];
    const bool sent = step.what == Step::What::kSent;
    // A blocking call with an eager message ends when that is on its way.
    if (sent && step.within && !is_offered(begun)) return;
    HostTask task;
    task.kind = sent ? Kind::kSent : Kind::kArrived;
    task.peer = begun.peer;
    task.instructions = sent ? begun.number : send_of(begun).number;
    push(step, task);
  }

  const std::vector<Process>& processes_;
  std::uint16_t me_;
  const Protocol& protocol_;
};

}  // namespace

std::vector<std::vector<PlacedTask>> schedule(const std::vector<Recording>& recordings,
                                              const Protocol& protocol) {
  std::vector<Process> processes;
  for (const Recording& recording : recordings) processes.emplace_back(recording, protocol.all_reduce);
  match(processes);
  std::vector<std::vector<PlacedTask>> tasks;
  for (std::uint16_t p = 0; p < processes.size(); ++p) tasks.push_back(Tasks(processes, p, protocol).all);
  return tasks;
}

}  // namespace lockstep::messages
