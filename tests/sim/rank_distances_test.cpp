// Distances over a cut in random systems against a search over single channels, and earliest arrivals against
// chains of messages that leave as early as they can.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <queue>
#include <vector>

#include "sim/elsewhere.hpp"
#include "sim/rank_channels.hpp"
#include "tests/random.hpp"

namespace lockstep::sim {
namespace {

constexpr DomainId kDomainsOfSystem = 9;
constexpr Rank kRanksOfSystem = 3;

/// Random networks among domains of three ranks and one that is everywhere.
struct RandomSystem {
  explicit RandomSystem(std::uint32_t seed) : random(seed) {
    for (DomainId d = 0; d < kDomainsOfSystem; ++d) {
      engine.add(domain, DomainKind::kOther);
      places.push_back(d == 0 ? kEverywhere : static_cast<Rank>(random() % kRanksOfSystem));
    }
    for (int n = 0; n < 12; ++n) {
      networks.push_back(
          std::make_unique<Network<int>>("n", some(), some(), 1 + static_cast<Time>(random() % 50)));
      engine.add(*networks.back());
    }
  }
  std::vector<DomainId> some() {
    std::vector<DomainId> ids;
    for (auto n = 1 + random() % 3; n > 0; --n) ids.push_back(random() % kDomainsOfSystem);
    return ids;
  }
  /// From a domain over one channel to another.
  template <class F>
  void channels(const NetworkBase* without, F&& f) const {
    for (const auto& network : networks) {
      if (network.get() == without) continue;
      for (const DomainId from : network->source_domains())
        for (const DomainId to : network->destination_domains()) f(from, to, network->latency());
    }
  }
  lockstep::test::Random32 random;
  Engine engine{EngineOptions{}};
  Elsewhere domain;
  std::vector<Rank> places;
  std::vector<std::unique_ptr<Network<int>>> networks;
};

/// How long after `start` is due a message of its making can be at a domain that is not of rank `here`, sent
/// there by one that is. Dijkstra's search; in other ranks' domains it ends.
Time search(const RandomSystem& system, Rank here, DomainId start, const NetworkBase* without) {
  const auto is_own = [&](DomainId d) { return system.places[d] == here; };
  const auto is_here = [&](DomainId d) { return is_own(d) || system.places[d] == kEverywhere; };
  if (!is_here(start)) return kNever;
  std::priority_queue<std::pair<Time, DomainId>, std::vector<std::pair<Time, DomainId>>, std::greater<>> open;
  std::vector<bool> closed(kDomainsOfSystem);
  Time best = kNever;
  for (open.emplace(0, start); !open.empty();) {
    const auto [time, domain] = open.top();
    open.pop();
    if (closed[domain]) continue;
    closed[domain] = true;
    system.channels(without, [&, time = time, domain = domain](DomainId from, DomainId to, Time latency) {
      if (from != domain) return;
      if (is_own(from) && !is_own(to)) best = std::min(best, time + latency);
      if (is_here(to)) open.emplace(time + latency, to);
    });
  }
  return best;
}

TEST_CASE("distances over a cut are those of a search over single channels") {
  int reachable = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    RandomSystem system(seed);
    const NetworkBase* const late = system.networks[3].get();
    for (Rank here = 0; here < kRanksOfSystem; ++here) {
      const RankChannels channels(system.engine, system.places, here, kRanksOfSystem, {late});
      for (DomainId d = 0; d < kDomainsOfSystem; ++d) {
        CAPTURE(seed, here, d);
        REQUIRE(channels.own().all[d] == search(system, here, d, nullptr));
        REQUIRE(channels.own().calm[d] == search(system, here, d, late));
        reachable += channels.own().calm[d] != kNever;
      }
    }
  }
  CHECK(reachable > 300);
}

TEST_CASE("the earliest arrival is that of the domain that is due soonest for its distance") {
  lockstep::test::Random32 random(4);
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    RandomSystem system(seed);
    const NetworkBase* const late = system.networks[5].get();
    RankChannels channels(system.engine, system.places, 0, kRanksOfSystem, {late});
    for (int round = 0; round < 20; ++round) {
      const Time now = random() % 1000, silent = now + random() % 60;
      std::vector<Time> next;
      for (DomainId d = 0; d < kDomainsOfSystem; ++d)
        next.push_back(random() % 3 == 0 ? kNever : random() % 1500);
      // Silent networks: chains without them at once, chains with them from then on.
      Time expected = kNever;
      for (DomainId d = 0; d < kDomainsOfSystem; ++d) {
        const Time calm = search(system, 0, d, late), any = search(system, 0, d, nullptr);
        const Time due = std::max(next[d], now);
        if (next[d] != kNever && silent > now && calm != kNever) expected = std::min(expected, due + calm);
        if (next[d] != kNever && silent == now && any != kNever) expected = std::min(expected, due + any);
        if (silent > now && any != kNever) expected = std::min(expected, silent + any);
      }
      REQUIRE(channels.earliest_arrival(now, next, silent) == expected);
    }
  }
}

