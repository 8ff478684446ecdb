// Domains of different clocks on one engine, and an engine that is driven from outside.
#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <vector>

#include "sim/engine.hpp"
#include "sim/inbox.hpp"

namespace lockstep::sim {
namespace {

struct Token {
  std::uint64_t value = 0;
};

constexpr Cycle kHop = 20;  // cycles of the sender's clock

/// What a node does at an edge of its clock with what has arrived: mixes it, and sometimes sends on.
class Mixer {
 public:
  Mixer(std::uint32_t index, std::uint32_t nodes) : index_(index), nodes_(nodes), next_(index) {}

  void receive(Cycle t, std::uint32_t source, std::uint64_t value) {
    hash_ = (hash_ ^ (t * 0x9e3779b97f4a7c15 + source * 31 + value)) * 0xbf58476d1ce4e5b9;
    hash_ ^= hash_ >> 29;
  }
  /// send(destination, value) for each message of edge t.
  template <class Send>
  void act(Cycle t, Send&& send) {
    if (t != next_) return;
    receive(t, index_, 1);
    send(static_cast<std::uint32_t>(hash_ % nodes_), hash_);
    next_ = t + 1 + (hash_ >> 8) % 13;
  }
  [[nodiscard]] Cycle next() const { return next_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  std::uint32_t index_, nodes_;
  Cycle next_;
  std::uint64_t hash_ = 1;
};

class ClockedNode final : public Domain {
 public:
  ClockedNode(std::uint32_t index, const std::vector<std::uint64_t>& khz, Network<Token>& network)
      : index_(index),
        network_(network),
        mixer_(index, static_cast<std::uint32_t>(khz.size())),
        inbox_(4096) {
    for (const std::uint64_t receiver : khz) to_receiver_.emplace_back(khz[index], receiver);
  }
  Cycle advance(Cycle from, Cycle to) override {
    inbox_.gather(network_, index_, from);
    for (Cycle t = due(); t < to; t = due()) {
      inbox_.drain(t,
                   [&](std::uint32_t source, const Token& token) { mixer_.receive(t, source, token.value); });
      mixer_.act(t, [&](std::uint32_t destination, std::uint64_t value) {
        network_.send(index_, destination, to_receiver_[destination].ceil(t + kHop), {value});
      });
    }
    return due();
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
  [[nodiscard]] std::uint64_t hash() const { return mixer_.hash(); }

 private:
  [[nodiscard]] Cycle due() const { return std::min(mixer_.next(), inbox_.next_arrival()); }

  std::uint32_t index_;
  Network<Token>& network_;
  std::vector<ClockRatio> to_receiver_;
  Mixer mixer_;
  Inbox<Token> inbox_;
};

/// Stops at a time.
struct Until final : Controller {
  explicit Until(Time t) : end(t) {}
  Time boundary(Time now) override {
    stopped = now >= end;
    return end > now ? end : kNever;
  }
  bool stop() const override { return stopped; }
  void exhausted(Time) override {}
  Time end;
  bool stopped = false;
};

const std::vector<std::uint64_t> kClocks = {1'380'000, 1'410'000, 1'755'000, 1'380'000, 877'500};
constexpr std::uint64_t kRunNs = 20'000;

/// Edge by edge of all clocks in the order of their times, which are compared as fractions.
std::vector<std::uint64_t> reference() {
  struct Message {
    std::uint32_t source, destination;
    std::uint64_t edge, value;
  };
  const auto n = static_cast<std::uint32_t>(kClocks.size());
  std::vector<Mixer> nodes;
  std::vector<Cycle> edge(n, 0);
  for (std::uint32_t i = 0; i < n; ++i) nodes.emplace_back(i, n);
  std::vector<Message> under_way;
  for (;;) {
    std::uint32_t first = 0;
    for (std::uint32_t i = 1; i < n; ++i)
      if (static_cast<Wide>(edge[i]) * kClocks[first] < static_cast<Wide>(edge[first]) * kClocks[i])
        first = i;
    const Cycle t = edge[first]++;
    if (t * 1'000'000 >= kRunNs * kClocks[first]) break;  // every other clock is as far
    for (std::uint32_t source = 0; source < n; ++source)
      for (const Message& m : under_way)
        if (m.destination == first && m.edge == t && m.source == source)
          nodes[first].receive(t, source, m.value);
    std::erase_if(under_way, [&](const Message& m) { return m.destination == first && m.edge == t; });
    nodes[first].act(t, [&](std::uint32_t to, std::uint64_t value) {
      const Wide numerator = static_cast<Wide>(t + kHop) * kClocks[to];
      const auto arrival = static_cast<std::uint64_t>((numerator + kClocks[first] - 1) / kClocks[first]);
      under_way.push_back({first, to, arrival, value});
    });
  }
  std::vector<std::uint64_t> hashes;
  for (const Mixer& node : nodes) hashes.push_back(node.hash());
  return hashes;
}

struct Machine {
  explicit Machine(const EngineOptions& options) : engine(options) {
    const std::uint64_t base = time_base_khz(kClocks);
    const auto n = static_cast<std::uint32_t>(kClocks.size());
    const DomainId first = engine.claim(n);
    std::vector<DomainId> ids;
    Time latency = kNever;
    for (std::uint32_t i = 0; i < n; ++i) {
      ids.push_back(first + i);
      latency = std::min<Time>(latency, kHop * base / kClocks[i]);
    }
    network = std::make_unique<Network<Token>>("token", ids, ids, latency);
    for (std::uint32_t i = 0; i < n; ++i) {
      nodes.push_back(std::make_unique<ClockedNode>(i, kClocks, *network));
      engine.place(first + i, *nodes.back(), DomainKind::kOther, {base, kClocks[i]});
    }
    engine.add(*network);
    end = kRunNs * base / 1'000'000;
  }
  [[nodiscard]] std::vector<std::uint64_t> hashes() const {
    std::vector<std::uint64_t> all;
    for (const auto& node : nodes) all.push_back(node->hash());
    return all;
  }
  Engine engine;
  std::unique_ptr<Network<Token>> network;
  std::vector<std::unique_ptr<ClockedNode>> nodes;
  Time end = 0;
};

TEST_CASE("the time base is the least common multiple, or a picosecond") {
  const auto base = [](std::initializer_list<std::uint64_t> khz) {
    const std::vector<std::uint64_t> clocks(khz);
    return time_base_khz(clocks);
  };
  CHECK(base({1'380'000}) == 1'380'000);
  CHECK(base({1'380'000, 1'380'000}) == 1'380'000);
  CHECK(base({1'380'000, 1'410'000}) == 64'860'000);
  CHECK(base({1'380'001, 1'410'007}) == 1'000'000'000);
}

TEST_CASE("domains of different clocks do what they do edge by edge, in every window, order and schedule") {
  const auto expected = reference();
  for (const unsigned threads : {1u, 2u, 3u})
    for (const Time window : {1u, 100u, 1'000'000u})
      for (const bool skip : {true, false})
        for (const int shuffle : {-1, 3}) {
          EngineOptions options{.threads = threads, .dynamic = threads != 3, .window = window, .skip = skip};
          if (window == 1 && (!skip || threads > 1)) continue;  // half a million windows
          if (shuffle >= 0) options.shuffle = static_cast<std::uint64_t>(shuffle);
          Machine machine(options);
          Until until(machine.end);
          machine.engine.run(until);
          CAPTURE(threads, window, skip, shuffle);
          CHECK(machine.hashes() == expected);
        }
}

TEST_CASE("an engine that is advanced piece by piece gets to the same state") {
  const auto expected = reference();
  for (const unsigned threads : {1u, 2u}) {
    Machine machine({.threads = threads, .window = 1'000'000});
    Until until(kNever);
    std::mt19937 random(7);
    while (machine.engine.now() < machine.end) {
      const Time piece = std::min<Time>(machine.end, machine.engine.now() + 1 + random() % 40'000);
      machine.engine.advance_to(piece, until);
      REQUIRE(machine.engine.now() == piece);
    }
    CHECK(machine.hashes() == expected);
  }
}

TEST_CASE("a claimed id needs its domain, and only one") {
  Machine machine({.window = 10});
  (void)machine.engine.claim(1);
  Until until(10);
  CHECK_THROWS_AS(machine.engine.run(until), std::logic_error);
  CHECK_THROWS_AS(machine.engine.place(0, *machine.nodes[0], DomainKind::kOther), std::logic_error);
}

}  // namespace
}  // namespace lockstep::sim
