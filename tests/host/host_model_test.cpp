// The host's queue against recurrences: when each command starts follows from the list alone, from one end to
// the other, without events or a clock.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "host/host_queue.hpp"
#include "tests/persisted.hpp"

namespace lockstep::host {
namespace {

using Kind = HostCommand::Kind;
using config::CopyMode;

constexpr std::uint32_t kStreams = 4, kThreads = 3;

struct Program {
  std::vector<HostCommand> commands;
  std::vector<Time> takes, lag;  // of each command: its work; until the host learns of its end
};

/// A start: when the queue let the command go, and for kernels since when it could have started.
struct Start {
  Time now = 0, since = 0;
};
using Starts = std::map<std::uint32_t, Start>;

Program random_program(std::mt19937& random, bool with_calls) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  Program p;
  std::uint32_t records = 0;
  for (std::uint32_t i = 0, n = 5 + below(40); i < n; ++i) {
    constexpr Kind kKinds[] = {
        Kind::kKernel,     Kind::kKernel,       Kind::kKernel,         Kind::kStreamCopyToDevice,
        Kind::kFill,       Kind::kTask,         Kind::kEventRecord,    Kind::kEventRecord,
        Kind::kStreamWait, Kind::kStreamWait,   Kind::kEventWait,      Kind::kWait,
        Kind::kCopyToHost, Kind::kCopyToDevice, Kind::kManagedCommand, Kind::kStreamManagedCommand,
        Kind::kNotice,     Kind::kCall,         Kind::kCall,           Kind::kCall};
    HostCommand c;
    c.kind = kKinds[below(with_calls ? 20 : 17)];
    const bool of_event = c.kind == Kind::kStreamWait || c.kind == Kind::kEventWait;
    if (of_event && records == 0) c.kind = Kind::kKernel;
    if (of_event && records > 0) c.event = below(records);
    records += c.kind == Kind::kEventRecord;
    c.stream = below(kStreams);
    c.thread = below(kThreads);
    c.busy_ns = below(60);
    p.commands.push_back(c);
    p.takes.push_back(1 + below(100));
    p.lag.push_back(below(10));
  }
  return p;
}

/// An end: its time, when the host learns of it, and when what waits for it goes on.
struct Moment {
  Time at = 0, heard = 0, real = 0;
  void join(const Moment& o) {
    at = std::max(at, o.at);
    heard = std::max(heard, o.heard);
    real = std::max(real, o.real);
  }
};

/// The rules of HostQueue's description as recurrences over the list.
class Model {
 public:
  Model(const Program& program, CopyMode mode) : p_(program), mode_(mode) {
    for (std::uint32_t i = 0; i < p_.commands.size(); ++i) next(i);
  }
  Starts starts;
  std::vector<Time> events;
  Time host = 0;

 private:
  void next(std::uint32_t i) {
    const HostCommand& c = p_.commands[i];
    if (c.kind == Kind::kCopyToHost || c.kind == Kind::kCopyToDevice) return plain_copy(i);
    if (plain_) {  // everything else waits for plain copies and managed commands
      host = std::max(host, gate_);
      list_ = std::max(list_, gate_);
    }
    plain_ = copying_ = false;
    switch (c.kind) {
      case Kind::kWait:
        host = std::max(host, all_.heard);
        list_ = std::max(list_, all_.real);
        break;
      case Kind::kEventWait:
        host = std::max(host, records_[c.event].heard);
        list_ = std::max(list_, records_[c.event].real);
        break;
      case Kind::kCall:
        if (!threads_.contains(c.thread)) threads_[c.thread] = threads_[0];
        caller_ = c.thread;
        threads_[caller_] = call_time() + c.busy_ns;
        break;
      case Kind::kManagedCommand:
        list_ = std::max(list_, call_time());
        held_up_by(i);
        break;
      case Kind::kNotice:
        list_ = std::max(list_, call_time());
        starts[i] = {list_, 0};
        break;
      default:
        in_stream(i);
    }
  }

  void plain_copy(std::uint32_t i) {
    list_ = std::max(list_, call_time());
    if (mode_ == CopyMode::kBlocking) list_ = std::max(list_, all_.real);
    if (plain_ && !(mode_ == CopyMode::kOverlapped && copying_)) list_ = std::max(list_, gate_);
    held_up_by(i);
    copying_ = true;
  }

  void held_up_by(std::uint32_t i) {
    starts[i] = {list_, 0};
    const Moment end = end_of(i, list_);
    gate_ = plain_ ? std::max(gate_, end.heard) : end.heard;
    plain_ = true;
    all_.join(end);
  }

  void in_stream(std::uint32_t i) {
    const HostCommand& c = p_.commands[i];
    Moment& m = streams_[c.stream];
    Kind& before = before_[c.stream];
    m.join({call_time(), call_time(), std::max(call_time(), list_)});
    const bool work = c.kind == Kind::kKernel || c.kind == Kind::kTask;
    if (work && before != Kind::kCall && before != c.kind) {
      const Time ready = m.at + c.busy_ns;
      if (c.busy_ns > 0) m.join({ready, ready, ready});
    }
    if (work) before = c.kind;
    if (c.kind == Kind::kEventRecord) {
      records_.push_back(m);
      events.push_back(m.at);
    } else if (c.kind == Kind::kStreamWait) {
      m.join(records_[c.event]);
    } else {
      starts[i] = {m.real, c.kind == Kind::kKernel ? m.at : 0};
      m.join(end_of(i, m.real));
    }
    all_.join(m);
  }

