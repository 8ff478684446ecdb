#include "net/host_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "net/message_words.hpp"
#include "sim/clock.hpp"
#include "trace/host_task.hpp"

namespace lockstep::net {

using TaskKind = trace::HostTask::Kind;

std::uint64_t compute_ps(const config::HostProcessGroup& config, const trace::HostTask& task) {
  using sim::Wide;
  const auto quotient = [](Wide above, Wide below) {
    return static_cast<std::uint64_t>((above + below - 1) / below);
  };
  // threads * IPC / 1000 instructions in a cycle of 10^9 / kHz ps; 10^6 bytes per second are one in 10^6 ps.
  constexpr std::uint64_t kPsOfKhz = 1'000'000'000, kMilli = 1000, kPsOfMegabyte = 1'000'000;
  const std::uint64_t instructions = quotient(Wide{task.instructions} * kPsOfKhz * kMilli,
                                              Wide{config.threads} * config.milli_ipc * config.khz);
  return std::max(instructions, quotient(Wide{task.bytes} * kPsOfMegabyte, config.memory_mb_per_second));
}

void HostProcess::add(Cycle now, const trace::HostTask& task, std::uint32_t command) {
  if (tasks_.empty()) free_from_ = std::max(free_from_, now);
  tasks_.push({task, command});
}

void HostProcess::tick(Cycle now) {
  const bool has_messages = !offers_.empty() || !accepts_.empty();
  if (has_messages) {
    take_records(now);
    go_on_with_messages(now);
  }
  while (!tasks_.empty() && free_from_ <= now && !waits_) step(now);
  // Also those that have come while it computed: after the last task there is no other tick for them.
  if (tasks_.empty()) take_records(now);
}

void HostProcess::step(Cycle now) {
  switch (state_) {
    case State::kBegin:
      return begin(now);
    case State::kSend:
      return send(now);
    case State::kAwait:
      return await(now);
    case State::kEnd:
      return end(now);
  }
}

namespace {

/// `bytes` says how long it takes, in ps: of a call gpu::Planner has said it.
bool takes_ps(TaskKind kind) { return kind == TaskKind::kCall || kind == TaskKind::kElapse; }

}  // namespace

/// Without what it waits for.
Cycle HostProcess::time_of(const trace::HostTask& task) const {
  if (task.kind == TaskKind::kCompute) return clock_.cycles(compute_ps(config_, task));
  if (takes_ps(task.kind)) return clock_.cycles(task.bytes);
  if (!task.within) return clock_.cycles(config_.call_ps);
  return costs_.cycles(trace::moves_data(task.kind) ? service_.issue_instructions
                                                    : service_.complete_instructions);
}

void HostProcess::begin(Cycle now) {
  const trace::HostTask& task = tasks_.front().what;
  begun_ = now;
  free_from_ = now + time_of(task);
  const bool computes = task.kind == TaskKind::kCompute || takes_ps(task.kind);
  state_ = computes ? State::kEnd : trace::moves_data(task.kind) ? State::kSend : State::kAwait;
}

void HostProcess::send(Cycle now) {
  take_records(now);
  if (!has_place()) {
    waits_ = true;
    return;
  }
  const trace::HostTask& task = tasks_.front().what;
  if (trace::is_one_sided(task.kind))
    one_sided_.push_back({task.peer, pair_->place(issued_), task.instructions});
  command(now, begun_, operation_of(task));
  if (task.kind == TaskKind::kOffer) {
    offers_.push_back({task, false});
  } else if (task.kind != TaskKind::kGet) {
    counters_.bytes_sent += task.bytes;
  }
  state_ = State::kEnd;
}

trace::NetOperation HostProcess::operation_of(const trace::HostTask& task) {
  if (!trace::is_one_sided(task.kind)) return put_of(task);
  trace::NetOperation operation;
  if (task.kind == TaskKind::kGet) operation.kind = trace::NetOperation::Kind::kGet;
  if (task.kind == TaskKind::kAtomic) operation.kind = trace::NetOperation::Kind::kAtomic;
  operation.target = task.peer;
  operation.local = task.local;
  operation.remote = task.remote;
  operation.bytes = task.bytes;
  return operation;
}

trace::NetOperation HostProcess::put_of(const trace::HostTask& task) {
  trace::NetOperation put;
  put.target = task.peer;
  if (task.kind == TaskKind::kOffer) {
    put.signal = message_word(MessageWord::kOffered, pair_->device, task.peer, task.instructions);
    return put;
  }
  put.local = task.local;
  put.remote = task.remote;
  put.bytes = task.bytes;
  put.signal = task.kind == TaskKind::kSend
                   ? notice_of(pair_->device, task.peer, sent_[task.peer]++, pair_->entries())
                   : message_word(MessageWord::kArrived, pair_->device, task.peer, task.instructions);
  return put;
}

/// There is place for it. `seen`: when the process has begun with it.
void HostProcess::command(Cycle now, Cycle seen, const trace::NetOperation& put) {
  const std::uint32_t place = pair_->place(issued_);
  taken_[place] = true;
  Moments at{};
  at[static_cast<std::size_t>(Moment::kSeen)] = clock_.ps(seen);
  at[static_cast<std::size_t>(Moment::kIssued)] = clock_.ps(now);
  pair_->command[place] = {put, at};
  host_->ring(*pair_);
  ++issued_;
  ++in_flight_;
}

/// Tells the senders of offered messages that they are accepted, and sends what others have accepted.
void HostProcess::go_on_with_messages(Cycle now) {
  std::erase_if(accepts_, [&](const trace::HostTask& task) {
    const Address offered = message_word(MessageWord::kOffered, task.peer, pair_->device, task.instructions);
    if (host_->lacks(offered, 1) || !has_place()) return false;
    trace::NetOperation put;
    put.target = task.peer;
    put.signal = message_word(MessageWord::kAccepted, pair_->device, task.peer, task.instructions);
    command(now, now, put);
    return true;
  });
  for (Offer& offer : offers_) {
    const Address accepted =
        message_word(MessageWord::kAccepted, offer.what.peer, pair_->device, offer.what.instructions);
    if (offer.begun || host_->lacks(accepted, 1) || !has_place()) continue;
    offer.begun = true;
    trace::HostTask data = offer.what;
    data.kind = TaskKind::kMessage;
    command(now, now, put_of(data));
    counters_.bytes_sent += data.bytes;
  }
}

bool HostProcess::is_there() const {
  const trace::HostTask& task = tasks_.front().what;
  if (task.kind == TaskKind::kAccept || task.kind == TaskKind::kEnter) return true;
  if (task.kind == TaskKind::kFlush) return in_flight_ == 0 && offers_.empty();
  if (task.kind == TaskKind::kSent)
    return std::ranges::none_of(offers_, [&](const Offer& offer) {
      return offer.what.peer == task.peer && offer.what.instructions == task.instructions;
    });
  if (task.kind == TaskKind::kDone)
    return std::ranges::none_of(one_sided_, [&](const OneSided& operation) {
      return operation.peer == task.peer && operation.number == task.instructions;
    });
  if (task.kind == TaskKind::kArrived)
    return !host_->lacks(message_word(MessageWord::kArrived, task.peer, pair_->device, task.instructions), 1);
  const std::uint64_t number = got_[task.peer];
  return !host_->lacks(notice_of(task.peer, pair_->device, number, pair_->entries()),
                       static_cast<std::uint32_t>(number / pair_->entries() + 1));
}

void HostProcess::await(Cycle now) {
  take_records(now);
  if (!is_there()) {
    waits_ = true;
    return;
  }
  const trace::HostTask& task = tasks_.front().what;
  if (task.kind == TaskKind::kReceive) ++got_[task.peer];
  if (task.kind == TaskKind::kAccept) accepts_.push_back(task);
  state_ = State::kEnd;
}

void HostProcess::end(Cycle now) {
  const Task& task = tasks_.front();
  const TaskKind kind = trace::counted_as(task.what.kind);
  ProcessCounters::Tasks& tasks = counters_.kinds[static_cast<std::size_t>(kind)];
  const std::uint64_t ps = clock_.ps(now) - clock_.ps(begun_);
  ++tasks.count;
  tasks.total_ps += ps;
  tasks.longest_ps = std::max(tasks.longest_ps, ps);
  if (task.what.kind == TaskKind::kCompute) {
    counters_.instructions += task.what.instructions;
    counters_.memory_bytes += task.what.bytes;
  }
  if (messages_.log)
    messages_.log->work.push_back({static_cast<std::uint8_t>(kind), clock_.ps(begun_), clock_.ps(now)});
  host_->task_ended(now, task.command);
  const bool accepted = task.what.kind == TaskKind::kAccept;
  tasks_.pop();
  state_ = State::kBegin;
  if (accepted) go_on_with_messages(now);
}

/// That are there.
void HostProcess::take_records(Cycle now) {
  while (noticed_ < issued_ && !host_->lacks(pair_->record_address(noticed_), pair_->signals(noticed_))) {
    const std::uint32_t place = pair_->record[pair_->place(noticed_++)];
    Command& command = pair_->command[place];
    command.moment(Moment::kNoticed) = clock_.ps(now);
    records_.stay(command.moment(Moment::kComplete), clock_.ps(now));
    messages_.add(command.operation, pair_->device, 0, command.at, false);
    ++messages_.records;
    std::erase_if(offers_, [&](const Offer& offer) {
      return offer.begun &&
             command.operation.signal ==
                 message_word(MessageWord::kArrived, pair_->device, offer.what.peer, offer.what.instructions);
    });
    std::erase_if(one_sided_, [&](const OneSided& operation) { return operation.place == place; });
    taken_[place] = false;
    --in_flight_;
  }
}

void HostProcess::dump(std::string& out) const {
  if (idle()) return;
  fmt::format_to(std::back_inserter(out), "  process of device {}: {} tasks left, {} messages under way",
                 pair_->device, tasks_.size(), in_flight_);
  if (!tasks_.empty() && tasks_.front().what.kind == TaskKind::kReceive)
    fmt::format_to(std::back_inserter(out), "; waits for message {} of process {}",
                   got_[tasks_.front().what.peer], tasks_.front().what.peer);
  if (!tasks_.empty() && tasks_.front().what.kind == TaskKind::kArrived)
    fmt::format_to(std::back_inserter(out), "; waits for message {} of process {}",
                   tasks_.front().what.instructions, tasks_.front().what.peer);
  if (!offers_.empty() || !accepts_.empty())
    fmt::format_to(std::back_inserter(out), "; {} messages offered, {} accepted", offers_.size(),
                   accepts_.size());
  out += '\n';
}

}  // namespace lockstep::net
