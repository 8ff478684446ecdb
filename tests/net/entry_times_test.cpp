// Times of entries around what their agent does with them, by hand. All clocks here are of 1 GHz: a cycle is
// 1000 ps.
#include "net/entry_times.hpp"

#include <catch2/catch.hpp>

namespace lockstep::net {
namespace {

constexpr Address kEntry = 0x4000, kOther = 0x4040;
const Clock kGigahertz(1'000'000);

/// The n-th use of an entry: its status word has had 2n - 1 signals when the agent sees it.
EndedEntry ended(unsigned use, std::uint64_t seen_ns, std::uint64_t end_ns, bool blocking = true,
                 Address entry = kEntry) {
  EndedEntry e;
  e.entry = entry;
  e.ready = 2 * use - 1;
  e.blocking = blocking;
  e.seen = seen_ns * 1000;
  e.end = end_ns * 1000;
  return e;
}

struct Nanoseconds {
  std::uint64_t begun, written, visible, returned;
  bool operator==(const Nanoseconds&) const = default;
};
Nanoseconds around(const EntryTimes& times, const EndedEntry& of) {
  const EntryTimes::Around a = times.around(of);
  return {a.begun / 1000, a.written / 1000, a.visible / 1000, a.returned / 1000};
}

}  // namespace

TEST_CASE("Entry times: each use of an entry has its own, whoever noted them, in whatever order") {
  icnt::EntryLog first, second;
  // Use 1 by one SM, use 2 by another, use 3 by the first again; an entry beside it in between.
  first.store(10, kEntry, false);
  first.store(12, kEntry, false);
  first.store(15, kEntry, true);
  second.store(200, kOther, true);
  second.store(205, kEntry, false);
  second.store(220, kEntry, true);
  first.store(500, kEntry, true);
  first.find(90, kEntry, 2);
  second.find(330, kEntry, 4);
  first.find(700, kEntry, 6);
  EntryTimes times;
  times.add(second, kGigahertz);
  times.add(first, kGigahertz);
  times.add_visible({{kEntry, 540}, {kOther, 230}}, kGigahertz);
  times.add_visible({{kEntry, 40}, {kEntry, 240}}, kGigahertz);
  times.sort();
  CHECK(around(times, ended(1, 50, 80)) == Nanoseconds{10, 15, 40, 90});
  CHECK(around(times, ended(2, 250, 300)) == Nanoseconds{205, 220, 240, 330});
  CHECK(around(times, ended(3, 560, 600)) == Nanoseconds{500, 500, 540, 700});
  CHECK(around(times, ended(1, 240, 260, true, kOther)) == Nanoseconds{200, 200, 230, 260});
}

TEST_CASE("Entry times: one that does not block returns when its agent is done with it") {
  icnt::EntryLog sm;
  sm.store(5, kEntry, true);
  sm.find(90, kEntry, 2);  // who waits for it later, to write it again
  EntryTimes times;
  times.add(sm, kGigahertz);
  times.add_visible({{kEntry, 20}}, kGigahertz);
  times.sort();
  CHECK(around(times, ended(1, 30, 40, false)) == Nanoseconds{5, 5, 20, 40});
  CHECK(around(times, ended(1, 30, 40, true)) == Nanoseconds{5, 5, 20, 90});
}

TEST_CASE("Entry times: what was not noted takes no time") {
  EntryTimes times;
  times.sort();
  CHECK(around(times, ended(1, 30, 40)) == Nanoseconds{30, 30, 30, 40});
  times.add_visible({{kEntry, 20}}, kGigahertz);
  times.sort();
  CHECK(around(times, ended(1, 30, 40)) == Nanoseconds{20, 20, 20, 40});
  CHECK(around(times, ended(2, 130, 140)) == Nanoseconds{130, 130, 130, 140});
  CHECK(around(times, ended(1, 30, 40, true, kEntry - 64)) == Nanoseconds{30, 30, 30, 40});
}

TEST_CASE("Entry times: moments of different domains are put in order, the agent's as they are") {
  icnt::EntryLog sm;
  sm.store(31, kEntry, false);
  sm.store(33, kEntry, true);
  sm.find(39, kEntry, 2);
  EntryTimes times;
  times.add(sm, kGigahertz);
  times.add_visible({{kEntry, 32}}, kGigahertz);
  times.sort();
  CHECK(around(times, ended(1, 30, 40)) == Nanoseconds{30, 30, 30, 40});
}

TEST_CASE("Entry times: sums and maxima are those of the stages, which add up to the whole") {
  AroundTimes sum;
  sum.add({10, 15, 40, 90}, {kEntry, 1, 0, {}, true, 50, 80});
  sum.add({100, 130, 135, 200}, {kEntry, 3, 0, {}, true, 150, 199});
  CHECK((sum.written == 5 + 30 && sum.most_written == 30));
  CHECK((sum.visible == 25 + 5 && sum.most_visible == 25));
  CHECK((sum.seen == 10 + 15 && sum.most_seen == 15));
  CHECK((sum.returned == 10 + 1 && sum.most_returned == 10));
  CHECK(sum.longest == 100);
  CHECK(sum.written + sum.visible + sum.seen + sum.returned + (80 - 50) + (199 - 150) == 80 + 100);
}

}  // namespace lockstep::net
