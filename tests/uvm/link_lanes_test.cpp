// The two directions of the host link, moment by moment.
#include "uvm/link_lanes.hpp"

#include <catch2/catch.hpp>

#include "tests/persisted.hpp"

namespace lockstep::uvm {
namespace {

constexpr Direction kIn = Direction::kToDevice, kOut = Direction::kToHost;

}  // namespace

TEST_CASE("link lanes: a transfer holds its direction until its time is over, and only that direction") {
  LinkLanes lanes(false);
  CHECK((!lanes.busy(kIn) && !lanes.busy(kOut)));
  CHECK(lanes.next_end(kIn) == kNever);
  CHECK_FALSE(lanes.over(kIn, 1'000'000));
  lanes.begin(kIn, 100, 40);
  CHECK((lanes.busy(kIn) && !lanes.busy(kOut)));
  CHECK(lanes.start(kIn) == 100);
  CHECK(lanes.next_end(kIn) == 140);
  CHECK_FALSE(lanes.over(kIn, 139));
  CHECK(lanes.over(kIn, 140));
  CHECK(lanes.next_end(kOut) == kNever);
  lanes.begin(kOut, 120, 0);  // a drop takes no time
  CHECK(lanes.over(kOut, 120));
  lanes.end(kIn);
  CHECK(lanes.next_end(kIn) == kNever);
  CHECK(lanes.busy(kOut));
}

TEST_CASE(
    "link lanes: a transfer whose lines the owner moves ends with the later of its time and its lines") {
  LinkLanes lanes(true);
  lanes.begin(kIn, 1000, 300);
  lanes.move({kIn, false, false, 7, 16, 32});
  REQUIRE(lanes.moves().size() == 1);
  CHECK(lanes.moves()[0].cycles == 300);
  CHECK((lanes.moves()[0].tree == 7 && lanes.moves()[0].first == 16 && lanes.moves()[0].pages == 32));
  CHECK(lanes.moving(kIn));
  CHECK(lanes.next_end(kIn) == kNever);
  CHECK_FALSE(lanes.over(kIn, 5000));
  lanes.moved(kIn);
  CHECK(lanes.next_end(kIn) == 1300);
  CHECK(lanes.over(kIn, 5000));
  lanes.end(kIn);
  lanes.begin(kIn, 5000, 10);  // the next one begins with nothing to be moved
  CHECK_FALSE(lanes.moving(kIn));
  CHECK(lanes.moves().size() == 1);
  lanes.clear_moves();
  CHECK(lanes.moves().empty());
}

TEST_CASE("link lanes: an owner that moves nothing is given no moves") {
  LinkLanes lanes(false);
  lanes.begin(kOut, 10, 20);
  lanes.move({kOut, true, false, 0, 0, 512});
  CHECK(lanes.moves().empty());
  CHECK_FALSE(lanes.moving(kOut));
  CHECK(lanes.next_end(kOut) == 30);
}

TEST_CASE("link lanes: packets of remote accesses delay a transfer under way, and nothing else") {
  LinkLanes lanes(false);
  CHECK_FALSE(lanes.delay(kIn, 5));
  lanes.begin(kIn, 0, 100);
  CHECK_FALSE(lanes.delay(kIn, 0));
  CHECK_FALSE(lanes.delay(kOut, 5));
  CHECK(lanes.delay(kIn, 5));
  CHECK(lanes.delay(kIn, 7));
  CHECK(lanes.next_end(kIn) == 112);
  CHECK(lanes.start(kIn) == 0);
  lanes.end(kIn);
  lanes.begin(kIn, 200, 100);  // the delay was the last transfer's
  CHECK(lanes.next_end(kIn) == 300);
}

TEST_CASE("link lanes: with copies on the same link, migrations begin when the arbiter lets them") {
  LinkLanes lanes(false);
  CHECK(lanes.may_begin(kIn));
  HostLink link;
  lanes.share(link);
  CHECK(lanes.may_begin(kIn));
  link.say(kIn, HostLink::Copies{true, false, 500});
  CHECK(lanes.arbitrate(kIn, true, 100));  // a copy has the link
  CHECK_FALSE(lanes.may_begin(kIn));
  CHECK(lanes.may_begin(kOut));
  CHECK_FALSE(lanes.arbitrate(kIn, true, 200));  // no news
  CHECK(lanes.arbitrate(kIn, true, 500));
  CHECK(lanes.may_begin(kIn));
  lanes.begin(kIn, 500, 50);
  (void)lanes.arbitrate(kIn, false, 500);
  CHECK(link.copy_must_wait(kIn));
  CHECK_FALSE(link.copy_must_wait(kOut));
  lanes.end(kIn);
  (void)lanes.arbitrate(kIn, false, 550);
  CHECK_FALSE(link.copy_must_wait(kIn));
}

TEST_CASE("link lanes: a saved transfer goes on where it was") {
  LinkLanes lanes(true), copy(true);
  lanes.begin(kIn, 1000, 300);
  lanes.move({kIn, false, false, 1, 2, 3});
  lanes.begin(kOut, 1100, 50);
  copy.begin(kOut, 5, 6);
  test::restore(lanes, copy);
  CHECK(copy.next_end(kIn) == kNever);
  CHECK(copy.next_end(kOut) == 1150);
  CHECK(copy.moves().size() == 1);
  copy.moved(kIn);
  CHECK(copy.next_end(kIn) == 1300);
}

}  // namespace lockstep::uvm
