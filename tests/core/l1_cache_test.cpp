#include "core/l1_cache.hpp"

#include <catch2/catch.hpp>
#include <list>
#include <map>
#include <random>
#include <set>

#include "core/l1_mshrs.hpp"

using namespace lockstep;
using namespace lockstep::core;

namespace {

config::L1Group l1(std::uint32_t bytes, std::uint32_t ways) {
  config::L1Group g;
  g.bytes = bytes;
  g.ways = ways;
  return g;
}

/// Lists in order of use.
class Reference {
 public:
  Reference(std::uint32_t sets, std::size_t ways) : sets_(sets), ways_(ways) {}
  SectorMask sectors(std::uint32_t set, Address line) {
    for (const auto& [l, s] : sets_[set])
      if (l == line) return s;
    return 0;
  }
  void touch(std::uint32_t set, Address line) {
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
};

}  // namespace

TEST_CASE("L1: tags against lists in order of use") {
  for (const auto& [bytes, ways] :
       {std::pair{131072u, 64u}, {196608u, 64u}, {8192u, 4u}, {4096u, 64u}, {12800u, 5u}}) {
    L1Cache cache(l1(bytes, ways));
    Reference reference(cache.sets(), cache.ways());
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

TEST_CASE("L1: shared memory takes whole ways") {
  L1Cache cache(l1(131072, 64));  // a way is 2 KiB
  CHECK(cache.capacity() == 131072);
  cache.set_shared_bytes(96 * 1024);
  CHECK(cache.capacity() == 32 * 1024);
  cache.fill(0, 0xf);
  cache.set_shared_bytes(96 * 1024);
  CHECK(cache.find(0) != L1Cache::kNone);  // no change, nothing lost
  cache.set_shared_bytes(95 * 1024);       // rounded up to a way
  CHECK(cache.capacity() == 32 * 1024);
  cache.set_shared_bytes(0);
  CHECK(cache.find(0) == L1Cache::kNone);
  CHECK(cache.capacity() == 131072);
  cache.set_shared_bytes(131072);
  CHECK(cache.capacity() == 2048);
  for (Address a = 0; a < 4096; a += 128) cache.fill(a, 0xf);
  unsigned left = 0;
  for (Address a = 0; a < 4096; a += 128) left += cache.find(a) != L1Cache::kNone;
  CHECK(left == 16);
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
