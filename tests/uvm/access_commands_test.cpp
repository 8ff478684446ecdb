// Copies and fills by the device, and the host's accesses that leave pages where they are.
#include <catch2/catch.hpp>
#include <cmath>

#include "rig.hpp"

namespace lockstep::uvm {
namespace {

TEST_CASE("a fill by the device brings its pages and makes them dirty; a copy that reads them does not") {
  for (const auto kind : {ManagedCommand::Kind::kDeviceWrite, ManagedCommand::Kind::kDeviceRead}) {
    Rig rig(smart(), 4 << 20, kMany, 1);
    const auto fill = rig.order_at(2, kind, 16, 16);
    REQUIRE(rig.run());
    CHECK(rig.completed.at(fill) == 2 + 1 + kT64);
    const Counters& c = rig.gmmu.counters();
    CHECK(rig.resident() == 16);
    CHECK(c.device_accessed_pages == 16);
    CHECK(c.user_prefetched_pages == 0);
    CHECK(c.prefetched_pages == 0);
    CHECK(rig.tree(0).dirty.count() == (kind == ManagedCommand::Kind::kDeviceWrite ? 16u : 0u));
    const auto again = rig.order_at(rig.now + 1, kind, 16, 16);  // all of it is there
    REQUIRE(rig.run());
    CHECK(rig.completed.at(again) == rig.now);
    CHECK(rig.gmmu.counters().transfers == 1);
  }
}

TEST_CASE("the driver serves one fault of the copy engine in each 2 MB with absent pages") {
  const Parameters p;
  Rig rig(p, 4 << 20, kMany, 1);
  const auto fill = rig.order_at(2, ManagedCommand::Kind::kDeviceWrite, 0, 1024);
  REQUIRE(rig.run());
  const Cycle service = cycles(4000 + 12800 + 17000 + 2048 * 53500 / 1000);
  const Cycle transfer = cycles(720 + 2048 * 84);  // um_affine: 0.72 + 0.084 us per KB
  const Cycle expected = 2 * (service + transfer + 1);
  CHECK(rig.completed.at(fill) - 2 >= expected - 8);
  CHECK(rig.completed.at(fill) - 2 <= expected + 8);
  CHECK(rig.gmmu.counters().faults == 0);
}

TEST_CASE("a fill of more than there is memory for ends, and of what leaves waits for it") {
  for (const bool driver : {false, true}) {
    Rig rig(driver ? Parameters{} : smart(), 4 << 20, 5, 1);
    rig.order_at(2, ManagedCommand::Kind::kDeviceWrite, 0, 64);
    rig.order_at(3, ManagedCommand::Kind::kHostRead, 0, 64);
    rig.order_at(4, ManagedCommand::Kind::kDeviceRead, 0, 64);
    REQUIRE(rig.run());
    CHECK(rig.completed.size() == 3);
    CHECK(rig.resident() <= 5);
    CHECK(rig.gmmu.counters().device_accessed_pages == 128);
  }
}

TEST_CASE("pages that prefer the host stay there when the device copies them") {
  Rig rig(Parameters{}, 2 << 20, kMany, 1);
  rig.order_at(2, ManagedCommand::Kind::kAdvise, 0, 8, Advice::kSetPreferredLocation, true);
  rig.order_at(3, ManagedCommand::Kind::kDeviceRead, 0, 16);
  REQUIRE(rig.run());
  CHECK(rig.resident() == 8);
}

TEST_CASE("the host's access leaves pages on the device: always, where advice says so, or never") {
  struct Case {
    HostAccess access;
    Advice advice;
    bool host;
    bool stays;
  };
  for (const Case& c : {Case{HostAccess::kMigrate, Advice::kSetAccessedBy, true, false},
                        Case{HostAccess::kAdvised, Advice::kNone, true, false},
                        Case{HostAccess::kAdvised, Advice::kSetAccessedBy, false, false},
                        Case{HostAccess::kAdvised, Advice::kSetAccessedBy, true, true},
                        Case{HostAccess::kAdvised, Advice::kSetPreferredLocation, false, true},
                        Case{HostAccess::kRemote, Advice::kNone, true, true}}) {
    Parameters p;
    p.host_access = c.access;
    Rig rig(p, 2 << 20, kMany, 1);
    rig.order_at(2, ManagedCommand::Kind::kAdvise, 0, 16, c.advice, c.host);
    rig.order_at(3, ManagedCommand::Kind::kPrefetch, 0, 16);
    REQUIRE(rig.run());
    REQUIRE(rig.resident() == 16);
    rig.order_at(rig.now + 1, ManagedCommand::Kind::kHostWrite, 0, 16);
    REQUIRE(rig.run());
    const Counters& now = rig.gmmu.counters();
    CHECK(rig.resident() == (c.stays ? 16u : 0u));
    CHECK(now.host_remote_pages == (c.stays ? 16u : 0u));
    CHECK(now.host_faults == (c.stays ? 0u : 1u));
    CHECK(now.bytes_to_host == (c.stays ? 0u : 65536u));
    if (c.stays) CHECK(rig.tree(0).dirty.count() == 16);  // the only copy is the device's
  }
}

TEST_CASE("the host's remote access takes its packets' time: one round trip, then the wire") {
  for (const auto kind : {ManagedCommand::Kind::kHostRead, ManagedCommand::Kind::kHostWrite}) {
    Parameters p;
    p.link = 0;  // arctan: 2 MB take 242080 cycles in each direction
    p.host_access = HostAccess::kRemote;
    Rig rig(p, 2 << 20, kMany, 1);
    rig.order_at(2, ManagedCommand::Kind::kPrefetch, 0, 512);
    REQUIRE(rig.run());
    const Cycle start = rig.now + 1;
    const auto access = rig.order_at(start, kind, 0, 512);
    REQUIRE(rig.run());
    // Lines of 64 B with a header of 18 B.
    const auto wire = static_cast<Cycle>(std::ceil(kT2048 * (64 + 18) / 64.0));
    const bool read = kind == ManagedCommand::Kind::kHostRead;
    CHECK(rig.completed.at(access) - start == wire + (read ? cycles(1000) : 0));
    CHECK(rig.gmmu.counters().host_remote_bytes == 32768u * (64 + 18 + (read ? 18 : 0)));
  }
}

TEST_CASE("the host's packets hold a migration up") {
  const auto end = [](bool access) {
    Parameters p = smart();
    p.host_access = HostAccess::kRemote;
    Rig rig(p, 4 << 20, kMany, 1);
    rig.order_at(2, ManagedCommand::Kind::kPrefetch, 512, 16);
    REQUIRE(rig.run());
    const Cycle start = rig.now + 1;
    const auto fault = rig.at(start, 3);
    if (access) rig.order_at(start + 200, ManagedCommand::Kind::kHostWrite, 512, 16);
    REQUIRE(rig.run());
    return rig.answered[fault] - start;
  };
  const auto wire = static_cast<Cycle>(std::ceil(kT2048 / 32.0 * (64 + 18) / 64.0));  // 64 KB
  CHECK(end(true) == end(false) + wire);
}

}  // namespace
}  // namespace lockstep::uvm
