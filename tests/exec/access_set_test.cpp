// What parts of a launch reach in memory, against tables of every word.
#include "exec/access_set.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <random>

#include "exec/device_memory.hpp"

namespace lockstep::exec::test {
namespace {

constexpr std::uint64_t kBytes = 512 << 10;  // several of the chunks that the sets work by

std::uint64_t sum(std::uint64_t a, std::uint64_t b, std::uint64_t) {
  return static_cast<std::uint32_t>(a + b);
}
std::uint64_t larger(std::uint64_t a, std::uint64_t b, std::uint64_t) {
  return std::max(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
}

/// One part by the words of the memory, counted from its beginning.
struct Part {
  std::vector<char> read = std::vector<char>(kBytes / 4), written = read;
  std::map<std::uint64_t, Reduction> reduced;
  bool dependent = false;

  /// Whether the part may go on.
  bool access(std::vector<char>& kind, std::uint64_t at, std::uint64_t bytes) {
    for (std::uint64_t word = at / 4; word <= (at + bytes - 1) / 4; ++word) {
      kind[word] = 1;
      dependent |= reduced.count(word) != 0;
    }
    return !dependent;
  }
  bool reduce(std::uint64_t at, const Reduction& one) {
    const auto [found, fresh] = reduced.emplace(at / 4, one);
    if (!fresh) found->second.value = one.fn(found->second.value, one.value, 0);
    dependent = found->second.fn != one.fn || read[at / 4] != 0 || written[at / 4] != 0;
    return !dependent;
  }
  [[nodiscard]] bool conflicts_with(const Part& other) const {
    for (std::uint64_t word = 0; word < read.size(); ++word)
      if (written[word] != 0 && (other.read[word] != 0 || other.written[word] != 0)) return true;
    for (const auto& [word, one] : other.reduced)
      if (written[word] != 0) return true;
    return std::ranges::any_of(reduced, [&](const auto& ours) {
      const auto theirs = other.reduced.find(ours.first);
      return other.read[ours.first] != 0 ||
             (theirs != other.reduced.end() && theirs->second.fn != ours.second.fn);
    });
  }
};

struct Memory {
  DeviceMemory memory{std::uint64_t{1} << 30};
  Address base = *memory.allocate(kBytes);
  AccessSets sets{memory.arena_bytes()};
  [[nodiscard]] std::vector<std::uint32_t> words() const {
    std::vector<std::uint32_t> out(kBytes / 4);
    std::memcpy(out.data(), reinterpret_cast<const void*>(base), kBytes);
    return out;
  }
};

/// A random operation of the set and the part; false where it is not independent of earlier ones of its own.
bool operate(std::mt19937_64& random, const Memory& m, AccessSet& set, Part& part) {
  // Most near the ends of chunks of 128 KiB and within few lines, so that parts meet.
  const std::uint64_t near = (random() % 3 + 1) * (128 << 10) - 150 + random() % 300;
  const std::uint64_t at = random() % 4 == 0 ? random() % (kBytes - 1024) : near;
  const std::uint64_t bytes = random() % 20 == 0 ? 1 + random() % (kBytes - at) : 1 + random() % 16;
  bool goes_on = true;
  try {
    const auto kind = random() % 16;
    if (kind < 2) {
      goes_on = part.access(part.written, at, bytes);
      set.write(m.base + at, bytes);
      std::memset(reinterpret_cast<void*>(m.base + at), static_cast<int>(random()), bytes);
    } else if (kind < 4) {
      goes_on = part.access(part.read, at, bytes);
      set.read(m.base + at, bytes);
    } else {
      const Reduction one{m.base + at / 4 * 4, random() % 1000, random() % 100 != 0 ? sum : larger, 4};
      goes_on = part.reduce(at / 4 * 4, one);
      set.reduce(one);
    }
  } catch (const Dependent&) {
    CHECK(!goes_on);
    return false;
  }
  CHECK(goes_on);
  return goes_on;
}

}  // namespace

TEST_CASE("access sets: random operations against tables of words: conflicts, undoing, reductions") {
  Memory m;
  std::mt19937_64 random(1);
  unsigned conflicts = 0, free = 0, dependent = 0;
  for (int round = 0; round < 150; ++round) {
    const std::vector<std::uint32_t> before = m.words();
    const auto sets = m.sets.get(3);
    REQUIRE(sets.size() == 3);
    std::vector<Part> parts(3);
    for (unsigned i = 0; i < 3; ++i)
      for (auto left = random() % 25; left > 0 && operate(random, m, *sets[i], parts[i]);) --left;
    for (unsigned a = 0; a < 3; ++a)
      for (unsigned b = 0; b < 3; ++b) {
        if (a == b || parts[a].dependent || parts[b].dependent) continue;
        const bool expected = parts[a].conflicts_with(parts[b]);
        REQUIRE(sets[a]->conflicts_with(*sets[b]) == expected);
        ++(expected ? conflicts : free);
      }
    for (const Part& part : parts) dependent += part.dependent;
    std::array<unsigned, 3> order{0, 1, 2};
    std::shuffle(order.begin(), order.end(), random);
    for (const unsigned i : order) sets[i]->undo();
    REQUIRE(m.words() == before);

    std::vector<std::uint32_t> after = before;
    for (const unsigned i : order) {
      if (parts[i].dependent) continue;
      sets[i]->apply();
      for (const auto& [word, one] : parts[i].reduced)
        after[word] = static_cast<std::uint32_t>(one.fn(after[word], one.value, 0));
    }
    REQUIRE(m.words() == after);
  }
  CHECK(conflicts > 50);
  CHECK(free > 50);
  CHECK(dependent > 20);
}

TEST_CASE("access sets: thousands of sums are kept apart, and a set that is cleared knows nothing") {
  Memory m;
  AccessSet& set = *m.sets.get(1)[0];
  for (std::uint64_t round = 0; round < 3; ++round)
    for (std::uint64_t at = 0; at < kBytes; at += 8) set.reduce({m.base + at, at + round, sum, 4});
  set.apply();
  const auto words = m.words();
  for (std::uint64_t word = 0; word < words.size(); ++word)
    REQUIRE(words[word] == (word % 2 == 0 ? 3 * (4 * word) + 3 : 0));  // 0 + 1 + 2 = 3
  CHECK_THROWS_AS(set.read(m.base, 4), Dependent);
  AccessSet& again = *m.sets.get(1)[0];
  CHECK_FALSE(again.reduces());
  again.read(m.base, kBytes);
  CHECK_THROWS_AS(again.reduce({m.base + 8, 1, sum, 4}), Dependent);
}

TEST_CASE("access sets: memory outside the arena is foreign, also where an access only ends there") {
  Memory m;
  for (const Address first :
       {kArenaBase - 8, kArenaBase - 1, kArenaBase + m.memory.arena_bytes() - 1, Address{16}}) {
    AccessSet& set = *m.sets.get(1)[0];
    set.read(m.base, 4);
    CHECK_FALSE(set.foreign());
    set.read(first, 8);
    CHECK(set.foreign());
  }
  CHECK_FALSE(m.sets.get(1)[0]->foreign());
}

}  // namespace lockstep::exec::test
