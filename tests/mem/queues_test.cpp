// The lists inside a slice and a channel against plain ones: requests that wait for lines, transactions of a
// bank, counts of signals; the channel's direction by its rule.
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "mem/fr_fcfs.hpp"
#include "mem/mshr_file.hpp"
#include "mem/signal_counts.hpp"
#include "tests/persisted.hpp"
#include "tests/random.hpp"

namespace lockstep::mem {
namespace {

struct Served {
  std::uint32_t tag;
  SectorMask got;
  bool last, far;
  bool operator==(const Served&) const = default;
};

Waiter waiter_of(std::uint32_t tag, SectorMask awaited, bool far = false) {
  Waiter waiter;
  waiter.request.tag = tag;
  waiter.awaited = awaited;
  waiter.from_far = far;
  return waiter;
}

std::vector<Served> serve_line(MshrFile& file, std::uint16_t mshr, SectorMask sectors) {
  std::vector<Served> all;
  file.serve(mshr, sectors, [&](const icnt::Request& request, SectorMask got, bool last, bool far) {
    all.push_back({request.tag, got, last, far});
  });
  return all;
}

DramTransaction work_of(std::uint16_t bank, bool write, std::uint64_t row) {
  DramTransaction work;
  work.bank = bank;
  work.write = write;
  work.row = row;
  return work;
}

}  // namespace

TEST_CASE("lines in flight: requests are served in the order of arrival, those that have all leave") {
  MshrFile file(2, 4, 1);
  CHECK_FALSE(file.full());
  const std::uint16_t a = file.allocate(7), b = file.allocate(9);
  CHECK((file.full() && file.in_use() == 2 && file.index(a) == 7 && file.index(b) == 9));
  file.wait(a, waiter_of(1, 0x3));
  file.wait(a, waiter_of(2, 0x2));
  file.wait(b, waiter_of(3, 0x2));
  CHECK_FALSE(file.room_to_merge(a, true));
  CHECK(file.room_to_merge(a, false));
  file.wait(a, waiter_of(4, 0xc, true));
  file.wait(a, waiter_of(5, 0x1));
  CHECK_FALSE(file.room_to_merge(a, false));
  CHECK(serve_line(file, a, 0x2) == std::vector<Served>{{1, 0x2, false, false}, {2, 0x2, true, false}});
  CHECK(file.room_to_merge(a, false));
  CHECK(serve_line(file, a, 0x2).empty());
  CHECK(serve_line(file, a, 0xd) ==
        std::vector<Served>{{1, 0x1, true, false}, {4, 0xc, true, true}, {5, 0x1, true, false}});
  file.wait(a, waiter_of(6, 0x8));  // behind an empty list
  CHECK(serve_line(file, a, 0xf) == std::vector<Served>{{6, 0x8, true, false}});
  file.release(a);
  CHECK((!file.full() && file.in_use() == 1));
  CHECK(serve_line(file, b, 0xf) == std::vector<Served>{{3, 0x2, true, false}});
}

TEST_CASE("lines in flight: random requests and sectors against lists, and after a checkpoint") {
  constexpr std::uint32_t kEntries = 6;
  MshrFile file(kEntries, 16, 16);
  std::map<std::uint16_t, std::vector<Waiter>> plain;
  test::Random32 random(9);
  std::uint32_t tag = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    if (i == 10'000) {
      MshrFile copy(kEntries, 16, 16);
      test::restore(file, copy);
      file = copy;
    }
    if (plain.empty() || (!file.full() && random() % 4 == 0)) {
      const std::uint16_t mshr = file.allocate(LineIndex{i});
      REQUIRE(plain.try_emplace(mshr).second);
      continue;
    }
    const auto which = std::next(plain.begin(), static_cast<std::ptrdiff_t>(random() % plain.size()));
    const auto sectors = static_cast<SectorMask>(1 + random() % 15);
    if (random() % 2 == 0 && file.room_to_merge(which->first, false)) {
      const Waiter waiter = waiter_of(++tag, sectors, random() % 2 == 0);
      file.wait(which->first, waiter);
      which->second.push_back(waiter);
      continue;
    }
    std::vector<Served> expected;
    for (Waiter& w : which->second) {
      const auto got = static_cast<SectorMask>(w.awaited & sectors);
      w.awaited = static_cast<SectorMask>(w.awaited - got);
      if (got != 0) expected.push_back({w.request.tag, got, w.awaited == 0, w.from_far});
    }
    std::erase_if(which->second, [](const Waiter& w) { return w.awaited == 0; });
    REQUIRE(serve_line(file, which->first, sectors) == expected);
    if (!which->second.empty()) continue;
    file.release(which->first);
    plain.erase(which);
  }
  CHECK(file.in_use() == plain.size());
  CHECK(tag > 3000);
}

