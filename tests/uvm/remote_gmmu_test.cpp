// Pages that stay on the host, and advice, in the GMMU: closed forms of times, and counts that follow from
// the rules.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "rig.hpp"
#include "support.hpp"

namespace lockstep::uvm {
namespace {

Parameters remote(const RemotePolicy& policy, RemotePath path = RemotePath::kSlot) {
  Parameters p = smart();
  p.remote = index_of(remote_policies(), &policy);
  p.remote_path = path;
  return p;
}
/// A packet both ways with 18 bytes of header each, 32 of data, and 1 us in between; 2 MB take 242080 cycles.
Cycle load_time() {
  const auto wire = [](double bytes) { return bytes * 242080 / (2 << 20); };
  return static_cast<Cycle>(std::ceil(wire(18) + 1481 + wire(18 + 32)));
}

TEST_CASE("remote, slots: below the threshold 200 cycles, then the page comes") {
  Parameters p = remote(kRemoteStatic);
  p.remote_threshold = 3;
  Rig rig(p, 2 << 20, kMany);
  std::vector<Cycle> took;
  for (unsigned i = 0; i < 4; ++i) {
    const Cycle start = rig.now + 10;
    const auto token = rig.at(start + 2, 5 + i % 2);  // two pages of one 64 KB
    REQUIRE(rig.run());
    took.push_back(rig.answered[token] - start);
  }
  CHECK(took == std::vector<Cycle>{303, 303, 103 + kT4, 103 + kT4});
  const Counters& c = rig.gmmu.counters();
  CHECK(c.remote_reads == 2);
  CHECK(c.faults == 2);
  CHECK(c.counted_migrations == 2);
  CHECK(c.bytes_to_device == 8192);
}

TEST_CASE("remote: a store migrates at once, with the hardware's counters it does not") {
  for (const bool hardware : {false, true}) {
    Parameters p = remote(hardware ? kRemoteCounters : kRemoteStatic, RemotePath::kLink);
    Rig rig(p, 2 << 20, kMany);
    rig.at(2, 5, true);
    REQUIRE(rig.run());
    CHECK(rig.gmmu.counters().faults == (hardware ? 0u : 1u));
    CHECK(rig.gmmu.counters().remote_writes == (hardware ? 1u : 0u));
    CHECK(rig.gmmu.counters().remote_bytes_to_host == (hardware ? 50u : 0u));
  }
}

TEST_CASE("remote, oversubscribed: first touch migrates while memory lasts") {
  Parameters p = remote(kRemoteOversubscribed);
  p.evictor = index_of(evictors(), &kLruPage);
  Rig rig(p, 2 << 20, 4);
  for (unsigned page = 0; page < 10; ++page) {
    rig.at(rig.now + 1, page * 16);  // one page of each 64 KB
    REQUIRE(rig.run());
  }
  // Four fit; the fifth migrates and over-subscribes; the others have one access each.
  CHECK(rig.gmmu.counters().faults == 5);
  CHECK(rig.gmmu.counters().remote_reads == 5);
}

TEST_CASE("remote, adaptive: the threshold follows the occupancy") {
  Rig rig(remote(kRemoteAdaptive), 2 << 20, 64);
  // With `used` of 64 pages the threshold is 1 + 8 * used / 64: a second access is needed from the eighth on.
  std::vector<unsigned> accesses;
  for (unsigned leaf = 0; leaf < 17; ++leaf)
    for (unsigned n = 1;; ++n) {
      rig.at(rig.now + 1, leaf * 16);
      REQUIRE(rig.run());
      if (!rig.tree(0).resident.contains(leaf * 16)) continue;
      accesses.push_back(n);
      break;
    }
  std::vector<unsigned> expected;
  for (unsigned used = 0; used < 17; ++used) expected.push_back(1 + 8 * used / 64);
  CHECK(accesses == expected);
}

TEST_CASE("remote, link: a load is told the page is remote, then takes its packets' time") {
  Rig rig(remote(kRemoteStatic, RemotePath::kLink), 2 << 20, kMany);
  const auto token = rig.at(2, 5);
  REQUIRE(rig.run());
  CHECK(rig.mapped[token] == 102);
  CHECK(rig.answered[token] == 103 + load_time());
  CHECK(rig.gmmu.counters().transfers == 0);
  CHECK(rig.gmmu.counters().remote_bytes_to_device == 50);
  CHECK(rig.gmmu.counters().remote_bytes_to_host == 18);
  CHECK(rig.tree(0).remote.contains(5));
}

TEST_CASE("remote, link: the packets of remote loads delay a migration, the sum of both is constant") {
  Parameters p = remote(kRemoteStatic, RemotePath::kLink);
  p.prefetcher = index_of(prefetchers(), &kSequentialPrefetch);
  p.remote_threshold = 1000;
  constexpr unsigned kLoads = 100;
  Rig rig(p, 4 << 20, kMany, kLoads);
  const auto fault = rig.at(2, 0, true);  // a store: 4 KB, then 60 KB
  for (unsigned i = 0; i < kLoads; ++i) rig.at(200, 512 + i, false, i);
  REQUIRE(rig.run());
  const double wire = kLoads * 50.0 * 242080 / (2 << 20);
  CHECK(static_cast<double>(rig.answered[fault]) == Approx(103 + kT4 + wire).margin(2));
  CHECK(static_cast<double>(rig.now) == Approx(103 + kT4 + 8240 + wire).margin(2));
}

TEST_CASE("remote: with the hardware's counters 64 KB move with the notification, in both fault modes") {
  for (const bool driver : {false, true}) {
    Parameters p = driver ? Parameters{} : smart();
    p.remote = index_of(remote_policies(), &kRemoteCounters);
    p.remote_path = RemotePath::kLink;
    p.remote_threshold = 10;
    p.prefetcher = p.prefetcher_oversubscribed = 0;
    Rig rig(p, 2 << 20, kMany, 1);
    for (unsigned i = 0; i < 30; ++i) {
      rig.at(rig.now + 1, 32 + i % 16);
      REQUIRE(rig.run());
    }
    INFO(driver);
    const Counters& c = rig.gmmu.counters();
    CHECK(c.remote_reads + (driver ? 0 : 1) == 10);
    CHECK(rig.tree(0).resident.in_leaf(2) == 16);
    if (driver) CHECK(c.faults == 0);
    if (driver) CHECK(c.counted_migrations == 16);
    CHECK(rig.tree(0).remote.empty());
  }
}

TEST_CASE("advice: read-mostly pages come as copies and leave without one, until they are written") {
  for (const bool driver : {false, true})
    for (const bool write : {false, true}) {
      INFO(driver << write);
      Parameters p = driver ? Parameters{} : smart();
      p.evictor = index_of(evictors(), &kLruPage);
      p.prefetcher = p.prefetcher_oversubscribed = 0;
      p.advise_ns = 0;
      Rig rig(p, 1 << 20, 4);
      rig.order_at(1, ManagedCommand::Kind::kAdvise, 0, 256, Advice::kSetReadMostly);
      for (unsigned page = 0; page < 4; ++page) rig.at(10 + page, page);
      REQUIRE(rig.run());
      CHECK(rig.tree(0).duplicated.count() == 4);
      if (write) rig.at(rig.now + 1, 0, true);
      REQUIRE(rig.run());
      for (unsigned page = 4; page < 8; ++page) rig.at(rig.now + page, page);
      REQUIRE(rig.run());
      const Counters& c = rig.gmmu.counters();
      CHECK(c.duplicated_pages == 8);
      CHECK(c.collapsed_pages == (write ? 1u : 0u));
      CHECK(c.bytes_to_host == (write ? 4096u : 0u));
      CHECK(rig.answered.size() == (write ? 9u : 8u));
    }
}

TEST_CASE("advice: the host reads read-mostly pages and leaves them, writes take them") {
  Parameters p;
  p.prefetcher = 0;
  Rig rig(p, 1 << 20, kMany);
  for (unsigned page = 0; page < 8; ++page) rig.at(2 + page, page, true);
  REQUIRE(rig.run());
  rig.order_at(rig.now + 1, ManagedCommand::Kind::kAdvise, 0, 8, Advice::kSetReadMostly);
  const auto read = rig.order_at(rig.now + 2, ManagedCommand::Kind::kHostRead, 0, 8);
  REQUIRE(rig.run());
  CHECK(rig.completed.contains(read));
  CHECK(rig.gmmu.counters().bytes_to_host == 8 * 4096);
  CHECK(rig.tree(0).resident.count() == 8);
  CHECK(rig.tree(0).duplicated.count() == 8);
  const auto write = rig.order_at(rig.now + 1, ManagedCommand::Kind::kHostWrite, 0, 4);
  REQUIRE(rig.run());
  CHECK(rig.completed.contains(write));
  CHECK(rig.gmmu.counters().bytes_to_host == 8 * 4096);  // the host had them
  CHECK(rig.tree(0).resident == PageSet::range(4, 4));
  CHECK(rig.gmmu.memory().frames().free() == kMany - 256);  // the rest of the 1 MB stays
}

TEST_CASE(
    "advice: pages that prefer the host or are accessed by the device stay; the latter without a fault") {
  for (const bool driver : {false, true})
    for (const Advice advice : {Advice::kSetPreferredLocation, Advice::kSetAccessedBy}) {
      const bool host = advice == Advice::kSetPreferredLocation;
      INFO(driver << host);
      Parameters p = driver ? Parameters{} : smart();
      p.remote_path = RemotePath::kLink;
      Rig rig(p, 2 << 20, kMany);
      rig.order_at(1, ManagedCommand::Kind::kAdvise, 0, 100, advice, host);
      const auto stays = rig.at(20000, 50);
      const auto moves = rig.at(20000, 112);  // of another 64 KB
      REQUIRE(rig.run());
      CHECK(rig.mapped.contains(stays));
      CHECK_FALSE(rig.mapped.contains(moves));
      CHECK(rig.answered.size() == 2);
      const Counters& c = rig.gmmu.counters();
      CHECK(c.remote_reads == 1);
      CHECK((rig.tree(0).resident & PageSet::range(0, 100)).empty());
      CHECK(c.buffer_entries == (!driver ? 0u : host ? 2u : 1u));
      // Without the advice it comes.
      rig.order_at(rig.now + 1, ManagedCommand::Kind::kAdvise, 0, 100,
                   host ? Advice::kUnsetPreferredLocation : Advice::kUnsetAccessedBy);
      rig.at(rig.now + 20000, 50);
      REQUIRE(rig.run());
      CHECK(rig.tree(0).resident.contains(50));
    }
}

TEST_CASE("advice: pages that prefer the device come all with the first (driver)") {
  Parameters p;
  p.prefetcher = 0;
  Rig rig(p, 2 << 20, kMany);
  rig.order_at(1, ManagedCommand::Kind::kAdvise, 64, 300, Advice::kSetPreferredLocation, false);
  rig.at(20000, 70);
  rig.at(20000, 5);
  REQUIRE(rig.run());
  CHECK(rig.tree(0).resident == (PageSet::range(64, 300) | PageSet::range(5, 1)));
}

TEST_CASE("driver: memory is given out in chunks of 2 MB") {
  Parameters p;
  p.prefetcher = p.prefetcher_oversubscribed = 0;
  Rig rig(p, 6 << 20, 1024 + 300);  // two chunks
  for (const unsigned page : {0u, 512u, 1u, 1024u, 513u}) {
    rig.at(rig.now + 1, page);
    REQUIRE(rig.run());
  }
  // The third tree takes the chunk that was filled longest ago: the second's, whatever is resident of it;
  // then the second takes the first's.
  CHECK(rig.gmmu.counters().evictions == 2);
  CHECK(rig.pieces(Event::Kind::kWriteBack) == Pieces{{0, 4}, {0, 8}});
  CHECK(rig.tree(0).resident.empty());
  CHECK(rig.gmmu.memory().frames().free() == 300);
  CHECK(rig.gmmu.counters().peak_resident_pages == 1024);
}

TEST_CASE("driver: a page that goes to and fro is throttled, then pinned on the host") {
  Parameters p;
  p.prefetcher = 0;
  Rig rig(p, 2 << 20, kMany);
  const Cycle us = 1481;
  for (unsigned i = 0; i < 60; ++i) {
    const Cycle start = rig.now + 1;
    rig.at(start, 7, true);
    rig.order_at(start + 60 * us, ManagedCommand::Kind::kHostWrite, 7, 1);
    REQUIRE(rig.run());
  }
  const Counters& c = rig.gmmu.counters();
  CHECK(c.throttled_faults >= 10);
  CHECK(c.pinned_pages == 1);
  CHECK(c.remote_writes > 0);
  CHECK(c.faults + c.remote_writes == 60);
  Parameters off = p;
  off.thrashing = false;
  Rig without(off, 2 << 20, kMany);
  for (unsigned i = 0; i < 60; ++i) {
    const Cycle start = without.now + 1;
    without.at(start, 7, true);
    without.order_at(start + 60 * us, ManagedCommand::Kind::kHostWrite, 7, 1);
    REQUIRE(without.run());
  }
  CHECK(without.gmmu.counters().faults == 60);
  CHECK(without.gmmu.counters().throttled_faults == 0);
}

TEST_CASE("smart runtime: reuse changes the evictor, a random walk also delays migration") {
  for (const bool random : {false, true}) {
    Parameters p = smart();
    p.smart_runtime = true;
    p.prefetcher = index_of(prefetchers(), &kSequentialPrefetch);
    p.prefetcher_oversubscribed = 0;  // not used by it
    Rig rig(p, 4 << 20, 512);
    for (unsigned kernel = 0; kernel < 3; ++kernel) {
      rig.gmmu.kernel_begins();
      for (unsigned leaf = 0; leaf < 40; ++leaf) {
        rig.at(rig.now + 1, (random ? leaf * 7 % 40 : leaf) * 16);
        REQUIRE(rig.run());
      }
    }
    const Counters& c = rig.gmmu.counters();
    CHECK(c.policy_changes == 1);
    CHECK((c.remote_reads > 0) == random);
    if (!random)
      CHECK(c.transfer_sizes[4] == c.faults);  // 60 KB with each fault: the prefetcher has not changed
    CHECK(rig.resident() + rig.gmmu.memory().frames().free() == 512);
  }
}

TEST_CASE("remote and advice: visiting every cycle changes nothing, and all is answered") {
  std::mt19937 random(11);
  for (unsigned round = 0; round < 30; ++round) {
    Parameters p = round % 2 ? smart() : Parameters{};
    p.remote = static_cast<std::uint8_t>(round / 2 % remote_policies().size());
    p.remote_path = round % 3 ? RemotePath::kLink : RemotePath::kSlot;
    p.remote_threshold = 3;
    p.remote_outstanding = 4;
    p.smart_runtime = round % 4 == 1;
    p.evictor = static_cast<std::uint8_t>(round % evictors().size());
    p.prefetcher = static_cast<std::uint8_t>(round % prefetchers().size());
    p.thrashing_lapse_ns = 100000;
    std::vector<std::map<std::uint64_t, Cycle>> seen;
    const auto seed = static_cast<std::uint32_t>(random());
    for (const bool every : {false, true}) {
      Rig rig(p, {3 << 20}, round % 5 ? 100 + round * 10 : 1024, 4, 10000);
      std::mt19937 accesses(seed);
      for (int i = 0; i < 300; ++i) {
        const auto when = accesses() % 20000, page = accesses() % 768, kind = accesses() % 12;
        rig.at(2 + when, page, kind < 4, static_cast<std::uint32_t>(kind % 4));
      }
      for (int i = 0; i < 12; ++i) {
        const auto when = accesses() % 20000, page = accesses() % 700;
        const auto advice = static_cast<Advice>(1 + accesses() % 6);
        rig.order_at(2 + when, ManagedCommand::Kind::kAdvise, page, 60, advice, accesses() % 2 == 0);
        const auto kind = accesses() % 2 ? ManagedCommand::Kind::kHostRead : ManagedCommand::Kind::kHostWrite;
        rig.order_at(2 + when + 100, kind, accesses() % 700, 30);
      }
      INFO(round << " " << every);
      REQUIRE(rig.run(every, 8'000'000));
      CHECK(rig.answered.size() == 300);
      CHECK(rig.completed.size() == 24);
      seen.push_back(rig.answered);
      for (TreeIndex t = 0; t < rig.gmmu.memory().table().size(); ++t) {
        const Tree& tree = rig.gmmu.memory().table()[t];
        CHECK((tree.remote & tree.resident).empty());
        CHECK((tree.duplicated - tree.resident).empty());
      }
    }
    CHECK(seen[0] == seen[1]);
  }
}

}  // namespace
}  // namespace lockstep::uvm
