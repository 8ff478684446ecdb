// What SMs of a cluster do to each other's shared memory: times against sums of hops, passes over the banks
// and transfers; everything that is sent has its effect once.
#include "core/cluster_unit.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "icnt/fabric.hpp"
#include "mem/address_map.hpp"
#include "tests/persisted.hpp"
#include "trace/mbarrier_words.hpp"

namespace lockstep::core {
namespace {

using ClusterKind = icnt::ClusterMessage::Kind;
using trace::OpClass;
constexpr std::uint32_t kMembers = 4;  // SMs, each with the CTA of the same rank in slot 0
constexpr Cycle kSmHop = 80, kSharedLatency = 23;
constexpr std::uint32_t kPortBytes = 16;

config::GpuConfig unit_config() {
  config::GpuConfig c;
  c.gpu.sms = kMembers;
  c.gpu.gpcs = 1;
  c.l2.partitions = 1;
  c.l2.slices_per_partition = 1;
  c.clock.core_khz = c.clock.icnt_khz = c.clock.l2_khz = 1'000'000;
  c.launch.max_kernels = 2;
  c.l1.shared_latency = kSharedLatency;
  c.cluster.latency = kSharedLatency + 2 * kSmHop;
  c.cluster.port_bytes = kPortBytes;
  c.cluster.barrier_latency = 190;
  return c;
}

/// Address of a byte of the CTA with that rank.
Address of_rank(std::uint32_t rank, Address offset) { return (Address{rank} + 1) << 24 | offset; }

/// An event of an SM, or news for its CTA.
struct UnitEvent {
  Cycle time = 0;
  std::uint32_t sm = 0, handle = 0;
  friend bool operator==(const UnitEvent&, const UnitEvent&) = default;
};
struct UnitNews {
  Cycle time = 0;
  std::uint32_t sm = 0;
  icnt::ClusterMessage message;
};

class ClusterBench {
 public:
  explicit ClusterBench(config::GpuConfig config, bool skip = false)
      : config_(std::move(config)), latencies(config_), fabric_(config_), map_(config_), skip_(skip) {
    for (std::uint32_t sm = 0; sm < kMembers; ++sm) {
      sms_.push_back(std::make_unique<Sm>(config_, fabric_, map_, sm, latencies));
      sms_[sm]->unit = make_unit(sm);
      icnt::ClusterPlace place;
      place.number = 5;
      place.ranks = kMembers;
      place.rank = static_cast<std::uint8_t>(sm);
      for (std::uint32_t rank = 0; rank < kMembers; ++rank)
        place.sms[rank] = static_cast<std::uint16_t>(rank);
      sms_[sm]->unit->join(0, 1, place);
    }
    for (sim::DomainId d = 0; d <= fabric_.numbering().dispatcher(); ++d) domains_.push_back(d);
    wake_.resize(domains_.size());
  }

