// The program of a thread that serves the queues of a device's kernels, on a command processor or on a host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "config/network_config.hpp"
#include "net/clock.hpp"
#include "net/queue_pair.hpp"
#include "net/served_queues.hpp"
#include "net/thread_counters.hpp"
#include "util/ring.hpp"

namespace lockstep::net {

/// The program's costs in cycles of the thread's domain: n instructions are n / milli_ipc * 1000 cycles of
/// the core's clock, and at least one cycle of the domain.
class InstructionCosts {
 public:
  InstructionCosts(const Clock& clock, std::uint64_t core_khz, std::uint64_t milli_ipc)
      : clock_(clock), khz_milli_(core_khz * milli_ipc) {}
  [[nodiscard]] Cycle cycles(std::uint64_t instructions) const {
    constexpr std::uint64_t kPsOfMilliKhz = 1'000'000'000'000;
    const auto ps = static_cast<sim::Wide>(instructions) * kPsOfMilliKhz / khz_milli_;
    return clock_.cycles(static_cast<std::uint64_t>(ps), 1);
  }

 private:
  Clock clock_;
  std::uint64_t khz_milli_;
};

/// One state machine:
///
///   for each queue in which an operation may come: look at the next entry's status word;
///     where it is there: read the entry, run the code of the call, write the command, ring the doorbell,
///     and where it does not block: write status and read index
///   after rounds_per_progress rounds: look at the next completion record, until one is not there;
///     of each: run the code, and where the operation blocks: write status and read index
///
/// Queues without an operation that could come are not looked at; without any, and nothing under way, the
/// thread does nothing and costs nothing. kQuiet takes no command: it is complete when all before it in its
/// queue are.
///
/// `Port` is the thread's way to memory. Its functions begin accesses and return how many of them will be
/// answered with answered() or heard():
///   wants_to_move(), move(pair)                the pair gets other memory, while nothing is under way
///   look(now, device, word, signals, patient)  at an entry; heard(again) says whether the word lacks
///   signals;
///                                              patient: may be heard late, when it does not any more or
///                                              stop_waiting() is called
///   read_entry(now, device, entry)             the rest of one that is there
///   run_call(now)                              the lines that a call's code and data touch
///   store(now, device, word)                   4 bytes of device memory, a signal
///   write_command(now, pair, number), ring(now, pair)
///   look_at_record(now, pair, number, patient) likewise
template <class Port>
class ServiceThread {
 public:
  ServiceThread(Port& port, const config::ServiceGroup& program, const InstructionCosts& costs,
                const Clock& clock)
      : port_(&port), program_(program), costs_(costs), clock_(clock) {}

  /// Before the first operation of its device.
  void add_pair(QueuePair& pair) {
    pairs_.push_back({&pair, 0, 0, 0, std::vector<OperationId>(pair.entries()),
                      std::vector<bool>(pair.entries()), std::vector<bool>(pair.entries())});
  }
  void add_queue(const AgentNews& queue) { queues_.add(queue); }
  void add_operation(Cycle now, const AgentNews& operation) {
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
    while (out_ == 0 && free_from_ <= now && state_ != State::kIdle) step(now);
  }
  /// After `now`.
  [[nodiscard]] Cycle next_event(Cycle now) const {
    return state_ == State::kIdle || out_ > 0 ? kNever : std::max(free_from_, now + 1);
  }

  // From the port.
  void answered() { --out_; }
  void heard(bool again) { again_ = again; }
  /// A word that the port waited for since `since`, as by looks one after the other: the next of these, none
  /// before `now`, finds it.
  void heard_late(Cycle now, Cycle since, bool again) {
    const Cycle round = costs_.cycles(program_.poll_instructions);
    const Cycle looks = (now - since + round - 1) / round;
    (state_ == State::kSeen ? counters_.polls : counters_.record_polls) += looks;
    counters_.instructions += looks * program_.poll_instructions;
    free_from_ = since + looks * round;
    again_ = again;
    --out_;
  }

  [[nodiscard]] bool idle() const { return state_ == State::kIdle; }
  [[nodiscard]] const ThreadCounters& counters() const { return counters_; }
  void dump(std::string& out) const { queues_.dump(out); }

