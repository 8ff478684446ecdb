// Places of an L2 slice: who leaves, against a list kept by hand.
#include "mem/tag_array.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <random>

namespace lockstep::mem {
namespace {

TEST_CASE("the least recently used line leaves, also when the numbers of use begin again") {
  for (const std::uint32_t uses : {20u, 1000u, 0x7fffffffu}) {
    TagArray tags(8 * 128, 8, LruReplacement(uses));  // one set
    std::list<Address> order;                         // most recent first
    std::mt19937 random(uses);
    for (int i = 0; i < 5000; ++i) {
      const Address line = random() % 12 * 128;
      if (const auto index = tags.find(0, line)) {
        tags.touch(*index);
        order.remove(line);
      } else {
        const auto victim = tags.victim(0, false, 4);
        REQUIRE(victim);
        REQUIRE(tags.in_use(*victim) == (order.size() == 8));
        if (order.size() == 8) {
          REQUIRE(tags[*victim].address == order.back());
          order.pop_back();
        }
        tags.insert(*victim, line, false, {});
      }
      order.push_front(line);
    }
  }
}

TEST_CASE("the least recently used of too many dirty lines, also when the numbers of use begin again") {
  for (const std::uint32_t uses : {20u, 0x7fffffffu}) {
    TagArray tags(8 * 128, 8, LruReplacement(uses));
    std::list<Address> dirty;  // most recent first
    for (std::uint32_t i = 0; i < 8; ++i) tags.insert(*tags.victim(0, false, 4), i * 128, false, {});
    std::mt19937 random(uses);
    for (int i = 0; i < 5000; ++i) {
      const Address line = random() % 8 * 128;
      const LineIndex index = *tags.find(0, line);
      tags.touch(index);
      const bool was_dirty = std::find(dirty.begin(), dirty.end(), line) != dirty.end();
      REQUIRE(tags.is_dirty(index) == was_dirty);
      dirty.remove(line);
      if (was_dirty) dirty.push_front(line);
      switch (random() % 4) {
        case 0:
          tags.set_mshr(index, tags[index].mshr == kNoMshr ? 1 : kNoMshr);
          break;
        case 1:
          tags.mark_clean(index, mem::kAllSectors);
          dirty.remove(line);
          break;
        default:
          if (!was_dirty) dirty.push_front(line);
          tags.mark_dirty(index, random() % 4, 1);
      }
      for (const std::uint32_t limit : {1u, 3u, 5u}) {
        const auto found = tags.excess_dirty(0, limit);
        REQUIRE(found.has_value() == (dirty.size() >= limit));
        if (found) REQUIRE(tags[*found].address == dirty.back());
      }
    }
  }
}

TEST_CASE("dirty lines that leave last are not among those of which there may be too many") {
  TagArray tags(8 * 128, 8);
  const auto fill = [&](Address line, L2Placing placing) {
    const LineIndex index = *tags.victim(0, false, 4, placing);
    tags.insert(index, line, false, placing);
    tags.mark_dirty(index, 0, 1);
    return index;
  };
  for (Address line = 0; line < 5; ++line) fill(line * 128, {L2Priority::kLast, 6});
  CHECK_FALSE(tags.excess_dirty(0, 1));
  const LineIndex older = fill(5 * 128, {}), newer = fill(6 * 128, {});
  CHECK_FALSE(tags.excess_dirty(0, 3));
  CHECK(tags.excess_dirty(0, 2) == older);
  tags.use(older, {L2Priority::kLast, 6});
  CHECK_FALSE(tags.excess_dirty(0, 2));
  CHECK(tags.excess_dirty(0, 1) == newer);
  tags.note_resets(1);  // all are like others
  CHECK(tags.excess_dirty(0, 7) == LineIndex{0});
}

TEST_CASE("what takes a dirty line's place is clean, and so is nothing") {
  TagArray tags(2 * 128, 2);
  const auto fill = [&](Address line) {
    const LineIndex index = *tags.victim(0, false, 1);
    tags.insert(index, line, false, {});
    return index;
  };
  tags.mark_dirty(fill(0), 2, 1);
  tags.mark_dirty(fill(128), 0, 1);
  CHECK(tags.excess_dirty(0, 2));
  const LineIndex third = fill(256);
  CHECK_FALSE(tags.is_dirty(third));
  CHECK_FALSE(tags.excess_dirty(0, 2));
  tags.remove(*tags.find(0, 128));
  CHECK_FALSE(tags.excess_dirty(0, 1));
}

TEST_CASE("lines in flight keep their place") {
  TagArray tags(4 * 128, 4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const auto index = tags.victim(0, false, 2);
    REQUIRE(index);
    tags.insert(*index, i * 128, false, {i == 2 ? L2Priority::kFirst : L2Priority::kPlain});
    tags.set_mshr(*index, 7);
  }
  CHECK_FALSE(tags.victim(0, false, 2));
  tags.set_mshr(*tags.find(0, 128), kNoMshr);
  CHECK(tags[*tags.victim(0, false, 2)].address == 128);
  tags.touch(*tags.find(0, 0));
  CHECK(tags[*tags.victim(0, false, 2)].address == 128);
  for (const Address line : {0u, 256u}) tags.set_mshr(*tags.find(0, line), kNoMshr);
  CHECK(tags[*tags.victim(0, false, 2)].address == 256);  // was to leave first
}

TEST_CASE("far copies replace one another when they have their share") {
  TagArray tags(4 * 128, 4);
  for (std::uint32_t i = 0; i < 4; ++i) tags.insert(*tags.victim(0, false, 2), i * 128, i == 1 || i == 3, {});
  CHECK(tags[*tags.victim(0, true, 2)].address == 128);
  CHECK(tags[*tags.victim(0, false, 2)].address == 0);
  CHECK(tags[*tags.victim(0, true, 3)].address == 0);
}

}  // namespace
}  // namespace lockstep::mem
