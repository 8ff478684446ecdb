#include "core/coalescer.hpp"

#include <catch2/catch.hpp>

#include "lsu_reference.hpp"

using namespace lockstep;
using namespace lockstep::core;
using namespace lockstep::core::test;

namespace {

struct Pattern {
  std::vector<std::uint64_t> words;
  MioOperation op;

  Pattern(LaneMask mask, const Lanes& lanes, unsigned width) {
    op.mask = mask;
    op.access_bytes = static_cast<std::uint8_t>(width);
    op.form = trace::pack_addresses(mask, lanes.data(), words);
    op.words = words.data();
  }
};

LineList coalesce(const MioOperation& op, Coalescer::Detail detail) {
  static Coalescer coalescer;
  static LineList out;
  LaneAddresses addresses;
  addresses.load(op);
  coalescer.coalesce(addresses, detail, out);
  return out;
}

void check(LaneMask mask, const Lanes& lanes, unsigned width) {
  const Pattern p(mask, lanes, width);
  const auto expected = reference_lines(mask, lanes, width);
  bool aligned = true;
  for (const Address a : lanes) aligned = aligned && a % width == 0;
  using Detail = Coalescer::Detail;
  for (const Detail detail : {Detail::kNone, Detail::kBytes, Detail::kOperations}) {
    const LineList got = coalesce(p.op, detail);
    REQUIRE(got.count == expected.size());
    for (unsigned i = 0; i < got.count; ++i) {
      REQUIRE(got.line[i].line == expected[i].line);
      REQUIRE(got.line[i].sectors == expected[i].sectors());
      if (detail == Detail::kBytes) REQUIRE(got.bytes[i] == expected[i].bytes);
      if (detail == Detail::kOperations && aligned)
        REQUIRE(got.line[i].operations == std::min(255u, expected[i].operations));
    }
  }
}

}  // namespace

TEST_CASE("Coalescer: every stride and width against the bytes themselves") {
  for (const unsigned width : {1u, 2u, 4u, 8u, 16u})
    for (std::int64_t stride = -64; stride <= 64; ++stride)
      for (const Address offset : {0u, 16u, 112u}) {
        Lanes lanes{};
        for (unsigned l = 0; l < kWarpSize; ++l)
          lanes[l] = 0x7f0000000000 + offset + static_cast<Address>(stride * width * l);
        check(0xffffffff, lanes, width);
        check(0x0000fff0, lanes, width);
      }
}

TEST_CASE("Coalescer: random patterns, masks and widths") {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 20'000; ++i) {
    const unsigned width = 1u << rng() % 6;
    LaneMask mask;
    const Lanes lanes = random_lanes(rng, width, mask);
    check(mask, lanes, width);
  }
}

TEST_CASE("Coalescer: accesses that straddle lines") {
  std::mt19937_64 rng(2);
  for (int i = 0; i < 2'000; ++i) {
    Lanes lanes{};
    for (auto& a : lanes) a = 0x10000 + rng() % 2048;
    check(static_cast<LaneMask>(rng()) | 1u << rng() % 32, lanes, 16);
    for (unsigned l = 0; l < kWarpSize; ++l) lanes[l] = 0x10001 + 16 * l;
    check(0xffffffff, lanes, 16);
  }
}

TEST_CASE("Coalescer: an address at the very end of memory") {
  Lanes lanes;
  lanes.fill(~Address{0} - 3);
  const LineList got = coalesce(Pattern(0xffffffff, lanes, 16).op, Coalescer::Detail::kBytes);
  REQUIRE(got.count == 2);
  CHECK(got.line[0].line == ~Address{127});
  CHECK(got.line[1].line == 0);
}

TEST_CASE("Coalescer: local memory lies thread by thread") {
  static Coalescer coalescer;
  static LineList out;
  std::mt19937_64 rng(3);
  const LocalWindow window = LocalWindow::of(3, 64, 17, 0x7fff00000000);
  CHECK(window.base == LocalWindow::kArena + (3 * 64 + 17) * (Address{1} << 29));
  for (int i = 0; i < 3'000; ++i) {
    const unsigned width = 1u << rng() % 5;
    const LaneMask mask = static_cast<LaneMask>(rng()) | 1u << rng() % 32;
    Lanes lanes{};
    const bool uniform = rng() % 2, generic = rng() % 2;
    for (unsigned l = 0; l < kWarpSize; ++l)
      lanes[l] = uniform && l > 0 ? lanes[0] : (generic ? 0x7fff00000000 : 0) + rng() % 64 * width;
    // Where each word of a lane lies: word k of lane l at 128 k + 4 l.
    std::map<Address, std::array<std::uint32_t, 4>> expected;
    for (unsigned l = 0; l < kWarpSize; ++l)
      for (unsigned b = 0; b < width && mask >> l & 1; ++b) {
        const Address offset = (lanes[l] & 0xffffff) + b,
                      a = window.base + offset / 4 * 128 + 4 * l + offset % 4;
        expected[a / 128 * 128][a % 128 / 32] |= 1u << a % 32;
      }
    LaneAddresses addresses;
    const Pattern p(mask, lanes, width);
    for (const auto detail : {Coalescer::Detail::kNone, Coalescer::Detail::kBytes}) {
      addresses.load(p.op);
      coalescer.coalesce_local(addresses, window, detail, out);
      REQUIRE(out.count == expected.size());
      for (unsigned k = 0; k < out.count; ++k) {
        const auto& bytes = expected.at(out.line[k].line);
        SectorMask sectors = 0;
        for (unsigned s = 0; s < 4; ++s) sectors = static_cast<SectorMask>(sectors | (bytes[s] != 0) << s);
        REQUIRE(out.line[k].sectors == sectors);
        if (detail == Coalescer::Detail::kBytes) REQUIRE(out.bytes[k] == bytes);
      }
    }
  }
}
