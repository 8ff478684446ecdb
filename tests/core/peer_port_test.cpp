// A device's port to the others, between an SM, slices that are played, and another device that is played:
// times against sums of channels and bytes, and what comes out against what went in.
#include "core/peer_port.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/lsu_port.hpp"
#include "fakes.hpp"
#include "tests/persisted.hpp"

namespace lockstep::core {
namespace {

using icnt::AccessKind;
constexpr Address kHere = 0x100000000, kThere = 0x200000000, kNowhere = 0x300000000, kUnlinked = 0x400000000;
constexpr Cycle kCross = 30, kWireLatency = 300, kMemoryTime = 20, kCommand = 40, kDone = 50;
constexpr std::uint64_t kWireBytes = 16;  // per cycle
constexpr std::uint8_t kOfOthers = 8;     // the slot of other devices' requests

config::GpuConfig port_config() {
  config::GpuConfig c = lockstep::test::small_gpu(1, 1);
  c.gpu.sms_per_tpc = 1;
  c.icnt.request_latency = c.icnt.reply_latency = kCross;
  c.icnt.sm_out_bytes = c.icnt.sm_in_bytes = c.icnt.slice_in_bytes = c.icnt.slice_out_bytes = 32;
  return c;
}

/// The other device: replies to each request after some time, and sends what it is told to.
class OtherDevice final : public sim::Domain {
 public:
  explicit OtherDevice(link::Network& network) : network_(&network), inbox_(8192) {}
  Cycle advance(Cycle from, Cycle to) override {
    inbox_.gather(*network_, 1, from);
    for (Cycle now = from; now < to; ++now) {
      inbox_.drain(now, [&](std::uint32_t, const link::Message& m) { receive(now, m); });
      for (; !to_send.empty() && to_send.begin()->first == now; to_send.erase(to_send.begin()))
        network_->send(1, 0, now + kWireLatency, to_send.begin()->second);
    }
    return std::max(to, std::min(inbox_.next_arrival(), to_send.empty() ? kNever : to_send.begin()->first));
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
  struct Got {
    Cycle time;
    link::Message message;
  };
  std::vector<Got> got;
  std::multimap<Cycle, link::Message> to_send;
  Cycle service = 100;  // from a request to its reply

 private:
  void receive(Cycle now, const link::Message& m) {
    got.push_back({now, m});
    if (m.is_reply) return;
    link::Message reply;
    reply.from = 1;
    reply.is_reply = true;
    reply.access.line = m.access.line;
    reply.access.kind = m.access.kind;
    reply.access.tag = m.access.tag;
    reply.access.sectors = m.access.sectors;
    to_send.emplace(std::max(now + service, now + 1), reply);
  }
  link::Network* network_;
  sim::Inbox<link::Message> inbox_;
};

/// The SM's port, with requests to be sent in order.
class PeerSm final : public sim::Domain {
 public:
  PeerSm(const config::GpuConfig& config, icnt::Fabric& fabric, const mem::AddressMap& map)
      : port_(config, fabric, map, 0) {}
  Cycle advance(Cycle from, Cycle to) override {
    port_.gather(from);
    for (Cycle now = from; now < to; ++now) {
      for (; !to_send.empty() && to_send.front().first <= now && !port_.full(); to_send.pop_front())
        port_.send(now, to_send.front().second);
      port_.receive(now, [&](const icnt::Reply& r) { got.emplace_back(now, r); });
      port_.tick(now);
    }
    return to_send.empty() && port_.idle() && port_.credits_missing() == 0 ? kNever : to;
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
  std::deque<std::pair<Cycle, icnt::Request>> to_send;
  std::vector<std::pair<Cycle, icnt::Reply>> got;

 private:
  LsuPort port_;
};

class CopyingHost final : public sim::Domain {
 public:
  explicit CopyingHost(icnt::Fabric& fabric) : fabric_(&fabric), inbox_(4096) {}
  Cycle advance(Cycle from, Cycle to) override {
    inbox_.gather(*fabric_->copy_done, 0, from);
    for (Cycle now = from; now < to; ++now) {
      inbox_.drain(now, [&](std::uint32_t, const icnt::CopyDone& d) { done.emplace_back(now, d); });
      for (; !commands.empty() && commands.begin()->first == now; commands.erase(commands.begin()))
        fabric_->copy_command->send(0, 1, now + kCommand, commands.begin()->second);
    }
    return std::max(to, std::min(inbox_.next_arrival(), commands.empty() ? kNever : commands.begin()->first));
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
  std::multimap<Cycle, icnt::CopyCommand> commands;
  std::vector<std::pair<Cycle, icnt::CopyDone>> done;

 private:
  icnt::Fabric* fabric_;
  sim::Inbox<icnt::CopyDone> inbox_;
};

/// Stands in the engine for a port that may be replaced.
struct PortPlace final : sim::Domain {
  std::unique_ptr<PeerPort> port;
  Cycle advance(Cycle from, Cycle to) override { return port->advance(from, to); }
  void settle(Cycle at) override { port->settle(at); }
  void dump(std::string& out) const override { port->dump(out); }
};
struct CopyEnginePlace final : sim::Domain {
  Cycle advance(Cycle, Cycle) override { return kNever; }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
};

struct PortOptions {
  std::uint32_t accesses = 4096, copy_lines = 8192;
  Cycle window = 16;
};

class PeerBench : public sim::Controller {
 public:
  explicit PeerBench(PortOptions options = {})
      : options_(options),
        config_(port_config()),
        fabric_(config_, 0, icnt::numbering_of(config_, 1).domains(), false, 1),
        map_(config_),
        network_("links", {fabric_.numbering().peer_port(), fabric_.numbering().dispatcher() + 1},
                 {fabric_.numbering().peer_port(), fabric_.numbering().dispatcher() + 1}, kWireLatency),
        engine_(lockstep::test::windows_of(options.window)),
        other(network_),
        host(fabric_) {
    apertures_.place(kHere, 1 << 24, 0);
    apertures_.place(kThere, 1 << 24, 1);
    apertures_.place(kUnlinked, 1 << 24, 2);
    apertures_.place(kNowhere, 1 << 24, 40);
    map_.join(apertures_, 0, 1);
    sm = std::make_unique<PeerSm>(config_, fabric_, map_);
    place_.port = make_port();
    engine_.add(*sm, sim::DomainKind::kSm);
    for (std::uint32_t i = 0; i < config_.l2.partitions; ++i) {
      partitions.push_back(std::make_unique<lockstep::test::FakePartition>(config_, fabric_, i, kMemoryTime));
      engine_.add(*partitions[i], sim::DomainKind::kMemory);
    }
    engine_.add(copy_engine_, sim::DomainKind::kOther);
    engine_.add(place_, sim::DomainKind::kOther);
    engine_.add(host, sim::DomainKind::kOther);
    engine_.add(other, sim::DomainKind::kOther);
    fabric_.register_with(engine_);
    engine_.add(network_);
  }
  void run_until(Cycle end = kNever) { engine_.advance_to(end, *this); }
  void replace_port() {
    auto fresh = make_port();
    lockstep::test::restore(*place_.port, *fresh);
    place_.port = std::move(fresh);
  }
  PeerPort& port() { return *place_.port; }
  /// An access of the SM; `tag` comes back.
  void access(Cycle when, AccessKind kind, Address line, SectorMask sectors, std::uint32_t tag,
              std::uint8_t kernel = 0) {
    icnt::Request r;
    r.line = line;
    r.kind = kind;
    r.sectors = sectors;
    r.tag = tag;
    r.kernel = kernel;
    sm->to_send.emplace_back(when, r);
  }
  /// An access of the other device, which leaves it at `when`.
  void access_here(Cycle when, AccessKind kind, Address line, SectorMask sectors, std::uint32_t tag) {
    link::Message m;
    m.from = 1;
    m.access.line = line;
    m.access.kind = kind;
    m.access.sectors = sectors;
    m.access.tag = tag;
    other.to_send.emplace(when, m);
  }
  void copy(Cycle when, std::uint32_t index, Address source, Address destination, std::uint64_t bytes) {
    icnt::CopyCommand c;
    c.index = index;
    c.path = icnt::CopyCommand::Path::kPeer;
    c.source = source;
    c.address = destination;
    c.bytes = bytes;
    host.commands.emplace(when, c);
  }
  [[nodiscard]] std::vector<icnt::Request> seen() const {
    std::vector<icnt::Request> all;
    for (const auto& p : partitions)
      for (const auto& s : p->seen()) all.push_back(s.request);
    return all;
  }
  Cycle boundary(Cycle) override { return kNever; }
  bool stop() const override { return false; }
  void exhausted(Cycle) override {}

