// Rounds of a service thread in which no poll finds anything, so that they need not be simulated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "util/types.hpp"

namespace lockstep::net {

/// What a thread polls: the next entry of a queue, or a pair's next completion record. `number`: of the
/// operation in its queue, or of the record.
struct Watched {
  bool record = false;
  std::uint32_t at = 0;  // queue, or pair
  std::uint64_t number = 0;
};

/// A thread whose round of polls has found nothing twice, as fast both times, may sleep: it has all words of
/// the round watched, and until one of them has its signals, or the thread receives something else, each
/// round would be as the last one. Which poll is then under way, and how many have been before it, follows
/// from the time.
class IdleRounds {
 public:
  struct Poll {
    Watched what;
    std::uint32_t round = 0;   // the thread's count
    std::uint8_t resumed = 0;  // the thread's state after a search for completions
    Cycle replied = 0;         // from the round's begin
  };

  [[nodiscard]] bool asleep() const { return asleep_; }
  /// The reply to a poll: not there.
  void missed(Cycle now, Poll poll) {
    poll.replied = now - begin_;
    polls_.push_back(poll);
  }
  /// Something else has happened.
  void disturb() { quiet_ = 0; }

  /// The thread is where a round begins. Whether it sleeps from now on.
  [[nodiscard]] bool begin(Cycle now) {
    const Cycle period = now - begin_;
    const bool as_before = quiet_ > 1 && (period == period_ || quiet_ >= kMaxUneven);
    period_ = period;
    begin_ = now;
    if (quiet_ > 0 && as_before && !polls_.empty()) return asleep_ = true;
    ++quiet_;
    polls_.clear();
    return false;
  }
  [[nodiscard]] const std::vector<Poll>& polls() const { return polls_; }

  /// Ends the sleep at `now`: which poll is under way, when its reply comes, and how many rounds are behind.
  struct Place {
    std::size_t poll = 0;
    Cycle replied = 0;
    std::uint64_t rounds = 0;
  };
  [[nodiscard]] Place wake(Cycle now) {
    asleep_ = false;
    quiet_ = 0;
    Place place;
    place.rounds = (now - begin_) / period_;
    const Cycle since = (now - begin_) % period_;
    while (place.poll < polls_.size() && polls_[place.poll].replied < since) ++place.poll;
    if (place.poll == polls_.size()) {
      ++place.rounds;
      place.poll = 0;
    }
    place.replied = begin_ + place.rounds * period_ + polls_[place.poll].replied;
    return place;
  }
  /// f(what, number of polls of it) for those whose replies came during the sleep.
  template <class F>
  void each_elided(const Place& place, F&& f) const {
    for (std::size_t i = 0; i < polls_.size(); ++i)
      f(polls_[i].what, place.rounds + (i < place.poll ? 1 : 0));
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, polls_, begin_, period_, quiet_, asleep_);
  }

 private:
  static constexpr std::uint32_t kMaxUneven = 4;
  std::vector<Poll> polls_;  // of the round
  Cycle begin_ = 0, period_ = 0;
  std::uint32_t quiet_ = 0;  // rounds begun in a row without anything else
  bool asleep_ = false;
};

/// Which words are watched for a thread, and the polls of each that were not sent.
class Watches {
 public:
  void add(bool record) { (record ? records_ : queues_).emplace_back(); }
  /// Whether it has to be watched from now on: it is not yet.
  [[nodiscard]] bool begin(const Watched& what) {
    Word& word = of(what);
    if (word.number == what.number) return false;
    word.number = what.number;
    word.has = false;
    return true;
  }
  /// The reply to a watch. Whether polls have to go on: the word has had its signals, or is not watched.
  bool resolve(const Watched& what, bool has) {
    Word& word = of(what);
    if (word.number != what.number) return false;  // found by a poll before
    word.has = has;
    if (!has) word.number = kNone;
    return true;
  }
  [[nodiscard]] bool has(const Watched& what) { return of(what).number == what.number && of(what).has; }
  void owe(const Watched& what, std::uint64_t polls) { of(what).owed += polls; }
  [[nodiscard]] std::uint64_t take_owed(const Watched& what) { return std::exchange(of(what).owed, 0); }

  template <class A>
  void persist(A& a) {
    a.members(*this, queues_, records_);
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct Word {
    std::uint64_t number = kNone;
    bool has = false;
    std::uint64_t owed = 0;
  };
  [[nodiscard]] Word& of(const Watched& what) { return (what.record ? records_ : queues_)[what.at]; }
  std::vector<Word> queues_, records_;
};

}  // namespace lockstep::net
