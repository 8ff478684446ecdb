// Partitions under the engine: counts against an independent model, closed forms of latency, conservation.
#include "mem/partition.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cstring>
#include <list>
#include <map>

#include "bench.hpp"

namespace lockstep::mem_test {
namespace {

/// What a sectored write-back cache with byte masks must do with requests in this order; no time.
class ReferenceL2 {
 public:
  ReferenceL2(const config::GpuConfig& c, const mem::AddressMap& map)
      : map_(&map), ways_(c.l2.ways), sets_of_(c.l2.slice_bytes, c.l2.ways) {}

  void access(const Request& r) {
    const std::uint32_t slice = map_->home_slice(r.line);
    auto& set = sets_[{slice, sets_of_.set_of(map_->local_line(r.line))}];
    auto line = std::find_if(set.begin(), set.end(), [&](const Line& l) { return l.address == r.line; });
    const bool line_there = line != set.end();
    if (line == set.end()) {
      if (set.size() == ways_) {
        for (const std::uint32_t d : set.back().dirty) count.l2_writebacks += d != 0;
        set.pop_back();
      }
      set.push_front({r.line, {}, {}});
    } else {
      set.splice(set.begin(), set, line);
    }
    Line& l = set.front();
    ++count.l2.requests;
    const bool reads = icnt::is_read(r.kind);
    unsigned missing = 0;
    for (unsigned s = 0; s < 4; ++s) {
      if (!(r.sectors >> s & 1)) continue;
      ++count.l2.accesses;
      ++(reads ? count.l2.sectors_read : count.l2.sectors_written);
      const bool writes = r.kind == AccessKind::kStore || r.kind == AccessKind::kCopy;
      const bool there = writes ? l.known[s] != 0 : l.known[s] == ~0u;
      ++(there ? count.l2.hits : count.l2.misses);
      if (there) ++(reads ? count.l2.read_hits : count.l2.write_hits);
      if (!there) ++(reads ? count.l2.read_misses : count.l2.write_misses);
      missing += !there;
      if (!writes && !there) ++count.dram_reads;
      const std::uint32_t bytes = r.kind == AccessKind::kStore ? r.bytes[s] : ~0u;
      l.known[s] |= bytes;
      if (icnt::carries_data(r.kind)) l.dirty[s] |= bytes;
      if (icnt::carries_data(r.kind) && !writes) ++count.l2_atomics;
    }
    if (missing && !line_there) ++(reads ? count.l2.read_line_misses : count.l2.write_line_misses);
  }
  stats::PartitionCounters count;

