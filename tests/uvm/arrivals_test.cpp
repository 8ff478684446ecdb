// Pages that come to the device: the queue of the lane, frames, and what is counted.
#include "uvm/arrivals.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/persisted.hpp"
#include "tests/uvm/migrations.hpp"

namespace lockstep::uvm {
namespace {

/// As staging does it: the run comes, and `wanted` of its pages have faulted.
void stage(Migrations& m, Arrivals& coming, const Run& run, const PageSet& wanted, bool frames_taken = true) {
  m.tree(run.tree).incoming |= run.set();
  m.tree(run.tree).wanted |= wanted & run.set();
  if (frames_taken) m.state.frames.take(run.tree, run.pages);
  coming.queue({run, !wanted.empty()}, frames_taken);
}

/// Steps from event to event until all has come; returns the time.
Cycle finish(Migrations& m, Arrivals& coming, Cycle now) {
  REQUIRE_FALSE(coming.step(now));
  while (!coming.idle()) {
    now = coming.next_event();
    REQUIRE(now != kNever);
    REQUIRE_FALSE(coming.step(now));
  }
  CHECK_FALSE(m.state.lanes.busy(Direction::kToDevice));
  return now;
}

}  // namespace

TEST_CASE("arrivals: transfers cross one after the other, each in the link's time for its pages") {
  Migrations m(1000);
  Arrivals coming(m.state);
  stage(m, coming, {0, 0, 16}, PageSet::range(3, 1));
  stage(m, coming, {0, 16, 48}, {});
  stage(m, coming, {1, 5, 1}, PageSet::range(5, 1));
  CHECK(coming.wants_link());
  CHECK(coming.taken_frames() == 65);
  CHECK(coming.staged_pages() == 0);
  CHECK_FALSE(coming.step(1000));
  CHECK_FALSE(coming.wants_link());
  CHECK(coming.taken_frames() == 65);  // one of them under way
  CHECK(finish(m, coming, 1000) == 1000 + m.in_cycles(16) + m.in_cycles(48) + m.in_cycles(1));
  CHECK(coming.arrived() == std::vector<Run>{{0, 0, 16}, {0, 16, 48}, {1, 5, 1}});
  coming.clear_arrived();
  CHECK(coming.arrived().empty());
  CHECK(m.tree(0).resident == PageSet::range(0, 64));
  CHECK((m.tree(0).incoming.empty() && m.tree(0).wanted.empty()));
  const Counters& c = m.counters();
  CHECK((c.transfers == 3 && c.bytes_to_device == 65 * std::uint64_t{kPageBytes}));
  CHECK(c.prefetched_pages == 63);
  CHECK(m.tree(0).untouched.count() == 63);
  CHECK_FALSE(m.tree(0).untouched.contains(3));
  CHECK(c.read_busy_cycles == m.in_cycles(16) + m.in_cycles(48) + m.in_cycles(1));
  CHECK(c.peak_resident_pages == 65);
  REQUIRE(m.state.log.by_allocation().size() == 1);
  CHECK(m.state.log.by_allocation()[0].faulted_pages == 2);
  CHECK(m.state.log.by_allocation()[0].bytes_to_device == 65 * std::uint64_t{kPageBytes});
}

TEST_CASE("arrivals: transfers are counted by their size's next power of two, from 4 KiB to above 256 KiB") {
  Migrations m(3000);
  Arrivals coming(m.state);
  std::uint16_t next = 0;
  for (const unsigned pages : {1u, 2u, 3u, 4u, 5u, 8u, 9u, 16u, 17u, 32u, 33u, 64u, 65u}) {
    stage(m, coming, {0, next, static_cast<std::uint16_t>(pages)}, {});
    next = static_cast<std::uint16_t>(next + pages);
  }
  stage(m, coming, {1, 0, 128}, {});
  stage(m, coming, {2, 0, 512}, {});
  (void)finish(m, coming, 0);
  CHECK(m.counters().transfer_sizes == std::array<std::uint64_t, kTransferSizes>{1, 1, 2, 2, 2, 2, 2, 3});
}

TEST_CASE("arrivals: a transfer without frames waits for them at the queue's front, and so do those behind") {
  Migrations m(20);
  Arrivals coming(m.state);
  stage(m, coming, {0, 0, 16}, PageSet::range(0, 1), false);
  stage(m, coming, {1, 0, 8}, PageSet::range(0, 1), false);
  stage(m, coming, {1, 8, 1}, PageSet::range(8, 1), false);
  CHECK(coming.staged_pages() == 25);
  CHECK(coming.taken_frames() == 0);
  CHECK_FALSE(coming.step(0));
  CHECK(coming.staged_pages() == 9);
  CHECK(m.state.frames.used() == 16);
  CHECK(coming.step(m.in_cycles(16)));  // 8 pages, 4 frames
  CHECK_FALSE(coming.wants_link());
  CHECK(coming.next_event() == kNever);
  CHECK(coming.step(50'000));
  m.state.frames.give({0, 0, 4});
  CHECK(coming.wants_link());
  CHECK_FALSE(coming.step(60'000));
  CHECK(m.state.lanes.start(Direction::kToDevice) == 60'000);
  CHECK(m.state.frames.free() == 0);
  CHECK(coming.staged_pages() == 1);
}

TEST_CASE("arrivals: handling of faults holds the lane for its time without data") {
  Migrations m(1000);
  Arrivals coming(m.state);
  coming.queue_handling(66'645, {0, 0, 1});  // 45 us
  stage(m, coming, {0, 0, 1}, PageSet::range(0, 1));
  CHECK_FALSE(coming.no_page_comes());
  CHECK_FALSE(coming.step(10));
  CHECK(coming.next_event() == 10 + 66'645);
  CHECK(coming.taken_frames() == 1);  // the page behind it
  CHECK(finish(m, coming, 10) == 10 + 66'645 + m.in_cycles(1));
  CHECK(m.counters().fault_handling_cycles == 66'645);
  CHECK(m.counters().read_busy_cycles == m.in_cycles(1));
  CHECK(m.counters().transfers == 1);
}

TEST_CASE("arrivals: slots go before transfers, but not while the first transfer lacks frames") {
  Migrations m(20);
  Arrivals coming(m.state);
  const Cycle slot = m.state.parameters().remote_slot;
  stage(m, coming, {0, 0, 16}, PageSet::range(0, 1), false);
  coming.queue_slot();
  coming.queue_slot();
  CHECK_FALSE(coming.step(0));
  CHECK(coming.next_event() == slot);
  CHECK(coming.take_slots_done() == 0);
  CHECK_FALSE(coming.step(slot));
  CHECK(coming.take_slots_done() == 1);
  CHECK(coming.take_slots_done() == 0);
  CHECK_FALSE(coming.step(2 * slot));
  CHECK(coming.take_slots_done() == 1);
  CHECK(coming.next_event() == 2 * slot + m.in_cycles(16));
  CHECK(m.counters().read_busy_cycles == 2 * slot + m.in_cycles(16));
  CHECK_FALSE(coming.step(2 * slot + m.in_cycles(16)));
  CHECK(coming.idle());

  stage(m, coming, {1, 0, 8}, PageSet::range(0, 1), false);
  coming.queue_slot();
  CHECK(coming.step(100'000));
  CHECK_FALSE(m.state.lanes.busy(Direction::kToDevice));
}

TEST_CASE("arrivals: a slot under way is no page that comes") {
  Migrations m(20);
  Arrivals coming(m.state);
  CHECK((coming.idle() && coming.no_page_comes()));
  coming.queue_slot();
  CHECK_FALSE(coming.idle());
  CHECK(coming.no_page_comes());
  CHECK_FALSE(coming.step(0));
  CHECK(coming.no_page_comes());
  CHECK(coming.taken_frames() == 0);
}

TEST_CASE("arrivals: pages that had been evicted count as thrashed") {
  Migrations m(1000);
  Arrivals coming(m.state);
  m.tree(0).evicted |= PageSet::range(2, 3);
  stage(m, coming, {0, 0, 4}, PageSet::range(0, 4));
  stage(m, coming, {1, 0, 4}, PageSet::range(0, 4));
  (void)finish(m, coming, 0);
  CHECK(m.counters().thrashed_pages == 2);
}

TEST_CASE("arrivals: read-mostly pages come as duplicates unless a store has asked for them") {
  Migrations m(1000);
  Arrivals coming(m.state);
  m.state.remote.advice.advise(0, PageSet::range(0, 8), Advice::kSetReadMostly, Named::kDevice, 0);
  m.tree(0).wanted_to_write |= PageSet::range(3, 1);
  stage(m, coming, {0, 0, 16}, PageSet::range(0, 4));
  (void)finish(m, coming, 0);
  CHECK(m.tree(0).duplicated == (PageSet::range(0, 8) - PageSet::range(3, 1)));
  CHECK(m.counters().duplicated_pages == 7);
  CHECK(m.tree(0).wanted_to_write.empty());
}

TEST_CASE("arrivals: events of the timeline have the times of the link") {
  Migrations m(1000);
  std::vector<Event> events;
  m.state.log.record(&events);
  Arrivals coming(m.state);
  coming.queue_handling(500, {0, 3, 1});
  stage(m, coming, {0, 3, 1}, PageSet::range(3, 1));
  stage(m, coming, {0, 4, 12}, {});
  (void)finish(m, coming, 100);
  REQUIRE(events.size() == 3);
  const Cycle first = 600 + m.in_cycles(1);
  CHECK((events[0].kind == Event::Kind::kFaultHandling && events[0].start == 100 && events[0].end == 600));
  CHECK((events[1].kind == Event::Kind::kTransfer && events[1].start == 600 && events[1].end == first));
  CHECK((events[2].kind == Event::Kind::kPrefetch && events[2].end == first + m.in_cycles(12)));
  CHECK(events[2].run == Run{0, 4, 12});
}

TEST_CASE("arrivals: a checkpoint in the middle of the queue changes nothing") {
  Migrations m(40), other(40);
  Arrivals coming(m.state), copy(other.state);
  stage(m, coming, {0, 0, 16}, PageSet::range(0, 1), false);
  stage(m, coming, {1, 0, 16}, PageSet::range(0, 1), false);
  coming.queue_slot();
  CHECK_FALSE(coming.step(0));
  test::restore(m.state, other.state);
  test::restore(coming, copy);
  CHECK(copy.staged_pages() == 32);
  const Cycle end = finish(m, coming, 0);
  CHECK(finish(other, copy, 0) == end);
  CHECK(other.counters().bytes_to_device == 32 * std::uint64_t{kPageBytes});
  CHECK(copy.arrived() == coming.arrived());
}

}  // namespace lockstep::uvm
