// Which domains are called for which cycles: worked by hand, and against the rule that a window ends before
// the first message that may be sent in it can arrive.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "tests/random.hpp"
#include "tests/sim/toy_nodes.hpp"

namespace lockstep::sim {
namespace {

using test::Ping;
using test::Recorder;
using Calls = std::vector<std::pair<Cycle, Cycle>>;

/// Is due at given cycles, and notes its calls.
struct Scheduled final : Domain {
  explicit Scheduled(std::vector<Cycle> times) : due(std::move(times)) {}
  Cycle advance(Cycle from, Cycle to) override {
    calls.emplace_back(from, to);
    while (next < due.size() && due[next] < to) ++next;
    return next < due.size() ? due[next] : kNever;
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
  std::vector<Cycle> due;
  std::size_t next = 0;
  Calls calls;
};

/// Domain i is due at due[i], and could send with a latency of reach[i] unless that is kNever.
struct ScheduledRun {
  ScheduledRun(const std::vector<std::vector<Cycle>>& due, const std::vector<Time>& reach,
               const EngineOptions& options, Time cut_every = 0)
      : engine(options) {
    for (const auto& times : due) {
      domains.push_back(std::make_unique<Scheduled>(times));
      engine.add(*domains.back(), DomainKind::kOther);
    }
    for (DomainId d = 0; d < due.size(); ++d) {
      if (reach[d] == kNever) continue;
      const std::vector<DomainId> self{d};
      networks.push_back(std::make_unique<Network<Ping>>("n", self, self, reach[d]));
      engine.add(*networks.back());
    }
    Recorder recorder;
    recorder.cut_every = cut_every;
    recorder.stop_at = cut_every == 0 ? kNever : 1000;
    engine.run(recorder);
  }
  [[nodiscard]] std::vector<Calls> calls() const {
    std::vector<Calls> all;
    for (const auto& domain : domains) all.push_back(domain->calls);
    return all;
  }
  Engine engine;
  std::vector<std::unique_ptr<Scheduled>> domains;
  std::vector<std::unique_ptr<Network<Ping>>> networks;
};

TEST_CASE("windows worked by hand: they end at the first possible arrival, and idle time is passed over") {
  // All are due before the first window. Then: [40, 46): the third sends at 45 at the earliest, with a
  // latency of 1, so the second, due at 60, is not called; [60, 90); [100, 101): the third again.
  const ScheduledRun run({{40}, {60}, {45, 100}}, {30, 30, 1}, {.window = 1000});
  CHECK(run.calls() ==
        std::vector<Calls>{{{0, 1}, {40, 46}}, {{0, 1}, {60, 90}}, {{0, 1}, {40, 46}, {100, 101}}});
  CHECK(run.engine.profile().windows == 4);
  CHECK(run.engine.profile().window_cycles == 1 + 6 + 30 + 1);
  CHECK(run.engine.profile().awake_domains == 3 + 2 + 1 + 1);
}

TEST_CASE("without skipping every domain is called in every window") {
  const ScheduledRun run({{25}, {}}, {kNever, kNever}, {.window = 20, .skip = false}, 500);
  for (const Calls& calls : run.calls()) {
    REQUIRE(calls.size() == 50);
    for (Cycle i = 0; i < calls.size(); ++i) CHECK(calls[i] == std::pair{i * 20, i * 20 + 20});
  }
}

/// By the rule alone.
std::vector<Calls> calls_by_rule(const std::vector<std::vector<Cycle>>& due, const std::vector<Time>& reach,
                                 Time window, Time cut_every) {
  std::vector<Calls> calls(due.size());
  const auto next_of = [&](std::size_t d, Time now) {
    if (now == 0) return Time{0};  // all are, once
    const auto found = std::ranges::lower_bound(due[d], now);
    return found == due[d].end() ? kNever : *found;
  };
  for (Time now = 0; now < 1000;) {
    const Time cut = std::min<Time>(1000, (now / cut_every + 1) * cut_every);
    Time first = kNever;
    for (std::size_t d = 0; d < due.size(); ++d) first = std::min(first, next_of(d, now));
    if (first >= cut) {
      now = cut;
      continue;
    }
    Time end = std::min(first + window, cut);
    for (std::size_t d = 0; d < due.size(); ++d)
      if (const Time next = next_of(d, now); next != kNever && reach[d] != kNever)
        end = std::min(end, next + reach[d]);
    for (std::size_t d = 0; d < due.size(); ++d)
      if (next_of(d, now) < end) calls[d].emplace_back(first, end);
    now = end;
  }
  return calls;
}

TEST_CASE("random schedules have the windows of the rule, on any number of threads and in any order") {
  lockstep::test::Random32 random(5);
  for (int round = 0; round < 40; ++round) {
    std::vector<std::vector<Cycle>> due(6);
    std::vector<Time> reach;
    for (auto& times : due) {
      for (Cycle t = random() % 100; t < 1000; t += 1 + random() % (round % 2 == 0 ? 30 : 300))
        times.push_back(t);
      reach.push_back(random() % 4 == 0 ? kNever : 1 + random() % 60);
    }
    const Time window = 1 + random() % 200, cut = 1 + random() % 300;
    const auto expected = calls_by_rule(due, reach, window, cut);
    for (const unsigned threads : {1u, 3u}) {
      if (threads > 1 && round % 8 != 0) continue;
      const EngineOptions options{.threads = threads, .window = window, .shuffle = random()};
      CAPTURE(round, window, cut, threads);
      REQUIRE(ScheduledRun(due, reach, options, cut).calls() == expected);
    }
  }
}

TEST_CASE("a slower clock is called with its own edges: some windows hold none") {
  // Three edges of the base to one of the domain's; the other domain ends windows at 4, 5 and 6.
  Engine engine({.window = 1});
  Scheduled slow({2, 5}), base({4, 5});
  engine.add(slow, DomainKind::kOther, {3'000'000, 1'000'000});
  engine.add(base, DomainKind::kOther);
  Recorder recorder;
  engine.run(recorder);
  // [0, 1): edge 0. Edge 2 lies at 6, edge 5 at 15.
  CHECK(slow.calls == Calls{{0, 1}, {2, 3}, {5, 6}});
  CHECK(base.calls == Calls{{0, 1}, {4, 5}, {5, 6}});
}

TEST_CASE("an edge between two times of the base belongs to the window that holds it") {
  // Ten edges of the base to seven of the domain's: edge 3 lies at 4.29, so its window ends at 5 and not
  // before.
  Engine engine({.window = 1, .skip = false});
  Scheduled domain({3});
  engine.add(domain, DomainKind::kOther, {10'000'000, 7'000'000});
  Recorder recorder;
  recorder.stop_at = 10;
  engine.run(recorder);
  std::vector<Cycle> ends;
  for (const auto& [from, to] : domain.calls) ends.push_back(to);
  CHECK(ends == std::vector<Cycle>{1, 2, 3, 3, 4, 5, 5, 6, 7, 7});  // edges before 1, 2, ... 10
  for (std::size_t i = 1; i < domain.calls.size(); ++i)
    CHECK(domain.calls[i].first == domain.calls[i - 1].second);
}

TEST_CASE("advancing in pieces calls a domain for the same cycles, cut where the pieces end") {
  lockstep::test::Random32 random(9);
  Engine engine({.window = 50});
  std::vector<Cycle> times;
  for (Cycle t = 3; t < 2000; t += 1 + random() % 120) times.push_back(t);
  Scheduled domain(times);
  engine.add(domain, DomainKind::kOther);
  Recorder recorder;
  while (engine.now() < 2000) engine.advance_to(engine.now() + 1 + random() % 90, recorder);
  std::size_t seen = 0;
  Cycle before = 0;
  for (const auto& [from, to] : domain.calls) {
    CHECK(from >= before);
    CHECK(to <= from + 50);
    CHECK((from == 0 || std::ranges::find(times, from) != times.end() || from == before));
    for (; seen < times.size() && times[seen] < to; ++seen) CHECK(times[seen] >= from);
    before = to;
  }
  CHECK(seen == times.size());
}

}  // namespace
}  // namespace lockstep::sim
