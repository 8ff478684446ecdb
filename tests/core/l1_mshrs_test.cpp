// Miss-status registers against a map from lines to lists of waiters.
#include "core/l1_mshrs.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "tests/persisted.hpp"

namespace lockstep::core {
namespace {

using Arrival = std::pair<std::uint16_t, unsigned>;  // entry, sectors of it

class MshrModel {
 public:
  void take(Address line) { lines_[line]; }
  void wait(Address line, SectorMask sectors, SectorMask asked, std::uint16_t entry) {
    lines_[line].pending |= asked;
    lines_[line].waiters.push_front({entry, sectors});
  }
  std::vector<Arrival> fill(Address line, SectorMask sectors) {
    std::vector<Arrival> arrivals;
    Line& l = lines_[line];
    std::deque<Waiter> left;
    for (Waiter w : l.waiters) {
      unsigned mine = 0;
      for (unsigned s = 0; s < kSectorsPerLine; ++s) mine += (w.sectors & sectors) >> s & 1;
      if (mine > 0) arrivals.emplace_back(w.entry, mine);
      w.sectors = static_cast<SectorMask>(w.sectors & ~sectors);
      if (w.sectors != 0) left.push_back(w);
    }
    l.waiters = left;
    l.pending = static_cast<SectorMask>(l.pending & ~sectors);
    if (l.pending == 0) lines_.erase(line);
    return arrivals;
  }
  [[nodiscard]] bool has(Address line) const { return lines_.count(line) != 0; }
  [[nodiscard]] SectorMask pending(Address line) const { return lines_.at(line).pending; }
  [[nodiscard]] std::size_t used() const { return lines_.size(); }
  [[nodiscard]] bool any_in(Address first, Address bytes) const {
    for (const auto& [line, l] : lines_)
      if (line >= first && line < first + bytes && l.pending != 0) return true;
    return false;
  }
  /// The i-th of the lines that are under way.
  [[nodiscard]] Address line(std::size_t i) const {
    return std::next(lines_.begin(), static_cast<std::ptrdiff_t>(i))->first;
  }

 private:
  struct Waiter {
    std::uint16_t entry;
    SectorMask sectors;
  };
  struct Line {
    SectorMask pending = 0;
    std::deque<Waiter> waiters;  // newest first
  };
  std::map<Address, Line> lines_;
};

/// Registers and model, driven by the same random numbers.
class MshrPair {
 public:
  MshrPair(std::uint32_t count, std::uint32_t seed) : count_(count), random_(seed), mshrs_(count) {}

  void step() {
    random_() % 2 == 0 || model_.used() == 0 ? miss() : fill();
    REQUIRE(mshrs_.used() == model_.used());
    REQUIRE(mshrs_.full() == (model_.used() == count_));
    const Address first = random_line(), bytes = kLineBytes * (1 + random_() % 64);
    REQUIRE(mshrs_.any_in(first, bytes) == model_.any_in(first, bytes));
  }
  /// Everything comes.
  void drain() {
    while (model_.used() > 0) fill();
    CHECK(mshrs_.used() == 0);
  }
  void replace_by(L1Mshrs fresh) {
    lockstep::test::restore(mshrs_, fresh);
    mshrs_ = std::move(fresh);
  }
  std::size_t fills = 0, merges = 0, rejected = 0;

 private:
  /// Few distinct lines, and some far away from them: they collide in the hash table.
  Address random_line() {
    return kLineBytes * (random_() % (2 * count_) + (random_() % 4 == 0 ? Address{1} << 30 : 0));
  }
  void miss() {
    const Address line = random_line();
    const auto sectors = static_cast<SectorMask>(1 + random_() % 15);
    std::uint16_t r = mshrs_.find(line);
    REQUIRE((r != L1Mshrs::kNone) == model_.has(line));
    if (r == L1Mshrs::kNone) {
      if (mshrs_.full()) {
        ++rejected;
        return;
      }
      r = mshrs_.take(line);
      model_.take(line);
    } else {
      ++merges;
    }
    REQUIRE(mshrs_.pending(r) == model_.pending(line));
    const auto asked = static_cast<SectorMask>(sectors & ~mshrs_.pending(r));
    const auto entry = static_cast<std::uint16_t>(random_() % 1000);
    mshrs_.wait(r, sectors, asked, entry);
    model_.wait(line, sectors, asked, entry);
    REQUIRE(mshrs_.find(line) == r);
  }
  void fill() {
    const Address line = model_.line(random_() % model_.used());
    auto sectors = static_cast<SectorMask>(model_.pending(line) & (1 + random_() % 15));
    if (sectors == 0) sectors = model_.pending(line);
    std::vector<Arrival> arrivals;
    const std::uint16_t r = mshrs_.find(line);
    REQUIRE(r != L1Mshrs::kNone);
    REQUIRE(mshrs_.fill(r, sectors,
                        [&](std::uint16_t entry, unsigned n) { arrivals.emplace_back(entry, n); }) == line);
    REQUIRE(arrivals == model_.fill(line, sectors));
    ++fills;
  }

  std::uint32_t count_;
  std::mt19937 random_;
  L1Mshrs mshrs_;
  MshrModel model_;
};

TEST_CASE("MSHRs: random misses and fills do what a map of lines with lists of waiters does") {
  for (const std::uint32_t count : {1u, 2u, 3u, 16u, 100u}) {
    CAPTURE(count);
    MshrPair pair(count, count);
    for (int i = 0; i < 10'000; ++i) pair.step();
    CHECK(pair.fills > 1000);
    CHECK(pair.merges > 500);
    if (count < 100) CHECK(pair.rejected > 0);
    pair.drain();
  }
}

TEST_CASE("MSHRs: a state restored between misses and fills goes on as the one that was kept") {
  MshrPair pair(16, 5);
  for (int i = 0; i < 5000; ++i) {
    pair.step();
    if (i % 50 == 0) pair.replace_by(L1Mshrs(16));
  }
  pair.drain();
}

TEST_CASE("MSHRs: a waiter of sectors that others asked for gets each as it comes") {
  L1Mshrs mshrs(4);
  const std::uint16_t r = mshrs.take(0x1000);
  mshrs.wait(r, 0b0011, 0b0011, 7);
  mshrs.wait(r, 0b0110, 0b0100, 8);
  CHECK(mshrs.pending(r) == 0b0111);
  std::vector<Arrival> arrivals;
  const auto note = [&](std::uint16_t entry, unsigned n) { arrivals.emplace_back(entry, n); };
  CHECK(mshrs.fill(r, 0b0010, note) == 0x1000);
  CHECK(arrivals == std::vector<Arrival>{{8, 1}, {7, 1}});  // newest first
  arrivals.clear();
  CHECK(mshrs.fill(r, 0b0001, note) == 0x1000);
  CHECK(arrivals == std::vector<Arrival>{{7, 1}});
  CHECK(mshrs.used() == 1);
  CHECK(mshrs.any_in(0x1000, 1));
  CHECK_FALSE(mshrs.any_in(0x1080, 0x1000));
  CHECK_FALSE(mshrs.any_in(0, 0x1000));
  arrivals.clear();
  CHECK(mshrs.fill(r, 0b0100, note) == 0x1000);
  CHECK(arrivals == std::vector<Arrival>{{8, 1}});
  CHECK(mshrs.used() == 0);
  CHECK(mshrs.find(0x1000) == L1Mshrs::kNone);
}

}  // namespace
}  // namespace lockstep::core
