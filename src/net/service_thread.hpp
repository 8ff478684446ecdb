// The program of a thread that serves the queues of a device's kernels, on a command processor or on a host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "config/network_config.hpp"
#include "net/finished_entries.hpp"
#include "net/instruction_costs.hpp"
#include "net/operation_log.hpp"
#include "net/polls.hpp"
#include "net/served_pairs.hpp"
#include "net/served_queues.hpp"
#include "net/thread_counters.hpp"

namespace lockstep::net {

/// One state machine:
///
///   for each queue in which an operation may come: poll the next entry's status word;
///     where it is there: read the entry, run the code of the call, write the command, ring the doorbell,
///     and where it does not block: write status and read index,
///     otherwise, with waits_for_blocking, look for completion records until it is complete;
///   after rounds_per_progress rounds: poll the next completion record, until one is not there;
///     of each: run the code, and where the operation blocks: write status and read index
///
/// Queues in which no operation can come are not polled; if there is none in which one can, and nothing is
/// under way, the thread does nothing and costs nothing. kQuiet takes no command: it is complete when all
/// before it in its queue are.
///
/// `Port`: see service_port.hpp.
template <class Port>
class ServiceThread {
 public:
  ServiceThread(Port& port, const config::ServiceGroup& program, const InstructionCosts& costs,
                const Clock& clock)
      : port_(&port),
        program_(program),
        costs_(costs),
        clock_(clock),
        polls_(port, queues_, pairs_, counters_, program.poll_instructions),
        finished_(port, queues_, counters_, clock) {}
  ServiceThread(const ServiceThread&) = delete;
  ServiceThread& operator=(const ServiceThread&) = delete;

  /// Before the first operation of its device.
  void add_pair(QueuePair& pair) {
    pairs_.add(pair);
    polls_.add(true);
  }
  void add_queue(const AgentNews& queue) {
    queues_.add(queue);
    polls_.add(false);
  }
  void add_operation(Cycle now, const AgentNews& operation) {
    disturb(now);
    queues_.push(operation);
    if (state_ == State::kIdle) {
      state_ = State::kNext;
      active_since_ = now;
      free_from_ = std::max(free_from_, now);
    } else if (state_ == State::kRecordSeen || state_ == State::kSeen) {
      port_->stop_waiting(now);
    }
  }

  /// Goes on as far as it can in cycle `now`.
  void tick(Cycle now) {
    while (out_ == 0 && free_from_ <= now && state_ != State::kIdle && !polls_.asleep()) step(now);
  }
  /// After `now`.
  [[nodiscard]] Cycle next_event(Cycle now) const {
    return state_ == State::kIdle || out_ > 0 || polls_.asleep() ? kNever : std::max(free_from_, now + 1);
  }
  /// Something outside has changed that may change what it does.
  void disturb(Cycle now) {
    if (polls_.asleep()) wake(now);
    polls_.disturb();
  }

  void replied() { --out_; }
  void poll_replied(bool again) { again_ = again; }
  /// The reply to a watch: the word has had its signals, or cannot be watched.
  void noticed(Cycle now, const Watched& what, bool has) {
    if (polls_.noticed(what, has)) wake(now);
  }
  /// A word that the port waited for since `since`, as by polls one after the other: the next of these, none
  /// before `now`, finds it.
  void found_late(Cycle now, Cycle since, bool again) {
    const Cycle round = costs_.cycles(program_.poll_instructions);
    const Cycle polls = (now - since + round - 1) / round;
    (state_ == State::kSeen ? counters_.polls : counters_.record_polls) += polls;
    counters_.instructions += polls * program_.poll_instructions;
    free_from_ = since + polls * round;
    again_ = again;
    --out_;
  }

  [[nodiscard]] bool idle() const { return state_ == State::kIdle; }
  [[nodiscard]] const ThreadCounters& counters() const { return counters_; }
  /// Until `ps`: of its kernels' queues, and of its pairs' completion records.
  [[nodiscard]] DepthCounters queue_depth(std::uint64_t ps) const { return queues_.depth(ps); }
  [[nodiscard]] DepthCounters record_depth(std::uint64_t ps) const { return pairs_.record_depth(ps); }
  void dump(std::string& out) const { queues_.dump(out); }
  /// Before the run: keeps what it does. Not owned.
  void record(OperationLog& log) { counters_.log = &log; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(port_), a.given(program_), a.given(costs_), a.given(clock_), queues_, pairs_,
              state_, after_finished_, resume_, free_from_, active_since_, out_, again_, at_, rounds_, pair_,
              current_, id_, moments_, work_, counters_, polls_, finished_);
  }

