// Replacement policies of the L2: each against a model of its own, and sweeps around the end of a set.
#include "mem/replacement.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <random>
#include <set>
#include <vector>

#include "mem/tag_array.hpp"

namespace lockstep::mem {
namespace {

constexpr std::uint32_t kWays = 8;

/// One set; true on a hit.
bool access(TagArray& tags, Address line, std::optional<Address>* gone = nullptr) {
  if (const auto index = tags.find(0, line)) {
    tags.touch(*index);
    return true;
  }
  const LineIndex index = *tags.victim(0, false, kWays);
  if (gone) *gone = tags.in_use(index) ? std::optional(tags[index].address) : std::nullopt;
  tags.insert(index, line, false, {});
  return false;
}

TagArray one_set(config::L2Replacement policy, std::uint32_t ways = kWays) {
  return {ways * kLineBytes, ways, make_replacement(policy)};
}

/// Hits of a sweep over `lines` lines again and again.
double hit_rate_of_sweep(config::L2Replacement policy, std::uint32_t ways, std::uint32_t lines,
                         std::uint32_t rounds) {
  TagArray tags = one_set(policy, ways);
  std::uint64_t hits = 0;
  for (std::uint32_t r = 0; r <= rounds; ++r)
    for (std::uint32_t l = 0; l < lines; ++l) hits += access(tags, l * kLineBytes) && r > 0;
  return static_cast<double>(hits) / (static_cast<double>(rounds) * lines);
}

TEST_CASE("Replacement: lru takes the oldest of a list kept by hand") {
  TagArray tags = one_set(config::L2Replacement::kLru);
  std::list<Address> order;  // newest first
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const Address line = random() % 12 * kLineBytes;
    std::optional<Address> gone;
    const bool known = std::ranges::find(order, line) != order.end();
    REQUIRE(access(tags, line, &gone) == known);
    if (gone) {
      REQUIRE(*gone == order.back());
      order.pop_back();
    }
    order.remove(line);
    order.push_front(line);
  }
}

TEST_CASE("Replacement: nru takes the first line without its bit") {
  TagArray tags = one_set(config::L2Replacement::kNru);
  std::vector<Address> at(kWays, ~Address{0});
  std::set<std::size_t> referenced;
  std::mt19937 random(2);
  for (int i = 0; i < 20000; ++i) {
    const Address line = random() % 12 * kLineBytes;
    auto place = static_cast<std::size_t>(std::ranges::find(at, line) - at.begin());
    const bool hit = place < kWays;
    if (!hit) {
      place = static_cast<std::size_t>(std::ranges::find(at, ~Address{0}) - at.begin());
      if (place == kWays)
        for (place = 0; referenced.contains(place);) ++place;
    }
    REQUIRE(access(tags, line) == hit);
    at[place] = line;
    referenced.insert(place);
    if (referenced.size() == kWays) referenced = {place};
    for (const Address there : at)
      if (there != ~Address{0}) REQUIRE(tags.find(0, there));
  }
}

TEST_CASE("Replacement: hashed_random takes every place as often, and the same until a line is put there") {
  TagArray tags = one_set(config::L2Replacement::kHashedRandom);
  std::vector<double> taken(kWays);
  constexpr int kLines = 80000;
  for (int i = 0; i < kLines; ++i) {
    const LineIndex index = *tags.victim(0, false, kWays);
    REQUIRE(*tags.victim(0, false, kWays) == index);  // asked again while it waits
    if (i < static_cast<int>(kWays)) REQUIRE(!tags.in_use(index));
    ++taken[index];
    tags.insert(index, static_cast<Address>(i) * kLineBytes, false, {});
    tags.touch(index);
  }
  double chi_square = 0;
  for (const double n : taken) chi_square += (n - 10000) * (n - 10000) / 10000;
  CHECK(chi_square < 24.3);  // 7 degrees of freedom, 0.1 %
}

TEST_CASE("Replacement: sweeps over one line more than a set holds") {
  for (const std::uint32_t ways : {4u, 8u, 16u}) {
    INFO(ways << " ways");
    for (const auto policy :
         {config::L2Replacement::kLru, config::L2Replacement::kNru, config::L2Replacement::kHashedRandom})
      CHECK(hit_rate_of_sweep(policy, ways, ways, 10) == 1);  // what fits, stays
    CHECK(hit_rate_of_sweep(config::L2Replacement::kLru, ways, ways + 1, 100) == 0);
    // One line is absent. Each miss removes one of the `ways` others, which comes 1 to `ways` accesses later
    // with equal probability: a miss every (ways + 1) / 2 accesses.
    const double random = 1 - 2.0 / (ways + 1);
    CHECK(hit_rate_of_sweep(config::L2Replacement::kHashedRandom, ways, ways + 1, 20000) ==
          Approx(random).margin(0.01));
    const double nru = hit_rate_of_sweep(config::L2Replacement::kNru, ways, ways + 1, 100);
    CHECK((nru > 0 && nru < 1));
  }
}

TEST_CASE("Replacement: lines in flight stay, and what leaves first goes first, by every policy") {
  for (const auto policy :
       {config::L2Replacement::kLru, config::L2Replacement::kNru, config::L2Replacement::kHashedRandom}) {
    TagArray tags = one_set(policy, 4);
    for (std::uint32_t i = 0; i < 4; ++i) {
      const LineIndex index = *tags.victim(0, false, 4);
      tags.insert(index, i * kLineBytes, false, {i == 2 ? L2Priority::kFirst : L2Priority::kPlain});
      tags.set_mshr(index, 7);
    }
    CHECK_FALSE(tags.victim(0, false, 4));
    tags.set_mshr(*tags.find(0, 128), kNoMshr);
    CHECK(tags[*tags.victim(0, false, 4)].address == 128);
    tags.set_mshr(*tags.find(0, 256), kNoMshr);
    CHECK(tags[*tags.victim(0, false, 4)].address == 256);
  }
}

}  // namespace
}  // namespace lockstep::mem