 private:
  std::unique_ptr<PeerPort> make_port() {
    PeerWiring wiring;
    wiring.incoming.networks.push_back({&network_, 0});
    wiring.devices = 3;
    wiring.first_nic = 3;
    link::WireSpec wire;
    wire.bytes_per_second = kWireBytes * 1'000'000'000;
    wire.latency = kWireLatency;
    wire.sender_khz = wire.receiver_khz = 1'000'000;
    wiring.wires.emplace_back(network_, 0, 1, 2, wire);
    wiring.framing.emplace_back(link::kIdeal, link::FramingBytes{});
    wiring.wire_to = {PeerWiring::kNoWire, 0, PeerWiring::kNoWire};
    wiring.span = 4096;
    wiring.accesses = options_.accesses;
    wiring.copy_lines = options_.copy_lines;
    return std::make_unique<PeerPort>(config_, fabric_, map_, kOfOthers, std::move(wiring));
  }

  PortOptions options_;
  config::GpuConfig config_;
  icnt::Fabric fabric_;
  mem::Apertures apertures_;
  mem::AddressMap map_;
  link::Network network_;
  sim::Engine engine_;
  PortPlace place_;
  CopyEnginePlace copy_engine_;

 public:
  OtherDevice other;
  CopyingHost host;
  std::unique_ptr<PeerSm> sm;
  std::vector<std::unique_ptr<lockstep::test::FakePartition>> partitions;
};

/// From when a message may leave to its arrival.
constexpr Cycle on_wire(std::uint64_t bytes) { return (bytes + kWireBytes - 1) / kWireBytes + kWireLatency; }

TEST_CASE("peer port: a load of another device's line crosses both crossbars' channels and the link") {
  for (const SectorMask mask : {SectorMask{0b0100}, SectorMask{0b1111}}) {
    PeerBench bench;
    bench.access(10, AccessKind::kLoad, kThere + 0x80, mask, 77, 3);
    bench.run_until();
    REQUIRE(bench.other.got.size() == 1);
    const link::Message& asked = bench.other.got[0].message;
    CHECK(bench.other.got[0].time == 10 + kCross + on_wire(1));
    CHECK(asked.access.line == kThere + 0x80);
    CHECK(asked.access.kind == AccessKind::kLoad);
    CHECK(asked.access.sectors == mask);
    CHECK(asked.from == 0);
    CHECK(asked.to == 1);
    CHECK(asked.bytes == 1);
    REQUIRE(bench.sm->got.size() == 1);
    const Cycle back = bench.other.got[0].time + bench.other.service + kWireLatency;
    // The lane gives 128 bytes per cycle.
    CHECK(bench.sm->got[0].first == back + kCross);
    CHECK(bench.sm->got[0].second.tag == 77);
    CHECK(bench.sm->got[0].second.line == kThere + 0x80);
    CHECK(bench.sm->got[0].second.sectors == mask);
    CHECK(bench.port().quiescent());
    CHECK(bench.seen().empty());  // no slice has to do with it
    stats::KernelCounters counters;
    bench.port().take_counters(3, counters);
    CHECK(counters.icnt.replies == 1);
  }
}

TEST_CASE("peer port: stores take the link's bytes for their data, one after another") {
  PeerBench bench;
  for (std::uint32_t i = 0; i < 20; ++i)
    bench.access(0, AccessKind::kStore, kThere + Address{128} * i, 0xf, i);
  bench.run_until();
  REQUIRE(bench.other.got.size() == 20);
  for (std::uint32_t i = 0; i < 20; ++i) {
    CHECK(bench.other.got[i].message.bytes == 128);
    // 128 bytes at 16 a cycle; the SM's port sends 32 a cycle.
    CHECK(bench.other.got[i].time == 3 + kCross + 8 * i + on_wire(128));
  }
  CHECK(bench.sm->got.size() == 20);
}

TEST_CASE("peer port: what another device asks for goes to its slice, and the reply back with its tag") {
  PeerBench bench;
  bench.access_here(5, AccessKind::kLoad, kHere + 0x1000, 0b0011, 901);
  bench.access_here(400, AccessKind::kStore, kHere + 0x2000, 0b1000, 902);
  bench.access_here(800, AccessKind::kAtomic, kHere + 0x3000, 0b0001, 903);
  bench.run_until();
  const auto seen = bench.seen();
  REQUIRE(seen.size() == 3);
  for (const icnt::Request& r : seen) CHECK(r.kernel == kOfOthers);
  REQUIRE(bench.other.got.size() == 3);
  const std::uint64_t data[] = {64, 1, 32};
  const Cycle sent[] = {5, 400, 800};
  // Two sectors and one are a flit, or two, of 32 bytes from the slice.
  const Cycle flits[] = {2, 1, 1};
  for (unsigned i = 0; i < 3; ++i) {
    const OtherDevice::Got& g = bench.other.got[i];
    CHECK(g.message.is_reply);
    CHECK(g.message.access.tag == 901 + i);
    CHECK(g.message.to == 1);
    CHECK(g.time == sent[i] + kWireLatency + kCross + kMemoryTime + flits[i] - 1 + kCross + on_wire(data[i]));
  }
  CHECK(bench.other.got[0].message.access.sectors == 0b0011);
  stats::KernelCounters counters;
  bench.port().take_counters(kOfOthers, counters);
  CHECK(counters.icnt.requests == 3);
  CHECK(bench.port().quiescent());
}

TEST_CASE("peer port: a copy writes each of its lines once, and ends with the last acknowledgement") {
  for (const std::uint64_t lines : {1u, 7u, 100u}) {
    PeerBench bench;
    bench.copy(20, 6, kHere + 0x4000, kThere + 0x8000, lines * kLineBytes);
    bench.run_until();
    std::set<Address> read, written;
    for (const icnt::Request& r : bench.seen()) {
      CHECK(r.kind == AccessKind::kCopyRead);
      CHECK(read.insert(r.line).second);
    }
    Cycle last = 0;
    for (const OtherDevice::Got& g : bench.other.got) {
      CHECK(g.message.access.kind == AccessKind::kCopy);
      CHECK(g.message.access.sectors == 0xf);
      CHECK(written.insert(g.message.access.line).second);
      last = g.time;
    }
    REQUIRE(read.size() == lines);
    REQUIRE(written.size() == lines);
    CHECK(*read.begin() == kHere + 0x4000);
    CHECK(*written.begin() == kThere + 0x8000);
    CHECK(*written.rbegin() == kThere + 0x8000 + (lines - 1) * kLineBytes);
    REQUIRE(bench.host.done.size() == 1);
    const icnt::CopyDone& done = bench.host.done[0].second;
    CHECK(done.index == 6);
    CHECK(done.start == 20);
    CHECK(done.end == last + bench.other.service + kWireLatency + kDone);
    CHECK(bench.host.done[0].first == done.end);
    // The link's bytes are the bottleneck: 8 cycles per line.
    if (lines == 100) CHECK(double(last - bench.other.got[0].time) == Approx(99 * 8).margin(8));
  }
}

TEST_CASE(
    "peer port: a copy's lines under way and accesses to other devices are limited, each by their own") {
  struct Counter {
    static std::size_t most(const std::vector<OtherDevice::Got>& got, Cycle held) {
      std::size_t most = 0;
      for (const auto& a : got) {
        std::size_t now = 0;
        for (const auto& b : got) now += b.time <= a.time && b.time + held > a.time;
        most = std::max(most, now);
      }
      return most;
    }
  };
  for (const std::uint32_t limit : {1u, 3u, 10u}) {
    PortOptions options;
    options.copy_lines = limit;
    PeerBench copies(options);
    copies.other.service = 2000;
    copies.copy(0, 0, kHere, kThere, 40 * kLineBytes);
    copies.run_until();
    CHECK(copies.other.got.size() == 40);
    CHECK(Counter::most(copies.other.got, copies.other.service + kWireLatency) == limit);
    options = {};
    options.accesses = limit;
    PeerBench loads(options);
    loads.other.service = 2000;
    for (std::uint32_t i = 0; i < 40; ++i)
      loads.access(0, AccessKind::kLoad, kThere + Address{128} * i, 1, i);
    loads.run_until();
    CHECK(loads.sm->got.size() == 40);
    CHECK(Counter::most(loads.other.got, loads.other.service + kWireLatency) == limit);
  }
}

TEST_CASE("peer port: memory without a link, and copies to no device, are errors that name them") {
  PeerBench unlinked;
  unlinked.access(0, AccessKind::kLoad, kUnlinked, 1, 0);
  CHECK_THROWS_WITH(unlinked.run_until(),
                    "device 0 accesses the memory of device 2, and no link leads there");
  PeerBench nowhere;
  nowhere.copy(0, 0, kHere, kNowhere + 0x80, 128);
  CHECK_THROWS_WITH(nowhere.run_until(), "device 0 copies to 0x300000080, which is not a device's memory");
  PeerBench doorbell;
  doorbell.access(0, AccessKind::kStore, kNowhere, 1, 0);
  CHECK_THROWS_WITH(doorbell.run_until(),
                    "a kernel of device 0 accesses 0x300000000, where NICs have their doorbells");
}

TEST_CASE("peer port: a dump counts what is under way both ways") {
  PeerBench bench;
  for (std::uint32_t i = 0; i < 3; ++i) bench.access(0, AccessKind::kLoad, kThere + Address{128} * i, 1, i);
  bench.access_here(0, AccessKind::kLoad, kHere, 1, 5);
  bench.run_until(310);  // the other's request has come and is on its way to the slice
  std::string text;
  bench.port().dump(text);
  CHECK(text == "peer port: 3 accesses to other devices under way, 1 for others\n");
  CHECK_FALSE(bench.port().quiescent());
}

/// Loads, stores and atomics both ways, and copies.
struct PeerTraffic {
  explicit PeerTraffic(PortOptions options, std::uint32_t seed = 5) : bench(options) {
    std::mt19937 random(seed);
    constexpr AccessKind kKinds[] = {AccessKind::kLoad, AccessKind::kStore, AccessKind::kAtomic,
                                     AccessKind::kReduction};
    Cycle when = 0;
    for (std::uint32_t i = 0; i < kAccesses; ++i) {
      when += random() % 12;
      const auto sectors = static_cast<SectorMask>(1 + random() % 15);
      const Address offset = random() % 4096 * kLineBytes;
      bench.access(when, kKinds[random() % 4], kThere + offset, sectors, i,
                   static_cast<std::uint8_t>(random() % 8));
      bench.access_here(when + random() % 50, kKinds[random() % 4], kHere + offset, sectors, i);
      if (i % 50 == 0) bench.copy(when, i, kHere + offset, kThere + offset, (1 + random() % 20) * kLineBytes);
    }
  }
  /// Every tag comes back once, to its side.
  void check() {
    std::vector<unsigned> replies(kAccesses), others(kAccesses);
    for (const auto& one : bench.sm->got) ++replies.at(one.second.tag);
    for (const auto& g : bench.other.got)
      if (g.message.is_reply) ++others.at(g.message.access.tag);
    CHECK(replies == std::vector<unsigned>(kAccesses, 1));
    CHECK(others == std::vector<unsigned>(kAccesses, 1));
    CHECK(bench.host.done.size() == kAccesses / 50);
    CHECK(bench.port().quiescent());
  }
  [[nodiscard]] std::vector<std::pair<Cycle, std::uint32_t>> log() const {
    std::vector<std::pair<Cycle, std::uint32_t>> all;
    for (const auto& one : bench.sm->got) all.emplace_back(one.first, one.second.tag);
    for (const auto& g : bench.other.got) all.emplace_back(g.time, g.message.access.tag);
    for (const auto& one : bench.host.done) all.emplace_back(one.second.end, one.second.index);
    return all;
  }
  static constexpr std::uint32_t kAccesses = 500;
  PeerBench bench;
};

TEST_CASE("peer port: random traffic both ways comes through once, at the same times for every window") {
  PortOptions options;
  options.accesses = 40;
  options.copy_lines = 12;
  PeerTraffic expected(options);
  expected.bench.run_until();
  expected.check();
  for (const Cycle window : {1u, 5u, 30u}) {
    options.window = window;
    PeerTraffic traffic(options);
    traffic.bench.run_until();
    CHECK(traffic.log() == expected.log());
  }
}

TEST_CASE("peer port: a state restored amid traffic goes on as the one that was kept") {
  PeerTraffic straight({}), restored({});
  straight.bench.run_until();
  for (Cycle now = 100; now < 4000; now += 100) {
    restored.bench.run_until(now);
    restored.bench.replace_port();
  }
  restored.bench.run_until();
  restored.check();
  CHECK(restored.log() == straight.log());
}

}  // namespace
}  // namespace lockstep::core
