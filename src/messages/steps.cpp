#include "messages/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "messages/memory.hpp"
#include "util/error.hpp"

namespace lockstep::messages {
namespace {

constexpr std::int64_t kPointToPoint = -1;  // in keys: not of a collective call

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

class ProcessSteps {
 public:
  ProcessSteps(const Recording& recording, const Windows& windows, AllReduce all_reduce)
      : recording_(&recording), windows_(&windows), all_reduce_(all_reduce) {
    find_sources();
    for (const Call& call : recording.calls) add(call);
  }
  std::vector<Step> steps;

 private:
  /// A collective call that has begun: how much of it is done, and where its steps have come.
  struct Pending {
    std::uint64_t number = 0;  // its part that is left
    std::size_t since = 0;
    std::vector<Step> all{};
    std::vector<std::size_t> placed{};
  };

  /// Where a receive gets its message from is known when it is complete.
  void find_sources() {
    for (const Call& call : recording_->calls)
      if (call.kind == Call::Kind::kComplete) complete_[call.request] = &call;
  }
  [[nodiscard]] const Communicator& communicator(const Call& call) const {
    return recording_->communicators[call.communicator];
  }

  void add(const Call& call);
  void add_by_kind(const Call& call);
  void add_message(const Call& call);
  void add_complete(const Call& call);
  void add_collective(const Call& call);
  void add_one_sided(const Call& call);
  void add_order(const Call& call);
  /// Within the call: its index.
  std::size_t push(Step step);
  void wait(Step::What what, std::size_t begun) { push({.what = what, .begun = begun}); }
  /// As far as `end`.
  void place(Pending& pending, std::size_t end);
  /// Calls of all members of its communicator.
  [[nodiscard]] Pending collected(const Call& call, std::size_t& first);

  void operate(Step::What what, const Call& call, Address own, Address remote);
  [[nodiscard]] Address remote_of(const Call& call) const;
  /// An atomic's places, where a NIC may have them.
  [[nodiscard]] bool is_aligned(const Call& call, Address remote) const;
  /// Own operations in a window are complete: on one member, or on all.
  void flush(const Call& call, std::optional<std::uint16_t> peer);
  void flush_members(const Call& call);
  /// An atomic on a member's lock.
  std::optional<std::size_t> update_lock(const Call& call, std::uint32_t member);
  /// A message that opens or ends an epoch, to or from those of the call.
  void tell(const Call& call, std::int64_t tag);
  void await(const Call& call, std::int64_t tag);

