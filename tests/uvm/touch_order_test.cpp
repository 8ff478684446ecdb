// The order of last touches against a plain list, frames by hand, and the random numbers of published
// policies against the C library's.
#include "uvm/touch_order.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "uvm/frames.hpp"
#include "uvm/random.hpp"

namespace lockstep::uvm {
namespace {

struct Weighted {
  std::uint32_t id, weight;
};

/// Items from the least recently touched on.
class PlainOrder {
 public:
  void touch(std::uint32_t id, std::uint32_t weight) {
    remove(id);
    items_.push_back({id, weight});
  }
  void set_weight(std::uint32_t id, std::uint32_t weight) {
    if (weight == 0) return remove(id);
    for (Weighted& item : items_)
      if (item.id == id) item.weight = weight;
  }
  /// In front of the first other one from `limit` on.
  void reposition(std::uint32_t id, std::uint32_t limit) {
    const auto own =
        std::find_if(items_.begin(), items_.end(), [&](const Weighted& i) { return i.id == id; });
    if (own == items_.end()) return;
    const Weighted moved = *own;
    items_.erase(own);
    items_.insert(
        std::find_if(items_.begin(), items_.end(), [&](const Weighted& i) { return i.id >= limit; }), moved);
  }
  [[nodiscard]] const std::vector<Weighted>& items() const { return items_; }

