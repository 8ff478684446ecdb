#include "core/l1_cache.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "core/l1_mshrs.hpp"

using namespace lockstep;
using namespace lockstep::core;

namespace {

using enum config::L1Replacement;

config::L1Group l1(std::uint32_t bytes, std::uint32_t ways, config::L1Replacement replacement = kLru) {
  config::L1Group g;
  g.replacement = replacement;
  g.bytes = bytes;
  g.ways = ways;
  return g;
}

/// Lists in order of use (LRU) or of coming (FIFO).
class Reference {
 public:
  Reference(std::uint32_t sets, std::size_t ways, bool lru) : sets_(sets), ways_(ways), lru_(lru) {}
  SectorMask sectors(std::uint32_t set, Address line) {
    for (const auto& [l, s] : sets_[set])
      if (l == line) return s;
    return 0;
  }
  void touch(std::uint32_t set, Address line) {
    if (!lru_) return;
    auto& list = sets_[set];
    for (auto i = list.begin(); i != list.end(); ++i)
      if (i->first == line) return list.splice(list.begin(), list, i);
  }
  void fill(std::uint32_t set, Address line, SectorMask sectors) {
    auto& list = sets_[set];
    for (auto& [l, s] : list)
      if (l == line) {
        s |= sectors;
        return;
      }
    list.emplace_front(line, sectors);
    if (list.size() > ways_) list.pop_back();
  }
  void drop(std::uint32_t set, Address line, SectorMask sectors) {
    auto& list = sets_[set];
    for (auto& [l, s] : list)
      if (l == line) s = static_cast<SectorMask>(s & ~sectors);
    list.remove_if([](const auto& x) { return x.second == 0; });
  }
  void clear() {
    for (auto& s : sets_) s.clear();
  }

 private:
  std::vector<std::list<std::pair<Address, SectorMask>>> sets_;
  std::size_t ways_;
  bool lru_;
};

/// Share of loads that miss, of laps in the order of a random chain over `lines` lines with `elements` each.
double chase(L1Cache& cache, std::uint32_t lines, std::uint32_t elements) {
  std::vector<std::uint32_t> order(lines * elements);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937(lines));
  std::uint32_t misses = 0;
  for (int lap = 0; lap < 2; ++lap) {
    misses = 0;
    for (const std::uint32_t e : order) {
      const Address line = Address{e / elements} * 128;
      const auto sector = static_cast<SectorMask>(1u << e % elements * 2);
      const std::uint32_t place = cache.find(line);
      const bool hit = place != L1Cache::kNone && (cache.sectors(place) & sector) != 0;
      if (place != L1Cache::kNone) cache.touch(place);
      if (!hit) cache.fill(line, sector);
      misses += !hit;
    }
  }
  return misses / double(order.size());
}

}  // namespace