  /// An access of the CTA of SM `sm`: lane l has lanes[l]. Whether the unit has taken it.
  bool access(std::uint32_t sm, OpClass op_class, const std::vector<Address>& lanes, std::uint32_t handle = 0,
              unsigned bytes = 4) {
    std::array<Address, kWarpSize> each{};
    std::copy(lanes.begin(), lanes.end(), each.begin());
    MioOperation op;
    op.handle = handle;
    op.kernel = 1;
    op.op_class = op_class;
    op.space = trace::MemSpace::kShared;
    op.access_bytes = static_cast<std::uint8_t>(bytes);
    op.ranks = true;
    op.mask = static_cast<LaneMask>((std::uint64_t{1} << lanes.size()) - 1);
    auto& words = words_.emplace_back();
    op.form = trace::pack_addresses(op.mask, each.data(), words);
    op.words = words.data();
    sms_[sm]->due = now;
    return sms_[sm]->unit->access(now, op, sms_[sm]->data_free);
  }
  void copy(std::uint32_t sm, std::uint32_t targets, std::uint32_t bytes, std::uint32_t mbarrier,
            std::uint32_t arrivals, std::uint32_t handle = 0) {
    MioOperation op;
    op.handle = handle;
    op.kernel = 1;
    op.mask = 3;
    op.form = trace::AddressForm::kList;
    words_.push_back({trace::signal_word(mbarrier, targets), std::uint64_t{bytes} << 32 | arrivals});
    op.words = words_.back().data();
    sms_[sm]->due = now;
    sms_[sm]->unit->copy(op);
  }
  /// The cycle `now`, and on to the next one.
  void cycle() {
    for (std::uint32_t i = 0; i < kMembers; ++i) {
      Sm& sm = *sms_[i];
      if (fabric_.cluster->has_mail(i)) sm.due = now;
      sm.unit->gather(now);
      if (skip_ && sm.due > now) continue;
      ++visits;
      sm.unit->receive(now, sm.data_free);
      sm.unit->send(now, sm.data_free);
      sm.results.deliver(now);
      for (const MioEvent& e : sm.results.events()) events.push_back({now, i, e.handle});
      for (const icnt::ClusterMessage& m : sm.unit->news()) news.push_back({now, i, m});
      sm.results.begin_cycle();
      sm.unit->clear_news();
      sm.due = std::min(sm.results.next_due(), sm.unit->next_event(now));
    }
    fabric_.cluster->flip(domains_, now + 1, wake_);
    ++now;
  }
  void run_until(Cycle end) {
    while (now < end) cycle();
  }
  void replace_units() {
    for (std::uint32_t i = 0; i < kMembers; ++i) {
      auto fresh = make_unit(i);
      lockstep::test::restore(*sms_[i]->unit, *fresh);
      sms_[i]->unit = std::move(fresh);
    }
  }
  [[nodiscard]] bool idle() const {
    return std::all_of(sms_.begin(), sms_.end(), [](const auto& sm) { return sm->unit->idle(); });
  }
  ClusterUnit& unit(std::uint32_t sm) {
    sms_[sm]->due = now;
    return *sms_[sm]->unit;
  }
  [[nodiscard]] unsigned wavefronts(std::uint32_t sm) const { return sms_[sm]->unit->wavefronts(); }
  Cycle& data_free(std::uint32_t sm) { return sms_[sm]->data_free; }
  [[nodiscard]] const stats::SmCounters& counters(std::uint32_t sm) const { return sms_[sm]->counters[1]; }
  LsuPort& crossbar(std::uint32_t sm) { return sms_[sm]->port; }
  icnt::Fabric& fabric() { return fabric_; }
  void flip_replies() { fabric_.reply->flip(domains_, now, wake_); }

 private:
  config::GpuConfig config_;

 public:
  LsuLatencies latencies;
  Cycle now = 0;
  std::vector<UnitEvent> events;
  std::vector<UnitNews> news;
  std::uint64_t visits = 0;

 private:
  struct Sm {
    Sm(const config::GpuConfig& config, icnt::Fabric& fabric, const mem::AddressMap& map, std::uint32_t sm,
       const LsuLatencies& latencies)
        : port(config, fabric, map, sm), results(16, latencies), counters(config.launch.max_kernels) {}
    LsuPort port;
    LsuResults results;
    std::vector<stats::SmCounters> counters;
    std::unique_ptr<ClusterUnit> unit;
    Cycle data_free = 0, due = 0;
  };
  std::unique_ptr<ClusterUnit> make_unit(std::uint32_t sm) {
    return std::make_unique<ClusterUnit>(config_, fabric_, sm, latencies, sms_[sm]->port, sms_[sm]->results,
                                         sms_[sm]->counters);
  }