TEST_CASE("a channel's queue: each bank and direction is in the order of arrival, whatever leaves first") {
  constexpr std::uint32_t kBanks = 4, kCapacity = 24;
  DramQueue queue(kBanks, kCapacity);
  std::deque<std::pair<std::uint16_t, DramTransaction>> plain;
  test::Random32 random(4);
  const auto first = [&](std::uint32_t bank, bool write, std::optional<std::uint64_t> row) {
    for (const auto& [node, work] : plain)
      if (work.bank == bank && work.write == write && (!row || work.row == *row)) return node;
    return DramQueue::kNone;
  };
  for (unsigned i = 0; i < 20'000; ++i) {
    if (plain.size() < kCapacity && (plain.empty() || random() % 2 == 0)) {
      const DramTransaction work =
          work_of(static_cast<std::uint16_t>(random() % kBanks), random() % 3 == 0, random() % 4);
      plain.emplace_back(queue.push(work), work);
      if (plain.size() > 1) REQUIRE(queue[plain.back().first].age > queue[plain[plain.size() - 2].first].age);
    } else {
      const auto gone = plain.begin() + static_cast<std::ptrdiff_t>(random() % plain.size());
      queue.remove(gone->first);
      plain.erase(gone);
    }
    const auto bank = static_cast<std::uint32_t>(random() % kBanks);
    const bool write = random() % 2 == 0;
    const std::uint64_t row = random() % 4;
    REQUIRE(queue.head(bank, write) == first(bank, write, {}));
    REQUIRE(queue.find_row(bank, write, row) == first(bank, write, row));
    const auto writes = std::ranges::count_if(plain, [](const auto& p) { return p.second.write; });
    REQUIRE((queue.writes() == writes && queue.reads() + queue.writes() == plain.size()));
  }
}

TEST_CASE("FR-FCFS: the oldest of the open row, else the row of the oldest; a closed bank is activated") {
  DramQueue queue(2, 8);
  BankState bank;
  CHECK(candidate_of(queue, bank, 0, false).transaction == DramQueue::kNone);
  const std::uint16_t first = queue.push(work_of(0, false, 5)), second = queue.push(work_of(0, false, 6)),
                      third = queue.push(work_of(0, false, 6)), other = queue.push(work_of(0, true, 5));
  (void)queue.push(work_of(1, false, 6));
  const auto next = [&](bool write) { return candidate_of(queue, bank, 0, write); };
  CHECK((next(false).command == DramCommand::kActivate && next(false).transaction == first));
  bank = {6, true, false};
  CHECK((next(false).command == DramCommand::kRead && next(false).transaction == second));
  CHECK(next(false).age == queue[second].age);
  CHECK((next(true).command == DramCommand::kPrecharge && next(true).transaction == other));
  queue.remove(second);
  CHECK(next(false).transaction == third);
  queue.remove(third);
  CHECK((next(false).command == DramCommand::kPrecharge && next(false).transaction == first));
  bank.row = 5;
  CHECK((next(true).command == DramCommand::kWrite && next(true).transaction == other));
}

TEST_CASE("a channel writes from the high watermark to the low one, and while nothing is to be read") {
  config::DramGroup dram;
  dram.write_high = 8;
  dram.write_low = 3;
  Direction direction(dram);
  struct Moment {
    std::uint32_t reads, writes;
    bool writing, changes;
  };
  for (const Moment& m : std::vector<Moment>{{1, 0, false, false},
                                             {1, 7, false, false},
                                             {0, 1, true, true},   // without reads
                                             {1, 1, false, true},  // until one comes
                                             {1, 8, true, true},   // full
                                             {9, 4, true, false},  // until the low watermark
                                             {9, 3, false, true},
                                             {9, 7, false, false},
                                             {0, 0, false, false}}) {
    INFO(m.reads << " reads, " << m.writes << " writes");
    CHECK(direction.update(m.reads, m.writes) == m.changes);
    CHECK(direction.writing() == m.writing);
  }
}

TEST_CASE("signals: a write signals the words that it touches, and a poll compares modulo 2^32") {
  SignalCounts counts;
  icnt::Request write;
  write.line = 0x1000;
  write.bytes = {0xf0, 0, 0x1, 0};  // word 1 of the first sector; a byte of the third sector's first
  const auto lacks = [&](Address word, std::uint32_t signals) {
    icnt::Request poll;
    poll.line = word & ~Address{kLineBytes - 1};
    poll.bytes[0] = static_cast<std::uint32_t>(word - poll.line);
    poll.bytes[1] = signals;
    return counts.lacks(poll);
  };
  CHECK(lacks(0x1004, 1));
  CHECK_FALSE(lacks(0x1004, 0));
  counts.count(write);
  CHECK_FALSE(lacks(0x1004, 1));
  CHECK(lacks(0x1004, 2));
  CHECK(lacks(0x1000, 1));
  CHECK_FALSE(lacks(0x1040, 1));
  CHECK(lacks(0x1084, 1));  // another line
  write.signals_twice = true;
  counts.count(write);
  CHECK_FALSE(lacks(0x1004, 3));
  CHECK(lacks(0x1004, 4));
  CHECK_FALSE(lacks(0x1004, 0xffffffff));  // long ago
  SignalCounts copy;
  test::restore(counts, copy);
  counts = copy;
  CHECK((!lacks(0x1004, 3) && lacks(0x1004, 4)));
}

}  // namespace lockstep::mem
