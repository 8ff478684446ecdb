// An SM's port to the others of its GPC: arrivals worked out by hand.
#include "core/cluster_port.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

namespace lockstep::core {
namespace {

using Kind = icnt::ClusterMessage::Kind;
constexpr std::uint32_t kPorts = 4;
constexpr Cycle kHop = 80;

/// Hops of 80 cycles, ports of 16 bytes per cycle: a sector takes 2 cycles, a line 8.
config::GpuConfig cluster_config() {
  config::GpuConfig c;
  c.gpu.sms = kPorts;
  c.l1.shared_latency = 23;
  c.cluster.latency = 23 + 2 * kHop;
  c.cluster.port_bytes = 16;
  c.cluster.barrier_latency = 190;
  return c;
}

/// At which cycle, by whom, from whom, with which tag.
using Taken = std::tuple<Cycle, std::uint32_t, std::uint32_t, std::uint32_t>;

/// Four SMs, in windows of one cycle.
class PortBench {
 public:
  explicit PortBench(const config::GpuConfig& config, bool skip = false)
      : network_("cluster", {0, 1, 2, 3}, {0, 1, 2, 3}, config.cluster_hop()), skip_(skip), due_(kPorts) {
    for (std::uint32_t sm = 0; sm < kPorts; ++sm)
      ports_.push_back(std::make_unique<ClusterPort>(config, network_, sm));
  }

  struct Send {
    Cycle when = 0;  // it is queued
    std::uint32_t from = 0, to = 1;
    ClusterPort::Lane lane = ClusterPort::kRequests;
    Kind kind = Kind::kAccess;
    std::uint16_t bytes = 0;
    Cycle later = 0;  // by which it may not leave yet
  };
  /// Tags are the positions in `sends`, which is in order of time.
  std::vector<Taken> run(const std::vector<Send>& sends, Cycle end = 2000) {
    std::vector<Taken> taken;
    std::size_t next = 0;
    for (Cycle now = 0; now < end; ++now) {
      for (std::uint32_t sm = 0; sm < kPorts; ++sm) {
        if (network_.has_mail(sm)) due_[sm] = now;
        ports_[sm]->gather(now);
        if (ports_[sm]->active(now)) due_[sm] = std::min(due_[sm], ports_[sm]->next_event(now - 1));
      }
      for (; next < sends.size() && sends[next].when == now; ++next) queue(sends[next], next);
      for (std::uint32_t sm = 0; sm < kPorts; ++sm) {
        if (skip_ && due_[sm] > now) continue;
        ++visits;
        ports_[sm]->receive(now, [&](std::uint32_t from, const icnt::ClusterMessage& m) {
          taken.emplace_back(now, sm, from, m.tag);
        });
        ports_[sm]->tick(now);
        due_[sm] = ports_[sm]->next_event(now);
      }
      network_.flip(domains_, now + 1, wake_);
    }
    for (const auto& port : ports_) CHECK(port->idle());
    return taken;
  }
  [[nodiscard]] const ClusterPort& port(std::uint32_t sm) const { return *ports_[sm]; }
  std::uint64_t visits = 0;

 private:
  void queue(const Send& s, std::size_t tag) {
    icnt::ClusterMessage message;
    message.kind = s.kind;
    message.bytes = s.bytes;
    message.tag = static_cast<std::uint32_t>(tag);
    ports_[s.from]->send(s.lane, s.when + s.later, s.to, message);
    due_[s.from] = s.when;
  }

