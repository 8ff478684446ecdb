// l2.dirty_ways: against a measurement, a reference cache, and rules in closed form.
#include <bit>
#include <catch2/catch.hpp>
#include <list>
#include <map>

#include "bench.hpp"

namespace lockstep::mem_test {
namespace {

TEST_CASE("of what Rodinia's srad writes on a V100 as much reaches the DRAM as measured") {
  // v100_kernels.csv: five arrays of 458 x 502 floats, 28,740 sectors each; 45,424 (QV100) and 45,423 reach
  // it.
  constexpr std::uint32_t kArrays = 5, kLines = 28740 / 4, kArrayStride = 512 * 1797;
  const auto written_to_dram = [](std::uint32_t dirty_ways) {
    config::GpuConfig v100;
    v100.l2.dirty_ways = dirty_ways;
    Bench b(v100);
    for (std::uint32_t i = 0; i < kArrays * kLines; ++i) {
      Requester& sm = *b.requesters[i % v100.gpu.sms];
      sm.keep = false;
      sm.add(0, store(Address{i % kArrays} * kArrayStride / 128 * 128 + i / kArrays * 128, 0xf, kAllBytes));
    }
    b.run();
    REQUIRE(b.quiescent());
    const stats::PartitionCounters c = b.take().mem;
    CHECK(c.l2.sectors_written == 143700);
    CHECK(c.dram_reads == 0);
    return c.dram_writes;
  };
  const std::uint64_t ours = written_to_dram(config::GpuConfig{}.l2.dirty_ways);
  CHECK(ours == 143700 - 3 * 1048576 / 32);
  CHECK(double(ours) == Approx(45424).epsilon(0.001));
  CHECK(written_to_dram(config::kNoDirtyLimit) == 0);  // 4.4 MiB of 6
}

/// A set-associative cache with a limit of dirty lines, one request after the other; no time.
class DirtyLimitedCache {
 public:
  DirtyLimitedCache(const config::GpuConfig& c, const mem::AddressMap& map)
      : map_(&map), ways_(c.l2.ways), dirty_ways_(c.l2.dirty_ways), mapping_(c.l2.slice_bytes, c.l2.ways) {}

  void access(const Request& r) {
    Set& set = sets_[{map_->home_slice(r.line), mapping_.set_of(map_->local_line(r.line))}];
    set.remove_if([&](const Line& l) { return l.address == r.line && (current_ = l, true); });
    if (current_.address != r.line) current_ = {r.line, {}, {}};
    if (set.size() == ways_) {
      write(set.back());
      set.pop_back();
    }
    const bool changes = icnt::carries_data(r.kind);
    if (changes && !dirty(current_)) keep_within(set);
    for (unsigned s = 0; s < 4; ++s)
      if (r.sectors >> s & 1) access_sector(r, s);
    set.push_front(current_);
    current_ = {};
  }

  std::uint64_t hits = 0, misses = 0, fetched = 0, written = 0;

 private:
  struct Line {
    Address address = kNoAddress;
    std::array<std::uint32_t, 4> known{}, changed{};  // one bit per byte
  };
  using Set = std::list<Line>;  // most recent first
  static constexpr Address kNoAddress = ~Address{0};

  static bool dirty(const Line& l) { return l.changed != std::array<std::uint32_t, 4>{}; }

  void write(Line& l) {
    for (unsigned s = 0; s < 4; ++s) {
      written += l.changed[s] != 0;
      if (l.known[s] != ~0u) l.known[s] = 0;
    }
    l.changed = {};
  }

  void keep_within(Set& set) {
    std::uint32_t room = dirty_ways_ - 1;  // for the newest, as this request needs one
    for (Line& l : set) {
      if (!dirty(l)) continue;
      if (room == 0) {
        write(l);
      } else {
        --room;
      }
    }
  }

  void access_sector(const Request& r, unsigned s) {
    const bool stores = r.kind == AccessKind::kStore;
    const bool there = stores ? current_.known[s] != 0 : current_.known[s] == ~0u;
    ++(there ? hits : misses);
    fetched += !stores && !there;
    const std::uint32_t bytes = stores ? r.bytes[s] : ~0u;
    current_.known[s] |= bytes;
    if (icnt::carries_data(r.kind)) current_.changed[s] |= bytes;
  }

