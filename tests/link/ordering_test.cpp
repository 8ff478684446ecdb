// The order that PCIe demands of what a node sends to another: posted writes come in their order, and neither
// a read nor the data of a reply pass a write before it.
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <vector>

#include "link/endpoint.hpp"
#include "link/switch.hpp"

namespace lockstep::link {
namespace {

constexpr Cycle kStarLatency = 60, kWindow = 20;
constexpr std::uint32_t kSenders = 3, kReceiver = 3, kHub = 4;

/// Nodes 0 to 2 send to node 3 through a switch that takes less than they send.
class Star {
 public:
  explicit Star(bool ordered_replies = false)
      : network_("link", {0, 1, 2, 4}, {0, 1, 2, 3, 4}, kStarLatency), hub_(make_hub()) {
    for (std::uint16_t n = 0; n < kSenders; ++n) {
      EndpointWiring wiring{{{{&network_, n}}}, n, {}, {}, {0, 0, 0, 0}, 4096};
      wiring.wires.emplace_back(
          network_, n, kHub, 2u,
          WireSpec{8'000'000'000, kStarLatency, 1'000'000, 1'000'000, {}, nullptr, ordered_replies});
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
    out.emplace_back(network_, 3, kReceiver, 4u, WireSpec{2'000'000'000, kStarLatency, 1'000'000, 1'000'000});
    return {{{{&network_, kHub}}}, 1 << 16, std::move(out), {0, 0, 0, 0}};
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

/// When messages come that are pushed at once on a wire of one byte per cycle: requests, then replies.
std::vector<std::pair<Cycle, Message>> arrivals(const std::vector<Message>& messages, bool ordered,
                                                std::uint64_t credit = 0) {
  Network network("link", {0}, {1}, kStarLatency);
  Wire wire(network, 0, 0, 2u,
            WireSpec{1'000'000'000, kStarLatency, 1'000'000, 1'000'000, {credit, 0}, nullptr, ordered});
  for (const Message& m : messages) wire.push(m.is_reply ? 1 : 0, m);
  std::vector<std::pair<Cycle, Message>> arrived;
  std::vector<Time> next(2);
  for (Cycle now = 0; now < 3000; ++now) {
    wire.tick(now);
    network.flip(std::vector<sim::DomainId>{0}, now + 1, next);
    network.collect(0, [&](std::uint32_t, Cycle at, const Message& m) { arrived.emplace_back(at, m); });
  }
  CHECK(arrived.size() == messages.size());
  return arrived;
}

Message sized(icnt::AccessKind kind, std::uint32_t bytes, bool reply) {
  Message m = access(kind, 0, 1, reply);
  m.set_bytes(bytes);
  return m;
}

}  // namespace

TEST_CASE("A completion waits for the writes before it, an acknowledgement for none, by their bytes") {
  const Message write = sized(icnt::AccessKind::kStore, 40, false),
                read = sized(icnt::AccessKind::kLoad, 24, false),
                data = sized(icnt::AccessKind::kLoad, 50, true),
                ack = sized(icnt::AccessKind::kStore, 2, true);
  const auto when = [](const std::vector<std::pair<Cycle, Message>>& all, const Message& which) {
    for (const auto& [at, m] : all)
      if (m.is_reply && m.bytes == which.bytes) return at - kStarLatency;
    return Cycle{0};
  };
  const std::uint64_t credit = GENERATE(std::uint64_t{0}, std::uint64_t{40});
  const Cycle each = credit == 0 ? 40 : 40 + 2 * kStarLatency;  // a buffer of one write: one a round trip
  for (const unsigned writes : {1u, 2u, 5u}) {
    std::vector<Message> messages(writes, write);
    messages.push_back(data);
    messages.push_back(write);  // it may pass this one
    CHECK(when(arrivals(messages, true, credit), data) == (writes - 1) * each + 40 + 50);
    CHECK(when(arrivals(messages, false, credit), data) == 40 + 50);  // in turn
    messages[writes] = ack;
    CHECK(when(arrivals(messages, true, credit), ack) == 40 + 2);
  }
  CHECK(when(arrivals({read, read, read, data}, true), data) == 24 + 50);  // reads may be passed
}

TEST_CASE("Where replies are ordered none has data that overtake a write, through a switch under load") {
  std::mt19937 random(5);
  Star star(true);
  constexpr std::uint32_t kMessages = 300;
  std::uint32_t replies = 0;
  for (std::uint32_t i = 0; i < kMessages; ++i)  // tags count a sender's writes
    for (Endpoint& sender : star.senders) {
      sender.send(kReceiver, access(icnt::AccessKind::kStore, i, 15));
      if (random() % 2 == 0) sender.send(kReceiver, access(icnt::AccessKind::kLoad, i, 1, true));
    }
  star.run(400'000);
  std::vector<std::uint32_t> next(kSenders);
  for (const Message& m : star.arrived) {
    if (!m.is_reply) {
      CHECK(m.access.tag == next[m.from]++);
    } else {
      CHECK(m.access.tag < next[m.from]);
      ++replies;
    }
  }
  CHECK(replies > kMessages);
}

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
  CHECK(early > 0);  // where the link's kind does not order them, answers do not wait for requests
}

}  // namespace lockstep::link
