// The mbarrier object by the rules of the PTX ISA (9.7.13.15), against a model with plain integers.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "exec/mbarrier.hpp"
#include "exec/mbarrier_events.hpp"

namespace lockstep::exec {
namespace {

TEST_CASE("mbarrier object: counts and sums keep their values at the ends of their ranges") {
  for (const std::uint32_t count : {1u, 2u, (1u << 20) - 1})
    for (const std::int32_t tx : {0, 1, -1, (1 << 20) - 1, -((1 << 20) - 1)})
      for (const bool phase : {false, true}) {
        const Mbarrier before{count, count - 1, tx, phase};
        const Mbarrier after = Mbarrier::unpack(before.pack());
        CHECK(after.expected == count);
        CHECK(after.pending == count - 1);
        CHECK(after.tx == tx);
        CHECK(after.phase == phase);
      }
}

TEST_CASE("mbarrier object: a phase ends when no arrival and no byte is missing, whatever came last") {
  std::array<std::byte, 8> object{};
  const auto apply = [&](auto&& change) { (void)update_mbarrier(object.data(), change); };
  std::mt19937 random(5);
  long long expected = 20, pending = 20, bytes = 0, phases = 0;
  apply([](Mbarrier& b) { b.init(20); });
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t n = 1 + static_cast<std::uint32_t>(random() % 64);
    switch (random() % 3) {
      case 0: {  // arrivals, of which some leave for good
        if (pending == 0) continue;
        const long long most = std::min(pending, 3LL);
        const auto count = static_cast<std::uint32_t>(1 + random() % static_cast<std::uint64_t>(most));
        const bool drop = expected > 8 && random() % 200 == 0;
        apply([&](Mbarrier& b) { b.arrive(count, drop); });
        pending -= count;
        if (drop) expected -= count;
        break;
      }
      case 1:
        if (bytes > 60) continue;
        apply([&](Mbarrier& b) { b.expect(n); });
        bytes += n;
        continue;  // announcing bytes ends no phase
      default: {
        const auto arrived = static_cast<std::uint32_t>(std::min<long long>(bytes, 3 * n));
        if (arrived == 0) continue;
        apply([&](Mbarrier& b) { b.complete(arrived); });
        bytes -= arrived;
      }
    }
    if (pending == 0 && bytes == 0) {
      ++phases;
      pending = expected;
    }
    const Mbarrier now = Mbarrier::unpack([&] {
      std::uint64_t bits = 0;
      std::memcpy(&bits, object.data(), sizeof bits);
      return bits;
    }());
    REQUIRE(now.phase == (phases % 2 != 0));
    REQUIRE(now.pending == pending);
    REQUIRE(now.expected == expected);
    REQUIRE(now.tx == bytes);
  }
  CHECK(phases > 20);
}

TEST_CASE("mbarrier numbers: from 1 on by first use, until they are cleared") {
  MbarrierNumbers numbers;
  CHECK(numbers.of(64) == 1);
  CHECK(numbers.of(0) == 2);
  CHECK(numbers.of(64) == 1);
  CHECK(numbers.of(8) == 3);
  numbers.clear();
  CHECK(numbers.of(8) == 1);
}

}  // namespace
}  // namespace lockstep::exec
