#include "messages/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "messages/memory.hpp"
#include "messages/progress.hpp"
#include "messages/steps.hpp"
#include "trace/kernel_trace.hpp"
#include "util/error.hpp"

namespace lockstep::messages {
namespace {

using trace::HostTask;
using TaskKind = HostTask::Kind;

using Processes = std::vector<std::vector<Step>>;
using Line = std::tuple<std::uint16_t, std::uint16_t, Key>;  // from, to

/// All windows of the program.
Windows windows_of(const std::vector<Recording>& recordings) {
  Windows all;
  for (const Recording& recording : recordings)
    for (const Communicator& c : recording.communicators)
      if (c.window) all[{c.id, recording.rank}] = *c.window;
  return all;
}

/// Numbers the messages, and the one-sided operations. By line, in their order: the steps that send.
std::map<Line, std::vector<std::size_t>> number(Processes& processes) {
  std::map<Line, std::vector<std::size_t>> sends;
  std::map<std::pair<std::uint16_t, std::uint16_t>, std::uint64_t> numbers, one_sided;
  for (std::uint16_t p = 0; p < processes.size(); ++p)
    for (std::size_t s = 0; s < processes[p].size(); ++s) {
      Step& step = processes[p][s];
      if (is_one_sided(step.what)) step.number = one_sided[{p, step.peer}]++;
      if (step.what != Step::What::kSend) continue;
      step.number = numbers[{p, step.peer}]++;
      sends[{p, step.peer, step.key}].push_back(s);
    }
  return sends;
}

/// The receives of a process, in the order in which they match.
std::vector<std::size_t> receives(const std::vector<Step>& steps) {
  std::vector<std::size_t> all;
  for (std::size_t s = 0; s < steps.size(); ++s)
    if (steps[s].what == Step::What::kAccept) all.push_back(s);
  std::ranges::stable_sort(all, {}, [&](std::size_t s) { return steps[s].order; });
  return all;
}

/// Finds for each message the two steps that it is of.
void match(Processes& processes) {
  const auto sends = number(processes);
  std::map<Line, std::size_t> received;
  for (std::uint16_t p = 0; p < processes.size(); ++p)
    for (const std::size_t s : receives(processes[p])) {
      Step& step = processes[p][s];
      const Line line{step.peer, p, step.key};
      const std::size_t number = received[line]++;
      const auto found = sends.find(line);
      if (found == sends.end() || number >= found->second.size())
        throw UserError(
            fmt::format("process {} receives a message of process {} (tag {}) that was not recorded there", p,
                        step.peer, std::get<2>(step.key)));
      step.match = found->second[number];
      processes[step.peer][*step.match].match = s;
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
  Tasks(const Processes& processes, std::uint16_t me, const Protocol& protocol)
      : processes_(processes), me_(me), protocol_(protocol) {
    for (const Step& step : processes[me]) add(step);
  }
  std::vector<PlacedTask> all;

 private:
  /// A message without a receive has no buffer to wait for.
  [[nodiscard]] bool is_offered(const Step& send) const {
    return send.match && send.bytes > protocol_.eager_bytes;
  }
  [[nodiscard]] const Step& send_of(const Step& accept) const {
    return processes_[accept.peer][*accept.match];
  }
  void push(const Step& step, HostTask task) {
    task.within = step.within;
    all.push_back({step.position, task, step.what == Step::What::kClock});
  }
  void add(const Step& step) {
    HostTask task;
    task.peer = step.peer;
    switch (step.what) {
      case Step::What::kClock:
        return push(step, task);
      case Step::What::kCombine:
        return push(step, combining(step.bytes));
      case Step::What::kEnter:
        task.kind = TaskKind::kEnter;
        return push(step, task);
      case Step::What::kSend:
        task.kind = is_offered(step) ? TaskKind::kOffer : TaskKind::kMessage;
        task.instructions = step.number;
        task.bytes = step.bytes;
        task.local = buffer_of(step.address, me_);
        task.remote = step.match ? buffer_of(processes_[step.peer][*step.match].address, step.peer)
                                 : trace::kHostMemory;
        return push(step, task);
      case Step::What::kAccept:
        task.instructions = send_of(step).number;
        // An eager message needs no place: this is but the call.
        task.kind = is_offered(send_of(step)) ? TaskKind::kAccept : TaskKind::kEnter;
        return push(step, task);
      case Step::What::kPut:
      case Step::What::kGet:
      case Step::What::kAtomic:
        return push(step, operation(step));
      default:
        return wait(step);
    }
  }
  [[nodiscard]] HostTask operation(const Step& step) const {
    const bool is_atomic = step.what == Step::What::kAtomic;
    HostTask task;
    task.kind = is_atomic                       ? TaskKind::kAtomic
                : step.what == Step::What::kGet ? TaskKind::kGet
                                                : TaskKind::kPut;
    task.peer = step.peer;
    task.instructions = step.number;
    task.bytes = step.bytes;
    task.local = is_atomic && step.address == 0 ? 0 : buffer_of(step.address, me_);
    task.remote = buffer_of(step.remote, step.peer);
    return task;
  }
  void wait(const Step& step) {
    const Step& begun = processes_[me_][step.begun];
    const bool sent = step.what == Step::What::kSent, arrived = step.what == Step::What::kArrived;
    // A blocking call with an eager message ends when that is on its way.
    if (sent && step.within && !is_offered(begun)) return;
    HostTask task;
    task.kind = sent ? TaskKind::kSent : arrived ? TaskKind::kArrived : TaskKind::kDone;
    task.peer = begun.peer;
    task.instructions = arrived ? send_of(begun).number : begun.number;
    push(step, task);
  }

  const Processes& processes_;
  std::uint16_t me_;
  const Protocol& protocol_;
};

}  // namespace

std::vector<std::vector<PlacedTask>> schedule(const std::vector<Recording>& recordings,
                                              const Protocol& protocol) {
  const Windows windows = windows_of(recordings);
  Processes processes;
  for (const Recording& recording : recordings)
    processes.push_back(steps_of(recording, windows, protocol.all_reduce));
  match(processes);
  progress(processes, protocol.eager_bytes);
  std::vector<std::vector<PlacedTask>> tasks;
  for (std::uint16_t p = 0; p < processes.size(); ++p) tasks.push_back(Tasks(processes, p, protocol).all);
  return tasks;
}

}  // namespace lockstep::messages