  icnt::Fabric fabric_;
  mem::AddressMap map_;
  bool skip_;
  std::vector<std::unique_ptr<Sm>> sms_;
  std::deque<std::vector<std::uint64_t>> words_;
  std::vector<sim::DomainId> domains_;
  std::vector<Time> wake_;
};

/// `count` lanes `stride` bytes apart.
std::vector<Address> lanes_at(std::uint32_t rank, unsigned count, Address stride, Address first = 0) {
  std::vector<Address> lanes;
  for (unsigned l = 0; l < count; ++l) lanes.push_back(of_rank(rank, first + stride * l));
  return lanes;
}

/// Of a load of a sector that nothing delays, from when it leaves its queue.
Cycle load_time(const ClusterBench& bench) { return kSharedLatency + 2 * kSmHop - bench.latencies.residence; }

TEST_CASE("cluster unit: a load of another SM's memory takes cluster.latency, an odd one too") {
  for (const Cycle odd : {0u, 1u}) {
    auto config = unit_config();
    config.cluster.latency += static_cast<std::uint32_t>(odd);
    ClusterBench bench(config);
    bench.run_until(10);
    REQUIRE(bench.access(2, OpClass::kLoad, lanes_at(1, 8, 4), 33));
    bench.run_until(1000);
    CHECK(bench.events == std::vector<UnitEvent>{{10 + load_time(bench) + odd, 2, 33}});
    CHECK(bench.counters(2).shared_instructions == 1);
    CHECK(bench.counters(2).shared_wavefronts == 0);
    CHECK(bench.counters(1).shared_wavefronts == 1);
    CHECK(bench.idle());
  }
}

TEST_CASE("cluster unit: passes over the other SM's banks and data beyond a sector come on top") {
  struct Case {
    unsigned lanes;
    Address stride;
    Cycle passes, sectors;
  };
  // Consecutive words; words of one bank, each in a sector of its own; every second word; one word for all.
  for (const Case& c :
       {Case{32, 4, 1, 4}, {32, 128, 32, 32}, {16, 128, 16, 16}, {32, 8, 2, 8}, {32, 0, 1, 1}}) {
    CAPTURE(c.lanes, c.stride);
    ClusterBench bench(unit_config());
    REQUIRE(bench.access(0, OpClass::kLoad, lanes_at(3, c.lanes, c.stride)));
    bench.run_until(2000);
    const Cycle transfer = (c.sectors - 1) * (kSectorBytes / kPortBytes);
    CHECK(bench.events == std::vector<UnitEvent>{{load_time(bench) + c.passes - 1 + transfer, 0, 0}});
    CHECK(bench.counters(3).shared_wavefronts == c.passes);
  }
}

TEST_CASE("cluster unit: an access of the CTA's own memory alone is left to the shared memory") {
  ClusterBench bench(unit_config());
  CHECK_FALSE(bench.access(2, OpClass::kLoad, lanes_at(2, 32, 4)));
  CHECK_FALSE(bench.access(2, OpClass::kStore, {4, 8, of_rank(2, 12)}));  // below 2^24: its own
  CHECK(bench.counters(2).shared_instructions == 0);
  CHECK(bench.data_free(2) == 0);
  CHECK(bench.idle());
}

TEST_CASE("cluster unit: a load from several SMs has its result with the last reply") {
  ClusterBench bench(unit_config());
  bench.data_free(3) = 200;  // its banks are taken until then
  std::vector<Address> lanes = lanes_at(1, 4, 4);
  for (const Address a : lanes_at(3, 4, 4)) lanes.push_back(a);
  for (const Address a : lanes_at(0, 3, 128)) lanes.push_back(a);  // three passes over its own
  REQUIRE(bench.access(0, OpClass::kAtomic, lanes, 4));
  CHECK(bench.data_free(0) == 3);
  CHECK(bench.wavefronts(0) == 5);
  bench.run_until(1000);
  // At 80 the request is at SM 3, which begins at 200.
  CHECK(bench.events == std::vector<UnitEvent>{{load_time(bench) + 120, 0, 4}});
  CHECK(bench.counters(0).shared_wavefronts == 3);
  CHECK(bench.counters(1).shared_wavefronts == 1);
  CHECK(bench.counters(3).shared_wavefronts == 1);
}

TEST_CASE("cluster unit: accesses of several SMs to one are served one after another") {
  ClusterBench bench(unit_config());
  for (std::uint32_t sm = 1; sm < kMembers; ++sm)
    REQUIRE(bench.access(sm, OpClass::kLoad, lanes_at(0, 10, 128), sm));
  bench.run_until(1000);
  REQUIRE(bench.events.size() == 3);
  // Ten passes each; ten sectors leave 18 cycles behind the first one, at 20 cycles per reply.
  const Cycle transfer = 9 * (kSectorBytes / kPortBytes);
  for (std::uint32_t i = 0; i < 3; ++i)
    CHECK(bench.events[i] == UnitEvent{load_time(bench) + 9 + 20 * i + transfer, i + 1, i + 1});
  CHECK(bench.counters(0).shared_wavefronts == 30);
  CHECK(bench.data_free(0) == kSmHop + 30);
}

TEST_CASE("cluster unit: a store is done at once, but the next one waits until its data have left") {
  ClusterBench bench(unit_config());
  bench.run_until(5);
  REQUIRE(bench.access(1, OpClass::kStore, lanes_at(2, 32, 4), 9));
  CHECK(bench.unit(1).holds_stores());
  bench.cycle();
  CHECK(bench.events == std::vector<UnitEvent>{{5, 1, 9}});
  CHECK_FALSE(bench.unit(1).holds_stores());  // the port was free
  REQUIRE(bench.access(1, OpClass::kStore, lanes_at(2, 8, 4), 10));
  bench.run_until(5 + 128 / kPortBytes);
  CHECK(bench.unit(1).holds_stores());
  bench.cycle();
  CHECK_FALSE(bench.unit(1).holds_stores());
  bench.run_until(1000);
  CHECK(bench.counters(2).shared_wavefronts == 2);
  // 128 bytes are there 6 cycles after their first sector, and occupy the port for 8.
  CHECK(bench.data_free(2) == 5 + kSmHop + 6 + 8 + 1);
  CHECK(bench.events.size() == 2);
  CHECK(bench.idle());
}

TEST_CASE("cluster unit: stores that signal bring their events with the data, in other CTAs and its own") {
  ClusterBench bench(unit_config());
  const Address mbarrier = Address{7} << 32;
  std::vector<Address> lanes;
  for (unsigned l = 0; l < 12; ++l) lanes.push_back(of_rank(l < 5 ? 3 : 0, 4 * l) | mbarrier);
  REQUIRE(bench.access(0, OpClass::kStore, lanes));
  bench.run_until(500);
  REQUIRE(bench.news.size() == 2);
  CHECK(bench.news[0].time == 0);
  CHECK(bench.news[0].sm == 0);
  CHECK(bench.news[0].message.mbarrier == 7);
  CHECK(bench.news[0].message.events == 7);
  CHECK(bench.news[1].time == kSmHop);
  CHECK(bench.news[1].sm == 3);
  CHECK(bench.news[1].message.mbarrier == 7);
  CHECK(bench.news[1].message.events == 5);
  CHECK(bench.news[1].message.kernel == 1);
  CHECK(bench.news[1].message.cluster == 5);
  CHECK(bench.news[1].message.to == 3);
}

TEST_CASE(
    "cluster unit: a copy goes line by line at the port's rate, and its events come with the last one") {
  for (const std::uint32_t bytes : {16u, 128u, 144u, 1024u, 4096u}) {
    CAPTURE(bytes);
    ClusterBench bench(unit_config());
    bench.copy(0, 0b1010, bytes, 3, 17, 6);  // to ranks 1 and 3
    bench.run_until(4000);
    const Cycle lines = (bytes + 127) / 128, last = bytes - (lines - 1) * 128;
    // Both targets get each line from the one port, from cycle 1 on without a gap.
    const auto cycles = [](Cycle size) { return (size + kPortBytes - 1) / kPortBytes; };
    REQUIRE(bench.news.size() == 2);
    Cycle left = 1;  // the last line, towards the first target
    left += (lines - 1) * 2 * cycles(128);
    for (unsigned i = 0; i < 2; ++i, left += cycles(last)) {
      const std::uint32_t sm = 1 + 2 * i;
      Cycle taken = left + kSmHop + std::max(cycles(last), cycles(32)) - cycles(32);
      // The line before it, 16 cycles earlier or less, occupies the receiver's port.
      const Cycle before = 1 + ((lines - 2) * 2 + i) * cycles(128) + kSmHop + cycles(128) - cycles(32);
      if (lines > 1) taken = std::max(taken, before + cycles(128));
      CHECK(bench.news[i].time == taken);
      CHECK(bench.news[i].sm == sm);
      CHECK(bench.news[i].message.mbarrier == 3);
      CHECK(bench.news[i].message.events == 17);
      CHECK(bench.counters(sm).shared_wavefronts == lines);
    }
    REQUIRE(bench.events.size() == 1);  // the source has been read
    CHECK(bench.events[0].handle == 6);
    CHECK(bench.events[0].time <= bench.news[0].time - kSmHop);
    CHECK(bench.counters(2).shared_wavefronts == 0);
    CHECK(bench.idle());
  }
}

TEST_CASE("cluster unit: arrivals at the barrier go to all other CTAs and count after its latency") {
  ClusterBench bench(unit_config());
  bench.run_until(20);
  bench.unit(2).broadcast(bench.now, 0, ClusterKind::kBarrier, 41);
  bench.run_until(1000);
  REQUIRE(bench.news.size() == 3);
  std::set<std::uint32_t> sms;
  for (const UnitNews& n : bench.news) {
    sms.insert(n.sm);
    CHECK(n.time == 20 + 190);
    CHECK(n.message.kind == ClusterKind::kBarrier);
    CHECK(n.message.from == 2);
    CHECK(n.message.to == n.sm);
    CHECK(n.message.events == 41);
  }
  CHECK(sms == std::set<std::uint32_t>{0, 1, 3});
}

TEST_CASE("cluster unit: what a multicast brings another SM occupies its way from the crossbar") {
  const auto reply_taken = [](std::uint32_t filled) {
    auto config = unit_config();
    config.icnt.sm_in_bytes = 64;
    ClusterBench bench(config);
    bench.unit(0).signal(bench.now, 0, 1, 9, 2, filled);
    bench.run_until(kSmHop + 1);
    CHECK(bench.news.size() == 1);
    // A reply that comes just then.
    bench.fabric().reply->send(0, 1, bench.now, {0, 0, icnt::AccessKind::kStore, 0xf, 0});
    bench.flip_replies();
    bench.crossbar(1).gather(bench.now);
    for (Cycle t = bench.now;; ++t) {
      bool taken = false;
      bench.crossbar(1).receive(t, [&](const icnt::Reply&) { taken = true; });
      if (taken) return t - kSmHop;
      if (t > 2000) return kNever;
    }
  };
  CHECK(reply_taken(0) == 1);
  CHECK(reply_taken(64) == 1);
  CHECK(reply_taken(65) == 2);
  CHECK(reply_taken(1024) == 16);
}

/// Random accesses, copies, signals and barriers of all SMs, with what each has to lead to.
class ClusterTraffic {
 public:
  ClusterTraffic(std::uint32_t seed, bool skip) : bench(unit_config(), skip), random_(seed) {}
  void cycle() {
    for (std::uint32_t sm = 0; sm < kMembers; ++sm) {
      if (random_() % 16 != 0) continue;
      const auto other = static_cast<std::uint32_t>((sm + 1 + random_() % (kMembers - 1)) % kMembers);
      begin(sm, other);
    }
    bench.cycle();
  }
  void check_end() {
    bench.run_until(bench.now + 30'000);
    CHECK(bench.idle());
    std::vector<unsigned> times(handles_);
    for (const UnitEvent& e : bench.events) ++times.at(e.handle);
    CHECK(times == std::vector<unsigned>(handles_, 1));  // each has a result once
    std::map<std::uint32_t, std::uint64_t> events;
    for (const UnitNews& n : bench.news) events[n.sm] += n.message.events;
    CHECK(events == events_);
    for (std::uint32_t sm = 0; sm < kMembers; ++sm)
      CHECK(bench.counters(sm).shared_wavefronts == passes_[sm]);
  }
  ClusterBench bench;

 private:
  void begin(std::uint32_t sm, std::uint32_t other) {
    const auto n = static_cast<std::uint32_t>(1 + random_() % 32);
    switch (random_() % 8) {
      case 0:
        bench.copy(sm, 1u << other, 16 * n, 1, n, handles_++);
        events_[other] += n;
        passes_[other] += (16 * n + 127) / 128;
        return;
      case 1:
        bench.unit(sm).signal(bench.now, 0, other, 2, n, 0);
        events_[other] += n;
        return;
      case 2:
        bench.unit(sm).broadcast(bench.now, 0, ClusterKind::kBarrier, n);
        for (std::uint32_t to = 0; to < kMembers; ++to)
          if (to != sm) events_[to] += n;
        return;
      default: {
        constexpr OpClass kClasses[] = {OpClass::kLoad, OpClass::kStore, OpClass::kAtomic,
                                        OpClass::kReduction};
        const Address stride = Address{4} << random_() % 6;  // words of n lanes, in 128 / stride banks
        REQUIRE(bench.access(sm, kClasses[random_() % 4], lanes_at(other, n, stride), handles_++));
        const auto banks = static_cast<std::uint32_t>(128 / stride);
        passes_[other] += (n + banks - 1) / banks;
      }
    }
  }
  std::mt19937 random_;
  std::uint32_t handles_ = 0;
  std::map<std::uint32_t, std::uint64_t> events_, passes_;
};

TEST_CASE("cluster unit: of random traffic everything has its effect once, whichever cycles are visited") {
  for (std::uint32_t seed = 1; seed < 4; ++seed) {
    ClusterTraffic all(seed, false), due(seed, true);
    for (int i = 0; i < 3000; ++i) {
      all.cycle();
      due.cycle();
    }
    all.check_end();
    due.check_end();
    CHECK(all.bench.events == due.bench.events);
    CHECK(due.bench.visits < all.bench.visits);
  }
}

TEST_CASE("cluster unit: a state restored amid traffic goes on as the one that was kept") {
  ClusterTraffic straight(8, true), restored(8, true);
  for (int i = 0; i < 2000; ++i) {
    straight.cycle();
    restored.cycle();
    if (i % 41 == 0) restored.bench.replace_units();
  }
  restored.check_end();
  straight.check_end();
  CHECK(restored.bench.events == straight.bench.events);
}

}  // namespace
}  // namespace lockstep::core