 private:
  enum class State : std::uint8_t {
    kIdle,
    kNext,        // chooses a queue, or goes on to completions
    kPoll,        // polls the entry
    kSeen,        // the reply has come
    kCall,        // the entry has been read
    kWork,        // what the call touches is there
    kIssue,       // its instructions are done
    kRing,        // the command is written
    kHold,        // waits for the operation that has been issued last
    kFinish,      // writes a status word
    kIndex,       // writes the read index
    kProgress,    // chooses a completion record
    kRecord,      // polls it
    kRecordSeen,  // the reply has come
    kNoticed,     // the instructions for it are done
  };

  void step(Cycle now) {
    switch (state_) {
      case State::kIdle:
        return;
      case State::kNext:
        return choose(now);
      case State::kPoll:
        return poll(now);
      case State::kSeen:
        return seen(now);
      case State::kCall:
        out_ = port_->run_call(now);
        state_ = State::kWork;
        return;
      case State::kWork:
        run(now, program_.issue_instructions);
        state_ = State::kIssue;
        return;
      case State::kIssue:
        return issue(now);
      case State::kRing:
        return ring(now);
      case State::kHold:
        return hold(now);
      case State::kFinish:
        out_ = finished_.write_status(now);
        state_ = State::kIndex;
        return;
      case State::kIndex:
        return write_index(now);
      case State::kProgress:
        return choose_record(now);
      case State::kRecord:
        return poll_record(now);
      case State::kRecordSeen:
        return record_seen(now);
      case State::kNoticed:
        return complete();
    }
  }

  void run(Cycle now, std::uint64_t instructions) {
    counters_.instructions += instructions;
    free_from_ = now + costs_.cycles(instructions);
  }

  void choose(Cycle now) {
    end_work(now);
    if (port_->wants_to_move()) {
      if (pairs_.in_flight() > 0) return begin_progress(now);
      move();
    }
    if (pairs_.in_flight() > 0 && (rounds_ >= program_.rounds_per_progress || !queues_.any_waiting()))
      return begin_progress(now);
    if (!queues_.any_waiting()) {
      state_ = State::kIdle;
      counters_.active_ps += clock_.ps(now) - clock_.ps(active_since_);
      return;
    }
    const std::uint32_t next = queues_.next_waiting(at_);
    if (next <= at_) {
      if (pairs_.in_flight() == 0 && polls_.rests(now)) return;
      ++rounds_;
    }
    at_ = next;
    run(now, program_.poll_instructions);
    state_ = State::kPoll;
  }

  void poll(Cycle now) {
    const bool alone = pairs_.in_flight() == 0 && queues_.next_waiting(at_) == at_;
    out_ = polls_.poll_entry(now, at_, alone);
    state_ = State::kSeen;
  }
  void wake(Cycle now) {
    const auto woken = polls_.wake(now);
    (woken.poll.what.record ? pair_ : at_) = woken.poll.what.at;
    rounds_ = woken.poll.round + (pairs_.in_flight() == 0 ? static_cast<std::uint32_t>(woken.rounds) + 1 : 0);
    resume_ = static_cast<State>(woken.poll.resumed);
    state_ = woken.poll.what.record ? State::kRecordSeen : State::kSeen;
    free_from_ = woken.poll.replied;
  }

  void move() {
    pairs_.restart();
    for (std::uint32_t i = 0; i < pairs_.size(); ++i) port_->move(pairs_.pair(i));
  }

  void seen(Cycle now) {
    again_ = polls_.note_entry(now, at_, again_, rounds_, static_cast<std::uint8_t>(resume_));
    ++counters_.polls;
    if (again_) {
      state_ = State::kNext;
      return;
    }
    ++counters_.found;
    current_ = queues_.front(at_);
    const Address entry = queues_.next_entry(at_);
    id_ = queues_.take(at_, clock_.ps(now));
    moments_ = {};
    note(Moment::kSeen, now);
    work_.begin(Work::kCall, clock_.ps(now));
    out_ = port_->read_entry(now, queues_.device(at_), entry);
    state_ = State::kCall;
  }

  void issue(Cycle now) {
    if (current_.kind == trace::NetOperation::Kind::kQuiet) return issue_quiet(now);
    const std::uint32_t pair = pairs_.of(queues_.device(id_.queue));
    if (pairs_.full(pair)) {  // all commands are under way: completions first
      resume_ = State::kIssue;
      return begin_progress(now);
    }
    work_.begin(Work::kCall, clock_.ps(now));  // again, if so
    note(Moment::kIssued, now);
    const std::uint64_t number = pairs_.write(pair, id_, {current_, moments_});
    out_ = port_->write_command(now, pairs_.pair(pair), number);
    state_ = State::kRing;
  }