TEST_CASE("L1: tags against lists in order of use") {
  for (const auto& [bytes, ways, replacement] : {std::tuple{131072u, 64u, kLru},
                                                 {196608u, 64u, kFifo},
                                                 {8192u, 4u, kLru},
                                                 {8192u, 4u, kFifo},
                                                 {4096u, 64u, kLru},
                                                 {12800u, 5u, kFifo}}) {
    L1Cache cache(l1(bytes, ways, replacement));
    Reference reference(cache.sets(), cache.ways(), replacement == kLru);
    std::mt19937_64 rng(bytes + ways);
    std::uint64_t hits = 0;
    for (int i = 0; i < 60'000; ++i) {
      const Address line = rng() % (bytes / 128 * 2) * 128 + (rng() % 8 == 0 ? Address{1} << 40 : 0);
      const std::uint32_t set = cache.set_of(line);
      REQUIRE(set < cache.sets());
      const auto sectors = static_cast<SectorMask>(1 + rng() % 15);
      const std::uint32_t place = cache.find(line);
      REQUIRE((place == L1Cache::kNone ? 0 : cache.sectors(place)) == reference.sectors(set, line));
      hits += place != L1Cache::kNone;
      const auto what = rng() % 10;
      if (what < 5 || place == L1Cache::kNone) {
        cache.fill(line, sectors);
        reference.fill(set, line, sectors);
      } else if (what < 9) {
        cache.touch(place);
        reference.touch(set, line);
      } else {
        cache.drop(place, sectors);
        reference.drop(set, line, sectors);
      }
      if (rng() % 20'000 == 0) {
        cache.invalidate();
        reference.clear();
      }
    }
    CHECK(hits > 10'000);
  }
}

TEST_CASE("L1: a line that was requested takes its place then, and may be gone when its data come") {
  L1Cache cache(l1(4 * 128, 4, kFifo));  // one set
  const auto line = [](unsigned i) { return Address{i} * 128; };
  for (unsigned i = 0; i < 4; ++i) cache.reserve(line(i));
  for (unsigned i = 0; i < 4; ++i) {
    REQUIRE(cache.find(line(i)) != L1Cache::kNone);
    CHECK(cache.sectors(cache.find(line(i))) == 0);
  }
  cache.arrive(line(2), 0x2);
  CHECK(cache.sectors(cache.find(line(2))) == 0x2);
  cache.reserve(line(4));  // the first in goes first, though nothing of it has come
  CHECK(cache.find(line(0)) == L1Cache::kNone);
  cache.arrive(line(0), 0xf);
  CHECK(cache.find(line(0)) == L1Cache::kNone);
  cache.arrive(line(2), 0x4);
  CHECK(cache.sectors(cache.find(line(2))) == 0x6);
  cache.drop(cache.find(line(3)), 0xf);  // nothing of it is there: still awaited
  CHECK(cache.find(line(3)) != L1Cache::kNone);
  cache.drop(cache.find(line(2)), 0x6);
  CHECK(cache.find(line(2)) == L1Cache::kNone);
}

TEST_CASE("L1: as many lines as fit stay, one more does not") {
  L1Cache cache(l1(131072, 64));
  for (Address a = 0; a < 131072; a += 128) cache.fill(a, 0xf);
  for (Address a = 0; a < 131072; a += 128) REQUIRE(cache.find(a) != L1Cache::kNone);
  cache.fill(131072, 1);
  CHECK(cache.find(131072) != L1Cache::kNone);
  unsigned left = 0;
  for (Address a = 0; a < 131072; a += 128) left += cache.find(a) != L1Cache::kNone;
  CHECK(left == 1023);
}

TEST_CASE("L1: strides spread over the sets") {
  for (const std::uint32_t bytes : {131072u, 196608u}) {
    const L1Cache cache(l1(bytes, 64));
    for (Address stride = 128; stride <= 1 << 20; stride *= 2) {
      std::map<std::uint32_t, unsigned> load;
      for (Address i = 0; i < 1024; ++i) ++load[cache.set_of(i * stride)];
      CHECK(load.size() == cache.sets());
      for (const auto& [set, n] : load) CHECK(n < 2 * 1024 / cache.sets());
    }
  }
}

TEST_CASE("L1: how a chase ends beyond the capacity") {
  // 256 sets of 4: with 1024 + n lines, n of the sets have 5. First in, first out: all of their lines miss,
  // however often they were hit. LRU: the same with one element a line, less with two.
  for (const std::uint32_t n : {0u, 64u, 128u, 256u}) {
    const double all = 5.0 * n / (1024 + n);
    for (const std::uint32_t elements : {1u, 2u}) {
      L1Cache fifo(l1(131072, 4, kFifo)), lru(l1(131072, 4));
      CHECK(chase(fifo, 1024 + n, elements) == Approx(all));
      if (elements == 1) CHECK(chase(lru, 1024 + n, elements) == Approx(all));
      if (elements == 2 && n != 0) CHECK(chase(lru, 1024 + n, elements) < 0.9 * all);
    }
  }
}

TEST_CASE("L1: what shared memory leaves is divided anew") {
  L1Cache cache(l1(131072, 64));  // a set is 8 KiB
  CHECK(cache.capacity() == 131072);
  cache.set_shared_bytes(96 * 1024);
  CHECK(cache.capacity() == 32 * 1024);
  cache.fill(0, 0xf);
  cache.set_shared_bytes(96 * 1024);
  CHECK(cache.find(0) != L1Cache::kNone);  // no change, nothing lost
  cache.set_shared_bytes(95 * 1024);       // 264 lines: 5 sets of 52
  CHECK(cache.find(0) == L1Cache::kNone);
  CHECK((cache.sets() == 5 && cache.ways() == 52));
  cache.set_shared_bytes(0);
  CHECK(cache.find(0) == L1Cache::kNone);
  CHECK(cache.capacity() == 131072);
  cache.set_shared_bytes(131072);
  CHECK(cache.capacity() == 128);  // a line stays
  cache.set_shared_bytes(131072 - 4096);
  CHECK((cache.sets() == 1 && cache.ways() == 32));  // less than a set
  for (Address a = 0; a < 16384; a += 128) cache.fill(a, 0xf);
  unsigned left = 0;
  for (Address a = 0; a < 16384; a += 128) left += cache.find(a) != L1Cache::kNone;
  CHECK(left == 32);
}

TEST_CASE("L1: miss registers against a map") {
  L1Mshrs mshrs(13);
  struct Line {
    std::uint16_t r;
    SectorMask pending = 0;
    std::vector<std::pair<std::uint16_t, SectorMask>> waiters;
  };
  std::map<Address, Line> reference;
  std::mt19937_64 rng(7);
  for (int i = 0; i < 50'000; ++i) {
    const Address line = rng() % 40 * 128 * (rng() % 2 ? 1 : 4096);
    const auto sectors = static_cast<SectorMask>(1 + rng() % 15);
    const auto known = reference.find(line);
    REQUIRE(mshrs.find(line) == (known == reference.end() ? L1Mshrs::kNone : known->second.r));
    REQUIRE(mshrs.full() == (reference.size() == 13));
    if (rng() % 2) {
      if (known == reference.end() && mshrs.full()) continue;
      if (known == reference.end()) reference[line].r = mshrs.take(line);
      Line& l = reference[line];
      const auto entry = static_cast<std::uint16_t>(rng() % 1000);
      REQUIRE(mshrs.pending(l.r) == l.pending);
      mshrs.wait(l.r, sectors, static_cast<SectorMask>(sectors & ~l.pending), entry);
      l.pending |= sectors;
      l.waiters.emplace_back(entry, sectors);
    } else if (known != reference.end()) {
      Line& l = known->second;
      const auto arrived = static_cast<SectorMask>(l.pending & sectors);
      std::vector<std::pair<std::uint16_t, unsigned>> got, expected;
      REQUIRE(mshrs.fill(l.r, arrived, [&](std::uint16_t e, unsigned n) { got.emplace_back(e, n); }) == line);
      for (auto w = l.waiters.rbegin(); w != l.waiters.rend(); ++w) {
        if (w->second & arrived)
          expected.emplace_back(w->first, std::popcount(static_cast<unsigned>(w->second & arrived)));
        w->second = static_cast<SectorMask>(w->second & ~arrived);
      }
      REQUIRE(got == expected);
      l.pending = static_cast<SectorMask>(l.pending & ~arrived);
      if (l.pending == 0) reference.erase(known);
    }
    REQUIRE(mshrs.used() == reference.size());
  }
}
