#include "mem/parked_polls.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <initializer_list>
#include <vector>

namespace lockstep::test {
namespace {

constexpr Address kWord = 0x10040;

icnt::Request poll(std::uint32_t signals, std::uint32_t core_cycles, std::uint32_t polls) {
  icnt::Request request;
  request.line = line_of(kWord);
  request.kind = icnt::AccessKind::kAwait;
  request.set_awaited(kWord, signals);
  request.set_rate(core_cycles, polls);
  return request;
}

/// `times` have had the word.
mem::SignalCounts counts(unsigned times) {
  icnt::Request store;
  store.line = line_of(kWord);
  store.kind = icnt::AccessKind::kStore;
  store.bytes[(kWord - store.line) / kSectorBytes] = 0xf;
  mem::SignalCounts all;
  for (unsigned i = 0; i < times; ++i) all.count(store);
  return all;
}

}  // namespace

TEST_CASE("A parked poll is due when the first that finds the signal would come, polls taken one by one") {
  struct Case {
    std::uint64_t core_khz, khz;
    std::uint32_t cycles, polls;
  };
  for (const Case& c : {Case{1'500'000, 1'500'000, 190, 1}, Case{1'410'000, 1'593'000, 211, 1},
                        Case{1'500'000, 1'200'000, 1'339, 7}})
    for (const Cycle waited : std::initializer_list<Cycle>{1, 50, 189, 190, 191, 10'007, 1'000'003}) {
      INFO(c.cycles << " cycles of " << c.core_khz << " kHz for " << c.polls << " polls, " << waited);
      mem::ParkedPolls parked(c.core_khz, c.khz);
      const Cycle since = 1000, signal = since + waited;
      parked.park(poll(1, c.cycles, c.polls), false, 3, since);
      parked.signalled(line_of(kWord), counts(1), signal);
      // The edge of poll n after `since`, in time: n * cycles / polls cycles of the core's clock.
      std::uint64_t n = 0;
      Cycle at = since;
      while (at < signal) {
        ++n;
        const double edges = static_cast<double>(n * c.cycles) * static_cast<double>(c.khz) /
                             static_cast<double>(c.polls * c.core_khz);
        at = since + static_cast<Cycle>(std::ceil(edges - 1e-9));
      }
      CHECK(parked.due() == std::max(at, signal + 1));
      CHECK(parked.front().elided == n);
    }
}

TEST_CASE("A parked poll is due only when its word has had all of its signals") {
  mem::ParkedPolls parked(1'500'000, 1'500'000);
  parked.park(poll(2, 100, 1), false, 3, 0);
  parked.signalled(line_of(kWord), counts(1), 150);
  CHECK(parked.due() == kNever);
  parked.signalled(line_of(kWord), counts(2), 950);
  CHECK(parked.due() == 1000);
  parked.signalled(line_of(kWord), counts(3), 970);  // too late to change anything
  CHECK(parked.due() == 1000);
}

TEST_CASE("Parked polls are served by their time; of the same time, as they came") {
  mem::ParkedPolls parked(1'500'000, 1'500'000);
  for (const Cycle since : {30u, 10u, 110u}) {
    icnt::Request one = poll(1, 100, 1);
    one.tag = static_cast<std::uint32_t>(since);
    parked.park(one, false, 3, since);
  }
  parked.signalled(line_of(kWord), counts(1), 120);
  std::vector<std::uint32_t> order;
  std::vector<Cycle> times;
  for (; !parked.empty(); parked.pop()) {
    times.push_back(parked.due());
    order.push_back(parked.front().poll.tag);
  }
  CHECK(times == std::vector<Cycle>{130, 210, 210});
  CHECK(order == std::vector<std::uint32_t>{30, 10, 110});
}

TEST_CASE("Polls without a rate are not parked, and the other half's only up to a limit") {
  mem::ParkedPolls parked(1'500'000, 1'500'000);
  CHECK_FALSE(parked.takes(poll(1, 0, 0), false));
  for (std::uint32_t i = 0; i < mem::ParkedPolls::kMaxFar; ++i) {
    REQUIRE(parked.takes(poll(1, 100, 1), true));
    parked.park(poll(1, 100, 1), true, 0, i);
  }
  CHECK_FALSE(parked.takes(poll(1, 100, 1), true));
  CHECK(parked.takes(poll(1, 100, 1), false));
  parked.signalled(line_of(kWord), counts(1), 500);
  parked.pop();
  CHECK(parked.takes(poll(1, 100, 1), true));
}

}  // namespace lockstep::test
