// A NIC's operations alone, without the time that links take.
#include "net/operations.hpp"

#include <catch2/catch.hpp>

#include "config/system_config.hpp"
#include "tests/net/port_bench.hpp"

namespace lockstep::test {
namespace {

using OperationKind = trace::NetOperation::Kind;

}  // namespace

TEST_CASE("Operations: a command that has been fetched is under way while the NIC processes it") {
  config::SystemConfig system = config::resolve_system("compnet_8", 2);
  system.network.nic.process_ps = 100'000;
  const net::Clock clock(system.devices.front().clock.core_khz);
  PortBench bench(static_cast<std::uint16_t>(system.nic_of(0)), system.endpoints());
  net::Operations nic(bench.port, system, clock);
  net::QueuePair pair(4, 0, 0);
  pair.command[0].operation.kind = OperationKind::kPut;
  pair.command[0].operation.target = 1;
  nic.ring(0, pair, 0);
  nic.tick(0);
  const auto fetch = bench.sent(0);
  REQUIRE(fetch.size() == 1);
  link::Message reply = fetch[0];
  reply.is_reply = true;
  nic.replied(10, reply);
  const Cycle processed = 10 + clock.cycles(100'000);
  for (Cycle now = 10; now < processed; ++now) {
    nic.tick(now);
    CHECK_FALSE(nic.idle());
    CHECK(nic.next_event(now) == processed);
  }
  CHECK(bench.sent(processed - 1).empty());
  nic.tick(processed);
  CHECK(bench.sent(processed).size() == 1);  // nothing to move: the record
}

}  // namespace lockstep::test