TEST_CASE("ranks' distances join to the smallest, of the same system only") {
  RandomSystem system(7);
  RankChannels first(system.engine, system.places, 0, kRanksOfSystem, {});
  RankChannels::Distances other;
  other.all.assign(kDomainsOfSystem, 2);
  other.calm.assign(kDomainsOfSystem, 3);
  first.join(other);
  // A message under way counts from its arrival, with the distances of all ranks.
  CHECK(first.own().all != other.all);
  other.calm.pop_back();
  CHECK_THROWS_WITH(first.join(other), "not distances of the same domains");
  CHECK_THROWS_WITH(RankChannels(system.engine, {0, 1}, 0, 2, {}), "not this engine's domains");
}

/// Two ranks with a domain each, and a channel either way.
struct Pair {
  Pair() {
    for (int d = 0; d < 2; ++d) engine.add(domain, DomainKind::kOther);
    engine.add(network);
    channels = std::make_unique<RankChannels>(engine, std::vector<Rank>{0, 1}, 0, 2,
                                              std::vector<const NetworkBase*>{});
  }
  Engine engine{EngineOptions{}};
  Elsewhere domain;
  Network<std::uint64_t> network{"pair", {0, 1}, {0, 1}, 10};
  std::unique_ptr<RankChannels> channels;
};

TEST_CASE("a parcel that is cut short anywhere, or names what is not there, is refused") {
  Pair sender;
  std::vector<Time> next(2, kNever);
  sender.network.send(0, 1, 50, 0x1234);
  sender.network.flip(std::vector<DomainId>{0}, 40, next);
  sender.channels->take_out(next);
  const std::string parcel = sender.channels->hand_over()[1];
  for (std::size_t bytes = 0; bytes <= parcel.size(); ++bytes) {
    Pair receiver;
    next.assign(2, kNever);
    const std::string part = parcel.substr(0, bytes);
    if (bytes == 0 || bytes == parcel.size()) {
      CHECK_NOTHROW(receiver.channels->take_in(part, 40, next));
      CHECK((next[1] == 40) == (bytes > 0));
    } else {
      CHECK_THROWS_AS(receiver.channels->take_in(part, 40, next), std::logic_error);
    }
  }
  // Network, destination, source and size come first, each a word of four bytes.
  for (const std::size_t field : {0u, 4u, 8u, 12u})
    for (const char wrong : {'\x02', '\x7f', '\xff'}) {
      Pair receiver;
      std::string bad = parcel;
      bad[field] = wrong;
      CAPTURE(field, wrong);
      CHECK_THROWS_AS(receiver.channels->take_in(bad, 40, next), std::logic_error);
    }
}

}  // namespace
}  // namespace lockstep::sim
