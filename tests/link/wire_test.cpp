// Wires and switches against closed forms.
#include "link/wire.hpp"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "config/system_config.hpp"
#include "link/framing.hpp"
#include "link/switch.hpp"
#include "support.hpp"

namespace lockstep::link {
namespace {

TEST_CASE("Framing: the configuration's names are those of the models, in their order") {
  REQUIRE(config::link_models().size() == framing_models().size());
  for (std::size_t i = 0; i < framing_models().size(); ++i)
    CHECK(config::link_models()[i] == framing_models()[i]->name);
}

TEST_CASE(
    "The n-th message of a full wire arrives when its last byte has crossed it, for every size and clock") {
  const bool skip = GENERATE(false, true);
  const std::uint64_t bytes_per_second =
      GENERATE(std::uint64_t{25'000'000'000}, std::uint64_t{300'000'000'000}, std::uint64_t{1'000'000'007});
  const std::uint64_t khz = GENERATE(std::uint64_t{1'410'000}, std::uint64_t{1'000'000});
  const std::uint32_t bytes = GENERATE(1u, 16u, 144u, 272u);
  constexpr Cycle kLatency = 300;
  WireBench bench({bytes_per_second, kLatency, khz, khz});
  constexpr std::uint64_t kCount = 200;
  for (std::uint32_t i = 0; i < kCount; ++i) bench.wire.push(0, message(bytes, i));
  bench.run(200'000, skip);
  REQUIRE(bench.arrived.size() == kCount);
  for (std::uint64_t i = 0; i < kCount; ++i) {
    // Seconds to cycles in 128 bits: ceil((i + 1) * bytes * khz * 1000 / bytes_per_second), at least a cycle.
    const auto crossed = static_cast<Cycle>(
        (static_cast<sim::Wide>((i + 1) * bytes) * khz * 1000 + bytes_per_second - 1) / bytes_per_second);
    CHECK(bench.arrived[i].message.access.tag == i);
    CHECK(bench.arrived[i].at == std::max<Cycle>(crossed, 1) + kLatency);
  }
  CHECK(bench.wire.counters().messages == kCount);
  CHECK(bench.wire.counters().bytes == kCount * bytes);
}

TEST_CASE("An arrival is an edge of the receiver's clock") {
  WireBench bench({1'000'000'000, 100, 1'000'000, 1'500'000});  // one byte per cycle
  bench.wire.push(0, message(7));
  bench.run(1000, true);
  REQUIRE(bench.arrived.size() == 1);
  CHECK(bench.arrived[0].at == 161);  // ceil((7 + 100) * 1.5)
}

TEST_CASE("Queues that always wait get equal numbers of messages") {
  const unsigned queues = GENERATE(2u, 3u, 8u);
  WireBench bench({1'000'000'000, 10, 1'000'000, 1'000'000}, queues);
  for (std::uint32_t i = 0; i < 100; ++i)
    for (unsigned q = 0; q < queues; ++q) bench.wire.push(q, message(16, q));
  bench.run(16 * 40 * queues, true);
  std::vector<unsigned> served(queues);
  for (const Arrived& a : bench.arrived) ++served[a.message.access.tag];
  for (const unsigned count : served) CHECK((count == 39 || count == 40));
}

TEST_CASE(
    "Framing: copies share headers, stores have more of them, answers without data are acknowledgements") {
  const Framing framing(kPackets, {256, 16, 32, 1});
  using Kind = icnt::AccessKind;
  CHECK(framing.request(Kind::kLoad, 0xf) == 16);
  CHECK(framing.reply(Kind::kLoad, 0x3) == 16 + 64);
  CHECK(framing.request(Kind::kStore, 0xf) == 16 + 32 + 128);
  CHECK(framing.reply(Kind::kStore, 0xf) == 1);
  CHECK(framing.request(Kind::kCopy, 0xf) == 128 + 8);  // half of a packet of 256 bytes
  CHECK(framing.request(Kind::kCopyRead, 0xf) == 8);    // likewise what asks for a line of a copy
  CHECK(framing.reply(Kind::kCopyRead, 0xf) == 128 + 8);
  CHECK(framing.request(Kind::kAtomic, 0x1) == 16 + 32 + 32);
  CHECK(framing.reply(Kind::kAtomic, 0x1) == 16 + 32);
}

TEST_CASE("Framing: models, by the bytes of a line's load, store and copy") {
  using Kind = icnt::AccessKind;
  const FramingBytes of{256, 22, 6, 1, 16};
  const Framing flits(kFlits, of), ideal(kIdeal, of);
  // Whole flits of 16 bytes: 22 -> 32, 22 + 128 -> 160, 22 + 6 + 32 -> 64, 1 -> 16, 128 + 11 -> 144.
  CHECK(flits.request(Kind::kLoad, 0xf) == 32);
  CHECK(flits.reply(Kind::kLoad, 0xf) == 160);
  CHECK(flits.request(Kind::kStore, 0x1) == 64);
  CHECK(flits.reply(Kind::kStore, 0x1) == 16);
  CHECK(flits.request(Kind::kCopy, 0xf) == 144);
  CHECK(ideal.request(Kind::kLoad, 0xf) == 1);
  CHECK(ideal.reply(Kind::kLoad, 0xf) == 128);
  CHECK(ideal.request(Kind::kStore, 0x3) == 64);
  CHECK(ideal.reply(Kind::kStore, 0x3) == 1);
  for (unsigned sectors = 0; sectors < 16; ++sectors)
    for (const Kind kind : {Kind::kLoad, Kind::kStore, Kind::kCopy, Kind::kAtomic}) {
      const auto mask = static_cast<SectorMask>(sectors);
      const Framing packets(kPackets, of);
      CHECK(flits.request(kind, mask) % 16 == 0);
      CHECK(flits.request(kind, mask) - packets.request(kind, mask) < 16);
      CHECK(ideal.reply(kind, mask) <= packets.reply(kind, mask));
    }
}

TEST_CASE("No message of a line is larger than the configuration allows for, and one is as large") {
  using Kind = icnt::AccessKind;
  for (std::uint32_t model = 0; model < framing_models().size(); ++model)
    for (const FramingBytes& of : {FramingBytes{256, 16, 32, 1, 16}, FramingBytes{32, 22, 6, 1, 24},
                                   FramingBytes{64, 8, 0, 200, 16}}) {
      config::LinkKind kind;
      kind.packet_bytes = of.packet;
      kind.header_bytes = of.header;
      kind.store_bytes = of.store;
      kind.ack_bytes = of.ack;
      kind.flit_bytes = of.flit;
      kind.model = model;
      const Framing framing(*framing_models()[model], of);
      std::uint32_t most = 0;
      for (const Kind k : {Kind::kLoad, Kind::kStore, Kind::kCopy, Kind::kCopyRead, Kind::kAtomic})
        most = std::max({most, framing.request(k, 0xf), framing.reply(k, 0xf)});
      CHECK(most <= largest_message(kind));
      if (config::link_models()[model] != "ideal") CHECK(most == largest_message(kind));
    }
}

TEST_CASE(
    "A multicast load goes to every device, and the reply comes sector by sector when all have replied") {
  constexpr Cycle kLatency = 50;
  // Devices 0 to 2 at a switch (node 3): wires 0 to 2 lead to it, 3 to 5 from it.
  Network network("link", {0, 1, 2, 3, 3, 3}, {0, 1, 2, 3}, kLatency);
  const WireSpec spec{1'000'000'000, kLatency, 1'000'000, 1'000'000};
  std::vector<Wire> devices, out;
  for (std::uint32_t d = 0; d < 3; ++d) devices.emplace_back(network, d, 3, 2, spec);
  for (std::uint32_t d = 0; d < 3; ++d) out.emplace_back(network, 3 + d, d, 6, spec);
  Switch hub({{{&network, 3}}}, 4096, std::move(out), {0, 1, 2},
             std::vector<Framing>(3, Framing(kPackets, {256, 16, 32, 1})));
  std::vector<Time> next(4);
  std::vector<sim::DomainId> all{0, 1, 2, 3};
  std::vector<std::vector<Message>> arrived(3);
  Cycle now = 0;
  const auto run = [&] {
    for (const Cycle end = now + 1000; now < end; now += 20) {
      for (Wire& wire : devices)
        for (Cycle t = now; t < now + 20; ++t) wire.tick(t);
      (void)hub.advance(now, now + 20);
      for (std::uint32_t d = 0; d < 3; ++d)
        network.collect(d, [&](std::uint32_t, Cycle, const Message& m) { arrived[d].push_back(m); });
      network.flip(all, now + 20, next);
    }
  };
  Message request = message(16, 77);
  request.access.kind = icnt::AccessKind::kLoad;
  request.access.sectors = 0xf;
  request.from = 1;
  request.targets = 0b111;
  devices[1].push(0, request);
  run();
  for (const auto& messages : arrived) {
    REQUIRE(messages.size() == 1);
    CHECK((messages[0].bytes == 16 && messages[0].targets != 0 && !messages[0].is_reply));
  }
  CHECK_FALSE(hub.quiescent());
  const auto answer = [&](std::uint16_t from, SectorMask sectors) {
    Message m = arrived[from].front();
    m.is_reply = true;
    m.from = from;
    m.access.sectors = sectors;
    devices[from].push(1, m);
    run();
  };
  answer(0, 0xf);
  answer(1, 0x3);
  answer(2, 0x1);
  REQUIRE(arrived[1].size() == 2);  // the first sector has come from all
  CHECK((arrived[1][1].access.sectors == 0x1 && arrived[1][1].access.tag == 77 && arrived[1][1].is_reply));
  CHECK((arrived[1][1].bytes == 16 + 32 && arrived[1][1].targets == 0));
  answer(1, 0xc);
  answer(2, 0xe);
  REQUIRE(arrived[1].size() == 3);
  CHECK(arrived[1][2].access.sectors == 0xe);
  CHECK((arrived[0].size() == 1 && arrived[2].size() == 1));
  CHECK(hub.quiescent());
}

TEST_CASE("A switch shares a full wire equally between those who send over it") {
  constexpr Cycle kLatency = 50;
  constexpr std::uint32_t kSources = 3, kMessages = 60;
  // Wires 0 to 2 lead from devices to the switch (node 4), wire 3 from it to device 3.
  Network network("link", {0, 1, 2, 4}, {0, 1, 2, 3, 4}, kLatency);
  const WireSpec spec{1'000'000'000, kLatency, 1'000'000, 1'000'000};
  std::vector<Wire> devices, out;
  for (std::uint32_t d = 0; d < kSources; ++d) devices.emplace_back(network, d, 4, 2, spec);
  out.emplace_back(network, 3, 3, 4, spec);
  Switch hub({{{&network, 4}}}, 4096, std::move(out), {0, 0, 0, 0});
  for (std::uint32_t d = 0; d < kSources; ++d)
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      Message m = message(20, d);
      m.to = 3;
      devices[d].push(0, m);
    }
  std::vector<Time> next(5);
  std::vector<sim::DomainId> all(5);
  std::iota(all.begin(), all.end(), 0);
  std::vector<Arrived> arrived;
  for (Cycle now = 0; now < 5000; now += 20) {  // windows of 20 cycles, below the latency
    for (Wire& wire : devices)
      for (Cycle t = now; t < now + 20; ++t) wire.tick(t);
    (void)hub.advance(now, now + 20);
    network.collect(3, [&](std::uint32_t, Cycle at, const Message& m) { arrived.push_back({at, m}); });
    network.flip(all, now + 20, next);
  }
  REQUIRE(arrived.size() == kSources * kMessages);
  CHECK(hub.quiescent());
  // Each 20 bytes, one byte per cycle: the first crosses the first wire, waits for nothing, and crosses the
  // second.
  CHECK(arrived.front().at == 20 + kLatency + 20 + kLatency);
  CHECK(arrived.back().at == 20 + kLatency + kSources * kMessages * 20 + kLatency);
  for (std::size_t i = 0; i + kSources <= arrived.size(); i += kSources) {
    std::vector<bool> seen(kSources);
    for (std::size_t k = i; k < i + kSources; ++k) seen[arrived[k].message.access.tag] = true;
    CHECK(std::find(seen.begin(), seen.end(), false) == seen.end());
  }
}

}  // namespace
}  // namespace lockstep::link
