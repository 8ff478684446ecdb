// Warps that poll words for signals: which poll goes when, and what it says.
#include "core/signal_waits.hpp"

#include <catch2/catch.hpp>
#include <vector>

namespace lockstep::core {
namespace {

constexpr Address kWord = 0x7f0000001264;  // sector 3 of its line, byte 100

MioOperation await(const std::vector<std::uint64_t>& words, std::uint32_t handle, std::uint8_t kernel = 0) {
  MioOperation op;
  op.handle = handle;
  op.kernel = kernel;
  op.signal = trace::SignalOp::kAwaits;
  op.form = trace::AddressForm::kAffine;
  op.words = words.data();
  op.mask = 1;
  return op;
}

/// With sync.poll_elision, or without.
config::SyncGroup sync(bool elides) {
  config::SyncGroup group;
  group.poll_elision = elides;
  return group;
}

icnt::Reply reply_to(const icnt::Request& poll, bool again) {
  icnt::Reply reply;
  reply.line = poll.line;
  reply.tag = poll.tag;
  reply.kind = poll.kind;
  reply.sectors = poll.sectors;
  reply.again = again;
  return reply;
}

TEST_CASE("a wait's poll names its word, the signals, and nothing else of the line") {
  SignalWaits waits(sync(true));
  CHECK(waits.due() == kNever);
  CHECK(waits.idle());
  waits.add(50, await({kWord + 2, 7}, 11, 3));  // not a multiple of 4
  CHECK(waits.due() == 50);
  const icnt::Request poll = waits.next(50);
  CHECK(poll.kind == icnt::AccessKind::kAwait);
  CHECK(poll.line == 0x7f0000001200);
  CHECK(poll.sectors == 0b1000);
  CHECK(poll.kernel == 3);
  CHECK(poll.awaited_word() == kWord);
  CHECK(poll.awaited_signals() == 7);
  CHECK_FALSE(poll.may_park());
  CHECK(waits.due() == kNever);  // it is under way
  CHECK(waits.waiting() == 1);
  const auto ended = waits.receive(160, reply_to(poll, false));
  REQUIRE(ended);
  CHECK(ended->handle == 11);
  CHECK(ended->awaited.word == kWord);
  CHECK(ended->awaited.signals == 7);
  CHECK(waits.idle());
}

TEST_CASE("where signals may be missing, a wait asks for none and ends with its first poll") {
  config::SyncGroup group = sync(true);
  group.signals_complete = false;
  SignalWaits waits(group);
  waits.add(0, await({kWord, 7}, 5));
  const icnt::Request poll = waits.next(3);
  CHECK(poll.awaited_word() == kWord);
  CHECK(poll.awaited_signals() == 0);  // every word has had them
  const auto ended = waits.receive(90, reply_to(poll, false));
  REQUIRE(ended);
  CHECK(ended->awaited.signals == 7);
}

TEST_CASE("a poll that found too few signals comes again a loop of the program later") {
  SignalWaits waits(sync(true));
  waits.add(0, await({kWord, 1}, 5));
  const icnt::Request first = waits.next(3);
  CHECK_FALSE(waits.receive(103, reply_to(first, true)));
  CHECK(waits.due() == 103 + 20);
  const icnt::Request second = waits.next(130);
  CHECK(second.tag == first.tag);
  CHECK(waits.receive(230, reply_to(second, false))->handle == 5);
  CHECK(waits.due() == kNever);
}

TEST_CASE("of several waits the one polls that has waited the longest, the first of equals") {
  SignalWaits waits(sync(false));
  const std::vector<Cycle> since{40, 10, 30, 10, 20};
  for (std::uint32_t i = 0; i < since.size(); ++i)
    waits.add(since[i], await({kWord + Address{128} * i, 1}, i));
  CHECK(waits.waiting() == 5);
  std::vector<Address> order;
  std::vector<icnt::Request> polls;
  while (waits.due() != kNever) {
    CHECK(waits.due() == std::vector<Cycle>{10, 10, 20, 30, 40}[polls.size()]);
    polls.push_back(waits.next(100));
    order.push_back((polls.back().awaited_word() - kWord) / 128);
  }
  CHECK(order == std::vector<Address>{1, 3, 4, 2, 0});
  // Whichever ends, the reply finds its own operation.
  for (const std::size_t i : {3u, 0u, 4u, 1u, 2u})
    CHECK(waits.receive(200, reply_to(polls[i], false))->handle == order[i]);
  CHECK(waits.idle());
}

/// Polls of one wait at these times, each told that signals are lacking.
std::vector<icnt::Request> polls_at(SignalWaits& waits, const std::vector<Cycle>& times) {
  std::vector<icnt::Request> polls;
  for (const Cycle now : times) {
    REQUIRE(waits.due() <= now);
    polls.push_back(waits.next(now));
    CHECK_FALSE(waits.receive(now + 1, reply_to(polls.back(), true)));
  }
  return polls;
}

TEST_CASE("polls may stay at their word once the time between them has been the same twice") {
  SignalWaits waits(sync(true));
  waits.add(0, await({kWord, 1}, 0));
  // Gaps of 500 (the word's line comes from memory), 130, 130, 130, 150, 150.
  const auto polls = polls_at(waits, {0, 500, 630, 760, 890, 1040, 1190});
  const bool parks[] = {false, false, false, true, true, false, true};
  for (std::size_t i = 0; i < polls.size(); ++i) CHECK(polls[i].may_park() == parks[i]);
  CHECK(std::pair(polls[3].rate_cycles(), polls[3].rate_polls()) == std::pair(130u, 1u));
  CHECK(std::pair(polls[6].rate_cycles(), polls[6].rate_polls()) == std::pair(150u, 1u));
}

TEST_CASE("polls at changing intervals may stay after eight, at the mean without the first interval") {
  SignalWaits waits(sync(true));
  waits.add(0, await({kWord, 1}, 0));
  const std::vector<Cycle> times{0, 900, 1000, 1130, 1240, 1380, 1490, 1630, 1745};
  const auto polls = polls_at(waits, times);
  for (std::size_t i = 0; i < 7; ++i) CHECK_FALSE(polls[i].may_park());
  CHECK(std::pair(polls[7].rate_cycles(), polls[7].rate_polls()) == std::pair(1630u - 900, 6u));
  CHECK(std::pair(polls[8].rate_cycles(), polls[8].rate_polls()) == std::pair(1745u - 900, 7u));
}

TEST_CASE("polls never stay where they may not, and a new wait in an old place begins without a rate") {
  const std::vector<Cycle> times{0, 100, 200, 300, 400, 500, 600, 700, 800, 900};
  SignalWaits never(sync(false));
  never.add(0, await({kWord, 1}, 0));
  for (const icnt::Request& poll : polls_at(never, times)) CHECK_FALSE(poll.may_park());
  SignalWaits waits(sync(true));
  waits.add(0, await({kWord, 1}, 0));
  CHECK(polls_at(waits, times).back().may_park());
  const icnt::Request last = waits.next(1000);
  CHECK(waits.receive(1001, reply_to(last, false)));
  waits.add(1100, await({kWord, 2}, 1));
  const icnt::Request first = waits.next(1100);
  CHECK(first.tag == last.tag);
  CHECK_FALSE(first.may_park());
  CHECK_FALSE(waits.receive(1101, reply_to(first, true)));
  CHECK_FALSE(waits.next(1200).may_park());
}

}  // namespace
}  // namespace lockstep::core
