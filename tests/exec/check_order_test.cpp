// The happens-before relation of --check race: clocks by warp, lane and CTA against sets of accesses that
// each participant knows about, which grow by union.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "exec/check/race_order.hpp"

namespace lockstep::exec {
namespace {

using Known = std::set<std::uint64_t>;  // times of accesses
void unite(Known& to, const Known& from) { to.insert(from.begin(), from.end()); }

/// What each lane knows of each other one, without clocks.
struct LaneModel {
  std::vector<Known> known = std::vector<Known>(32);
  void join(LaneMask mask) {
    Known all;
    for (unsigned l = 0; l < 32; ++l)
      if (mask >> l & 1) unite(all, known[l]);
    for (unsigned l = 0; l < 32; ++l)
      if (mask >> l & 1) known[l] = all;
  }
};

struct Access {
  std::uint64_t time;
  std::uint32_t who;
};

}  // namespace

TEST_CASE("check order: lanes know of each other what their joins have passed on, also over third ones") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 30; ++round) {
    LaneOrder order;
    LaneModel model;
    std::vector<Access> accesses;
    for (std::uint64_t now = 1; now < 120; ++now) {
      if (random() % 3 != 0) {
        const auto lane = static_cast<std::uint32_t>(random() % 32);
        accesses.push_back({now, lane});
        model.known[lane].insert(now);
        continue;
      }
      const auto all = ~LaneMask{0};
      const auto mask = random() % 8 == 0 ? all : static_cast<LaneMask>(random() & random() & random());
      order.join(mask, all, now);
      model.join(mask);
    }
    for (const Access& access : accesses)
      for (std::uint8_t to = 0; to < 32; ++to)
        if (to != access.who)
          REQUIRE(order.ordered(static_cast<std::uint8_t>(access.who), to, access.time) ==
                  model.known[to].contains(access.time));
    order.reset();
    CHECK_FALSE(order.ordered(0, 1, 1));
  }
}

TEST_CASE("check order: a join of all lanes that are left is one of the whole warp") {
  LaneOrder order;
  order.join(0x00ff, 0x0fff, 5);
  CHECK(order.ordered(0, 1, 5));
  CHECK_FALSE(order.ordered(0, 1, 6));
  CHECK_FALSE(order.ordered(0, 8, 1));
  order.join(0x00ff, 0x00ff, 9);  // lanes from 8 on have exited
  CHECK(order.ordered(8, 0, 9));
}

TEST_CASE("check order: barriers, mbarriers, fences and exits of random warps") {
  constexpr std::uint32_t kWarps = 5;
  std::mt19937_64 random(4);
  std::size_t ordered = 0, unordered = 0;
  for (int round = 0; round < 60; ++round) {
    CtaOrder order;
    order.reset(kWarps);
    std::vector<Known> known(kWarps);
    std::vector<Access> accesses;
    Known fences, exited, barriers[2], mbarriers[2];
    std::vector<LaneMask> waiting[2] = {std::vector<LaneMask>(kWarps), std::vector<LaneMask>(kWarps)};
    std::vector<bool> gone(kWarps);
    for (std::uint64_t now = 1; now < 100; ++now) {
      const auto w = static_cast<std::uint32_t>(random() % kWarps);
      const std::size_t which = random() % 2;
      if (gone[w] || waiting[0][w] != 0 || waiting[1][w] != 0) continue;
      switch (random() % 8) {
        case 0:  // bar.arrive: goes on at once
          order.arrive(static_cast<std::uint32_t>(which), w, now);
          unite(barriers[which], known[w]);
          break;
        case 1: {  // bar.sync, of which the third one completes the barrier
          order.arrive(static_cast<std::uint32_t>(which), w, now);
          unite(barriers[which], known[w]);
          waiting[which][w] = ~LaneMask{0};
          if (std::ranges::count(waiting[which], ~LaneMask{0}) < 3) break;
          const bool whole = random() % 2 == 0;
          order.complete(static_cast<std::uint32_t>(which), waiting[which], whole);
          for (std::uint32_t v = 0; v < kWarps; ++v) {
            if (waiting[which][v] == 0) continue;
            unite(known[v], barriers[which]);
            if (whole) unite(known[v], exited);
            waiting[which][v] = 0;
          }
          barriers[which].clear();
          break;
        }
        case 2:
          order.signal(8 * which, w, now);
          unite(mbarriers[which], known[w]);
          break;
        case 3:
          order.wait(8 * which, w);
          unite(known[w], mbarriers[which]);
          break;
        case 4:
          order.fence(w, now);
          unite(fences, known[w]);
          unite(known[w], fences);
          break;
        case 5:
          if (random() % 16 != 0) break;
          order.exit(w, now);
          unite(exited, known[w]);
          gone[w] = true;
          break;
        default:
          accesses.push_back({now, w});
          known[w].insert(now);
      }
    }
    for (const Access& access : accesses)
      for (std::uint32_t w = 0; w < kWarps; ++w) {
        if (w == access.who) continue;
        RaceEvent event;
        event.time = access.time;
        event.warp = static_cast<std::uint8_t>(access.who);
        const bool before = order.ordered(event, w);
        REQUIRE(before == known[w].contains(access.time));
        ++(before ? ordered : unordered);
      }
  }
  CHECK(ordered > 500);
  CHECK(unordered > 500);
}

TEST_CASE("check order: what all warps have joined is known to each, and to each lane") {
  CtaOrder order;
  order.reset(3);
  order.join_all(7);
  RaceEvent event;
  event.warp = 2;
  event.time = 7;
  CHECK(order.ordered(event, 0));
  CHECK(order.explicit_lanes(1).ordered(3, 4, 7));
  CHECK(order.implicit_lanes(1).ordered(3, 4, 7));
  event.time = 8;
  CHECK_FALSE(order.ordered(event, 0));
  order.reset(3);
  event.time = 1;
  CHECK_FALSE(order.ordered(event, 0));
}

TEST_CASE("check order: CTAs are ordered by a fence behind the access and a later one of the other CTA") {
  constexpr std::uint32_t kCtas = 4;
  std::mt19937_64 random(5);
  for (int round = 0; round < 50; ++round) {
    GridOrder order;
    std::vector<Access> accesses, fences;
    for (std::uint64_t now = 1; now < 80; ++now) {
      const auto cta = static_cast<std::uint32_t>(random() % kCtas);
      if (random() % 3 == 0) {
        order.fence(cta, now);
        fences.push_back({now, cta});
      } else {
        order.access(cta);
        accesses.push_back({now, cta});
      }
    }
    for (const Access& access : accesses)
      for (std::uint32_t to = 0; to < kCtas; ++to) {
        if (to == access.who) continue;
        bool expected = false;
        for (const Access& release : fences)
          for (const Access& acquire : fences)
            expected |= release.who == access.who && release.time > access.time && acquire.who == to &&
                        acquire.time > release.time;
        RaceEvent event;
        event.time = access.time;
        event.cta = access.who;
        REQUIRE(order.ordered(event, to) == expected);
      }
  }
}

}  // namespace lockstep::exec
