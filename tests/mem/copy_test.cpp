// What copies to the device leave in the L2: clean lines. Closed forms of the DRAM's traffic.
#include <catch2/catch.hpp>

#include "bench.hpp"

namespace lockstep::mem_test {
namespace {

constexpr std::uint8_t kCopies = 2;  // kernel slot that they are booked to here

Request copied(Address line, SectorMask sectors = 0xf) {
  Request r = store(line, sectors, kAllBytes);
  r.kind = AccessKind::kCopy;
  r.kernel = kCopies;
  return r;
}

TEST_CASE("a stream larger than the L2 behind a copy reads its own bytes and writes none") {
  const config::GpuConfig c = small_config();
  const std::uint32_t held = c.l2.partitions * c.l2.slices_per_partition * c.l2.slice_bytes / 128;
  Bench b(c);
  for (std::uint32_t i = 0; i < held; ++i) b.requesters.back()->add(0, copied(Address{i} * 128));
  for (std::uint32_t i = 0; i < 3 * held; ++i)
    b.requesters[i % 4]->add(20000, load(Address{held + i} * 128, 0xf, i));
  b.run();
  REQUIRE(b.quiescent());
  const stats::PartitionCounters copies = b.take(kCopies).mem, stream = b.take().mem;
  CHECK(copies.dram_writes == 4 * held);
  CHECK(copies.dram_reads == 0);
  CHECK(stream.dram_reads == 4 * 3 * held);
  CHECK(stream.dram_writes == 0);
  CHECK(stream.l2_writebacks == 0);
}

TEST_CASE("what fits the L2 is read from it after the copy") {
  const config::GpuConfig c = small_config();
  const std::uint32_t held = c.l2.partitions * c.l2.slices_per_partition * c.l2.slice_bytes / 128;
  Bench b(c);
  for (std::uint32_t i = 0; i < held; ++i) b.requesters.back()->add(0, copied(Address{i} * 128));
  for (std::uint32_t i = 0; i < held; ++i) b.requesters[i % 4]->add(20000, load(Address{i} * 128, 0xf, i));
  b.run();
  CHECK(b.take(kCopies).mem.dram_writes == 4 * held);
  const stats::PartitionCounters reader = b.take().mem;
  CHECK(reader.l2.hits == 4 * held);
  CHECK(reader.dram_reads == 0);
}

TEST_CASE("a copy over a dirty line leaves what it has not written, and is readable") {
  config::GpuConfig c = small_config();
  c.l2.partitions = c.l2.slices_per_partition = 1;
  c.l2.slice_bytes = 8 * 128;  // one set
  Bench b(c);
  Requester &sm = *b.requesters[0], &engine = *b.requesters.back();
  sm.add(1000, store(0x000, 0x3, {~0u, 1}));
  engine.add(2000, copied(0x000, 0x6));
  sm.add(3000, load(0x000, 0x7));  // all there
  for (std::uint32_t i = 1; i <= 8; ++i) sm.add(3000 + 1000 * i, load(i * 128));
  b.run();
  CHECK(b.take(kCopies).mem.dram_writes == 2);
  const stats::PartitionCounters kernel = b.take().mem;
  CHECK(kernel.l2.read_hits == 3);
  CHECK(kernel.dram_writes == 1);  // the first sector, when its line leaves
}

TEST_CASE("a copy in the way of dirty lines writes them before its own, with room for one write at a time") {
  config::GpuConfig c = small_config();
  c.l2.partitions = c.l2.slices_per_partition = 1;
  c.l2.slice_bytes = 8 * 128;
  c.dram.channels_per_partition = 1;
  c.dram.write_queue = c.dram.write_high = 1;
  c.dram.write_low = 0;
  Bench b(c);
  for (std::uint32_t i = 0; i < 8; ++i) b.requesters[0]->add(0, store(Address{i} * 128, 0xf, kAllBytes));
  for (std::uint32_t i = 0; i < 24; ++i) b.requesters.back()->add(5000, copied(Address{8 + i} * 128));
  b.run();
  REQUIRE(b.quiescent());
  CHECK(b.take(kCopies).mem.dram_writes == 4 * (8 + 24));
}

TEST_CASE("a copy's lines do not count among a set's dirty ones") {
  config::GpuConfig c = small_config();
  c.l2.partitions = c.l2.slices_per_partition = 1;
  c.l2.slice_bytes = 8 * 128;
  c.l2.dirty_ways = 2;
  Bench b(c);
  for (std::uint32_t i = 0; i < 6; ++i) b.requesters.back()->add(0, copied(Address{i} * 128));
  for (std::uint32_t i = 6; i < 8; ++i) b.requesters[0]->add(5000, store(Address{i} * 128, 0xf, kAllBytes));
  b.run();
  CHECK(b.take().mem.dram_writes == 0);
}

/// Lines 0 to 3 are read, then 2 to 5 copied, two sectors of each, then all are read again.
stats::PartitionCounters read_after(icnt::CopyInL2 kept) {
  Bench b(small_config());
  for (std::uint32_t i = 0; i < 4; ++i) b.requesters[0]->add(0, load(Address{i} * 128, 0xf, i));
  for (std::uint32_t i = 2; i < 6; ++i) {
    Request r = copied(Address{i} * 128, 0x3);
    r.copy = kept;
    b.requesters.back()->add(10000, r);
  }
  for (std::uint32_t i = 0; i < 6; ++i) b.requesters[1]->add(20000, load(Address{i} * 128, 0xf, i));
  b.run();
  REQUIRE(b.quiescent());
  CHECK(b.take(kCopies).mem.dram_writes == 4 * 2);  // in any case
  return b.take().mem;
}

TEST_CASE("a copy may leave its lines in the L2, those only that were there, or none") {
  constexpr std::uint32_t kFirst = 4 * 4;  // sectors of the first reads, none of which is there
  CHECK(read_after(icnt::CopyInL2::kPlaced).l2.read_hits == 4 * 4 + 2 * 2);
  CHECK(read_after(icnt::CopyInL2::kUpdated).l2.read_hits == 4 * 4);
  CHECK(read_after(icnt::CopyInL2::kDropped).l2.read_hits == 4 * 4 - 2 * 2);
  for (const auto kept : {icnt::CopyInL2::kPlaced, icnt::CopyInL2::kUpdated, icnt::CopyInL2::kDropped}) {
    const stats::PartitionCounters mem = read_after(kept);
    CHECK(mem.dram_reads == kFirst + 6 * 4 - mem.l2.read_hits);
    CHECK(mem.dram_writes == 0);
  }
}

TEST_CASE("a copy that drops a dirty sector has written it, and other dirty sectors stay") {
  Bench b(small_config());
  b.requesters[0]->add(1000, store(0x000, 0x3, kAllBytes));
  Request r = copied(0x000, 0x1);
  r.copy = icnt::CopyInL2::kDropped;
  b.requesters.back()->add(2000, r);
  b.requesters[0]->add(9000, load(0x000, 0x3));
  b.run();
  CHECK(b.take(kCopies).mem.dram_writes == 1);
  CHECK(b.take().mem.l2.read_hits == 1);
}

}  // namespace
}  // namespace lockstep::mem_test