  [[nodiscard]] Moment end_of(std::uint32_t i, Time start) const {
    const Time end = start + p_.takes[i];
    return {end, end + p_.lag[i], end + p_.lag[i]};
  }
  [[nodiscard]] Time call_time() { return std::max(threads_[caller_], host); }

  const Program& p_;
  CopyMode mode_;
  std::map<std::uint32_t, Time> threads_;
  std::map<std::uint32_t, Moment> streams_;
  std::vector<Kind> before_ = std::vector<Kind>(kStreams, Kind::kCall);
  std::vector<Moment> records_;
  Moment all_;
  Time list_ = 0;  // when the list has got to the next command
  Time gate_ = 0;
  std::uint32_t caller_ = 0;
  bool plain_ = false, copying_ = false;
};

/// The queue with devices that take any number of commands at once.
class Machine {
 public:
  Machine(const Program& program, HostQueue& queue) : p_(program), queue_(queue) {}
  Starts starts;

  /// `more` lets the list grow where at_end() asks for it. `between` is called before each step.
  template <class More, class Between>
  void run(const More& more, const Between& between) {
    for (Time now = 0; now != kNever; now = std::min(queue_.next_call(), next_end())) {
      between();
      for (; next_end() == now; ends_.erase(ends_.begin())) {
        const std::uint32_t i = ends_.begin()->second;
        const Time end = now - p_.lag[i];
        const bool kernel = p_.commands[i].kind == Kind::kKernel;
        kernel ? queue_.kernel_done(i, end, now) : queue_.copy_done(i, end, now);
      }
      const auto copy = [&](std::uint32_t i) { start(i, now, 0); };
      queue_.advance_to(now);
      queue_.proceed(copy);
      for (; queue_.at_end(); queue_.proceed(copy)) more(queue_);
      while (queue_.has_ready()) {
        const HostQueue::Ready ready = queue_.pop_ready();
        start(ready.command, now, ready.since);
      }
    }
  }

  template <class More>
  void run(const More& more) {
    run(more, [] {});
  }

 private:
  [[nodiscard]] Time next_end() const { return ends_.empty() ? kNever : ends_.begin()->first; }
  void start(std::uint32_t i, Time now, Time since) {
    REQUIRE(starts.emplace(i, Start{now, since}).second);
    if (p_.commands[i].kind != Kind::kNotice) ends_.emplace(now + p_.takes[i] + p_.lag[i], i);
  }

  const Program& p_;
  HostQueue& queue_;
  std::multimap<Time, std::uint32_t> ends_;
};

std::string shown(const Starts& starts) {
  std::string text;
  for (const auto& [i, s] : starts)
    text += std::to_string(i) + ":" + std::to_string(s.now) + "/" + std::to_string(s.since) + " ";
  return text;
}

void check(const Program& p, const Model& model, const HostQueue& queue, const Machine& machine) {
  REQUIRE(shown(machine.starts) == shown(model.starts));
  REQUIRE(queue.done());
  REQUIRE(queue.taken() == p.commands.size());
  REQUIRE(queue.copies_left() == 0);
  REQUIRE(queue.copies_out() == 0);
  REQUIRE(queue.kernels_out() == 0);
  REQUIRE(queue.host_time() == model.host);
  for (std::uint32_t e = 0; e < model.events.size(); ++e) REQUIRE(queue.record_time(e) == model.events[e]);
}

}  // namespace

TEST_CASE("random lists of commands start when the recurrences of their rules say") {
  std::mt19937 random(20);
  for (int round = 0; round < 4000; ++round) {
    const CopyMode mode = round % 2 ? CopyMode::kOverlapped : CopyMode::kBlocking;
    const Program p = random_program(random, round % 4 < 2);
    INFO("round " << round);
    const Model model(p, mode);
    HostQueue queue(p.commands, kStreams, mode);
    Machine machine(p, queue);
    machine.run([](HostQueue&) { FAIL("a closed list has an end"); });
    check(p, model, queue, machine);
  }
}

TEST_CASE("random lists that become known command by command start as those known from the beginning") {
  std::mt19937 random(21);
  for (int round = 0; round < 1000; ++round) {
    const Program p = random_program(random, round % 2 != 0);
    INFO("round " << round);
    HostQueue queue({}, 0, CopyMode::kBlocking);
    queue.open();
    Machine machine(p, queue);
    std::size_t known = 0;
    machine.run([&](HostQueue& q) {
      if (known == p.commands.size()) return q.close();
      q.append({p.commands[known++]}, HostQueue::Until::kTaken);
    });
    check(p, Model(p, CopyMode::kBlocking), queue, machine);
  }
}

TEST_CASE("random lists whose queue is kept and taken up again before each step start as without a break") {
  std::mt19937 random(22);
  for (int round = 0; round < 300; ++round) {
    const CopyMode mode = round % 2 ? CopyMode::kOverlapped : CopyMode::kBlocking;
    const Program p = random_program(random, round % 4 < 2);
    INFO("round " << round);
    HostQueue queue(p.commands, kStreams, mode);
    Machine machine(p, queue);
    machine.run([](HostQueue&) { FAIL("a closed list has an end"); },
                [&] {
                  HostQueue fresh(p.commands, kStreams, mode);
                  test::restore(queue, fresh);
                  queue = std::move(fresh);
                });
    check(p, Model(p, mode), queue, machine);
  }
}

}  // namespace lockstep::host
