// Idle rounds of a service thread against a simulation poll by poll.
#include "net/idle_rounds.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/persisted.hpp"
#include "tests/random.hpp"

namespace lockstep::net {
namespace {

/// A round of polls whose replies come at these times from its begin; the next round begins at `period`.
struct Round {
  std::vector<Cycle> replies;
  Cycle period = 0;
};

void send(IdleRounds& idle, Cycle begin, const Round& round) {
  for (std::size_t i = 0; i < round.replies.size(); ++i)
    idle.missed(begin + round.replies[i], {{false, static_cast<std::uint32_t>(i), 0}, 0, 0, 0});
}

/// Rounds until the thread sleeps; when that is.
Cycle fall_asleep(IdleRounds& idle, Cycle now, const Round& round) {
  while (!idle.begin(now)) {
    send(idle, now, round);
    now += round.period;
  }
  return now;
}

/// Polls of each word whose replies come before `now`, and the next reply from then on, one by one.
struct Simulated {
  std::vector<std::uint64_t> polls;
  std::size_t next = 0;
  Cycle at = 0;
};
Simulated simulate(Cycle asleep_at, const Round& round, Cycle now) {
  Simulated s;
  s.polls.resize(round.replies.size());
  for (Cycle begin = asleep_at;; begin += round.period)
    for (std::size_t i = 0; i < round.replies.size(); ++i) {
      s.next = i;
      s.at = begin + round.replies[i];
      if (s.at >= now) return s;
      ++s.polls[i];
    }
}

}  // namespace

TEST_CASE("Idle rounds: a thread sleeps after two rounds that took as long, and wakes as if it had polled") {
  test::Random32 random(11);
  for (unsigned i = 0; i < 500; ++i) {
    Round round;
    Cycle at = 0;
    for (unsigned polls = 1 + random() % 4; polls > 0; --polls)
      round.replies.push_back(at += 1 + random() % 90);
    round.period = at + 1 + random() % 40;
    IdleRounds idle;
    const Cycle begin = random() % 1000 + 1;
    const Cycle asleep = fall_asleep(idle, begin, round);
    CHECK(asleep == begin + 2 * round.period);
    REQUIRE(idle.asleep());
    CHECK(idle.polls().size() == round.replies.size());
    const Cycle now = asleep + random() % 5000;
    const Simulated expected = simulate(asleep, round, now);
    const IdleRounds::Place place = idle.wake(now);
    CHECK_FALSE(idle.asleep());
    CHECK(place.poll == expected.next);
    CHECK(place.replied == expected.at);
    std::vector<std::uint64_t> polls(round.replies.size());
    idle.each_elided(place, [&](const Watched& what, std::uint64_t count) { polls[what.at] += count; });
    CHECK(polls == expected.polls);
  }
}

TEST_CASE("Idle rounds: rounds that differ in length postpone the sleep, but not for ever") {
  IdleRounds idle;
  Cycle now = 100;
  unsigned rounds = 0;
  for (const Cycle period : {50u, 60u, 70u, 80u, 90u, 100u}) {
    if (idle.begin(now)) break;
    ++rounds;
    send(idle, now, {{10, 20}, period});
    now += period;
  }
  CHECK(rounds == 4);
  CHECK(idle.asleep());
}

TEST_CASE("Idle rounds: anything else that happens starts the count again, and an empty round never sleeps") {
  IdleRounds idle;
  const Round round{{5}, 10};
  CHECK_FALSE(idle.begin(0));
  send(idle, 0, round);
  CHECK_FALSE(idle.begin(10));
  send(idle, 10, round);
  idle.disturb();
  CHECK_FALSE(idle.begin(20));
  send(idle, 20, round);
  CHECK_FALSE(idle.begin(30));
  send(idle, 30, round);
  CHECK(idle.begin(40));
  (void)idle.wake(47);
  CHECK(fall_asleep(idle, 60, round) == 80);  // from the beginning again

  IdleRounds empty;
  for (Cycle now = 0; now < 200; now += 10) CHECK_FALSE(empty.begin(now));
}

TEST_CASE("Idle rounds: a thread woken when a reply is due takes that reply") {
  IdleRounds idle;
  const Round round{{10, 30}, 40};
  const Cycle asleep = fall_asleep(idle, 0, round);
  IdleRounds copy;
  test::restore(idle, copy);
  const IdleRounds::Place first = idle.wake(asleep + 30);
  CHECK((first.poll == 1 && first.replied == asleep + 30 && first.rounds == 0));
  const IdleRounds::Place next = copy.wake(asleep + 31);
  CHECK((next.poll == 0 && next.replied == asleep + 50 && next.rounds == 1));
}

TEST_CASE("Watches: a word is watched once, until its signals come or it is polled for the next one") {
  Watches watches;
  watches.add(false);
  watches.add(true);
  const Watched entry{false, 0, 7}, record{true, 0, 7};
  CHECK_FALSE(watches.has(entry));
  CHECK(watches.begin(entry));
  CHECK_FALSE(watches.begin(entry));
  CHECK(watches.begin(record));  // another word of the same number
  CHECK_FALSE(watches.has(entry));
  CHECK(watches.resolve(entry, true));
  CHECK(watches.has(entry));
  CHECK_FALSE(watches.has(record));
  CHECK(watches.resolve(record, false));  // it cannot be watched
  CHECK_FALSE(watches.has(record));
  CHECK(watches.begin(record));

  const Watched next{false, 0, 8};
  CHECK_FALSE(watches.has(next));
  CHECK(watches.begin(next));
  CHECK_FALSE(watches.resolve(entry, true));  // late: the entry was found by a poll
  CHECK_FALSE(watches.has(next));
  CHECK(watches.resolve(next, true));
}

TEST_CASE("Watches: polls that were not sent are owed once, by word, whatever number was watched") {
  Watches watches;
  watches.add(false);
  watches.add(false);
  watches.owe({false, 0, 1}, 5);
  watches.owe({false, 0, 2}, 6);
  watches.owe({false, 1, 1}, 100);
  CHECK(watches.take_owed({false, 0, 9}) == 11);
  CHECK(watches.take_owed({false, 0, 9}) == 0);
  Watches copy;
  test::restore(watches, copy);
  CHECK(copy.take_owed({false, 1, 0}) == 100);
}

}  // namespace lockstep::net
