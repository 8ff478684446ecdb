// Injection and ejection ports: bandwidth, latency, credits and arbitration against closed forms.
#include "icnt/ports.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <random>

namespace lockstep::icnt {
namespace {

struct Packet {
  std::uint32_t id = 0, flits = 1;
};

constexpr Cycle kLatency = 20;

/// Sources and one destination on given clocks, stepped cycle by cycle of a common base (window 1).
struct Bench {
  std::uint64_t source_khz, sink_khz, icnt_khz;
  std::uint32_t count;
  sim::Network<Packet> network;
  sim::Network<Credit> credits;
  std::vector<std::unique_ptr<InjectionPort<Packet>>> ports;
  std::unique_ptr<EjectionPort<Packet>> sink;
  std::vector<sim::DomainId> everyone;
  std::vector<std::pair<Cycle, Packet>> received;  // by sink edge

  static std::vector<sim::DomainId> ids(std::uint32_t n, std::uint32_t from) {
    std::vector<sim::DomainId> v;
    for (std::uint32_t i = 0; i < n; ++i) v.push_back(from + i);
    return v;
  }
  Bench(std::uint32_t sources, std::uint32_t credit_count, std::uint64_t source = 1000,
        std::uint64_t to = 1000, std::uint64_t icnt = 1000)
      : source_khz(source),
        sink_khz(to),
        icnt_khz(icnt),
        count(sources),
        network("packets", ids(sources, 0), ids(1, sources)),
        credits("credits", ids(1, sources), ids(sources, 0)),
        everyone(ids(sources + 1, 0)) {
    for (std::uint32_t s = 0; s < sources; ++s)
      ports.push_back(std::make_unique<InjectionPort<Packet>>(
          network, credits, s,
          InjectionPort<Packet>::Spec{
              {{source, icnt}, {icnt, source}, {icnt, to}, kLatency}, 64, credit_count, 512}));
    sink = std::make_unique<EjectionPort<Packet>>(
        network, credits, 0,
        EjectionPort<Packet>::Spec{
            {to, icnt}, {icnt, to}, {{to, icnt}, {icnt, to}, {icnt, source}, kLatency}, 512});
  }
  /// Base cycles are those of the source clock; the sink's edges in [t, t+1) are done in it.
  void step(Cycle t, bool sink_ready = true) {
    std::vector<Cycle> next(everyone.size());
    const sim::ClockRatio to_sink(source_khz, sink_khz);
    for (auto& p : ports) {
      p->gather(t);
      p->tick(t);
    }
    sink->gather(to_sink.ceil(t));
    for (Cycle k = to_sink.ceil(t); k < to_sink.ceil(t + 1); ++k)
      sink->tick(
          k, sink_ready, [](const Packet& p) { return p.flits; },
          [&](const Packet& p) { received.emplace_back(k, p); });
    network.flip(everyone, t + 1, next);
    credits.flip(everyone, t + 1, next);
  }
};

TEST_CASE("an unloaded message arrives after its latency, its last flit counting") {
  for (const std::uint32_t flits : {1u, 2u, 5u}) {
    Bench b(1, 8);
    for (Cycle t = 0; t < 60; ++t) {
      if (t == 3) b.ports[0]->push(t, 0, flits, {1, flits});
      b.step(t);
    }
    REQUIRE(b.received.size() == 1);
    CHECK(b.received[0].first == 3 + (flits - 1) + kLatency);
    CHECK(b.ports[0]->credits_out() == 0);
    CHECK(b.ports[0]->take_flits() == flits);
  }
}

TEST_CASE("throughput is one flit per cycle, or credits per round trip") {
  for (const std::uint32_t credit_count : {1u, 4u, 10u, 100u}) {
    Bench b(1, credit_count);
    std::uint32_t id = 0;
    constexpr Cycle kCycles = 4000;
    for (Cycle t = 0; t < kCycles; ++t) {
      if (!b.ports[0]->full()) b.ports[0]->push(t, 0, 1, {id++, 1});
      b.step(t);
    }
    // A credit is away for the way there and the way back.
    const double expected = std::min(1.0, credit_count / (2.0 * kLatency));
    CHECK(static_cast<double>(b.received.size()) / kCycles == Approx(expected).epsilon(0.03));
    for (std::uint32_t i = 0; i < b.received.size(); ++i) CHECK(b.received[i].second.id == i);  // in order
  }
}

TEST_CASE("waiting for a credit is counted as stall, waiting for the port is not") {
  Bench b(1, 1);
  b.ports[0]->push(0, 0, 1, {0, 1});
  b.ports[0]->push(0, 0, 1, {1, 1});
  for (Cycle t = 0; t < 200; ++t) b.step(t);
  CHECK(b.ports[0]->take_stall_cycles() == 2 * kLatency - 1);  // port free at 1, credit home at 2 * latency
  Bench c(1, 8);
  for (std::uint32_t i = 0; i < 4; ++i) c.ports[0]->push(0, 0, 3, {i, 3});
  for (Cycle t = 0; t < 200; ++t) c.step(t);
  CHECK(c.ports[0]->take_stall_cycles() == 0);
}

TEST_CASE("contending sources share the ejection port round robin") {
  Bench b(5, 16);
  std::map<std::uint32_t, int> by_source;
  for (Cycle t = 0; t < 3000; ++t) {
    for (std::uint32_t s = 0; s < 5; ++s)
      if (!b.ports[s]->full()) b.ports[s]->push(t, 0, 1, {s, 1});
    b.step(t);
  }
  for (const auto& [edge, p] : b.received) ++by_source[p.id];
  CHECK(b.received.size() == Approx(3000 - kLatency).margin(2));
  for (const auto& [source, n] : by_source)
    CHECK(n == Approx(static_cast<double>(b.received.size()) / 5).margin(2));
  for (std::size_t i = 100; i < b.received.size(); ++i)
    CHECK(b.received[i].second.id == (b.received[i - 1].second.id + 1) % 5);
}

TEST_CASE("with unrelated clocks messages keep latency and bandwidth in icnt cycles") {
  Bench b(1, 64, 1312000, 877000, 1200000);
  const std::uint64_t source = 1312000, to = 877000, icnt = 1200000;
  for (Cycle t = 0; t < 200; ++t) {
    if (t == 7) b.ports[0]->push(t, 0, 2, {0, 2});
    b.step(t);
  }
  REQUIRE(b.received.size() == 1);
  // First icnt edge at or after source edge 7; one more flit; latency; first sink edge at or after that.
  const std::uint64_t inject = (7 * icnt + source - 1) / source;
  const std::uint64_t leave = inject + 1 + kLatency;
  CHECK(b.received[0].first == (leave * to + icnt - 1) / icnt);
}

TEST_CASE("no message is lost or doubled under random load and a receiver that is not always ready") {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    Bench b(4, static_cast<std::uint32_t>(1 + random() % 20));
    std::uint32_t sent = 0;
    for (Cycle t = 0; t < 3000; ++t) {
      if (t < 2000)
        for (auto& p : b.ports)
          if (!p->full() && random() % 3 == 0) {
            const auto flits = static_cast<std::uint32_t>(1 + random() % 5);
            p->push(t, 0, flits, {sent++, flits});
          }
      b.step(t, t >= 2000 || random() % 2 == 0);
    }
    Cycle t = 3000;
    for (; b.received.size() < sent && t < 40000; ++t) b.step(t);
    for (const Cycle end = t + 100; t < end; ++t) b.step(t);  // the last credits
    CHECK(b.received.size() == sent);
    std::vector<bool> seen(sent);
    for (const auto& [edge, p] : b.received) {
      CHECK_FALSE(seen[p.id]);
      seen[p.id] = true;
    }
    for (auto& p : b.ports) CHECK((p->credits_out() == 0 && p->empty()));
    CHECK(b.sink->pending() == 0);
  }
}

}  // namespace
}  // namespace lockstep::icnt
