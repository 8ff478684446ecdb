// Lines that leave the L2 because their page leaves the device, and lines of the host that pass it.
#include <catch2/catch.hpp>

#include "bench.hpp"

namespace lockstep::mem_test {
namespace {

Request of_kind(AccessKind kind, Address line, std::uint32_t tag = 0) {
  Request r = load(line, 0xf, tag);
  r.kind = kind;
  return r;
}

TEST_CASE("an evicted line is read, and then it is gone with its changed bytes") {
  Bench bench(small_config());
  Requester& link = *bench.requesters.back();
  constexpr Address kChanged = 0x1000, kAbsent = 0x9000;
  link.add(0, store(kChanged, 0xf, {~0u, ~0u, ~0u, ~0u}));
  link.add(2000, of_kind(AccessKind::kEvict, kChanged));  // all of it is in the L2
  link.add(2000, of_kind(AccessKind::kEvict, kAbsent));   // comes from DRAM
  bench.requesters[0]->add(4000, load(kChanged));
  bench.requesters[0]->add(4000, load(kAbsent));
  (void)bench.run();
  REQUIRE(bench.quiescent());
  const stats::PartitionCounters c = bench.take().mem;
  CHECK(c.l2.read_hits == 4);
  CHECK(c.l2.read_misses == 3 * 4);
  CHECK(c.dram_reads == 3 * 4);
  CHECK(c.l2_writebacks == 0);
}

TEST_CASE("a line may be asked for while it leaves") {
  Bench bench(small_config());
  constexpr Address kLine = 0x9000;
  bench.requesters.back()->add(0, of_kind(AccessKind::kEvict, kLine));
  bench.requesters[0]->add(3, load(kLine));     // joins the fetch
  bench.requesters[0]->add(4000, load(kLine));  // finds nothing
  (void)bench.run();
  REQUIRE(bench.quiescent());
  const stats::PartitionCounters c = bench.take().mem;
  CHECK(c.dram_reads == 2 * 4);
  CHECK(bench.requesters[0]->received.size() >= 2);
}

TEST_CASE("a discarded line is gone without being read") {
  Bench bench(small_config());
  Requester& link = *bench.requesters.back();
  constexpr Address kLine = 0x1000;
  link.add(0, store(kLine, 0xf, {~0u, ~0u, ~0u, ~0u}));
  link.add(2000, of_kind(AccessKind::kDiscard, kLine, 7));
  link.add(2000, of_kind(AccessKind::kDiscard, 0x5000, 8));  // not there
  bench.requesters[0]->add(4000, load(kLine));
  (void)bench.run();
  REQUIRE(bench.quiescent());
  CHECK(link.received.size() == 3);
  const stats::PartitionCounters c = bench.take().mem;
  CHECK(c.l2.read_hits == 0);
  CHECK(c.dram_reads == 4);
  CHECK(c.l2_writebacks == 0);
}

TEST_CASE("a line of the host passes its slice in both directions and leaves nothing there") {
  Bench bench(small_config());
  Requester &sm = *bench.requesters[0], &link = *bench.requesters.back();
  const auto link_number = static_cast<std::uint16_t>(bench.requesters.size() - 1);
  constexpr Address kLine = 0x1000;
  const auto pass = [&](Requester& from, AccessKind kind, std::uint16_t to, std::uint32_t tag) {
    from.add(0, of_kind(kind, kLine, tag));
    from.script.back().request.reply_to = to;
  };
  pass(sm, AccessKind::kRemoteAtomic, link_number, 5);
  pass(link, AccessKind::kRemoteData, 0, 9);
  (void)bench.run();
  REQUIRE(bench.quiescent());
  REQUIRE(link.received.size() == 1);
  CHECK(link.received[0].reply.tag == 5);
  CHECK(link.received[0].reply.kind == AccessKind::kRemoteAtomic);
  REQUIRE(sm.received.size() == 1);
  CHECK(sm.received[0].reply.tag == 9);
  CHECK(sm.received[0].reply.sectors == 0xf);
  const stats::PartitionCounters c = bench.take().mem;
  CHECK(c.l2.requests == 0);
  CHECK(c.dram_reads == 0);
}

}  // namespace
}  // namespace lockstep::mem_test
