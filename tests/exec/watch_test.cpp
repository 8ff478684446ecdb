// When a launch repeats itself: small state machines that do, that do not, and that read memory.
#include "exec/watch.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <vector>

namespace lockstep::exec {
namespace {

using Verdict = LivelockDetector::Verdict;
constexpr std::uint64_t kRoundsAtMost = 4096;

struct Judged {
  Verdict verdict = Verdict::kUnknown;
  std::uint64_t round = 0, begun = 0;  // 0: it never was; how often watching began
};

/// The first verdict but kBegun on rounds whose states are state(0), state(1), ...
Judged judge(Watch& watch, const std::function<std::uint64_t(std::uint64_t)>& state,
             std::uint64_t patience = 4,
             std::uint64_t instructions = std::numeric_limits<std::uint64_t>::max()) {
  LivelockDetector detector(watch, patience, instructions);
  Judged judged;
  for (std::uint64_t round = 1; round <= kRoundsAtMost; ++round) {
    const std::uint64_t now = state(round);
    const Verdict verdict = detector.round(round * 10, [&] { return now; });
    if (verdict == Verdict::kUnknown) continue;
    if (verdict == Verdict::kBegun) {
      ++judged.begun;
      continue;
    }
    judged.verdict = verdict;
    judged.round = round;
    return judged;
  }
  return judged;
}

TEST_CASE("livelock: a state with a period of up to eight rounds that reads nothing is dead") {
  for (std::uint64_t period = 1; period <= 8; ++period) {
    Watch watch;
    const Judged judged = judge(watch, [&](std::uint64_t round) { return round % period; });
    CHECK(judged.verdict == Verdict::kDead);
    CHECK(judged.round ==
          4 + 2 * period);  // states are compared from round 4 on, and watched once one has come back
    CHECK(judged.begun == 1);
    CHECK_FALSE(watch.on());
  }
}

TEST_CASE("livelock: longer periods and states that never come back are not judged") {
  for (const std::uint64_t period : {9u, 100u, 1u << 30}) {
    Watch watch;
    const Judged judged = judge(watch, [&](std::uint64_t round) { return round % period; });
    CHECK(judged.verdict == Verdict::kUnknown);
    CHECK(judged.begun == 0);  // so accesses were never watched
    CHECK_FALSE(watch.on());
  }
}

TEST_CASE("livelock: a state that stands and reads memory waits for a write from outside") {
  Watch watch;
  const std::uint32_t flag = 7;
  const Judged judged = judge(watch, [&](std::uint64_t) {
    if (watch.on()) watch.read(reinterpret_cast<Address>(&flag), sizeof flag);
    return 1u;
  });
  CHECK(judged.verdict == Verdict::kStands);
  REQUIRE(watch.values.size() == 1);
  CHECK(watch.values.begin()->second.bits == 7);
}

TEST_CASE("livelock: where memory changes in between, an equal state is no repetition") {
  Watch watch;
  const Judged judged = judge(watch, [&](std::uint64_t round) {
    watch.changes += round < 100;
    return 1u;
  });
  CHECK(judged.verdict == Verdict::kDead);
  CHECK(judged.round == 130);  // it all began anew with each power of two
}

TEST_CASE("livelock: many instructions are as good as many rounds for the first check") {
  Watch watch;
  // Each round has 10 instructions.
  CHECK(judge(
            watch, [](std::uint64_t) { return 1u; }, 1'000'000, 160)
            .round == 18);
  CHECK(judge(
            watch, [](std::uint64_t) { return 1u; }, 1'000'000, 161)
            .round == 34);
}

TEST_CASE("livelock: after a change from outside everything begins with the first check again") {
  Watch watch;
  LivelockDetector detector(watch, 4, std::numeric_limits<std::uint64_t>::max());
  const auto round = [&] { return detector.round(0, [] { return 1u; }); };
  for (int i = 0; i < 4; ++i) CHECK(round() == Verdict::kUnknown);
  CHECK(round() == Verdict::kBegun);
  CHECK(watch.on());
  detector.restart();
  CHECK_FALSE(watch.on());
  for (int i = 0; i < 4; ++i) CHECK(round() == Verdict::kUnknown);
  CHECK(round() == Verdict::kBegun);
  CHECK(round() == Verdict::kDead);
}

TEST_CASE(
    "livelock: what was read is kept while some detector is watching, and forgotten when the next one "
    "begins") {
  Watch watch;
  const std::uint64_t word = 1;
  const auto at = reinterpret_cast<Address>(&word);
  LivelockDetector one(watch, 1, 0), two(watch, 2, std::numeric_limits<std::uint64_t>::max());
  const auto round = [](LivelockDetector& detector) { return detector.round(0, [] { return 1u; }); };
  CHECK(round(one) == Verdict::kUnknown);
  REQUIRE(round(one) == Verdict::kBegun);
  watch.read(at, 8);
  for (int i = 0; i < 2; ++i) CHECK(round(two) == Verdict::kUnknown);
  REQUIRE(round(two) == Verdict::kBegun);
  CHECK(watch.askers == 2);
  CHECK(watch.values.size() == 1);
  one.restart();
  two.restart();
  CHECK(round(one) == Verdict::kUnknown);
  REQUIRE(round(one) == Verdict::kBegun);
  CHECK(watch.values.empty());
}

TEST_CASE("watch: what is read is kept in words of eight bytes, the last value of each") {
  Watch watch;
  std::array<std::uint32_t, 5> memory{1, 2, 3, 4, 5};
  const auto at = reinterpret_cast<Address>(memory.data());
  watch.read(at, 20);
  memory[0] = 9;
  watch.read(at, 4);
  CHECK(watch.reads == 2);
  REQUIRE(watch.values.size() == 3);
  CHECK((watch.values.at(at).bytes == 4 && watch.values.at(at).bits == 9));
  CHECK(watch.values.at(at + 8).bits == (std::uint64_t{4} << 32 | 3));
  CHECK((watch.values.at(at + 16).bytes == 4 && watch.values.at(at + 16).bits == 5));
}

TEST_CASE("fingerprint: every byte counts, and where it is") {
  std::array<std::byte, 29> bytes{};
  const auto print = [&] {
    Fingerprint p;
    p.add(bytes);
    return p.value();
  };
  std::vector<std::uint64_t> prints{print()};
  for (std::byte& byte : bytes) {
    byte = std::byte{1};
    prints.push_back(print());
    byte = std::byte{0};
  }
  std::sort(prints.begin(), prints.end());
  CHECK(std::unique(prints.begin(), prints.end()) == prints.end());
}

}  // namespace
}  // namespace lockstep::exec
