// shfl with any operands in every lane, against the pseudocode of the PTX ISA.
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>

#include "tests/exec_alu/harness.hpp"

namespace lockstep::test {
namespace {

struct Shuffled {
  int from = 0;
  bool in_range = false;
};

/// "PTX ISA 9.0", shfl.sync: b gives the lane or the distance, c its clamp and above it the segment's mask.
Shuffled shuffle_of(const std::string& mode, int lane, Bits b, Bits c) {
  const auto distance = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31),
             segment = static_cast<int>(c >> 8 & 31);
  const int most = (lane & segment) | (clamp & ~segment & 31), least = lane & segment;
  int from = 0;
  bool in_range = false;
  if (mode == "up") from = lane - distance, in_range = from >= most;
  if (mode == "down") from = lane + distance, in_range = from <= most;
  if (mode == "bfly") from = lane ^ distance, in_range = from <= most;
  if (mode == "idx") from = least | (distance & ~segment & 31), in_range = from <= most;
  return {in_range ? from : lane, in_range};
}

}  // namespace

TEST_CASE("shfl with random lanes, distances, clamps and segments", "[exec][warp]") {
  std::mt19937_64 random(21);
  std::size_t in_range = 0, out_of_range = 0;
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    for (int round = 0; round < 400; ++round) {
      Warp warp("shfl.sync." + mode + ".b32", "r|r,r,r,r,r");
      for (int lane = 0; lane < 32; ++lane) {
        warp.source(0, lane) = cut(random(), 32);
        // Only five bits of each count; half of the rounds have the same for all lanes.
        warp.source(1, lane) = round % 2 == 0 && lane > 0 ? warp.source(1, 0) : cut(random(), 32);
        warp.source(2, lane) = round % 2 == 0 && lane > 0 ? warp.source(2, 0) : cut(random(), 32);
      }
      warp.set_all(3, 0xffffffff).run();
      for (int lane = 0; lane < 32; ++lane) {
        const Shuffled expected = shuffle_of(mode, lane, warp.source(1, lane), warp.source(2, lane));
        INFO(mode << " lane " << lane << " b " << warp.source(1, lane) << " c " << warp.source(2, lane));
        REQUIRE(warp.result(lane, 0) == warp.source(0, expected.from));
        REQUIRE(warp.result(lane, 1) == expected.in_range);
        ++(expected.in_range ? in_range : out_of_range);
      }
    }
  CHECK(in_range > 5000);
  CHECK(out_of_range > 5000);
}

TEST_CASE("a butterfly over all distances sums a warp, a chain of ups scans it", "[exec][warp]") {
  std::mt19937_64 random(22);
  std::uint64_t value[32], sum = 0;
  for (std::uint64_t& v : value) v = random() % 100'000, sum += v;
  Warp scan("shfl.sync.up.b32", "r|r,r,r,r,r"), butterfly("shfl.sync.bfly.b32", "r,r,r,r,r");
  std::uint64_t totals[32], prefixes[32];
  for (int lane = 0; lane < 32; ++lane) totals[lane] = prefixes[lane] = value[lane];
  for (const Bits distance : {1u, 2u, 4u, 8u, 16u}) {
    for (int lane = 0; lane < 32; ++lane) {
      butterfly.source(0, lane) = totals[lane];
      scan.source(0, lane) = prefixes[lane];
    }
    butterfly.set_all(1, distance).set_all(2, 31).set_all(3, 0xffffffff).run();
    scan.set_all(1, distance).set_all(2, 0).set_all(3, 0xffffffff).run();
    for (int lane = 0; lane < 32; ++lane) {
      totals[lane] += butterfly.result(lane);
      if (scan.result(lane, 1) != 0) prefixes[lane] += scan.result(lane, 0);
    }
  }
  std::uint64_t so_far = 0;
  for (int lane = 0; lane < 32; ++lane) {
    so_far += value[lane];
    CHECK(totals[lane] == sum);
    CHECK(prefixes[lane] == so_far);
  }
}

}  // namespace lockstep::test