  const Recording* recording_;
  const Windows* windows_;
  AllReduce all_reduce_;
  const Call* call_ = nullptr;
  bool entered_ = false;                                       // something of it is there
  std::map<std::uint64_t, const Call*> complete_;              // by request
  std::map<std::uint64_t, std::optional<std::size_t>> begun_;  // by request: its step, if it needs one
  std::map<std::uint64_t, Pending> pending_;                   // by request
  std::uint64_t begun_collectives_ = 0;
  std::map<std::uint64_t, std::int64_t> collectives_;            // by communicator's id: calls so far
  std::map<std::uint32_t, std::vector<std::size_t>> under_way_;  // by window: steps of operations
};

void ProcessSteps::add(const Call& call) {
  call_ = &call;
  entered_ = call.within;
  using Kind = Call::Kind;
  // A receive without a message is left out.
  const bool takes_a_call = call.kind != Kind::kReceive && call.kind != Kind::kClock;
  add_by_kind(call);
  if (!entered_ && takes_a_call) push({Step::What::kEnter});
}

void ProcessSteps::add_by_kind(const Call& call) {
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
    case Call::Kind::kOneSided:
      return add_one_sided(call);
    case Call::Kind::kOrder:
      return add_order(call);
  }
}

std::size_t ProcessSteps::push(Step step) {
  step.position = call_->position;
  step.within = std::exchange(entered_, true);
  steps.push_back(step);
  return steps.size() - 1;
}

void ProcessSteps::add_message(const Call& call) {
  const bool sends = call.kind == Call::Kind::kSend;
  const auto complete = complete_.find(call.request);
  if (!sends && complete == complete_.end()) return;  // cancelled, or the program did not ask
  const Call& from = sends ? call : *complete->second;
  Step step{sends ? Step::What::kSend : Step::What::kAccept};
  step.peer = from.peer;
  step.key = {communicator(call).id, kPointToPoint, from.tag};
  step.order = call.request;
  step.bytes = sends ? call.bytes.front() : 0;
  step.address = sends ? call.send : call.receive;
  begun_[call.request] = push(step);
}

void ProcessSteps::add_complete(const Call& call) {
  const auto pending = pending_.find(call.request);
  if (pending != pending_.end()) {
    if (!entered_) push({Step::What::kEnter});
    place(pending->second, pending->second.all.size());
    pending_.erase(pending);
    return;
  }
  const std::optional<std::size_t> begun = begun_.at(call.request);
  if (!begun) return;
  const Step::What what = steps[*begun].what;
  if (!is_one_sided(what))
    return wait(what == Step::What::kSend ? Step::What::kSent : Step::What::kArrived, *begun);
  wait(Step::What::kDone, *begun);
  for (auto& [window, all] : under_way_) std::erase(all, *begun);
}

void ProcessSteps::add_collective(const Call& call) {
  std::size_t first = 0;
  Pending pending = collected(call, first);
  const bool begins = call.kind == Call::Kind::kBeginCollective;
  place(pending, begins ? first : pending.all.size());
  if (!begins) return;
  pending.number = ++begun_collectives_;
  pending.since = steps.size();
  pending_[call.request] = std::move(pending);
}

ProcessSteps::Pending ProcessSteps::collected(const Call& call, std::size_t& first) {
  const Communicator& c = communicator(call);
  const auto me = std::find(c.members.begin(), c.members.end(), recording_->rank);
  if (me == c.members.end())
    throw UserError(fmt::format("process {} calls a communicator that it is not in", recording_->rank));
  Collected collected(call, c, collectives_[c.id]++);
  perform(call, static_cast<std::uint32_t>(me - c.members.begin()),
          static_cast<std::uint32_t>(c.members.size()), all_reduce_, collected);
  first = collected.first();
  return {.all = std::move(collected.all)};
}

void ProcessSteps::place(Pending& pending, std::size_t end) {
  for (std::size_t i = pending.placed.size(); i < end; ++i) {
    Step step = pending.all[i];
    if (step.what == Step::What::kSent || step.what == Step::What::kArrived)
      step.begun = pending.placed[step.begun];
    step.part_of = pending.number;
    step.since = pending.since;
    pending.placed.push_back(push(step));
  }
}

Address ProcessSteps::remote_of(const Call& call) const {
  const auto found = windows_->find({communicator(call).id, call.peer});
  if (found == windows_->end())
    throw UserError(fmt::format("process {} accesses a window of process {} that was not recorded there",
                                recording_->rank, call.peer));
  return found->second.base + found->second.unit * call.displacement;
}

bool ProcessSteps::is_aligned(const Call& call, Address remote) const {
  const Address result = call.receive == 0 ? 0 : buffer_of(call.receive, recording_->rank);
  return (buffer_of(remote, call.peer) | result) % call.bytes.front() == 0;
}

void ProcessSteps::operate(Step::What what, const Call& call, Address own, Address remote) {
  Step step{what};
  step.peer = call.peer;
  step.bytes = call.bytes.front();
  step.address = own;
  step.remote = remote;
  const std::size_t begun = push(step);
  begun_[call.request] = begun;
  under_way_[call.communicator].push_back(begun);
}

void ProcessSteps::add_one_sided(const Call& call) {
  const Address remote = remote_of(call);
  begun_[call.request] = std::nullopt;
  if (call.peer == recording_->rank || call.bytes.front() == 0) return;  // of its own memory
  switch (call.one_sided) {
    case OneSided::kPut:
      return operate(Step::What::kPut, call, call.send, remote);
    case OneSided::kGet:
      return operate(Step::What::kGet, call, call.send, remote);
    case OneSided::kAtomic:
      if (is_aligned(call, remote)) return operate(Step::What::kAtomic, call, call.receive, remote);
      [[fallthrough]];
    case OneSided::kAccumulate:
    case OneSided::kGetAccumulate:
      break;
  }
  operate(Step::What::kGet, call, call.receive, remote);
  wait(Step::What::kDone, under_way_[call.communicator].back());
  under_way_[call.communicator].pop_back();
  push({.what = Step::What::kCombine, .bytes = call.bytes.front()});
  operate(Step::What::kPut, call, call.send, remote);
}

void ProcessSteps::flush(const Call& call, std::optional<std::uint16_t> peer) {
  std::erase_if(under_way_[call.communicator], [&](std::size_t begun) {
    if (peer && steps[begun].peer != *peer) return false;
    wait(Step::What::kDone, begun);
    return true;
  });
}

void ProcessSteps::flush_members(const Call& call) {
  for (const std::uint32_t member : call.to) flush(call, communicator(call).members[member]);
}

std::optional<std::size_t> ProcessSteps::update_lock(const Call& call, std::uint32_t member) {
  const std::uint16_t peer = communicator(call).members[member];
  if (peer == recording_->rank) return std::nullopt;
  constexpr std::uint64_t kLockBytes = 8;
  return push({.what = Step::What::kAtomic, .peer = peer, .bytes = kLockBytes});
}

void ProcessSteps::tell(const Call& call, std::int64_t tag) {
  for (const std::uint32_t member : call.to)
    push({.what = Step::What::kSend,
          .peer = communicator(call).members[member],
          .key = {communicator(call).id, kPointToPoint, tag}});
}

void ProcessSteps::await(const Call& call, std::int64_t tag) {
  std::vector<std::size_t> accepted;
  for (const std::uint32_t member : call.to)
    accepted.push_back(push({.what = Step::What::kAccept,
                             .peer = communicator(call).members[member],
                             .key = {communicator(call).id, kPointToPoint, tag}}));
  for (const std::size_t begun : accepted) wait(Step::What::kArrived, begun);
}

void ProcessSteps::add_order(const Call& call) {
  // Tags in the window's own communicator, in which nothing else is sent.
  constexpr std::int64_t kPosted = 0, kCompleted = 1;
  std::size_t first = 0;
  switch (call.order) {
    case Order::kFence: {
      flush(call, {});
      Pending barrier = collected(call, first);
      return place(barrier, barrier.all.size());
    }
    case Order::kFlush:
      return flush_members(call);
    case Order::kFlushAll:
      return flush(call, {});
    case Order::kLock:
      for (const std::uint32_t member : call.to)
        if (const auto begun = update_lock(call, member)) wait(Step::What::kDone, *begun);
      return;
    case Order::kUnlock:
      flush_members(call);
      for (const std::uint32_t member : call.to) update_lock(call, member);
      return;
    case Order::kUnlockAll:
      flush(call, {});
      update_lock(call, 0);
      return;
    case Order::kPost:
      return tell(call, kPosted);
    case Order::kStart:
      return await(call, kPosted);
    case Order::kComplete:
      flush_members(call);
      return tell(call, kCompleted);
    case Order::kWait:
      return await(call, kCompleted);
  }
}

}  // namespace

std::vector<Step> steps_of(const Recording& recording, const Windows& windows, AllReduce all_reduce) {
  return std::move(ProcessSteps(recording, windows, all_reduce).steps);
}

}  // namespace lockstep::messages
