// Which SM takes a CTA: against lists of the CTAs that each SM holds.
#include "core/placement.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace lockstep::core {
namespace {

struct PlacedCta {
  std::uint32_t sm;
  std::uint8_t carveout, slot;
};

/// Counts from the list of residents each time.
class PlacementModel {
 public:
  PlacementModel(const config::GpuConfig& config, std::vector<config::Occupancy> needs,
                 std::vector<std::uint32_t> order)
      : config_(config), needs_(std::move(needs)), order_(std::move(order)) {}

  [[nodiscard]] const PlacedCta* place(std::uint8_t slot) { return place_among(slot, order_); }
  /// All or none, in the emptiest GPC with room.
  bool place_cluster(std::uint8_t slot, std::size_t ctas, std::uint32_t sms_per_gpc,
                     std::vector<PlacedCta>& placed) {
    std::vector<std::vector<std::uint32_t>> gpcs(order_.size() / sms_per_gpc);
    for (const std::uint32_t sm : order_) gpcs[sm / sms_per_gpc].push_back(sm);
    const auto held_by = [&](const auto& gpc) {
      return std::ranges::count_if(
          held, [&](const PlacedCta& c) { return std::ranges::find(gpc, c.sm) != gpc.end(); });
    };
    std::stable_sort(gpcs.begin(), gpcs.end(),
                     [&](const auto& a, const auto& b) { return held_by(a) < held_by(b); });
    for (const auto& gpc : gpcs) {
      const std::vector<PlacedCta> before = held;
      placed.clear();
      while (placed.size() < ctas)
        if (const PlacedCta* cta = place_among(slot, gpc))
          placed.push_back(*cta);
        else
          break;
      if (placed.size() == ctas) return true;
      held = before;
    }
    return false;
  }

  std::vector<PlacedCta> held;

 private:
  [[nodiscard]] const PlacedCta* place_among(std::uint8_t slot, const std::vector<std::uint32_t>& sms) {
    const std::uint32_t* best = nullptr;
    for (const std::uint32_t& sm : sms)
      if (fits(sm, slot) && (!best || count(sm) < count(*best))) best = &sm;
    if (!best) return nullptr;
    const auto other = std::ranges::find(held, *best, &PlacedCta::sm);
    held.push_back({*best, other == held.end() ? needs_[slot].carveout : other->carveout, slot});
    return &held.back();
  }
  [[nodiscard]] std::ptrdiff_t count(std::uint32_t sm) const {
    return std::ranges::count(held, sm, &PlacedCta::sm);
  }
  [[nodiscard]] bool fits(std::uint32_t sm, std::uint8_t slot) const {
    if (count(sm) == 0) return true;
    std::uint32_t warps = 0, registers = 0, shared = 0, of_slot = 0, carveout = 0;
    const auto add = [&](const config::Occupancy& need) {
      warps += need.warps_per_cta;
      registers += need.warps_per_cta * need.registers_per_warp;
      shared += need.shared_bytes;
    };
    for (const PlacedCta& c : held)
      if (c.sm == sm) {
        add(needs_[c.slot]);
        of_slot += c.slot == slot;
        carveout = c.carveout;
      }
    add(needs_[slot]);
    return warps <= config_.sm.max_warps && warps * 32 <= config_.sm.max_threads &&
           registers <= config_.sm.registers && shared <= config_.l1.shared_carveouts_kib[carveout] * 1024 &&
           count(sm) + 1 <= config_.sm.max_ctas && of_slot + 1 <= needs_[slot].ctas_per_sm;
  }

