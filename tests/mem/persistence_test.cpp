// Lines that leave last: a set against a model of its own, and what a set-aside of some ways keeps.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "mem/tag_array.hpp"

namespace lockstep::mem {
namespace {

constexpr std::uint32_t kSetWays = 8;

/// True on a hit.
bool access_placed(TagArray& tags, Address line, L2Placing how, bool far = false) {
  tags.note_resets(how.resets);
  if (const auto index = tags.find(0, line)) {
    tags.use(*index, how);
    return true;
  }
  const LineIndex index = *tags.victim(0, far, kSetWays, how);
  tags.insert(index, line, far, how);
  return false;
}

TagArray one_set(std::uint32_t ways = kSetWays) { return {ways * kLineBytes, ways, LruReplacement{}}; }

/// A set of lines with the time of their last use; a line that leaves first has none.
class Model {
 public:
  bool access(Address line, L2Placing how) {
    ++now_;
    const bool first = how.priority == L2Priority::kFirst;
    const auto found = std::ranges::find(lines_, line, &Line::address);
    if (found == lines_.end()) {
      if (lines_.size() == kSetWays || is_among_last(how)) lines_.erase(leaving(how));
      const bool last = wants_last(how) && count() < how.last_ways;
      lines_.push_back({line, first ? 0 : now_, last});
      return false;
    }
    if (first) {
      if (found->last) *found = {line, 0, false};
      return true;
    }
    found->used = now_;
    if (how.priority == L2Priority::kNormal) found->last = false;
    if (wants_last(how) && !found->last) {
      if (count() >= how.last_ways) oldest([](const Line& l) { return l.last; })->last = false;
      found->last = true;
    }
    return true;
  }

 private:
  struct Line {
    Address address = 0;
    std::uint64_t used = 0;
    bool last = false;
  };
  using Place = std::vector<Line>::iterator;

  static bool wants_last(L2Placing how) { return how.priority == L2Priority::kLast && how.last_ways > 0; }
  [[nodiscard]] std::uint32_t count() const {
    return static_cast<std::uint32_t>(std::ranges::count(lines_, true, &Line::last));
  }
  [[nodiscard]] bool is_among_last(L2Placing how) const {
    return wants_last(how) && count() >= how.last_ways;
  }
  template <class May>
  Place oldest(May&& may) {
    Place best = lines_.end();
    for (Place l = lines_.begin(); l != lines_.end(); ++l)
      if (may(*l) && (best == lines_.end() || l->used < best->used)) best = l;
    return best;
  }
  Place leaving(L2Placing how) {
    const bool among_last = is_among_last(how);
    const Place place = oldest([&](const Line& l) { return l.last == among_last; });
    return place == lines_.end() ? oldest([](const Line&) { return true; }) : place;
  }

  std::vector<Line> lines_;
  std::uint64_t now_ = 0;
};

TEST_CASE("Persistence: a set does what a list of lines with their uses does") {
  // At most one line that leaves first at a time: among equals the model has no order of places.
  for (const std::uint8_t ways : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{5}, std::uint8_t{8}}) {
    CAPTURE(int{ways});
    TagArray tags = one_set();
    Model model;
    std::mt19937 random(ways);
    int hits = 0;
    for (int i = 0; i < 20000; ++i) {
      const auto kind = random() % 8;
      const Address line = kind == 0 ? 100 * kLineBytes : random() % 14 * kLineBytes;
      const L2Priority priority = kind == 0  ? L2Priority::kFirst
                                  : kind < 4 ? L2Priority::kPlain
                                  : kind < 7 ? L2Priority::kLast
                                             : L2Priority::kNormal;
      const L2Placing how = {priority, ways, 0};
      const bool hit = model.access(line, how);
      REQUIRE(access_placed(tags, line, how) == hit);
      hits += hit;
    }
    CHECK(hits > 2000);
    CHECK(hits < 18000);
  }
}

/// Hits of the second pass over `lines` lines that persist in 12 of 16 ways, with 100 lines of a stream
/// between each two of them.
std::uint32_t kept(std::uint32_t lines, L2Priority of_lines, L2Priority of_stream) {
  constexpr std::uint8_t kAside = 12;
  TagArray tags = one_set(16);
  std::uint32_t hits = 0;
  Address stream = 1 << 20;
  for (int pass = 0; pass < 2; ++pass)
    for (std::uint32_t l = 0; l < lines; ++l) {
      hits += access_placed(tags, l * kLineBytes, {of_lines, kAside, 0});
      for (int s = 0; s < 100; ++s) (void)access_placed(tags, stream += kLineBytes, {of_stream, kAside, 0});
    }
  return hits;
}

TEST_CASE("Persistence: what fits into the ways set aside stays, one line more thrashes") {
  for (const auto stream : {L2Priority::kPlain, L2Priority::kFirst, L2Priority::kNormal}) {
    CHECK(kept(12, L2Priority::kLast, stream) == 12);
    CHECK(kept(13, L2Priority::kLast, stream) == 0);  // a cycle of least recently used lines
  }
  CHECK(kept(2, L2Priority::kPlain, L2Priority::kPlain) == 0);
  CHECK(kept(15, L2Priority::kPlain, L2Priority::kFirst) == 15);  // a stream takes one place
}

TEST_CASE("Persistence: other lines have all ways that persisting ones do not use") {
  TagArray tags = one_set();
  for (Address l = 0; l < 2; ++l) (void)access_placed(tags, l * kLineBytes, {L2Priority::kLast, 6, 0});
  for (int pass = 0; pass < 2; ++pass)
    for (Address l = 10; l < 16; ++l) CHECK(access_placed(tags, l * kLineBytes, {}) == (pass == 1));
  for (Address l = 0; l < 2; ++l) CHECK(access_placed(tags, l * kLineBytes, {}));
}

TEST_CASE("Persistence: a reset makes all lines like others, for launches after it") {
  const auto survives = [](std::uint16_t before, std::uint16_t after) {
    TagArray tags = one_set();
    (void)access_placed(tags, 0, {L2Priority::kLast, 6, before});
    for (Address l = 1; l <= 2 * kSetWays; ++l)
      (void)access_placed(tags, l * kLineBytes, {L2Priority::kPlain, 0, after});
    return tags.find(0, 0).has_value();
  };
  CHECK(survives(0, 0));
  CHECK(survives(3, 3));
  CHECK_FALSE(survives(0, 1));
  CHECK_FALSE(survives(3, 4));
  CHECK(survives(4, 3));  // a launch before the reset that goes on beside
  CHECK_FALSE(survives(65535, 1));
}

TEST_CASE("Persistence: copies of the other half's lines do not stay") {
  TagArray tags = one_set();
  (void)access_placed(tags, 0, {L2Priority::kLast, 6, 0}, true);
  for (Address l = 1; l <= kSetWays; ++l) (void)access_placed(tags, l * kLineBytes, {});
  CHECK_FALSE(tags.find(0, 0).has_value());
}

}  // namespace
}  // namespace lockstep::mem
