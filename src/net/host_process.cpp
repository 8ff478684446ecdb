#include "net/host_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sim/clock.hpp"

namespace lockstep::net {

using Kind = trace::HostTask::Kind;

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
  if (tasks_.empty()) return take_records(now);
  while (!tasks_.empty() && free_from_ <= now && !waits_) step(now);
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

/// Without what it waits for.
Cycle HostProcess::time_of(const trace::HostTask& task) const {
  if (task.kind == Kind::kCompute) return clock_.cycles(compute_ps(config_, task));
  if (!task.within) return clock_.cycles(config_.call_ps);
  return costs_.cycles(task.kind == Kind::kSend ? service_.issue_instructions
                                                : service_.complete_instructions);
}

void HostProcess::begin(Cycle now) {
  const trace::HostTask& task = tasks_.front().what;
  begun_ = now;
  free_from_ = now + time_of(task);
  state_ = task.kind == Kind::kCompute ? State::kEnd
           : task.kind == Kind::kSend  ? State::kSend
                                       : State::kAwait;
}

void HostProcess::send(Cycle now) {
  take_records(now);
  const std::uint32_t place = pair_->place(issued_);
  if (taken_[place]) {
    waits_ = true;
    return;
  }
  const trace::HostTask& task = tasks_.front().what;
  trace::NetOperation put;
  put.target = task.peer;
  put.local = task.local;
  put.remote = task.remote;
  put.bytes = task.bytes;
  put.signal = notice_of(pair_->device, task.peer, sent_[task.peer]++, pair_->entries());
  taken_[place] = true;
  Moments at{};
  at[static_cast<std::size_t>(Moment::kSeen)] = clock_.ps(begun_);
  at[static_cast<std::size_t>(Moment::kIssued)] = clock_.ps(now);
  pair_->command[place] = {put, at};
  host_->ring(*pair_);
  ++issued_;
  ++in_flight_;
  counters_.bytes_sent += task.bytes;
  state_ = State::kEnd;
}

bool HostProcess::is_there() const {
  const trace::HostTask& task = tasks_.front().what;
  if (task.kind == Kind::kFlush) return in_flight_ == 0;
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
  if (task.kind == Kind::kReceive) ++got_[task.peer];
  state_ = State::kEnd;
}

void HostProcess::end(Cycle now) {
  const Task& task = tasks_.front();
  ProcessCounters::Tasks& tasks = counters_.kinds[static_cast<std::size_t>(task.what.kind)];
  const std::uint64_t ps = clock_.ps(now) - clock_.ps(begun_);
  ++tasks.count;
  tasks.total_ps += ps;
  tasks.longest_ps = std::max(tasks.longest_ps, ps);
  counters_.instructions += task.what.instructions;
  if (task.what.kind == Kind::kCompute) counters_.memory_bytes += task.what.bytes;
  if (messages_.log)
    messages_.log->work.push_back(
        {static_cast<std::uint8_t>(task.what.kind), clock_.ps(begun_), clock_.ps(now)});
  host_->task_ended(now, task.command);
  tasks_.pop();
  state_ = State::kBegin;
}

/// That are there.
void HostProcess::take_records(Cycle now) {
  while (noticed_ < issued_ && !host_->lacks(pair_->record_address(noticed_), pair_->signals(noticed_))) {
    const std::uint32_t place = pair_->record[pair_->place(noticed_++)];
    Command& command = pair_->command[place];
    command.moment(Moment::kNoticed) = clock_.ps(now);
    records_.stay(command.moment(Moment::kComplete), clock_.ps(now));
    messages_.add(command.operation, pair_->device, command.at, false);
    ++messages_.records;
    taken_[place] = false;
    --in_flight_;
  }
}

void HostProcess::dump(std::string& out) const {
  if (idle()) return;
  fmt::format_to(std::back_inserter(out), "  process of device {}: {} tasks left, {} messages under way",
                 pair_->device, tasks_.size(), in_flight_);
  if (!tasks_.empty() && tasks_.front().what.kind == Kind::kReceive)
    fmt::format_to(std::back_inserter(out), "; waits for message {} of process {}",
                   got_[tasks_.front().what.peer], tasks_.front().what.peer);
  out += '\n';
}

}  // namespace lockstep::net
