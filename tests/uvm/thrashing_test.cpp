// Thrashing detection and the smart runtime against the published examples, and the
// patterns against a second implementation.
#include "uvm/thrashing.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <vector>

#include "uvm/access_pattern.hpp"

namespace lockstep::uvm {
namespace {

constexpr Cycle kMicrosecond = 1000;
using Hint = Thrashing::Hint;

ThrashingRules rules() {
  ThrashingRules r;
  r.lapse = 500 * kMicrosecond;
  return r;
}
PageSet page(unsigned p) { return PageSet::range(p, 1); }
Processor side(unsigned i) { return i % 2 ? Processor::kHost : Processor::kDevice; }

TEST_CASE("thrashing: a page every 100 us thrashes with its fifth migration, every 600 us never") {
  for (const auto& [every, expected] : {std::pair{100u, 5u}, {500u, 5u}, {501u, 0u}, {600u, 0u}}) {
    Thrashing t(rules());
    unsigned first = 0;
    for (unsigned i = 0; i < 100 && !first; ++i) {
      t.migrated(2, page(7), side(i), i * every * kMicrosecond);
      if (t.thrashing(2).contains(7)) first = i + 1;
    }
    INFO(every);
    CHECK(first == expected);
    CHECK_FALSE(t.thrashing(2).contains(8));
  }
}

TEST_CASE("thrashing: one processor alone does not arm a block") {
  Thrashing t(rules());
  for (unsigned i = 0; i < 50; ++i) t.migrated(0, page(i % 3), Processor::kDevice, i * kMicrosecond);
  CHECK(t.thrashing(0).empty());
  CHECK(t.hint(0, 1, Processor::kDevice, 60 * kMicrosecond) == Hint::kNone);
}

TEST_CASE("thrashing: one at a time, after ten throttles pinned, for 150 ms") {
  Thrashing t(rules());
  Cycle now = 0;
  for (unsigned i = 0; i < 5; ++i) t.migrated(0, page(3), side(i), now += 100 * kMicrosecond);
  CHECK(t.hint(0, 3, Processor::kDevice, now) == Hint::kNone);  // the device has it for a nap
  const Cycle nap = now + 500 * kMicrosecond;
  for (unsigned i = 0; i < 10; ++i) {
    CHECK(t.hint(0, 3, Processor::kHost, now + i) == Hint::kThrottle);
    CHECK(t.throttled_until(0, 3) == nap);
    if (i < 9) CHECK(t.hint(0, 3, Processor::kDevice, now + i) == Hint::kNone);
    CHECK(t.hint(0, 4, Processor::kHost, now + i) == Hint::kNone);
  }
  now += 10;
  CHECK(t.hint(0, 3, Processor::kHost, now) == Hint::kPin);
  CHECK(t.pinned(0, 3, now));
  CHECK(t.hint(0, 3, Processor::kDevice, now + 149999 * kMicrosecond) == Hint::kPin);
  CHECK_FALSE(t.pinned(0, 3, now + 150000 * kMicrosecond));
  CHECK(t.hint(0, 3, Processor::kDevice, now + 150000 * kMicrosecond) == Hint::kNone);
  CHECK(t.thrashing(0).empty());
}

TEST_CASE("thrashing: when the nap is over the other one gets the page") {
  Thrashing t(rules());
  Cycle now = 0;
  for (unsigned i = 0; i < 5; ++i) t.migrated(0, page(3), side(i), now += 100 * kMicrosecond);
  CHECK(t.hint(0, 3, Processor::kDevice, now) == Hint::kNone);
  CHECK(t.hint(0, 3, Processor::kHost, now + 499 * kMicrosecond) == Hint::kThrottle);
  CHECK(t.hint(0, 3, Processor::kHost, now + 500 * kMicrosecond) == Hint::kNone);
  CHECK(t.hint(0, 3, Processor::kDevice, now + 999 * kMicrosecond) == Hint::kThrottle);
}

TEST_CASE("thrashing: a quiet epoch forgets, four times at most") {
  Thrashing t(rules());
  Cycle now = 0;
  for (unsigned round = 0; round < 6; ++round) {
    INFO(round);
    for (unsigned i = 0; i < 5; ++i) t.migrated(0, page(3), side(i), now += 100 * kMicrosecond);
    CHECK(t.thrashing(0).contains(3));
    t.migrated(0, page(9), Processor::kHost, now += 1000001 * kMicrosecond);
    CHECK(t.thrashing(0).contains(3) == (round >= 4));
    now += 1000 * kMicrosecond;
  }
}

TEST_CASE("pattern: the published examples") {
  const auto run = [](const std::vector<std::vector<std::uint64_t>>& kernels) {
    AccessPatterns p(1);
    for (const auto& blocks : kernels) {
      p.kernel_begins();
      for (const std::uint64_t b : blocks) p.staged(0, b);
    }
    return p;
  };
  const auto linear = run({{1, 2, 3}, {4, 5, 6}}), reuse = run({{1, 2, 3}, {1, 2, 3}}),
             random = run({{3, 1, 2}});
  CHECK(linear.of(0) == AccessPattern::kLinear);
  CHECK(reuse.of(0) == AccessPattern::kLinearReuse);
  CHECK(random.of(0) == AccessPattern::kRandom);
  CHECK_FALSE(smart_choice(linear).tree_eviction);
  CHECK_FALSE(smart_choice(linear).delayed);
  CHECK(smart_choice(reuse).tree_eviction);
  CHECK_FALSE(smart_choice(reuse).delayed);
  CHECK(smart_choice(random).tree_eviction);
  CHECK(smart_choice(random).delayed);
  CHECK(run({{1, 2, 3}, {6, 5}}).of(0) == AccessPattern::kMixed);
  CHECK(run({{1, 2, 3}, {6, 5}, {5}}).of(0) == AccessPattern::kMixedReuse);
  CHECK(run({{2, 2}}).of(0) == AccessPattern::kLinearReuse);
}

/// The rule written down for whole sequences: classes by name, merged in the order of kernels.
std::string pattern_of(const std::vector<std::vector<std::uint64_t>>& kernels) {
  std::string all;
  std::multiset<std::uint64_t> before;
  for (const auto& blocks : kernels) {
    if (blocks.empty()) continue;
    std::string one = std::is_sorted(blocks.begin(), blocks.end()) ? "linear" : "random";
    const std::set<std::uint64_t> own(blocks.begin(), blocks.end());
    const bool again =
        std::any_of(own.begin(), own.end(), [&](std::uint64_t b) { return before.contains(b); });
    if (own.size() < blocks.size() || again) one += "_reuse";
    before.insert(own.begin(), own.end());
    if (all.empty()) {
      all = one;
      continue;
    }
    const std::string a = all.substr(0, all.find('_')), b = one.substr(0, one.find('_'));
    const bool with = all.find('_') != std::string::npos || one.find('_') != std::string::npos;
    all = (a == b ? a : "mixed") + (with ? "_reuse" : "");
  }
  return all.empty() ? "none" : all;
}

TEST_CASE("pattern: random walks against the rule for whole sequences") {
  const char* const names[] = {"none",         "linear", "linear_reuse", "random",
                               "random_reuse", "mixed",  "mixed_reuse"};
  std::mt19937 random(3);
  std::set<std::string> seen;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::vector<std::uint64_t>> kernels(random() % 4);
    AccessPatterns p(2);
    std::uint64_t base = 0;
    for (auto& blocks : kernels) {
      p.kernel_begins();
      blocks.resize(random() % 4);
      for (auto& b : blocks) b = random() % 3 ? base++ : random() % 12;
      for (const std::uint64_t b : blocks) p.staged(1, b);
    }
    const std::string expected = pattern_of(kernels);
    CHECK(names[static_cast<unsigned>(p.of(1))] == expected);
    CHECK(p.of(0) == AccessPattern::kNone);
    seen.insert(expected);
  }
  CHECK(seen.size() == 7);
}

}  // namespace
}  // namespace lockstep::uvm
