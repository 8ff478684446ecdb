// A service thread's polls: of entries' status words and of completion records.
#pragma once

#include <cstdint>

#include "net/idle_rounds.hpp"
#include "net/served_pairs.hpp"
#include "net/served_queues.hpp"
#include "net/service_port.hpp"
#include "net/thread_counters.hpp"

namespace lockstep::net {

/// Sends them, and ends a thread's idle rounds (IdleRounds) in a sleep, whose polls are not sent but counted.
/// `Port`: as ServiceThread's.
template <class Port>
class Polls {
 public:
  /// `instructions`: of one poll.
  Polls(Port& port, ServedQueues& queues, ServedPairs& pairs, ThreadCounters& counters,
        std::uint64_t instructions)
      : port_(&port), queues_(&queues), pairs_(&pairs), counters_(&counters), instructions_(instructions) {}

  /// There is another pair, or another queue.
  void add(bool record) { watches_.add(record); }

  /// Of the queue's next entry, and of the pair's next record: returns how many replies will come. `alone`:
  /// the thread polls nothing else.
  [[nodiscard]] unsigned poll_entry(Cycle now, std::uint32_t queue, bool alone) {
    return send_entry(now, queue, {alone, watches_.take_owed({false, queue})});
  }
  [[nodiscard]] unsigned poll_record(Cycle now, std::uint32_t pair, bool alone) {
    return send_record(now, record_of(pair), {alone, watches_.take_owed(record_of(pair))});
  }
  /// The reply has come: whether it has to be polled again, which is `again` where a poll was sent. `round`
  /// and `resumed`: as in IdleRounds::Poll.
  [[nodiscard]] bool note_entry(Cycle now, std::uint32_t queue, bool again, std::uint32_t round,
                                std::uint8_t resumed) {
    return note(now, {{false, queue, queues_->next_number(queue)}, round, resumed}, again);
  }
  [[nodiscard]] bool note_record(Cycle now, std::uint32_t pair, bool again, std::uint32_t round,
                                 std::uint8_t resumed) {
    return note(now, {record_of(pair), round, resumed}, again);
  }

  [[nodiscard]] bool asleep() const { return idle_.asleep(); }
  /// The thread is awake, and something has changed.
  void disturb() { idle_.disturb(); }
  /// The reply to a watch. Whether the thread has to be woken.
  [[nodiscard]] bool noticed(const Watched& what, bool has) {
    return watches_.resolve(what, has) && idle_.asleep();
  }
  /// The thread is where a round begins: whether it sleeps.
  [[nodiscard]] bool rests(Cycle now) {
    if (!port_->elides()) return false;
    for (const IdleRounds::Poll& poll : idle_.polls())  // its signals have come since it was polled
      if (watches_.has(poll.what)) idle_.disturb();
    if (!idle_.begin(now)) return false;
    for (const IdleRounds::Poll& poll : idle_.polls())
      if (watches_.begin(poll.what)) repeat(now, poll.what, {false, 0, &poll.what});
    return true;
  }

  struct Woken {
    IdleRounds::Poll poll;     // the one under way; `replied`: when its reply comes
    std::uint64_t rounds = 0;  // that are behind
  };
  /// The polls that have not been simulated are counted; the reply to the one that is under way comes in its
  /// time; that poll is sent only to be counted.
  [[nodiscard]] Woken wake(Cycle now) {
    const IdleRounds::Place place = idle_.wake(now);
    counters_->instructions += instructions_;  // of the one under way
    idle_.each_elided(place, [&](const Watched& what, std::uint64_t polls) {
      (what.record ? counters_->record_polls : counters_->polls) += polls;
      counters_->instructions += polls * instructions_;
      watches_.owe(what, polls);
    });
    Woken woken{idle_.polls()[place.poll], place.rounds};
    woken.poll.replied = place.replied;
    woken_ = true;
    repeat(now, woken.poll.what, {false, watches_.take_owed(woken.poll.what), nullptr, true});
    return woken;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(port_), a.given(queues_), a.given(pairs_), a.given(counters_),
              a.given(instructions_), woken_, idle_, watches_);
  }

 private:
  [[nodiscard]] Watched record_of(std::uint32_t pair) const {
    return {true, pair, pairs_->next_record(pair)};
  }

  unsigned send_entry(Cycle now, std::uint32_t queue, const PollRequest& request) {
    return port_->poll(now, queues_->device(queue), queues_->next_entry(queue), queues_->front(queue).ready,
                       request);
  }
  unsigned send_record(Cycle now, const Watched& what, const PollRequest& request) {
    return port_->poll_record(now, pairs_->pair(what.at), what.number, request);
  }
  /// No reply is waited for.
  void repeat(Cycle now, const Watched& what, const PollRequest& request) {
    (void)(what.record ? send_record(now, what, request) : send_entry(now, what.at, request));
  }

  bool note(Cycle now, const IdleRounds::Poll& poll, bool again) {
    if (woken_) again = !watches_.has(poll.what);
    woken_ = false;
    if (!again) {
      idle_.disturb();
    } else if (port_->elides()) {
      idle_.missed(now, poll);
    }
    return again;
  }

  Port* port_;
  ServedQueues* queues_;
  ServedPairs* pairs_;
  ThreadCounters* counters_;
  std::uint64_t instructions_;
  bool woken_ = false;  // from sleep, and the poll that was then under way has no reply yet
  IdleRounds idle_;
  Watches watches_;
};

}  // namespace lockstep::net