  sim::Network<icnt::ClusterMessage> network_;
  std::vector<std::unique_ptr<ClusterPort>> ports_;
  std::vector<sim::DomainId> domains_{0, 1, 2, 3};
  bool skip_;
  std::vector<Cycle> due_;
  std::vector<Time> wake_ = std::vector<Time>(kPorts);
};

std::vector<Taken> arrivals(const std::vector<PortBench::Send>& sends) {
  PortBench bench(cluster_config());
  return bench.run(sends);
}

TEST_CASE("cluster port: messages without data take a hop each, however many there are") {
  std::vector<PortBench::Send> sends;
  for (unsigned i = 0; i < 6; ++i) sends.push_back({10, 0, 1 + i % 3});
  const std::vector<Taken> got = arrivals(sends);
  REQUIRE(got.size() == 6);
  for (const auto& [when, to, from, tag] : got) {
    CHECK(when == 10 + kHop);
    CHECK(to == 1 + tag % 3);
    CHECK(from == 0);
  }
}

TEST_CASE("cluster port: data beyond the first sector come as much later as the port takes for them") {
  for (const auto& [bytes, later] : {std::pair{1, 0}, {32, 0}, {33, 1}, {64, 2}, {128, 6}, {1024, 62}}) {
    const auto size = static_cast<std::uint16_t>(bytes);
    const std::vector<Taken> got = arrivals({{10, 0, 1, ClusterPort::kReplies, Kind::kReply, size}});
    CHECK(got == std::vector<Taken>{{10 + kHop + static_cast<Cycle>(later), 1, 0, 0}});
  }
}

TEST_CASE("cluster port: data leave one at a time, and what has none overtakes them in other lanes only") {
  const auto data = [](ClusterPort::Lane lane, std::uint32_t to) {
    return PortBench::Send{10, 0, to, lane, Kind::kData, 128};
  };
  // Lines leave at 10, 18 and 26; the last sector but one of each is 6 cycles behind the first.
  const std::vector<Taken> got = arrivals({data(ClusterPort::kCopies, 1),
                                           data(ClusterPort::kCopies, 2),
                                           {10, 0, 3, ClusterPort::kCopies},
                                           data(ClusterPort::kReplies, 3),
                                           {10, 0, 1, ClusterPort::kRequests}});
  // In turn: a copy's line may not be followed by the next one while a reply waits. Requests come first.
  const std::vector<Taken> expected{{10 + kHop, 1, 0, 4},
                                    {10 + kHop + 6, 3, 0, 3},  // the replies' lane is before the copies'
                                    {18 + kHop + 6, 1, 0, 0},
                                    {26 + kHop, 3, 0, 2},  // behind the second line in its lane
                                    {26 + kHop + 6, 2, 0, 1}};
  CHECK(got == expected);
}

TEST_CASE("cluster port: three lanes with data take turns") {
  std::vector<PortBench::Send> sends;
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned lane = 0; lane < ClusterPort::kLanes; ++lane)
      sends.push_back({5, 2, 1, static_cast<ClusterPort::Lane>(lane), Kind::kData, 32});
  const std::vector<Taken> got = arrivals(sends);
  REQUIRE(got.size() == 12);
  for (unsigned i = 0; i < 12; ++i) CHECK(got[i] == Taken{5 + 2 * i + kHop, 1, 2, i});
}

TEST_CASE("cluster port: a message that may not leave yet holds up its lane and no other") {
  const std::vector<Taken> got = arrivals({{10, 0, 1, ClusterPort::kReplies, Kind::kReply, 32, 40},
                                           {10, 0, 2, ClusterPort::kReplies, Kind::kReply, 32},
                                           {10, 0, 3, ClusterPort::kCopies, Kind::kData, 32}});
  CHECK(got == std::vector<Taken>{{10 + kHop, 3, 0, 2}, {50 + kHop, 1, 0, 0}, {52 + kHop, 2, 0, 1}});
}

TEST_CASE("cluster port: arrivals at a cluster's barrier count no earlier than its latency") {
  // 190 cycles from the time at which the barrier's message may leave, a hop where that is longer.
  auto config = cluster_config();
  for (const auto& [latency, expected] : {std::pair<std::uint32_t, Cycle>{190, 190}, {30, kHop}}) {
    config.cluster.barrier_latency = latency;
    for (const Kind kind : {Kind::kBarrier, Kind::kGone}) {
      PortBench bench(config);
      CHECK(bench.run({{7, 1, 3, ClusterPort::kRequests, kind}}) ==
            std::vector<Taken>{{7 + expected, 3, 1, 0}});
    }
  }
}

TEST_CASE("cluster port: what comes from several SMs at once is received at the port's rate, in order") {
  std::vector<PortBench::Send> sends;
  for (std::uint32_t from = 0; from < 3; ++from)
    sends.push_back({10, from, 3, ClusterPort::kRequests, Kind::kAccess, 64});
  sends.push_back({12, 0, 3, ClusterPort::kReplies, Kind::kAccess, 0});  // a load: it waits for none of them
  sends.push_back({12, 2, 3, ClusterPort::kReplies, Kind::kSignal, 0});  // a signal keeps its order
  const std::vector<Taken> got = arrivals(sends);
  // 64 bytes arrive two cycles after a sector would, and occupy the port for 4.
  const Cycle first = 10 + kHop + 2;
  const std::vector<Taken> expected{{12 + kHop, 3, 0, 3},
                                    {first, 3, 0, 0},
                                    {first + 4, 3, 1, 1},
                                    {first + 8, 3, 2, 2},
                                    {first + 12, 3, 2, 4}};
  CHECK(got == expected);
}

TEST_CASE("cluster port: an odd rest of the latency is a cycle that comes with the result") {
  auto config = cluster_config();
  CHECK(PortBench(config).port(0).rest() == 0);
  ++config.cluster.latency;
  CHECK(config.cluster_hop() == kHop);
  CHECK(PortBench(config).port(0).rest() == 1);
}

TEST_CASE("cluster port: visits to cycles with something due alone give the same arrivals") {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    std::vector<PortBench::Send> sends;
    for (Cycle now = 0; now < 800; now += random() % 12) {
      const auto from = static_cast<std::uint32_t>(random() % kPorts);
      const auto kind = static_cast<Kind>(random() % 6);
      const bool data =
          kind == Kind::kReply || kind == Kind::kData || (kind == Kind::kAccess && random() % 2);
      sends.push_back({now, from, static_cast<std::uint32_t>((from + 1 + random() % 3) % kPorts),
                       static_cast<ClusterPort::Lane>(random() % ClusterPort::kLanes), kind,
                       static_cast<std::uint16_t>(data ? 32 * (1 + random() % 32) : 0), random() % 30});
    }
    PortBench all(cluster_config()), due(cluster_config(), true);
    const std::vector<Taken> expected = all.run(sends, 12'000);
    CHECK(expected.size() == sends.size());
    CHECK(due.run(sends, 12'000) == expected);
    CHECK(due.visits < all.visits / 4);
  }
}

}  // namespace
}  // namespace lockstep::core
