// Rings of commands and records, and what a service thread knows of them.
#include "net/queue_pair.hpp"

#include <catch2/catch.hpp>
#include <deque>

#include "net/operation_log.hpp"
#include "net/served_pairs.hpp"
#include "tests/persisted.hpp"
#include "tests/random.hpp"

namespace lockstep::net {
namespace {

Command command_of(std::uint64_t bytes, bool blocking) {
  Command command;
  command.operation.bytes = bytes;
  command.operation.blocking = blocking;
  return command;
}

/// As the NIC does it: the command at `place` is complete.
void write_record(QueuePair& pair, std::uint32_t place, std::uint64_t ps) {
  pair.command[place].moment(Moment::kComplete) = ps;
  pair.record[pair.place(pair.records_written++)] = place;
}

}  // namespace

TEST_CASE("Queue pair: commands and records go round their rings, and words get one signal a round") {
  QueuePair pair(4, 2, 1);
  pair.commands = 0x1000;
  pair.records = 0x9000;
  CHECK(pair.entries() == 4);
  for (std::uint64_t number = 0; number < 12; ++number) {
    CHECK(pair.place(number) == number % 4);
    CHECK(pair.command_address(number) == 0x1000 + number % 4 * 64);
    CHECK(pair.record_address(number) == 0x9000 + number % 4 * 64);
    CHECK(pair.signals(number) == number / 4 + 1);
  }
  pair.first = 10;  // other memory, from this command on
  CHECK(pair.place(10) == 0);
  CHECK(pair.place(15) == 1);
  CHECK(pair.signals(13) == 1);
  CHECK(pair.signals(14) == 2);
  CHECK(pair.command_address(11) == 0x1040);
}

TEST_CASE("Served pairs: places are taken until their commands are complete, in whatever order that is") {
  QueuePair pair(4, 0, 5), other(2, 0, 6);
  ServedPairs served;
  served.add(other);
  served.add(pair);
  CHECK(served.size() == 2);
  CHECK(served.of(5) == 1);
  CHECK(served.of(6) == 0);
  const std::uint32_t at = served.of(5);
  for (std::uint64_t i = 0; i < 4; ++i) {
    REQUIRE_FALSE(served.full(at));
    CHECK(served.write(at, {3, i}, command_of(100 + i, i == 2)) == i);
    served.rung(at);
  }
  CHECK(served.full(at));
  CHECK_FALSE(served.full(0));
  CHECK((served.in_flight() == 4 && served.in_flight(at) == 4 && served.in_flight(0) == 0));
  write_record(pair, 2, 1000);  // the third overtakes
  write_record(pair, 0, 2000);
  CHECK(served.next_record(at) == 0);
  served.notice(at, 5000);
  ServedPairs::Completion done = served.complete(at);
  CHECK((done.id.queue == 3 && done.id.number == 2 && done.blocking));
  CHECK(done.command->operation.bytes == 102);
  CHECK(done.command->at[static_cast<std::size_t>(Moment::kNoticed)] == 5000);
  CHECK(served.full(at));  // the next place in the ring is still the first command's
  served.notice(at, 6000);
  done = served.complete(at);
  CHECK((done.id.number == 0 && !done.blocking));
  CHECK_FALSE(served.full(at));
  CHECK(served.in_flight() == 2);
  // Records stood from 1000 to 5000 and from 2000 to 6000 ps.
  const DepthCounters depth = served.record_depth(10'000);
  CHECK((depth.queues == 2 && depth.entered == 2 && depth.most == 2 && depth.total_ps == 8000));
}

TEST_CASE("Served pairs: random completions against a list; a saved state goes on alike") {
  constexpr std::uint32_t kEntries = 8;
  QueuePair pair(kEntries, 0, 0), pair_of_copy(kEntries, 0, 0);
  ServedPairs served, copy;
  served.add(pair);
  copy.add(pair_of_copy);
  struct Open {
    std::uint64_t number;
    std::uint32_t place;
  };
  std::deque<Open> open, recorded;
  test::Random32 random(5);
  std::uint64_t issued = 0, completed = 0;
  for (unsigned i = 0; i < 5000; ++i) {
    switch (random() % 3) {
      case 0: {
        const auto holds = [&](const Open& o) { return o.place == issued % kEntries; };
        const bool full = std::ranges::any_of(open, holds) || std::ranges::any_of(recorded, holds);
        REQUIRE(served.full(0) == full);
        if (full) break;
        REQUIRE(served.write(0, {0, issued}, command_of(issued, issued % 3 == 0)) == issued);
        served.rung(0);
        open.push_back({issued, static_cast<std::uint32_t>(issued % kEntries)});
        ++issued;
        break;
      }
      case 1: {
        if (open.empty()) break;
        const auto which = open.begin() + static_cast<std::ptrdiff_t>(random() % open.size());
        write_record(pair, which->place, i);
        recorded.push_back(*which);
        open.erase(which);
        break;
      }
      default: {
        if (recorded.empty()) break;
        served.notice(0, i);
        const ServedPairs::Completion done = served.complete(0);
        REQUIRE(done.id.number == recorded.front().number);
        REQUIRE(done.blocking == (recorded.front().number % 3 == 0));
        recorded.pop_front();
        ++completed;
      }
    }
    REQUIRE(served.in_flight() == open.size() + recorded.size());
  }
  CHECK(completed > 1000);
  test::restore(pair, pair_of_copy);
  test::restore(served, copy);
  CHECK(copy.in_flight() == served.in_flight());
  CHECK(copy.full(0) == served.full(0));
  CHECK(copy.next_record(0) == completed);
}

TEST_CASE("Served pairs: after a restart the next command is the first of its ring") {
  QueuePair pair(4, 0, 0);
  ServedPairs served;
  served.add(pair);
  for (std::uint64_t i = 0; i < 3; ++i) {
    (void)served.write(0, {0, i}, command_of(0, false));
    served.rung(0);
    write_record(pair, static_cast<std::uint32_t>(i), 0);
    served.notice(0, 0);
    (void)served.complete(0);
  }
  CHECK(pair.place(3) == 3);
  served.restart();
  CHECK(pair.place(3) == 0);
  CHECK(pair.signals(3) == 1);
  CHECK(served.write(0, {0, 3}, command_of(77, false)) == 3);
  CHECK(pair.command[0].operation.bytes == 77);
}

TEST_CASE("Open work: an activity lasts from its first begin to its end, and is noted where there is a log") {
  OperationLog log;
  OpenWork work;
  work.end(5, &log);
  CHECK(log.work.empty());
  work.begin(Work::kComplete, 10);
  work.begin(Work::kCall, 20);  // it has begun
  work.end(30, &log);
  work.end(40, &log);
  work.begin(Work::kCall, 50);
  work.end(60, nullptr);
  work.begin(Work::kCall, 70);
  OpenWork copy;
  test::restore(work, copy);
  copy.end(75, &log);
  REQUIRE(log.work.size() == 2);
  CHECK(log.work[0].what == static_cast<std::uint8_t>(Work::kComplete));
  CHECK((log.work[0].from == 10 && log.work[0].to == 30));
  CHECK((log.work[1].from == 70 && log.work[1].to == 75));
}

}  // namespace lockstep::net