 private:
  void remove(std::uint32_t id) {
    std::erase_if(items_, [&](const Weighted& item) { return item.id == id; });
  }
  std::vector<Weighted> items_;
};

/// What walk() gives from `position` on.
using Steps = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
Steps steps_of(const TouchOrder& order, std::uint64_t position) {
  Steps steps;
  const bool stopped = order.walk(position, [&](std::uint32_t id, std::uint64_t offset) {
    steps.emplace_back(id, offset);
    return false;
  });
  REQUIRE_FALSE(stopped);
  return steps;
}
Steps steps_of(const PlainOrder& order, std::uint64_t position) {
  Steps steps;
  for (const Weighted& item : order.items()) {
    if (position >= item.weight && steps.empty()) {
      position -= item.weight;
      continue;
    }
    steps.emplace_back(item.id, std::exchange(position, 0));
  }
  return steps;
}

void check_equal(const TouchOrder& order, const PlainOrder& plain) {
  std::uint64_t total = 0;
  for (const Weighted& item : plain.items()) {
    REQUIRE(order.weight(item.id) == item.weight);
    total += item.weight;
  }
  REQUIRE(order.total() == total);
  for (std::uint64_t position = 0; position < total + 3; position += 1 + total / 50)
    REQUIRE(steps_of(order, position) == steps_of(plain, position));
  if (total > 0) REQUIRE(steps_of(order, total - 1) == steps_of(plain, total - 1));
}

/// Frames for managed memory of these sizes in MiB, whose trees have been touched in order.
struct FramesOf {
  FramesOf(std::uint64_t frames_of, bool root_chunks, std::initializer_list<unsigned> mib) {
    Address at = 0x7000'0000'0000;
    for (const unsigned size : mib) {
      space.add(at, std::uint64_t{size} << 20);
      at += std::uint64_t{1} << 30;
    }
    for (TreeId tree = 0; tree < mib.size(); ++tree) (void)table.touch(tree);
    frames.emplace(frames_of, root_chunks, table);
  }
  AddressSpace space;
  PageTable table{space};
  std::optional<Frames> frames;
};

}  // namespace

TEST_CASE("the order of last touches is that of a list, after any touches, changes of weight and moves") {
  for (const std::uint32_t ids : {1u, 5u, 60u, 300u}) {
    CAPTURE(ids);
    TouchOrder order;
    PlainOrder plain;
    check_equal(order, plain);
    std::mt19937 random(ids);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    for (unsigned step = 0; step < 1500; ++step) {
      const std::uint32_t id = below(ids), weight = 1 + below(32);
      switch (below(8)) {
        case 0:
          order.set_weight(id, 0);
          plain.set_weight(id, 0);
          break;
        case 1:
          order.set_weight(id, weight);
          plain.set_weight(id, weight);
          break;
        case 2: {
          const std::uint32_t limit = below(ids + 2);
          order.reposition(id, [&](std::uint32_t other) { return other >= limit; });
          plain.reposition(id, limit);
          break;
        }
        default:
          order.touch(id, weight);
          plain.touch(id, weight);
      }
      if (step % 25 == 0) check_equal(order, plain);
    }
    check_equal(order, plain);
  }
}

TEST_CASE("a walk over the order of touches stops where it is told to, and begins nowhere behind the end") {
  TouchOrder order;
  order.touch(7, 4);
  order.touch(3, 2);
  order.touch(5, 1);
  order.touch(7, 3);  // now the last, with another weight: 3 3 5 7 7 7
  std::vector<std::uint32_t> seen;
  CHECK(order.walk(1, [&](std::uint32_t id, std::uint64_t) {
    seen.push_back(id);
    return id == 5;
  }));
  CHECK(seen == std::vector<std::uint32_t>{3, 5});
  CHECK(steps_of(order, 5) == Steps{{7, 2}});
  CHECK_FALSE(order.walk(6, [](std::uint32_t, std::uint64_t) { return true; }));
}

TEST_CASE("frames without root chunks: as many as pages, and never more than there are") {
  FramesOf f(100, false, {2, 2});
  Frames& frames = *f.frames;
  CHECK(frames.needed(0, 30) == 30);
  frames.take(0, 30);
  frames.take(1, 70);
  CHECK(frames.free() == 0);
  CHECK(frames.used() == 100);
  frames.give({0, 5, 10});
  CHECK(frames.free() == 10);
  frames.enlarge(90);  // fewer: no effect
  CHECK(frames.all() == 100);
  frames.enlarge(150);
  CHECK(frames.free() == 60);
  frames.reset(20);
  CHECK(frames.free() == 130);
}

TEST_CASE("frames with root chunks: a tree holds those of all its pages until its last page has left") {
  FramesOf f(3 * kPagesPerTree, true, {2, 1, 2});
  Frames& frames = *f.frames;
  CHECK(frames.needed(0, 1) == 512);
  CHECK(frames.needed(1, 1) == 256);  // an allocation of 1 MiB is a tree of 1 MiB
  frames.take(0, 1);
  frames.take(1, 3);
  CHECK(frames.used() == 768);
  CHECK(frames.needed(0, 100) == 0);
  f.table[0].resident = PageSet::range(0, 2);
  frames.give({0, 0, 1});  // page 1 is still there
  CHECK(frames.used() == 768);
  f.table[0].resident = {};
  f.table[0].leaving = PageSet::range(1, 1);
  frames.give({0, 0, 1});  // it is under way to the host
  CHECK(frames.used() == 768);
  f.table[0].leaving = {};
  frames.give({0, 1, 1});
  CHECK(frames.used() == 256);
  CHECK(frames.needed(0, 1) == 512);
  frames.give({0, 1, 1});  // has none to give
  CHECK(frames.used() == 256);
}

TEST_CASE("frames of less than 2 MiB are no root chunks, and become such when unused memory grows") {
  FramesOf f(kPagesPerTree - 1, true, {2});
  CHECK(f.frames->needed(0, 3) == 3);
  f.frames->enlarge(kPagesPerTree);
  CHECK(f.frames->needed(0, 3) == 512);
  FramesOf used(kPagesPerTree - 1, true, {2});
  used.frames->take(0, 1);
  used.frames->enlarge(4 * kPagesPerTree);
  CHECK(used.frames->needed(0, 3) == 3);  // frames are counted as they were given out
}

#ifdef __GLIBC__
TEST_CASE("random policies draw the numbers of the C library's rand()") {
  for (const std::uint32_t seed : {0u, 1u, 2u, 12345u, 2147483646u, 2147483647u, 2147483648u, 4294967295u}) {
    CAPTURE(seed);
    Random ours(seed);
    std::srand(seed);
    std::vector<std::uint32_t> drawn, expected;
    for (unsigned i = 0; i < 500; ++i) {
      drawn.push_back(ours.next());
      expected.push_back(static_cast<std::uint32_t>(std::rand()));
    }
    CHECK(drawn == expected);
  }
}
#endif

}  // namespace lockstep::uvm
