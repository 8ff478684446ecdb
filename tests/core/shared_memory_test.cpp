#include "core/shared_memory.hpp"

#include <catch2/catch.hpp>

#include "lsu_reference.hpp"

using namespace lockstep;
using namespace lockstep::core;
using namespace lockstep::core::test;

namespace {

struct Counts {
  unsigned plain, paired, atomic;
};

Counts count(LaneMask mask, const Lanes& lanes, unsigned width) {
  std::vector<std::uint64_t> words;
  MioOperation op;
  op.mask = mask;
  op.access_bytes = static_cast<std::uint8_t>(width);
  op.form = trace::pack_addresses(mask, lanes.data(), words);
  op.words = words.data();
  LaneAddresses a;
  a.load(op);
  const unsigned plain = bank_wavefronts(a);
  a.load(op);
  const unsigned paired = bank_wavefronts(a, Returns::kPairs);
  static WavefrontMemo memo;  // of all patterns so far
  for (int again = 0; again < 2; ++again) {
    a.load(op);
    REQUIRE(memo(a) == plain);
    a.load(op);
    REQUIRE(memo(a, Returns::kPairs) == paired);
  }
  a.load(op);
  return {plain, paired, atomic_wavefronts(a)};
}

Lanes strided(Address base, std::int64_t stride) {
  Lanes lanes{};
  for (unsigned l = 0; l < kWarpSize; ++l) lanes[l] = base + static_cast<Address>(stride * l);
  return lanes;
}

}  // namespace

TEST_CASE("Shared memory: all strides and widths against the banks themselves") {
  for (const unsigned width : {1u, 2u, 4u, 8u, 16u})
    for (std::int64_t stride = -64; stride <= 64; ++stride)
      for (const LaneMask mask : {0xffffffffu, 0x00ffff00u, 0x55555555u, 0x80000001u, 0x00000100u}) {
        const Lanes lanes = strided(65536, stride * width);
        REQUIRE(count(mask, lanes, width).plain == reference_wavefronts(mask, lanes, width));
        REQUIRE(count(mask, lanes, width).paired == reference_paired_wavefronts(mask, lanes, width));
        REQUIRE(count(mask, lanes, width).atomic == reference_wavefronts(mask, lanes, width, true));
      }
}

TEST_CASE("Shared memory: random patterns") {
  std::mt19937_64 rng(5);
  for (int i = 0; i < 20'000; ++i) {
    const unsigned width = 1u << rng() % 5;
    LaneMask mask;
    Lanes lanes = random_lanes(rng, width, mask);
    if (rng() % 8 == 0)  // misaligned: hostile, but it must add up
      for (auto& a : lanes) a += rng() % 4;
    CAPTURE(width, mask);
    REQUIRE(count(mask, lanes, width).plain == reference_wavefronts(mask, lanes, width));
    Lanes alike = lanes;
    for (unsigned l = 0; l < kWarpSize; ++l) alike[l] = lanes[i % 2 ? l & ~1u : l & ~2u];
    if (rng() % 4 == 0) alike[rng() % kWarpSize] += width;
    for (auto& a : alike) a -= a % width;
    REQUIRE(count(mask, alike, width).paired == reference_paired_wavefronts(mask, alike, width));
    for (auto& a : lanes) a -= a % width;
    REQUIRE(count(mask, lanes, width).atomic == reference_wavefronts(mask, lanes, width, true));
  }
}

TEST_CASE("Shared memory: known conflicts") {
  const LaneMask all = 0xffffffff;
  CHECK(count(all, strided(0, 4), 4).plain == 1);
  CHECK(count(all, strided(0, 0), 4).plain == 1);  // broadcast
  CHECK(count(all, strided(0, 128), 4).plain == 32);
  CHECK(count(all, strided(0, 132), 4).plain == 1);  // a padded column
  CHECK(count(all, strided(0, 8), 8).plain == 2);    // half-warps
  CHECK(count(all, strided(0, 16), 16).plain == 4);  // quarter-warps
  CHECK(count(all, strided(0, 1), 1).plain == 1);
  CHECK(count(all, strided(0, 0), 4).atomic == 32);  // one lane after another
  CHECK(count(all, strided(0, 4), 4).atomic == 1);
}

TEST_CASE("Shared memory: loads of 16 bytes take half the passes where lanes read alike in pairs") {
  const LaneMask all = 0xffffffff;
  const auto lanes_at = [](auto&& place) {
    Lanes lanes{};
    for (unsigned l = 0; l < kWarpSize; ++l) lanes[l] = place(l);
    return lanes;
  };
  // NVIDIA's forum, thread 77228: four requests for offsets of 16 (n % 4), two where pairs have the same.
  const Lanes fours = lanes_at([](unsigned l) { return Address{l % 4 * 16}; });
  const Lanes neighbours = lanes_at([](unsigned l) { return Address{l / 2 % 4 * 16}; });
  const Lanes next_but_one = lanes_at([](unsigned l) { return Address{(l % 2 + l / 4 % 2 * 2) * 16}; });
  CHECK(count(all, fours, 16).paired == 4);
  CHECK(count(all, neighbours, 16).paired == 2);
  CHECK(count(all, next_but_one, 16).paired == 2);
  CHECK(count(all, strided(0, 0), 16).paired == 2);
  CHECK(count(all, strided(0, 0), 8).paired == 1);
  CHECK(count(all, strided(0, 16), 16).paired == 4);
  CHECK(count(all, neighbours, 16).plain == 4);  // as a store
}

TEST_CASE("Shared memory: LDSM takes a pass a matrix, and more where rows collide") {
  const auto matrices = [](const Lanes& lanes, unsigned n) {
    std::vector<std::uint64_t> words;
    MioOperation op;
    op.mask = 0xffffffff;
    op.access_bytes = static_cast<std::uint8_t>(4 * n);
    op.form = trace::pack_addresses(op.mask, lanes.data(), words);
    op.words = words.data();
    LaneAddresses a;
    a.load(op);
    return matrix_wavefronts(a, n);
  };
  CHECK(matrices(strided(0, 16), 4) == 4);
  CHECK(matrices(strided(0, 16), 1) == 1);
  CHECK(matrices(strided(0, 144), 4) == 4);   // rows padded by 16 bytes
  CHECK(matrices(strided(0, 128), 2) == 16);  // all rows of a matrix on the same banks
}