  void issue_quiet(Cycle now) {
    note(Moment::kIssued, now);
    state_ = after_blocking();
    if (!queues_.first_incomplete(id_)) return finished_.push_quiet({id_, current_, true, moments_});
    queues_.set_complete(id_);
    note(Moment::kComplete, now);
    begin_finish({id_, current_, true, moments_}, State::kNext);
  }

  void ring(Cycle now) {
    const std::uint32_t pair = pairs_.of(queues_.device(id_.queue));
    out_ = port_->ring(now, pairs_.pair(pair));
    pairs_.rung(pair);
    state_ = after_blocking();
    if (!current_.blocking) begin_finish({id_, current_, false, {}}, State::kNext);
  }

  [[nodiscard]] State after_blocking() const {
    return program_.waits_for_blocking != 0 ? State::kHold : State::kNext;
  }
  void hold(Cycle now) {
    if (queues_.complete(id_)) {
      state_ = State::kNext;
      return;
    }
    resume_ = State::kHold;
    begin_progress(now);
  }

  void begin_finish(const FinishedEntry& one, State then) {
    finished_.push(one);
    after_finished_ = then;
    state_ = State::kFinish;
  }

  void write_index(Cycle now) {
    bool done = false;
    out_ = finished_.write_index(now, done);
    if (done) state_ = finished_.empty() ? after_finished_ : State::kFinish;
  }

  void begin_progress(Cycle now) {
    end_work(now);
    if (polls_.rests(now)) return;
    rounds_ = 0;
    pair_ = 0;
    state_ = State::kProgress;
  }

  void choose_record(Cycle now) {
    end_work(now);
    while (pair_ < pairs_.size() && pairs_.in_flight(pair_) == 0) ++pair_;
    if (pair_ == pairs_.size()) {
      state_ = resume_;
      resume_ = State::kNext;
      return;
    }
    run(now, program_.poll_instructions);
    state_ = State::kRecord;
  }

  void poll_record(Cycle now) {
    const bool alone =
        pairs_.in_flight() == pairs_.in_flight(pair_) && (!queues_.any_waiting() || resume_ != State::kNext);
    out_ = polls_.poll_record(now, pair_, alone);
    state_ = State::kRecordSeen;
  }

  void record_seen(Cycle now) {
    again_ = polls_.note_record(now, pair_, again_, rounds_, static_cast<std::uint8_t>(resume_));
    ++counters_.record_polls;
    if (again_) {
      ++pair_;
      state_ = State::kProgress;
      return;
    }
    ++counters_.records;
    pairs_.notice(pair_, clock_.ps(now));
    work_.begin(Work::kComplete, clock_.ps(now));
    run(now, program_.complete_instructions);
    state_ = State::kNoticed;
  }

  void complete() {
    const auto [id, blocking, done] = pairs_.complete(pair_);
    queues_.set_complete(id);
    if (blocking) {
      finished_.push({id, done->operation, true, done->at});
    } else {
      counters_.add(done->operation, queues_.device(id.queue), queues_.entry(id), done->at, false);
    }
    finished_.take_quiets(id.queue, done->at[static_cast<std::size_t>(Moment::kNoticed)]);
    after_finished_ = State::kProgress;
    state_ = finished_.empty() ? State::kProgress : State::kFinish;
  }

  void end_work(Cycle now) { work_.end(clock_.ps(now), counters_.log); }
  void note(Moment m, Cycle now) { moments_[static_cast<std::size_t>(m)] = clock_.ps(now); }

  Port* port_;
  config::ServiceGroup program_;
  InstructionCosts costs_;
  Clock clock_;
  ServedQueues queues_;
  ServedPairs pairs_;
  State state_ = State::kIdle, after_finished_ = State::kNext, resume_ = State::kNext;
  Cycle free_from_ = 0, active_since_ = 0;
  unsigned out_ = 0;    // accesses whose replies are waited for
  bool again_ = false;  // the last poll's reply
  std::uint32_t at_ = 0, rounds_ = 0, pair_ = 0;
  trace::NetOperation current_;
  OperationId id_;
  Moments moments_{};
  OpenWork work_;
  ThreadCounters counters_;
  Polls<Port> polls_;
  FinishedEntries<Port> finished_;
};

}  // namespace lockstep::net
