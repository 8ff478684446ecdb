// What may leave a process, when at the earliest, and that it comes in as it went out.
#include "sim/rank_channels.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/elsewhere.hpp"
#include "sim/inbox.hpp"

namespace lockstep::sim {
namespace {

struct Word {
  std::uint64_t value = 0;
};

/// Domains 0 (everywhere), 1 and 2 (rank 0), 3 (rank 1). 1 sends to 2 in 5, 2 to 3 in 10, 2 to 0 in 7, 0 to 1
/// in 3; what 1 sends to 0 in 1 is late.
struct Bench {
  Engine engine{EngineOptions{}};
  Elsewhere domain;
  Network<Word> inner{"inner", {1}, {2}, 5}, link{"link", {2, 3}, {2, 3}, 10}, up{"up", {2, 3}, {0}, 7},
      down{"down", {0}, {1}, 3}, late{"late", {1}, {0}, 1};
  std::vector<NetworkBase*> all{&inner, &link, &up, &down, &late};

  Bench() {
    for (int d = 0; d < 4; ++d) engine.add(domain, DomainKind::kOther);
    for (NetworkBase* network : all) engine.add(*network);
  }
  [[nodiscard]] RankChannels cut(Rank here) { return {engine, {kEverywhere, 0, 0, 1}, here, 2, {&late}}; }
};

TEST_CASE("Distances are those of the shortest way over a cut") {
  Bench bench;
  const RankChannels first = bench.cut(0);
  CHECK((first.own().calm == std::vector<Time>{3 + 5 + 7, 5 + 7, 7, kNever}));
  CHECK((first.own().all == std::vector<Time>{3 + 1, 1, 7, kNever}));
  const RankChannels second = bench.cut(1);
  CHECK((second.own().calm == std::vector<Time>{kNever, kNever, kNever, 7}));
}

TEST_CASE("The earliest arrival accounts for domains that are due, late networks and messages in flight") {
  Bench bench;
  RankChannels cut = bench.cut(0);
  cut.join(bench.cut(1).own());
  std::vector<Time> next{kNever, 100, 110, kNever};
  CHECK(cut.earliest_arrival(50, next, 1000) == 112);     // domain 1, over 2
  CHECK(cut.earliest_arrival(50, next, 60) == 60 + 1);    // the late one
  CHECK(cut.earliest_arrival(50, next, 50) == 100 + 1);   // it is not silent now
  CHECK(cut.earliest_arrival(105, next, kNever) == 117);  // domain 1 is due at once: 105 + 12; 2 at 110 + 7
  next = {kNever, kNever, kNever, kNever};
  CHECK(cut.earliest_arrival(50, next, kNever) == kNever);
  bench.link.send(0, 1, 80, {7});
  bench.link.flip(std::vector<DomainId>{2}, 60, next);
  cut.take_out(next);
  CHECK(next[3] == kNever);                                 // nothing is due here
  CHECK(cut.earliest_arrival(60, next, kNever) == 80 + 7);  // rank 1 may reply when it has arrived
  CHECK_FALSE(cut.hand_over()[1].empty());
  CHECK(cut.earliest_arrival(60, next, kNever) == kNever);
}

TEST_CASE("Mail comes in with its source, arrival and order, and its domain is due") {
  Bench there, here;
  RankChannels out = there.cut(1), in = here.cut(0);
  std::vector<Time> next(4, kNever);
  for (const std::uint64_t value : {1u, 2u, 3u}) there.link.send(1, 0, 90 - value, {value});
  there.up.send(1, 0, 77, {9});
  for (Network<Word>* network : {&there.link, &there.up}) network->flip(std::vector<DomainId>{3}, 60, next);
  out.take_out(next);
  const std::vector<std::string> parcels = out.hand_over();
  CHECK(parcels[1].empty());
  next.assign(4, kNever);
  in.take_in(parcels[0], 60, next);
  CHECK((next == std::vector<Time>{60, kNever, 60, kNever}));
  std::vector<std::uint64_t> values;
  here.link.collect(0, [&](std::uint32_t source, Cycle arrival, const Word& word) {
    CHECK((source == 1 && arrival == 90 - word.value));
    values.push_back(word.value);
  });
  CHECK((values == std::vector<std::uint64_t>{1, 2, 3}));
  here.up.collect(
      0, [&](std::uint32_t, Cycle arrival, const Word& word) { CHECK((arrival == 77 && word.value == 9)); });
  CHECK_THROWS_AS(in.take_in("short", 60, next), std::logic_error);
  CHECK_THROWS_AS(in.take_in(std::string(100, '\xff'), 60, next), std::logic_error);
}

TEST_CASE("A channel over the cut that declares no latency is an error") {
  Engine engine{EngineOptions{}};
  Elsewhere domain;
  Network<Word> network("mute", {0}, {1});
  for (int d = 0; d < 2; ++d) engine.add(domain, DomainKind::kOther);
  engine.add(network);
  CHECK_THROWS_AS(RankChannels(engine, {0, 1}, 0, 2, {}), std::logic_error);
}

}  // namespace
}  // namespace lockstep::sim
