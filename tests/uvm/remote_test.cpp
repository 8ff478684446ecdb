// When pages stay on the host, and what accesses to them cost: the published thresholds, and closed forms of
// the link.
#include "uvm/remote.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "uvm/access_counters.hpp"
#include "uvm/remote_port.hpp"

namespace lockstep::uvm {
namespace {

TEST_CASE("remote: thresholds of UVMSmart") {
  RemoteContext c;
  c.threshold = 8;
  c.penalty = 2;
  c.capacity = 1000;
  CHECK(kRemoteNever.threshold(c) == 0);
  CHECK(kRemoteStatic.threshold(c) == 8);
  CHECK(kRemoteOversubscribed.threshold(c) == 0);
  for (const auto& [occupied, expected] :
       {std::pair{100u, 1u}, {500u, 5u}, {1000u, 9u}, {124u, 1u}, {125u, 2u}}) {
    c.occupied = occupied;
    CHECK(kRemoteAdaptive.threshold(c) == expected);
  }
  c.oversubscribed = true;
  CHECK(kRemoteOversubscribed.threshold(c) == 8);
  for (const std::uint32_t penalty : {2u, 8u})
    for (const auto& [trips, expected] : {std::pair{0u, 8u}, {1u, 16u}, {3u, 32u}}) {
      c.penalty = penalty;
      c.round_trips = trips;
      CHECK(kRemoteAdaptive.threshold(c) == expected * penalty);
    }
  c.threshold = c.penalty = 0xffffffff;
  CHECK(kRemoteAdaptive.threshold(c) == 0xffffffff);
}

TEST_CASE("remote: the names are unique and those of the registry") {
  REQUIRE(remote_policy_names().size() == remote_policies().size());
  for (std::size_t i = 0; i < remote_policies().size(); ++i) {
    CHECK(remote_policy_names()[i] == remote_policies()[i]->name);
    for (std::size_t j = 0; j < i; ++j) CHECK(remote_policy_names()[i] != remote_policy_names()[j]);
  }
}

TEST_CASE("remote: a full count halves all of them") {
  AccessCounters counters;
  for (std::uint32_t i = 0; i < 10; ++i) counters.accessed(3, 7);
  for (std::uint32_t i = 0; i < AccessCounters::kMaxAccesses; ++i) counters.accessed(1, 0);
  CHECK(counters.accesses(1, 0) == AccessCounters::kMaxAccesses);
  CHECK(counters.accesses(3, 7) == 10);
  counters.accessed(1, 0);
  CHECK(counters.accesses(1, 0) == AccessCounters::kMaxAccesses / 2 + 1);
  CHECK(counters.accesses(3, 7) == 5);
  CHECK(counters.accesses(9, 0) == 0);
  for (unsigned i = 0; i < 9; ++i) counters.round_trip(0, 2);
  for (unsigned i = 0; i < 64; ++i) counters.round_trip(5, 1);
  CHECK(counters.round_trips(5, 0) == 63 / 2 + 1);
  CHECK(counters.round_trips(0, 1) == 4);
  CHECK(counters.round_trips(0, 2) == 0);
}

/// 2 MB in `cycles` both ways.
RemotePortSettings settings(Cycle cycles, Cycle latency, std::uint32_t outstanding = 256) {
  RemotePortSettings s;
  s.tree_cycles[0] = s.tree_cycles[1] = cycles;
  s.latency = latency;
  s.outstanding = outstanding;
  return s;
}

TEST_CASE("remote: one load, store and atomic take header, latency, header and data") {
  constexpr Cycle kTwoBytes = 1 << 20;  // 2 bytes per cycle
  RemoteAccess out;
  RemotePort port(settings(kTwoBytes, 1000));
  port.add(10, {0, 1, 32, false, true});
  CHECK(port.next() == 10 + 9 + 1000 + 25);
  CHECK_FALSE(port.pop(1043, out));
  REQUIRE(port.pop(1044, out));
  CHECK(out.token == 1);
  CHECK(port.taken(Direction::kToHost) == 9);
  CHECK(port.taken(Direction::kToDevice) == 25);
  CHECK(port.taken(Direction::kToDevice) == 0);
  port.add(2000, {0, 2, 64, true, false});
  CHECK(port.next() == 2000 + 41);
  REQUIRE(port.pop(2041, out));
  port.add(3000, {0, 3, 32, true, true});
  CHECK(port.next() == 3000 + 25 + 1000 + 25);
  REQUIRE(port.pop(5000, out));
  CHECK(port.idle());
  CHECK(port.bytes(Direction::kToHost) == 18 + 82 + 50);
  CHECK(port.bytes(Direction::kToDevice) == 50 + 50);
}

/// GiB/s of `bytes` a load on a wire of `wire` GiB/s and a round trip of 1 us, at 1 GHz.
double bandwidth(std::uint32_t bytes, double wire) {
  const auto tree = static_cast<Cycle>(2.0 / 1024 / wire * 1e9);
  RemotePort port(settings(tree, 1000));
  constexpr std::uint64_t kLoads = 20000;
  for (std::uint64_t i = 0; i < kLoads; ++i) port.add(0, {0, i, bytes, false, true});
  RemoteAccess out;
  Cycle end = 0;
  for (std::uint64_t i = 0; i < kLoads; ++i) {
    end = port.next();
    REQUIRE(port.pop(end, out));
    CHECK(out.token == i);
  }
  return static_cast<double>(kLoads * bytes) / (1 << 30) / (static_cast<double>(end) * 1e-9);
}

TEST_CASE("remote: bandwidth is bound by tags or by the wire, as published") {
  // EMOGI (VLDB 2020): 256 requests of 32 bytes in 1.0 us are 7.63 GiB/s, whatever the wire.
  CHECK(bandwidth(32, 400) == Approx(7.63).epsilon(0.02));
  // Headers of 18 bytes: 12.3 % of a packet of 128 bytes.
  CHECK(bandwidth(128, 12.3) == Approx(12.3 * (1 - 0.123)).epsilon(0.02));
}

}  // namespace
}  // namespace lockstep::uvm
