// Pages that leave the device, in both orders: when they become invalid, when their frames are free, when
// their bytes cross the link.
#include "uvm/departures.hpp"

#include <catch2/catch.hpp>

#include "tests/persisted.hpp"
#include "tests/uvm/migrations.hpp"

namespace lockstep::uvm {
namespace {

Parameters early_reuse() {
  Parameters p = Migrations::per_page();
  p.early_reuse = true;
  return p;
}

/// As an eviction decision does it before evict().
void mark(Migrations& m, const Run& run) {
  m.tree(run.tree).counted -= run.set();
  m.tree(run.tree).leaving |= run.set();
}

}  // namespace

TEST_CASE("departures, safe order: invalid at once, written when all TLBs have dropped them, then free") {
  Migrations m(1000, Migrations::per_page(), 3);
  Departures leaving(m.state);
  const Run run{0, 16, 8};
  m.place(run);
  m.tree(0).dirty |= PageSet::range(16, 2);
  mark(m, run);
  leaving.evict(run, false, 5000);
  CHECK(m.tree(0).resident.empty());
  CHECK(m.tree(0).evicted == run.set());
  CHECK((m.counters().evicted_dirty_pages == 2 && m.counters().evicted_clean_pages == 6));
  REQUIRE(m.state.shootdowns.list().size() == 1);
  CHECK((m.state.shootdowns.list()[0].first == 16 && m.state.shootdowns.list()[0].pages == 8));
  CHECK(m.state.frames.used() == 8);
  CHECK(leaving.pages() == 8);
  const std::uint32_t id = m.state.shootdowns.list()[0].id;
  for (const Cycle now : {5050u, 5100u}) {
    leaving.acknowledge(id, now);
    leaving.step(now);
    CHECK_FALSE(m.state.lanes.busy(Direction::kToHost));
  }
  leaving.acknowledge(id, 5101);
  CHECK(leaving.next_event() == 5200);  // the GPU's own TLB takes 200 cycles
  CHECK_FALSE(leaving.wants_link(5199));
  leaving.step(5199);
  CHECK_FALSE(m.state.lanes.busy(Direction::kToHost));
  leaving.step(5200);
  REQUIRE(m.state.lanes.busy(Direction::kToHost));
  const Cycle end = 5200 + m.out_cycles(8);
  CHECK(leaving.next_event() == end);
  leaving.step(end - 1);
  CHECK_FALSE(leaving.take_gone());
  CHECK(m.state.frames.used() == 8);
  leaving.step(end);
  CHECK(leaving.take_gone());
  CHECK_FALSE(leaving.take_gone());
  CHECK((m.state.frames.used() == 0 && leaving.pages() == 0 && leaving.idle()));
  CHECK(m.tree(0).leaving.empty());
  CHECK((m.counters().write_backs == 1 && m.counters().bytes_to_host == 8 * kPageBytes));
  CHECK(m.counters().write_busy_cycles == m.out_cycles(8));
  leaving.acknowledge(id, end);  // too late
  CHECK(leaving.idle());
}

TEST_CASE("departures, safe order: what is acknowledged late starts then, and the first acknowledged first") {
  Migrations m(1000, Migrations::per_page(), 1);
  Departures leaving(m.state);
  for (const unsigned first : {0u, 32u}) {
    const Run run{1, static_cast<std::uint16_t>(first), 4};
    m.place(run);
    mark(m, run);
    leaving.evict(run, false, 100);
  }
  leaving.acknowledge(1, 900);
  leaving.acknowledge(0, 950);
  CHECK(leaving.next_event() == 900);
  leaving.step(900);
  CHECK(m.tree(1).leaving == (PageSet::range(0, 4) | PageSet::range(32, 4)));
  leaving.step(900 + m.out_cycles(4));
  CHECK(m.tree(1).leaving == PageSet::range(0, 4));
  CHECK(m.state.lanes.start(Direction::kToHost) == 900 + m.out_cycles(4));
}

TEST_CASE("departures, early reuse: valid until the write-back starts, then free at once") {
  Migrations m(1000, early_reuse());
  Departures leaving(m.state);
  const Run run{0, 0, 16};
  m.place(run);
  mark(m, run);
  leaving.evict(run, false, 100);
  CHECK(m.tree(0).resident == run.set());
  CHECK(m.state.shootdowns.list().empty());
  leaving.step(100);
  CHECK(m.tree(0).resident.empty());
  CHECK(m.state.shootdowns.list().size() == 1);
  CHECK(m.state.frames.used() == 0);
  CHECK(leaving.pages() == 16);  // on the link
  leaving.step(100 + m.out_cycles(16));
  CHECK((leaving.pages() == 0 && leaving.idle()));
  CHECK_FALSE(leaving.take_gone());  // of the safe order
}

TEST_CASE("departures, early reuse: an access takes a staged write-back back as a whole, one under way not") {
  Migrations m(1000, early_reuse());
  Departures leaving(m.state);
  const Run first{0, 0, 4}, second{0, 100, 8};
  for (const Run& run : {first, second}) {
    m.place(run);
    mark(m, run);
    leaving.evict(run, false, 50);
  }
  leaving.step(50);
  leaving.take_back(0, 2);  // has begun
  CHECK(m.counters().cancelled_write_backs == 0);
  leaving.take_back(0, 108);  // beside it
  CHECK(m.counters().cancelled_write_backs == 0);
  leaving.take_back(0, 107);
  CHECK(m.counters().cancelled_write_backs == 1);
  CHECK(m.tree(0).dirty == second.set());
  CHECK(m.tree(0).counted == second.set());
  CHECK(m.tree(0).leaving.empty());
  CHECK(leaving.pages() == 4);
  leaving.step(50 + m.out_cycles(4));
  CHECK((leaving.idle() && m.counters().write_backs == 1));
  CHECK(m.state.frames.used() == 8);
}

TEST_CASE("departures: pages that the host has are dropped, which divides the run") {
  Migrations m(1000, early_reuse());
  Departures leaving(m.state);
  const Run run{2, 0, 64};
  m.place(run);
  m.tree(2).duplicated |= PageSet::range(10, 5) | PageSet::range(60, 4);
  m.tree(2).unbacked |= PageSet::range(12, 1);  // only another device has a copy
  mark(m, run);
  leaving.evict(run, false, 0);
  Cycle now = 0;
  while (!leaving.idle()) {
    leaving.step(now);
    now = leaving.next_event();
  }
  CHECK(m.counters().clean_drops == 3);  // 10-11, 13-14, 60-63
  CHECK(m.counters().write_backs == 3);  // 0-9, 12, 15-59
  CHECK(m.counters().bytes_to_host == (64 - 8) * std::uint64_t{kPageBytes});
  CHECK(m.counters().write_busy_cycles == m.out_cycles(10) + m.out_cycles(1) + m.out_cycles(45));
  CHECK((m.tree(2).duplicated.empty() && m.tree(2).unbacked.empty()));
}

TEST_CASE("departures: a drop takes no time and no bytes, unless its lines must leave the L2 first") {
  for (const bool moves_data : {false, true}) {
    Migrations m(1000, Migrations::per_page(), 1, moves_data);
    Departures leaving(m.state);
    m.place({0, 0, 32});
    leaving.expel(0, PageSet::range(0, 512), true, 0);
    leaving.acknowledge(0, 10);
    leaving.step(200);
    CHECK(m.state.lanes.busy(Direction::kToHost) == moves_data);
    if (moves_data) {
      REQUIRE(m.state.lanes.moves().size() == 1);
      CHECK(m.state.lanes.moves()[0].discard);
      m.state.lanes.moved(Direction::kToHost);
      leaving.step(300);
    }
    CHECK(leaving.idle());
    CHECK((m.counters().clean_drops == 1 && m.counters().bytes_to_host == 0));
    CHECK(m.state.frames.used() == 0);
    CHECK(m.counters().evicted_clean_pages == 0);  // it was no eviction
  }
}

TEST_CASE("departures: pages that are not there, or leave already, are not expelled again") {
  Migrations m(1000);
  Departures leaving(m.state);
  leaving.expel(0, PageSet::range(0, 512), false, 0);
  CHECK(leaving.idle());
  m.place({0, 8, 8});
  leaving.expel(0, PageSet::range(0, 12), false, 0);
  leaving.expel(0, PageSet::range(0, 12), false, 0);
  CHECK(leaving.pages() == 4);
  CHECK(m.tree(0).resident == PageSet::range(12, 4));
}

TEST_CASE("departures: a copy to the host leaves duplicates, which are copied no second time") {
  Migrations m(1000);
  Departures leaving(m.state);
  m.place({0, 0, 8});
  m.tree(0).dirty |= PageSet::range(0, 8);
  leaving.copy_to_host(0, PageSet::range(0, 8), 0);
  CHECK(m.tree(0).resident.empty());  // accesses wait
  leaving.acknowledge(0, 0);
  leaving.step(200);
  leaving.step(200 + m.out_cycles(8));
  CHECK(m.tree(0).resident == PageSet::range(0, 8));
  CHECK(m.tree(0).duplicated == PageSet::range(0, 8));
  CHECK(m.tree(0).dirty.empty());
  CHECK(m.state.frames.used() == 8);
  CHECK(m.counters().bytes_to_host == 8 * kPageBytes);
  leaving.copy_to_host(0, PageSet::range(0, 8), 10'000);
  CHECK(leaving.idle());
}

TEST_CASE("departures: pages that the device should access remotely are mapped once they have left") {
  Migrations m(1000);
  Departures leaving(m.state);
  m.place({0, 0, 8});
  m.state.remote.advice.advise(0, PageSet::range(4, 8), Advice::kSetAccessedBy, Named::kDevice, 0);
  leaving.expel(0, PageSet::range(0, 8), false, 0);
  leaving.acknowledge(0, 0);
  leaving.step(200);
  CHECK(m.tree(0).remote.empty());
  leaving.step(200 + m.out_cycles(8));
  CHECK(m.tree(0).remote == PageSet::range(4, 4));
}

TEST_CASE("departures: a checkpoint between decision, acknowledgement and end changes nothing") {
  Migrations m(1000, Migrations::per_page(), 2), other(1000, Migrations::per_page(), 2);
  Departures leaving(m.state), copy(other.state);
  const Run run{0, 0, 16};
  m.place(run);
  mark(m, run);
  leaving.evict(run, false, 0);
  leaving.acknowledge(0, 30);
  const auto through_checkpoint = [&] {
    test::restore(m.state, other.state);
    test::restore(leaving, copy);
  };
  through_checkpoint();
  copy.acknowledge(0, 300);
  CHECK(copy.next_event() == 300);
  leaving.acknowledge(0, 300);
  leaving.step(300);
  through_checkpoint();
  CHECK(copy.next_event() == 300 + m.out_cycles(16));
  copy.step(copy.next_event());
  CHECK(copy.take_gone());
  CHECK(other.state.frames.used() == 0);
}

}  // namespace lockstep::uvm
