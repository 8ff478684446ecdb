// The order that PCIe demands of what a node sends to another through a switch: posted writes come in their
// order, and a read does not pass a write before it.
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <vector>

#include "link/endpoint.hpp"
#include "link/switch.hpp"

namespace lockstep::link {
namespace {

constexpr Cycle kLatency = 60, kWindow = 20;
constexpr std::uint32_t kSenders = 3, kReceiver = 3, kHub = 4;

/// Nodes 0 to 2 send to node 3 through a switch that takes less than they send.
class Star {
 public:
  Star() : network_("link", {0, 1, 2, 4}, {0, 1, 2, 3, 4}, kLatency), hub_(make_hub()) {
    for (std::uint16_t n = 0; n < kSenders; ++n) {
      EndpointWiring wiring{&network_, n, {}, {}, {0, 0, 0, 0}, 4096};
      wiring.wires.emplace_back(network_, n, kHub, 2u,
                                WireSpec{8'000'000'000, kLatency, 1'000'000, 1'000'000});
      wiring.framing.emplace_back(kPackets, FramingBytes{24, 8, 256, 16});
      senders.emplace_back(std::move(wiring));
    }
  }
  void run(Cycle end) {
    std::vector<Time> next(5);
    std::vector<sim::DomainId> all(5);
    std::iota(all.begin(), all.end(), 0);
    for (Cycle now = 0; now < end; now += kWindow) {
      for (Endpoint& sender : senders)
        for (Cycle t = now; t < now + kWindow; ++t) sender.tick(t);
      (void)hub_.advance(now, now + kWindow);
      network_.collect(kReceiver, [&](std::uint32_t, Cycle at, const Message& m) {
        if (!arrived.empty()) in_time &= at >= last_;
        last_ = at;
        arrived.push_back(m);
      });
      network_.flip(all, now + kWindow, next);
    }
  }
  std::vector<Endpoint> senders;
  std::vector<Message> arrived;
  bool in_time = true;

 private:
  Switch make_hub() {
    std::vector<Wire> out;
    out.emplace_back(network_, 3, kReceiver, 4u, WireSpec{2'000'000'000, kLatency, 1'000'000, 1'000'000});
    return {network_, kHub, 1 << 16, std::move(out), {0, 0, 0, 0}};
  }
  Network network_;
  Switch hub_;
  Cycle last_ = 0;
};

Message access(icnt::AccessKind kind, std::uint32_t tag, SectorMask sectors, bool answer = false) {
  Message m;
  m.access.kind = kind;
  m.access.tag = tag;
  m.access.sectors = sectors;
  m.is_reply = answer;
  return m;
}

}  // namespace

TEST_CASE("Posted writes come in order, and reads do not pass them, through a switch under load") {
  std::mt19937 random(11);
  Star star;
  constexpr std::uint32_t kMessages = 400;
  std::uint32_t reads = 0;
  for (std::uint32_t i = 0; i < kMessages; ++i)
    for (Endpoint& sender : star.senders) {
      const bool read = random() % 3 == 0;
      reads += read;
      const auto sectors = static_cast<SectorMask>(1 + random() % 15);
      sender.send(kReceiver, access(read ? icnt::AccessKind::kLoad : icnt::AccessKind::kStore, i, sectors));
      if (random() % 4 == 0) sender.send(kReceiver, access(icnt::AccessKind::kLoad, i, sectors, true));
    }
  star.run(600'000);
  REQUIRE(star.in_time);
  CHECK(reads > kMessages / 2);
  std::vector<std::uint32_t> next(kSenders);
  std::uint32_t answers = 0, early = 0;
  for (const Message& m : star.arrived) {
    if (m.is_reply) {
      ++answers;
      early += m.access.tag > next[m.from];  // before requests that were sent before it
      continue;
    }
    CHECK(m.access.tag == next[m.from]++);
  }
  for (const std::uint32_t all : next) CHECK(all == kMessages);
  CHECK(answers > kMessages / 2);
  CHECK(early > 0);  // answers do not wait for requests: nothing locks up
}

}  // namespace lockstep::link
