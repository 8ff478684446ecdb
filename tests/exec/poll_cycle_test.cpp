// When a sequence of polls counts as waiting. Numbers of polls follow from the contract: rounds that are
// alike.
#include "exec/poll_cycle.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

namespace lockstep::exec::test {
namespace {

constexpr unsigned kNever = 1u << 20;

/// The first of the polls at which it waits. Poll i is `of(i)`, by `lanes(i)` lanes.
template <class Of, class Lanes>
unsigned first_wait(PollCycle& cycle, Of&& of, Lanes&& lanes, unsigned most = 100'000) {
  for (unsigned i = 0; i < most; ++i)
    if (cycle.add(of(i), lanes(i))) return i;
  return kNever;
}

std::uint64_t mixed(std::uint64_t value) { return (value + 1) * 0x9e3779b97f4a7c15; }

}  // namespace

TEST_CASE("polls that come again round by round wait") {
  for (const unsigned period : {1u, 2u, 3u, 7u, 64u, 500u, 1023u}) {
    INFO(period);
    PollCycle cycle;
    const auto of = [&](unsigned i) { return mixed(i % period); };
    const unsigned at = first_wait(cycle, of, [](unsigned) { return 32u; });
    CHECK(at >= 16);
    CHECK(at >= 4 * period);
    CHECK(at < 20 + 12 * period);
    cycle.ask_again();
    const unsigned again = first_wait(
        cycle, [&](unsigned i) { return of(at + 1 + i); }, [](unsigned) { return 32u; });
    CHECK(again + 1 ==
          std::max((4 + period - 1) / period, 1u) * period);  // whole rounds, of 4 polls at least
  }
}

TEST_CASE("it waits where most lanes poll together") {
  PollCycle cycle;
  const auto lanes = [](unsigned i) { return i % 5 == 3 ? 32u : 8u; };
  CHECK(first_wait(
            cycle, [](unsigned i) { return mixed(i % 5); }, lanes) %
            5 ==
        3);
}

TEST_CASE("polls that see something new do not wait") {
  PollCycle counter, late, longer;
  const auto all = [](unsigned) { return 32u; };
  CHECK(first_wait(
            counter, [](unsigned i) { return mixed(i % 4 == 0 ? i + 4 : i % 4); }, all) == kNever);
  CHECK(first_wait(
            late, [](unsigned i) { return mixed(i % 15 == 14 ? i + 99 : 0); }, all) == kNever);
  CHECK(first_wait(
            longer, [](unsigned i) { return mixed(i % 5000); }, all) == kNever);
}

TEST_CASE("a cycle that changes is found anew") {
  PollCycle cycle;
  const auto all = [](unsigned) { return 32u; };
  REQUIRE(first_wait(
              cycle, [](unsigned i) { return mixed(i % 3); }, all) != kNever);
  cycle.ask_again();
  const unsigned at = first_wait(
      cycle, [](unsigned i) { return mixed(10 + i % 4); }, all);
  CHECK(at >= 16);
  CHECK(at < 60);
  cycle.forget();
  CHECK(first_wait(
            cycle, [](unsigned i) { return mixed(10 + i % 4); }, all) >= 16);
}

}  // namespace lockstep::exec::test