 private:
  struct Line {
    Address address;
    std::array<std::uint32_t, 4> known{}, dirty{};  // one bit per byte
  };
  const mem::AddressMap* map_;
  std::size_t ways_;
  mem::TagArray sets_of_;  // only for its mapping, which address_map_test checks
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::list<Line>> sets_;  // most recent first
};

Request random_request(std::uint64_t& seed, std::uint64_t lines, std::uint32_t tag) {
  const auto draw = [&seed](std::uint64_t n) { return (next_random(seed) >> 11) % n; };
  Request r = load(draw(lines) * 128, static_cast<SectorMask>(1 + draw(15)), tag);
  const std::uint64_t kind = draw(10);
  if (kind < 4) return r;
  if (kind == 9) {
    r.kind = draw(2) ? AccessKind::kAtomic : AccessKind::kReduction;
    r.operations = static_cast<std::uint8_t>(1 + draw(32));
    return r;
  }
  r.kind = AccessKind::kStore;
  for (unsigned s = 0; s < 4; ++s)
    if (r.sectors >> s & 1)
      r.bytes[s] = draw(2) ? ~0u : draw(2) ? 0xffffu << (16 * draw(2)) : 0xffu << (8 * draw(4));
  return r;
}

TEST_CASE("sector counts equal an independent model, in order of arrival") {
  for (const std::uint64_t seed0 : {1u, 2u, 3u}) {
    config::GpuConfig c = small_config();
    if (seed0 == 2) c.l2.slice_bytes = 13 * 8 * 128;  // sets are no power of two
    if (seed0 == 3) c.l2.partitions = 3;
    Bench b(c);
    ReferenceL2 reference(c, b.map);
    std::uint64_t seed = seed0 * 77;
    // One requester, so that the order at every slice is that of the script; few in flight, so that the least
    // recently used line is never one on its way.
    Requester& sm = *b.requesters[0];
    sm.in_flight_limit = 48;
    for (std::uint32_t i = 0; i < 12000; ++i) {
      Request r = random_request(seed, 900, i);
      if (i % 3 == 2) r.line = (i * (seed0 == 1 ? 8 : 5) % 4096) * 128;  // a strided stream between
      sm.add(0, r);
      reference.access(r);
    }
    b.run();
    REQUIRE(b.quiescent());
    const stats::PartitionCounters got = b.take().mem, &want = reference.count;
    CHECK(got.l2.requests == want.l2.requests);
    CHECK(got.l2.accesses == want.l2.accesses);
    CHECK(got.l2.misses == want.l2.misses);
    CHECK(got.l2.hits + got.l2.mshr_merges == want.l2.hits);
    CHECK(got.l2.sectors_read == want.l2.sectors_read);
    CHECK(got.l2.sectors_written == want.l2.sectors_written);
    CHECK(got.l2_atomics == want.l2_atomics);
    CHECK(got.l2.read_misses == want.l2.read_misses);
    CHECK(got.l2.write_misses == want.l2.write_misses);
    CHECK(got.l2.read_line_misses == want.l2.read_line_misses);
    CHECK(got.l2.write_line_misses == want.l2.write_line_misses);
    // Loads and atomics may be merged, which the model counts as hits.
    CHECK(got.l2.read_hits <= want.l2.read_hits);
    CHECK(got.l2.write_hits <= want.l2.write_hits);
    CHECK(got.l2.hits == got.l2.read_hits + got.l2.write_hits);
    CHECK(got.l2_writebacks == want.l2_writebacks);
    CHECK(want.l2_writebacks > 1000);
    CHECK(got.dram_reads == want.dram_reads);
    CHECK(got.dram_writes == want.l2_writebacks);
    CHECK(got.dram_bytes == 32 * (got.dram_reads + got.dram_writes));
  }
}

TEST_CASE("closed forms of unloaded latency") {
  const config::GpuConfig c = small_config();
  const Cycle hit = 24 + c.l2.latency + 1 + 24;
  Bench b(c);
  Requester& sm = *b.requesters[1];
  sm.add(1000, load(0x10000, 1));
  sm.add(2000, load(0x10000, 1));
  sm.add(3000, load(0x10000, 0xf));  // one hit, three misses
  sm.add(4000, load(0x10000, 0xf));
  sm.add(5000, store(0x20000, 3, {~0u, ~0u}));
  sm.add(6000, load(0x20000, 3));
  Request atomic = load(0x20000, 1);
  atomic.kind = AccessKind::kAtomic;
  atomic.operations = 32;
  sm.add(7000, atomic);
  b.run();
  // Edge after the lookup, activate, read, burst; controller; and the hit's way.
  const Cycle dram = 1 + 12 + 12 + 2 + 121;
  std::vector<Cycle> at;
  for (const Received& r : sm.received) at.push_back(r.at);
  REQUIRE(at.size() == 8);
  CHECK(at[0] == 1000 + hit + dram);
  CHECK(at[1] == 2000 + hit);
  CHECK(at[2] == 3000 + hit);
  CHECK(sm.received[2].reply.sectors == 1);
  CHECK(sm.received[3].reply.sectors == 0xe);
  CHECK(at[3] == 3000 + hit + 1 + 12 + 2 * 4 + 2 + 121 + 2);  // row open; three bursts at tCCD_L; three flits
  CHECK(at[4] == 4000 + hit + 3);                             // four flits
  CHECK(at[5] == 5000 + 1 + hit);  // two flits of data in, one of acknowledgement out
  CHECK(at[6] == 6000 + hit + 1);
  CHECK(at[7] == 7000 + hit + 32 / 8);  // four passes of the atomic unit
}

TEST_CASE("peak bandwidth of a slice and of DRAM") {
  config::GpuConfig c = small_config();
  c.l2.partitions = 1;
  c.l2.slices_per_partition = 1;
  c.l2.mshrs = 128;  // enough lines in flight for the DRAM's latency
  for (const bool hits : {true, false}) {
    Bench b(c);
    constexpr std::uint32_t kLines = 6000;
    for (std::uint32_t i = 0; i < kLines; ++i) b.requesters[i % 4]->add(0, load((hits ? i % 64 : i) * 128));
    const Cycle end = b.run();
    REQUIRE(b.quiescent());
    const double sectors = 4.0 * kLines / static_cast<double>(end);
    // One sector per cycle from the slice. DRAM: two channels of half a sector, less refresh, rows and start.
    CHECK(sectors > (hits ? 0.9 : 0.88));
    CHECK(sectors <= 1.0);
  }
}

TEST_CASE("requests to a sector on its way wait for one fetch; their number is limited") {
  config::GpuConfig c = small_config();
  c.l2.mshr_merges = 4;
  Bench b(c);
  for (std::uint32_t i = 0; i < 4; ++i) b.requesters[i]->add(0, load(0x4000, 2, i));
  b.run();
  auto k = b.take();
  CHECK(k.mem.dram_reads == 1);
  CHECK(k.mem.l2.misses == 1);
  CHECK(k.mem.l2.mshr_merges == 3);
  const Cycle first = b.requesters[0]->received.at(0).at;
  for (std::uint32_t i = 1; i < 4; ++i) CHECK(b.requesters[i]->received.at(0).at <= first + 4);

  Bench more(c);
  for (std::uint32_t i = 0; i < 6; ++i) more.requesters[0]->add(0, load(0x4000, 2, i));
  more.run();
  k = more.take();
  CHECK(k.mem.l2.misses == 1);
  CHECK(k.mem.l2.mshr_merges == 3);
  CHECK(k.mem.l2.hits == 2);
}

TEST_CASE("write-backs are booked to the kernel that evicts; evict-first lines leave first") {
  config::GpuConfig c = small_config();
  c.l2.partitions = c.l2.slices_per_partition = 1;
  c.l2.slice_bytes = 8 * 128;  // one set
  Bench b(c);
  Requester& sm = *b.requesters[0];
  Cycle t = 0;
  for (std::uint32_t i = 0; i < 8; ++i) {
    Request r = store(i * 128, 5, {1, 0, 0x80000000});
    r.kernel = 1;
    if (i == 3) r.placing.priority = L2Priority::kFirst;
    sm.add(t += 1000, r);
  }
  Request other = load(0x8000, 1);
  other.kernel = 2;
  sm.add(t += 1000, other);
  Request again = load(3 * 128, 1);  // must have gone
  again.kernel = 3;
  sm.add(t += 1000, again);
  Request kept = store(1 * 128, 1, {4});  // was next in age after 0
  kept.kernel = 3;
  sm.add(t += 1000, kept);
  b.run();
  CHECK(b.take(1).mem.l2_writebacks == 0);
  const auto two = b.take(2), three = b.take(3);
  CHECK(two.mem.l2_writebacks == 2);
  CHECK(two.mem.dram_writes == 2);
  CHECK(two.mem.dram_reads == 1);
  CHECK(three.mem.l2.misses == 1);
  CHECK(three.mem.l2.hits == 1);
  CHECK(three.mem.l2_writebacks == 2);  // line 0
}

TEST_CASE("partial writes are merged by bytes: a sector is fetched only if bytes are missing") {
  Bench b(small_config());
  Requester& sm = *b.requesters[0];
  Cycle t = 0;
  const auto next = [&] { return t += 1000; };
  sm.add(next(), store(0x100, 1, {0x0000ffff}));
  sm.add(next(), store(0x100, 1, {0xffff0000}));
  sm.add(next(), load(0x100, 1));  // all bytes written: a hit
  sm.add(next(), store(0x100, 2, {0, 0x0000ffff}));
  sm.add(next(), load(0x100, 2));  // half: fetched
  sm.add(next(), load(0x100, 2));  // and then there
  b.run();
  const auto k = b.take();
  CHECK(k.mem.dram_reads == 1);
  CHECK(k.mem.l2.misses == 3);  // two sectors taken, one fetched
  CHECK(k.mem.l2.hits == 3);
  CHECK(k.mem.dram_writes == 0);
}

TEST_CASE("a longer burst brings its neighbour sectors along") {
  config::GpuConfig c = small_config();
  c.dram.burst_bytes = 64;
  Bench b(c);
  b.requesters[0]->add(0, load(0x100, 1));
  b.requesters[0]->add(2000, load(0x100, 0xf));
  b.run();
  const auto k = b.take();
  CHECK(k.mem.dram_reads == 2);
  CHECK(k.mem.dram_bytes == 128);
  CHECK(k.mem.l2.hits == 2);
  CHECK(k.mem.l2.misses == 3);
}

/// The sectors of the aligned blocks of that many bytes which hold any of these.
unsigned blocks_of(unsigned sectors, std::uint32_t bytes) {
  unsigned all = 0;
  for (unsigned s = 0; s < kSectorsPerLine; ++s)
    for (unsigned wanted = 0; wanted < kSectorsPerLine; ++wanted)
      if ((sectors >> wanted & 1) && wanted * kSectorBytes / bytes == s * kSectorBytes / bytes)
        all |= 1u << s;
  return all;
}

TEST_CASE("a miss brings the aligned block of l2.fetch_bytes that it is in, less what is there") {
  for (const std::uint32_t bytes : {32u, 64u, 128u})
    for (unsigned asked = 1; asked < 16; ++asked) {
      CAPTURE(bytes, asked);
      config::GpuConfig c = small_config();
      c.l2.fetch_bytes = bytes;
      Bench b(c);
      b.requesters[0]->add(0, store(0x100, 1, {0xffffffff}));  // sector 0 is there
      b.requesters[0]->add(1000, load(0x100, static_cast<SectorMask>(asked)));
      b.requesters[0]->add(3000, load(0x100, 0xf));
      b.run();
      const unsigned brought = blocks_of(asked & 0xe, bytes) & 0xe;  // sector 0 never misses
      const auto k = b.take();
      CHECK(k.mem.dram_reads == 3);  // in the end each sector but the stored one, once
      CHECK(k.mem.l2.hits == (asked & 1) + 1 + static_cast<unsigned>(std::popcount(brought)));
    }
}

TEST_CASE("a line touched without timing has the aligned blocks of l2.fetch_bytes, as after a timed miss") {
  for (const std::uint32_t bytes : {32u, 64u, 128u})
    for (unsigned asked = 1; asked < 16; ++asked) {
      CAPTURE(bytes, asked);
      config::GpuConfig c = small_config();
      c.l2.fetch_bytes = bytes;
      Bench b(c);
      const Request read = load(0x100, 0xf);
      const std::uint32_t slice = b.map.home_slice(read.line);
      const auto touched = static_cast<SectorMask>(asked);
      b.partitions[slice / c.l2.slices_per_partition]->touch(
          slice, {.line = read.line, .sectors = touched, .store = false, .placing = {}, .half = 0});
      b.requesters[0]->add(0, read);
      b.run();
      CHECK(b.take().mem.l2.hits == static_cast<unsigned>(std::popcount(blocks_of(asked, bytes))));
    }
}

}  // namespace
}  // namespace lockstep::mem_test