  config::GpuConfig config_;
  std::vector<config::Occupancy> needs_;
  std::vector<std::uint32_t> order_;
};

config::GpuConfig placing_gpu() {
  config::GpuConfig c;
  c.gpu.sms = 8;
  c.gpu.gpcs = 2;
  c.gpu.sms_per_tpc = 2;
  c.sm.max_ctas = 6;
  return c;
}

std::vector<config::Occupancy> needs_of(const config::GpuConfig& config, std::mt19937& random) {
  const auto pick = [&](std::initializer_list<std::uint32_t> from) {
    return from.begin()[random() % from.size()];
  };
  std::vector<config::Occupancy> needs;
  for (unsigned slot = 0; slot < 3; ++slot) {
    trace::KernelHeader header;
    header.grid = {100, 1, 1};
    header.block = {pick({32, 96, 256, 512, 1024}), 1, 1};
    header.registers = pick({16, 32, 64});
    header.shared_bytes = pick({0, 1000, 8000, 30'000, 49'000});
    needs.push_back(config::occupancy(config, header));
  }
  return needs;
}

TEST_CASE("placement: random kernels and ends of CTAs against lists of residents") {
  const config::GpuConfig config = placing_gpu();
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    const auto needs = needs_of(config, random);
    Placement placement(config, 3);
    PlacementModel model(config, needs, {0, 4, 2, 6, 1, 5, 3, 7});
    unsigned full = 0;
    for (int i = 0; i < 400; ++i) {
      if (random() % 3 == 0 && !model.held.empty()) {
        const auto which = static_cast<std::ptrdiff_t>(random() % model.held.size());
        const PlacedCta gone = model.held[static_cast<std::size_t>(which)];
        model.held.erase(model.held.begin() + which);
        placement.release(gone.sm, needs[gone.slot], gone.slot);
        continue;
      }
      const auto slot = static_cast<std::uint8_t>(random() % 3);
      const auto choice = placement.place(needs[slot], slot);
      const PlacedCta* expected = model.place(slot);
      REQUIRE(choice.has_value() == (expected != nullptr));
      full += !choice;
      if (!choice) continue;
      REQUIRE(choice->sm == expected->sm);
      REQUIRE(choice->carveout == expected->carveout);
      REQUIRE_FALSE(placement.empty());
    }
    CHECK(full > 0);
    for (const PlacedCta& c : model.held) placement.release(c.sm, needs[c.slot], c.slot);
    CHECK(placement.empty());
  }
}

TEST_CASE("placement: random clusters beside single CTAs, all of a cluster or none of it") {
  const config::GpuConfig config = placing_gpu();
  for (std::uint32_t seed = 100; seed < 130; ++seed) {
    std::mt19937 random(seed);
    const auto needs = needs_of(config, random);
    Placement placement(config, 3);
    PlacementModel model(config, needs, {0, 4, 2, 6, 1, 5, 3, 7});
    for (int i = 0; i < 200; ++i) {
      if (random() % 2 && !model.held.empty()) {
        const PlacedCta gone = model.held.back();
        model.held.pop_back();
        placement.release(gone.sm, needs[gone.slot], gone.slot);
        continue;
      }
      const auto slot = static_cast<std::uint8_t>(random() % 3);
      std::vector<Placement::Choice> choices(1 + random() % 8);
      std::vector<PlacedCta> expected;
      const bool there = model.place_cluster(slot, choices.size(), 4, expected);
      REQUIRE(placement.place_cluster(needs[slot], slot, choices) == there);
      for (std::size_t c = 0; there && c < choices.size(); ++c) {
        REQUIRE(choices[c].sm == expected[c].sm);
        REQUIRE(choices[c].carveout == expected[c].carveout);
      }
    }
    for (const PlacedCta& c : model.held) placement.release(c.sm, needs[c.slot], c.slot);
    CHECK(placement.empty());  // what a cluster took in a GPC without room for all is free again
  }
}

TEST_CASE("placement: a cluster goes to the GPC with the fewest CTAs an SM, where GPCs differ in size") {
  config::GpuConfig config = placing_gpu();
  config.gpu.sms = 10;  // TPCs 0 to 2 are one GPC, 3 and 4 the other: 6 and 4 SMs
  trace::KernelHeader header;
  header.grid = {10, 1, 1};
  header.block = {32, 1, 1};
  header.registers = 16;
  const config::Occupancy need = config::occupancy(config, header);
  Placement placement(config, 1);
  // Two CTAs a cluster. CTAs an SM before each: 0/6 and 0/4, 2/6 and 0/4, 2/6 and 2/4, 4/6 and 2/4, 4/6 and
  // 4/4, equal at 6/6 and 4/4.
  for (const std::uint32_t gpc : {0u, 1u, 0u, 1u, 0u, 0u}) {
    std::vector<Placement::Choice> choices(2);
    REQUIRE(placement.place_cluster(need, 0, choices));
    for (const Placement::Choice& c : choices) CHECK((c.sm >= 6) == (gpc == 1));
  }
}

}  // namespace
}  // namespace lockstep::core
