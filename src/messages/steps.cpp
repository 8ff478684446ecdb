#include "messages/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "util/error.hpp"

namespace lockstep::messages {
namespace {

/// A collective call's messages as steps; `begun` is an index in `all`.
class Collected final : public CollectiveSteps {
 public:
  Collected(const Call& call, const Communicator& communicator, std::int64_t number)
      : call_(&call), communicator_(&communicator), number_(number) {}
  std::vector<Step> all;
  /// How many come before the first wait.
  [[nodiscard]] std::size_t first() const { return first_.value_or(all.size()); }

  void send(std::uint32_t to, std::uint32_t step, std::uint64_t bytes) override {
    Step& s = add(Step::What::kSend, to, step);
    s.bytes = bytes;
    s.address = call_->send;
  }
  void accept(std::uint32_t from, std::uint32_t step) override {
    add(Step::What::kAccept, from, step).address = call_->receive;
  }
  void wait() override {
    if (!first_) first_ = all.size();
    for (const bool sends : {false, true})
      for (const std::size_t begun : open_)
        if ((all[begun].what == Step::What::kSend) == sends)
          all.emplace_back(Step{sends ? Step::What::kSent : Step::What::kArrived}).begun = begun;
    open_.clear();
  }
  void combine(std::uint64_t bytes) override { all.emplace_back(Step{Step::What::kCombine}).bytes = bytes; }

 private:
  Step& add(Step::What what, std::uint32_t member, std::uint32_t step) {
    open_.push_back(all.size());
    Step& s = all.emplace_back(Step{what});
    s.peer = communicator_->members[member];
    s.key = {communicator_->id, number_, step};
    return s;
  }

  const Call* call_;
  const Communicator* communicator_;
  std::int64_t number_;
  std::optional<std::size_t> first_;
  std::vector<std::size_t> open_;
};

class Process {
 public:
  Process(const Recording& recording, AllReduce all_reduce)
      : recording_(&recording), all_reduce_(all_reduce) {
    find_sources();
    for (const Call& call : recording.calls) add(call);
  }
  std::vector<Step> steps;

 private:
  /// A collective call that has begun: how much of it is done, and where its steps have come.
  struct Pending {
    std::vector<Step> all;
    std::vector<std::size_t> placed;
  };

  /// Where a receive gets its message from is known when it is complete.
  void find_sources() {
    for (const Call& call : recording_->calls)
      if (call.kind == Call::Kind::kComplete) complete_[call.request] = &call;
  }

  void add(const Call& call);
  void add_message(const Call& call);
  void add_complete(const Call& call);
  void add_collective(const Call& call);
  /// As far as `end`, within `call`.
  void place(Pending& pending, std::size_t end, const Call& call);

  const Recording* recording_;
  AllReduce all_reduce_;
  std::map<std::uint64_t, const Call*> complete_;      // by request
  std::map<std::uint64_t, std::size_t> begun_;         // by request: its step
  std::map<std::uint64_t, Pending> pending_;           // by request
  std::map<std::uint64_t, std::int64_t> collectives_;  // by communicator's id: calls so far
};

void Process::add(const Call& call) {
  switch (call.kind) {
    case Call::Kind::kSend:
    case Call::Kind::kReceive:
      return add_message(call);
    case Call::Kind::kClock:
      steps.push_back({Step::What::kClock, call.position});
      return;
    case Call::Kind::kComplete:
      return add_complete(call);
    case Call::Kind::kCollective:
    case Call::Kind::kBeginCollective:
      return add_collective(call);
  }
}

void Process::add_message(const Call& call) {
  const bool sends = call.kind == Call::Kind::kSend;
  Step step{sends ? Step::What::kSend : Step::What::kAccept, call.position, call.within};
  const auto complete = complete_.find(call.request);
  if (!sends && complete == complete_.end()) return;  // cancelled, or the program did not ask
  const std::uint64_t id = recording_->communicators[call.communicator].id;
  const Call& from = sends ? call : *complete->second;
  step.peer = from.peer;
  step.key = {id, -1, from.tag};
  step.order = call.request;
  step.bytes = sends ? call.bytes.front() : 0;
  step.address = sends ? call.send : call.receive;
  begun_[call.request] = steps.size();
  steps.push_back(step);
}

void Process::add_complete(const Call& call) {
  const auto pending = pending_.find(call.request);
  if (pending != pending_.end()) {
    place(pending->second, pending->second.all.size(), call);
    pending_.erase(pending);
    return;
  }
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
  Collected collected(call, c, collectives_[c.id]++);
  perform(call, static_cast<std::uint32_t>(me - c.members.begin()),
          static_cast<std::uint32_t>(c.members.size()), all_reduce_, collected);
  const bool begins = call.kind == Call::Kind::kBeginCollective;
  const std::size_t end = begins ? collected.first() : collected.all.size();
  Pending pending{std::move(collected.all), {}};
  place(pending, end, call);
  if (begins) pending_[call.request] = std::move(pending);
}

void Process::place(Pending& pending, std::size_t end, const Call& call) {
  bool within = call.within;
  for (std::size_t i = pending.placed.size(); i < end; ++i) {
    Step step = pending.all[i];
    step.position = call.position;
    step.within = std::exchange(within, true);
    if (step.what == Step::What::kSent || step.what == Step::What::kArrived)
      step.begun = pending.placed[step.begun];
    pending.placed.push_back(steps.size());
    steps.push_back(step);
  }
  if (within != call.within || call.within) return;
  steps.push_back({Step::What::kEnter, call.position});
}

}  // namespace

std::vector<Step> steps_of(const Recording& recording, AllReduce all_reduce) {
  return std::move(Process(recording, all_reduce).steps);
}

}  // namespace lockstep::messages