 private:
  enum class State : std::uint8_t {
    kIdle,
    kNext,        // chooses a queue, or looks for completions
    kLook,        // at the entry
    kSeen,        // the look has been answered
    kCall,        // the entry has been read
    kWork,        // what the call touches is there
    kIssue,       // its instructions are done
    kRing,        // the command is written
    kDeal,        // writes a status word
    kIndex,       // writes the read index
    kProgress,    // chooses a completion record
    kRecord,      // looks at it
    kRecordSeen,  // the look has been answered
    kNoticed,     // the instructions for it are done
  };
  struct Pair {
    QueuePair* pair;
    std::uint64_t issued, noticed;  // commands, records
    std::uint32_t in_flight;
    std::vector<OperationId> operation;  // by place
    std::vector<bool> taken, blocking;   // by place
  };
  struct Deal {
    OperationId id;
    trace::NetOperation::Kind kind = trace::NetOperation::Kind::kPut;
    bool counts = false;  // its times, now that all of them are known
    Moments at{};
  };

  void step(Cycle now) {
    switch (state_) {
      case State::kIdle:
        return;
      case State::kNext:
        return choose(now);
      case State::kLook:
        return look(now);
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
      case State::kDeal:
        return deal(now);
      case State::kIndex:
        return write_index(now);
      case State::kProgress:
        return look_for_completions(now);
      case State::kRecord:
        return look_at_record(now);
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
    if (port_->wants_to_move()) {
      if (in_flight_ > 0) return begin_progress();
      move();
    }
    if (in_flight_ > 0 && (rounds_ >= program_.rounds_per_progress || !queues_.any_waiting()))
      return begin_progress();
    if (!queues_.any_waiting()) {
      state_ = State::kIdle;
      counters_.active_ps += clock_.ps(now) - clock_.ps(active_since_);
      return;
    }
    const std::uint32_t next = queues_.next_waiting(at_);
    if (next <= at_) ++rounds_;
    at_ = next;
    run(now, program_.poll_instructions);
    state_ = State::kLook;
  }

  void look(Cycle now) {
    const bool alone = in_flight_ == 0 && queues_.next_waiting(at_) == at_;
    out_ = port_->look(now, queues_.device(at_), queues_.next_entry(at_), queues_.front(at_).ready, alone);
    state_ = State::kSeen;
  }

  void move() {
    for (Pair& pair : pairs_) {
      pair.pair->first = pair.issued;
      port_->move(*pair.pair);
    }
  }

  void seen(Cycle now) {
    ++counters_.polls;
    if (again_) {
      state_ = State::kNext;
      return;
    }
    ++counters_.found;
    current_ = queues_.front(at_);
    const Address entry = queues_.next_entry(at_);
    id_ = queues_.take(at_);
    moments_ = {};
    note(Moment::kSeen, now);
    out_ = port_->read_entry(now, queues_.device(at_), entry);
    state_ = State::kCall;
  }

  void issue(Cycle now) {
    if (current_.kind == trace::NetOperation::Kind::kQuiet) return issue_quiet(now);
    Pair& pair = pair_of(queues_.device(id_.queue));
    const std::uint32_t place = pair.pair->place(pair.issued);
    if (pair.taken[place]) {  // all commands are under way: completions first
      resume_ = State::kIssue;
      return begin_progress();
    }
    note(Moment::kIssued, now);
    pair.taken[place] = true;
    pair.operation[place] = id_;
    pair.blocking[place] = current_.blocking;
    pair.pair->command[place] = {current_, moments_};
    out_ = port_->write_command(now, *pair.pair, pair.issued);
    state_ = State::kRing;
  }

  void issue_quiet(Cycle now) {
    note(Moment::kIssued, now);
    state_ = State::kNext;
    if (!queues_.first_incomplete(id_)) {
      queues_.wait_quiet(id_);
      quiets_.push({id_, current_.kind, true, moments_});
      return;
    }
    queues_.set_complete(id_);
    note(Moment::kComplete, now);
    begin_deal({id_, current_.kind, true, moments_}, State::kNext);
  }

  void ring(Cycle now) {
    Pair& pair = pair_of(queues_.device(id_.queue));
    out_ = port_->ring(now, *pair.pair);
    ++pair.issued;
    ++pair.in_flight;
    ++in_flight_;
    state_ = State::kNext;
    if (!current_.blocking) begin_deal({id_, current_.kind, false, {}}, State::kNext);
  }

  void begin_deal(const Deal& one, State then) {
    deals_.push(one);
    after_deals_ = then;
    state_ = State::kDeal;
  }

  void deal(Cycle now) {
    const OperationId id = deals_.front().id;
    out_ = port_->store(now, queues_.device(id.queue), queues_.entry(id));
    queues_.set_dealt(id);
    dealt_ = false;
    state_ = State::kIndex;
  }

  /// Once for each entry that is dealt with in a row.
  void write_index(Cycle now) {
    Deal& one = deals_.front();
    if (!dealt_ && one.counts) {
      one.at[static_cast<std::size_t>(Moment::kDealt)] = clock_.ps(now);
      counters_.kinds[static_cast<std::size_t>(one.kind)].add(one.at, true);
    }
    dealt_ = true;
    if (queues_.advance_index(one.id.queue)) {
      out_ = port_->store(now, queues_.device(one.id.queue), queues_.index(one.id.queue));
      return;
    }
    deals_.pop();
    state_ = deals_.empty() ? after_deals_ : State::kDeal;
  }

  void begin_progress() {
    rounds_ = 0;
    pair_ = 0;
    state_ = State::kProgress;
  }

  void look_for_completions(Cycle now) {
    while (pair_ < pairs_.size() && pairs_[pair_].in_flight == 0) ++pair_;
    if (pair_ == pairs_.size()) {
      state_ = resume_;
      resume_ = State::kNext;
      return;
    }
    run(now, program_.poll_instructions);
    state_ = State::kRecord;
  }

  void look_at_record(Cycle now) {
    Pair& pair = pairs_[pair_];
    const bool alone = in_flight_ == pair.in_flight && (!queues_.any_waiting() || resume_ == State::kIssue);
    out_ = port_->look_at_record(now, *pair.pair, pair.noticed, alone);
    state_ = State::kRecordSeen;
  }

  void record_seen(Cycle now) {
    ++counters_.record_polls;
    if (again_) {
      ++pair_;
      state_ = State::kProgress;
      return;
    }
    ++counters_.records;
    Pair& pair = pairs_[pair_];
    const std::uint32_t place = pair.pair->record[pair.pair->place(pair.noticed)];
    pair.pair->command[place].moment(Moment::kNoticed) = clock_.ps(now);
    run(now, program_.complete_instructions);
    state_ = State::kNoticed;
  }

  void complete() {
    Pair& pair = pairs_[pair_];
    const std::uint32_t place = pair.pair->record[pair.pair->place(pair.noticed++)];
    const Command& command = pair.pair->command[place];
    const OperationId id = pair.operation[place];
    pair.taken[place] = false;
    --pair.in_flight;
    --in_flight_;
    queues_.set_complete(id);
    if (pair.blocking[place]) {
      deals_.push({id, command.operation.kind, true, command.at});
    } else {
      counters_.kinds[static_cast<std::size_t>(command.operation.kind)].add(command.at, false);
    }
    deal_quiets(id.queue, command.at[static_cast<std::size_t>(Moment::kNoticed)]);
    after_deals_ = State::kProgress;
    state_ = deals_.empty() ? State::kProgress : State::kDeal;
  }

  void deal_quiets(std::uint32_t queue, std::uint64_t ps) {
    for (OperationId id; queues_.take_quiet(queue, id);) {
      std::size_t i = 0;
      while (quiets_[i].id.queue != id.queue || quiets_[i].id.number != id.number) ++i;
      Deal quiet = quiets_[i];
      for (; i > 0; --i) quiets_[i] = quiets_[i - 1];
      quiets_.pop();
      quiet.at[static_cast<std::size_t>(Moment::kComplete)] = ps;
      deals_.push(quiet);
    }
  }

  Pair& pair_of(std::uint16_t device) {
    return *std::ranges::find_if(pairs_, [&](const Pair& p) { return p.pair->device == device; });
  }
  void note(Moment m, Cycle now) { moments_[static_cast<std::size_t>(m)] = clock_.ps(now); }

  Port* port_;
  config::ServiceGroup program_;
  InstructionCosts costs_;
  Clock clock_;
  ServedQueues queues_;
  std::vector<Pair> pairs_;
  State state_ = State::kIdle, after_deals_ = State::kNext, resume_ = State::kNext;
  Cycle free_from_ = 0, active_since_ = 0;
  unsigned out_ = 0;    // accesses whose answers are waited for
  bool again_ = false;  // the last look's answer
  bool dealt_ = false;
  std::uint32_t at_ = 0, rounds_ = 0;
  std::size_t pair_ = 0;
  std::uint32_t in_flight_ = 0;  // commands of all pairs
  trace::NetOperation current_;
  OperationId id_;
  Moments moments_{};
  Ring<Deal> deals_, quiets_;
  ThreadCounters counters_;
};

}  // namespace lockstep::net
