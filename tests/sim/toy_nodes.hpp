// Toy domains that mix all they see, and when, into a hash: two runs with the same hashes are the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/engine.hpp"
#include "sim/inbox.hpp"

namespace lockstep::sim::test {

inline constexpr Cycle kLatency = 16;
inline constexpr std::uint32_t kNodes = 12;

struct Ping {
  std::uint64_t value = 0;
};

/// Does something at times of its own and on every message, mixes all it sees into a hash, and sends on.
class Node final : public Domain {
 public:
  /// Sends on `network` to the first `peers` nodes, and hears it and `other`.
  Node(std::uint32_t index, Network<Ping>& network, Cycle latency, std::uint64_t budget,
       std::uint32_t peers = kNodes, Network<Ping>* other = nullptr)
      : index_(index),
        network_(network),
        other_(other),
        latency_(latency),
        budget_(budget),
        peers_(peers),
        inbox_(4 * std::max(latency, kLatency)) {
    next_ = index;
  }
  Cycle advance(Cycle from, Cycle to) override {
    inbox_.gather(network_, index_, from);
    if (other_) inbox_.gather(*other_, index_, from);
    for (Cycle t = std::min(next_, inbox_.next_arrival()); t < to;
         t = std::min(next_, inbox_.next_arrival())) {
      inbox_.drain(t, [&](std::uint32_t source, const Ping& ping) { mix(t, source, ping.value); });
      if (next_ == t) act(t);
    }
    return std::min(next_, inbox_.next_arrival());
  }
  void settle(Cycle) override {}
  void dump(std::string& out) const override { out += "node"; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  template <class A>
  void persist(A& a) {
    a(inbox_, budget_, next_, hash_);
  }
  void allow_late() { inbox_.allow_late(true); }
  bool throws = false;

 private:
  void mix(Cycle t, std::uint32_t source, std::uint64_t value) {
    hash_ = (hash_ ^ (t * 0x9e3779b97f4a7c15 + source * 31 + value)) * 0xbf58476d1ce4e5b9;
    hash_ ^= hash_ >> 29;
    if (next_ == kNever && budget_ > 0) next_ = t + 1 + hash_ % 7;  // a message may wake it up for good
  }
  void act(Cycle t) {
    if (throws && t > 100) throw std::runtime_error("node " + std::to_string(index_));
    mix(t, index_, 1);
    next_ = kNever;
    if (budget_ == 0) return;
    --budget_;
    network_.send(index_, static_cast<std::uint32_t>(hash_ % peers_), t + latency_, {hash_});
    next_ = t + 1 + (hash_ >> 8) % (hash_ % 5 == 0 ? 200 : 9);
  }

  std::uint32_t index_;
  Network<Ping>& network_;
  Network<Ping>* other_;
  Cycle latency_;
  std::uint64_t budget_;
  std::uint32_t peers_;
  Inbox<Ping> inbox_;
  Cycle next_ = 0;
  std::uint64_t hash_ = 1;
};

struct Recorder final : Controller {
  Cycle cut_every = 0, stop_at = kNever, ended = 0;
  std::vector<Cycle> cuts;
  bool stopped = false, exhausted_called = false;
  Cycle boundary(Cycle now) override {
    stopped = now >= stop_at;
    ended = now;
    if (cut_every == 0) return stop_at > now ? stop_at : kNever;
    if (now % cut_every == 0 && (cuts.empty() || cuts.back() != now)) cuts.push_back(now);
    return std::min(now / cut_every * cut_every + cut_every, stop_at > now ? stop_at : kNever);
  }
  bool stop() const override { return stopped; }
  void exhausted(Cycle now) override {
    exhausted_called = true;
    ended = now;
  }
};

/// kNodes nodes, of which each sends to all, on one engine. Unless `declared` is 0, the network declares that
/// latency, and windows may be of any length.
class ToyMachine {
 public:
  explicit ToyMachine(const EngineOptions& options, Time declared = kLatency, std::uint64_t budget = 400)
      : engine(options), network("ping", all_ids(), all_ids(), declared) {
    for (std::uint32_t i = 0; i < kNodes; ++i) {
      nodes.push_back(std::make_unique<Node>(i, network, kLatency, budget));
      engine.add(*nodes.back(), DomainKind::kOther);
    }
    engine.add(network);
  }
  [[nodiscard]] static std::vector<DomainId> all_ids() {
    std::vector<DomainId> ids(kNodes);
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
  }
  [[nodiscard]] std::vector<std::uint64_t> hashes() const {
    std::vector<std::uint64_t> all;
    for (const auto& node : nodes) all.push_back(node->hash());
    return all;
  }
  template <class A>
  void persist(A& a) {
    for (const auto& node : nodes) a(*node);
    a(engine, network);
  }
  Engine engine;
  Network<Ping> network;
  std::vector<std::unique_ptr<Node>> nodes;
};

}  // namespace lockstep::sim::test