  const mem::AddressMap* map_;
  std::size_t ways_;
  std::uint32_t dirty_ways_;
  mem::TagArray mapping_;  // which address_map_test checks
  std::map<std::pair<std::uint32_t, std::uint32_t>, Set> sets_;
  Line current_;
};

Request random_request(std::uint64_t& seed, std::uint32_t tag) {
  const auto draw = [&seed](std::uint64_t n) { return (next_random(seed) >> 11) % n; };
  Request r = load(draw(700) * 128, static_cast<SectorMask>(1 + draw(15)), tag);
  const std::uint64_t kind = draw(8);
  if (kind < 3) return r;
  r.kind = kind == 3 ? AccessKind::kAtomic : kind == 4 ? AccessKind::kReduction : AccessKind::kStore;
  for (unsigned s = 0; s < 4; ++s)
    if (r.sectors >> s & 1) r.bytes[s] = draw(3) ? ~0u : 0xffffu << (16 * draw(2));
  return r;
}

TEST_CASE("counts equal a reference cache's with a limit of dirty lines") {
  for (const std::uint32_t dirty_ways : {1u, 2u, 4u, 7u, 8u, config::kNoDirtyLimit}) {
    CAPTURE(dirty_ways);
    config::GpuConfig c = small_config();
    c.l2.dirty_ways = dirty_ways;
    Bench b(c);
    DirtyLimitedCache reference(c, b.map);
    Requester& sm = *b.requesters[0];
    sm.in_flight_limit = 1;  // a fill's atomic must be done before the next request is looked up
    std::uint64_t seed = 5 + dirty_ways;
    for (std::uint32_t i = 0; i < 8000; ++i) {
      const Request r = random_request(seed, i);
      sm.add(0, r);
      reference.access(r);
    }
    b.run();
    REQUIRE(b.quiescent());
    const stats::PartitionCounters c_ = b.take().mem;
    CHECK(c_.l2.hits == reference.hits);
    CHECK(c_.l2.misses == reference.misses);
    CHECK(c_.dram_reads == reference.fetched);
    CHECK(c_.l2_writebacks == reference.written);
    CHECK(c_.dram_writes == reference.written);
    CHECK(reference.written > 1000);
  }
}

/// Two ways may be dirty of the eight of its only set.
config::GpuConfig one_set() {
  config::GpuConfig c = small_config();
  c.l2.partitions = c.l2.slices_per_partition = 1;
  c.l2.slice_bytes = 8 * 128;
  c.l2.dirty_ways = 2;
  return c;
}

TEST_CASE("the least recently used dirty line is written, by whose write it is, and can still be read") {
  Bench b(one_set());
  Requester& sm = *b.requesters[0];
  Cycle t = 0;
  const auto add = [&](Request r, std::uint8_t kernel) {
    r.kernel = kernel;
    sm.add(t += 1000, r);
  };
  add(store(0x000, 0xf, kAllBytes), 1);
  add(store(0x080, 0x3, {~0u, 1}), 1);   // of its second sector one byte is known
  add(load(0x000), 1);                   // so 0x080 is the older
  add(store(0x100, 0xf, kAllBytes), 2);  // the third
  add(load(0x080, 1), 3);                // there
  add(load(0x080, 2), 3);                // fetched
  add(store(0x000, 0x1, kAllBytes), 4);  // dirty already: nothing is written back
  add(store(0x180, 0x1, kAllBytes), 4);  // 0x100 is older than 0x000
  b.run();
  REQUIRE(b.quiescent());
  CHECK(b.take(1).mem.l2_writebacks == 0);
  CHECK(b.take(2).mem.l2_writebacks == 2);
  const stats::PartitionCounters three = b.take(3).mem;
  CHECK(three.l2.hits == 1);
  CHECK(three.dram_reads == 1);
  const stats::PartitionCounters four = b.take(4).mem;
  CHECK(four.l2_writebacks == 4);
  CHECK(four.dram_writes == 4);
}

TEST_CASE("atomics whose lines come from DRAM stay within the limit, later where the write queue is full") {
  for (const std::uint32_t queue : {1u, 64u}) {
    config::GpuConfig c = one_set();
    c.dram.channels_per_partition = 1;
    c.dram.write_queue = c.dram.write_high = queue;
    c.dram.write_low = 0;
    Bench b(c);
    Requester& sm = *b.requesters[0];
    for (std::uint32_t i = 0; i < 7; ++i) {
      Request r = load(i * 128, 0xf, i);
      r.kind = AccessKind::kReduction;
      sm.add(0, r);
    }
    sm.add(20000, store(7 * 128, 0xf, kAllBytes));
    b.run();
    REQUIRE(b.quiescent());
    CHECK(b.take().mem.dram_writes == (8 - 2) * 4);
  }
}

}  // namespace
}  // namespace lockstep::mem_test
