// Warp-level operations against their per-lane definitions.
#include <bit>
#include <catch2/catch.hpp>
#include <map>

#include "tests/exec_alu/harness.hpp"

namespace lockstep::test {
namespace {
bool in(std::uint32_t mask, int lane) { return (mask >> lane & 1) != 0; }
}  // namespace

TEST_CASE("shfl as CUDA's width argument uses it", "[exec][warp]") {
  // __shfl_*_sync(mask, value, n, width) of cuda_fp16 and sm_30_intrinsics: c = ((32 - width) << 8) | (up ? 0
  // : 31).
  std::mt19937_64 random(2);
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    for (const int width : {1, 2, 4, 8, 16, 32})
      for (int n = 0; n < 32; ++n) {
        Warp warp("shfl.sync." + mode + ".b32", "r|r,r,r,r,r");
        for (int lane = 0; lane < 32; ++lane) warp.source(0, lane) = 100 + static_cast<Bits>(lane);
        warp.set_all(1, static_cast<Bits>(n))
            .set_all(2, static_cast<Bits>((32 - width) << 8 | (mode == "up" ? 0 : 31)));
        warp.set_all(3, 0xffffffff).run();
        for (int lane = 0; lane < 32; ++lane) {
          const int begin = lane / width * width, end = begin + width;
          const int from = mode == "up"     ? lane - n
                           : mode == "down" ? lane + n
                           : mode == "bfly" ? lane ^ n
                                            : begin + n % width;
          const bool valid = mode == "up" ? from >= begin : from < end;
          INFO(mode << " width " << width << " n " << n << " lane " << lane);
          CHECK(warp.result(lane, 0) == 100u + static_cast<Bits>(valid ? from : lane));
          CHECK(warp.result(lane, 1) == valid);
        }
      }
}

TEST_CASE("vote, ballot and activemask see the lanes that take part", "[exec][warp]") {
  std::mt19937_64 random(4);
  for (int round = 0; round < 300; ++round) {
    const auto active = static_cast<std::uint32_t>(random() | 1u << (round % 32));
    const std::uint32_t members = active;
    const std::uint32_t predicates = round % 4 == 0   ? ~0u
                                     : round % 4 == 1 ? 0u
                                                      : static_cast<std::uint32_t>(random());
    for (const bool negated : {false, true}) {
      const std::uint32_t seen = (negated ? ~predicates : predicates) & members;
      const std::map<std::string, Bits> expected = {{"vote.sync.all.pred", seen == members},
                                                    {"vote.sync.any.pred", seen != 0},
                                                    {"vote.sync.uni.pred", seen == 0 || seen == members},
                                                    {"vote.ballot.sync.b32", seen},
                                                    {"vote.sync.ballot.b32", seen}};
      for (const auto& [form, value] : expected) {
        Warp warp(form, negated ? "r,!r,r" : "r,r,r");
        for (int lane = 0; lane < 32; ++lane) warp.source(0, lane) = in(predicates, lane);
        warp.set_all(1, members).run(active);
        for (int lane = 0; lane < 32; ++lane)
          CHECK(warp.result(lane) == (in(active, lane) ? value : Warp::kUntouched));
      }
    }
    Warp mask("activemask.b32", "r");
    mask.run(active);
    CHECK(mask.result(std::countr_zero(active)) == active);
  }
  Warp old("vote.any.pred", "r,r");
  old.set(0, {0, 1}).run(0x5);
  CHECK(old.result(0) == 0);
}

TEST_CASE("match finds equal values", "[exec][warp]") {
  std::mt19937_64 random(6);
  for (int round = 0; round < 200; ++round) {
    const auto active = static_cast<std::uint32_t>(random() | 1u << (round % 32));
    for (const std::string type : {"b32", "b64"}) {
      Warp any("match.any.sync." + type, "r,r,r"), all("match.all.sync." + type, "r|r,r,r");
      for (int lane = 0; lane < 32; ++lane) {
        const Bits value =
            (round % 3 == 0 ? 0 : random() % 3) | Bits{5} << 32 | (type == "b64" ? random() % 2 << 40 : 0);
        any.source(0, lane) = all.source(0, lane) = value;
      }
      any.set_all(1, active).run(active);
      all.set_all(1, active).run(active);
      const auto seen = [&](int lane) {
        return type == "b32" ? any.source(0, lane) & 0xffffffff : any.source(0, lane);
      };
      for (int lane = 0; lane < 32; ++lane) {
        if (!in(active, lane)) continue;
        std::uint32_t equal = 0;
        for (int other = 0; other < 32; ++other)
          if (in(active, other) && seen(other) == seen(lane)) equal |= 1u << other;
        CHECK(any.result(lane) == equal);
        CHECK(all.result(lane, 0) == (equal == active ? active : 0));
        CHECK(all.result(lane, 1) == (equal == active));
      }
    }
  }
}

TEST_CASE("redux folds the members; elect names the first", "[exec][warp]") {
  std::mt19937_64 random(8);
  for (int round = 0; round < 200; ++round) {
    const auto active = static_cast<std::uint32_t>(random() | 1u << (round % 32));
    std::array<std::uint32_t, 32> values{};
    for (auto& v : values) v = static_cast<std::uint32_t>(any_bits(random));
    const auto fold = [&](std::int64_t start, auto op) {
      std::int64_t out = start;
      for (int lane = 0; lane < 32; ++lane)
        if (in(active, lane)) out = op(out, lane);
      return static_cast<Bits>(out) & 0xffffffff;
    };
    const auto u = [&](int lane) { return std::int64_t{values[static_cast<std::size_t>(lane)]}; };
    const auto s = [&](int lane) {
      return std::int64_t{static_cast<std::int32_t>(values[static_cast<std::size_t>(lane)])};
    };
    const std::map<std::string, Bits> expected = {
        {"add.u32", fold(0, [&](std::int64_t a, int l) { return a + u(l); })},
        {"add.s32", fold(0, [&](std::int64_t a, int l) { return a + s(l); })},
        {"min.u32", fold(INT64_MAX, [&](std::int64_t a, int l) { return std::min(a, u(l)); })},
        {"max.u32", fold(-1, [&](std::int64_t a, int l) { return std::max(a, u(l)); })},
        {"min.s32", fold(INT64_MAX, [&](std::int64_t a, int l) { return std::min(a, s(l)); })},
        {"max.s32", fold(INT64_MIN, [&](std::int64_t a, int l) { return std::max(a, s(l)); })},
        {"and.b32", fold(-1, [&](std::int64_t a, int l) { return a & u(l); })},
        {"or.b32", fold(0, [&](std::int64_t a, int l) { return a | u(l); })},
        {"xor.b32", fold(0, [&](std::int64_t a, int l) { return a ^ u(l); })}};
    for (const auto& [form, value] : expected) {
      Warp warp("redux.sync." + form, "r,r,r");
      for (int lane = 0; lane < 32; ++lane) warp.source(0, lane) = values[static_cast<std::size_t>(lane)];
      warp.set_all(1, active).run(active);
      INFO(form);
      CHECK(warp.result(std::countr_zero(active)) == value);
    }
    Warp leader("elect.sync", "r|r,r");
    leader.set_all(0, active).run(active);
    for (int lane = 0; lane < 32; ++lane)
      if (in(active, lane)) {
        CHECK(leader.result(lane, 0) == static_cast<Bits>(std::countr_zero(active)));
        CHECK(leader.result(lane, 1) == (lane == std::countr_zero(active)));
      }
  }
}

}  // namespace lockstep::test
