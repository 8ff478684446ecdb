#include "core/placement.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "config/gpcs.hpp"

namespace lockstep::core {
namespace {

/// First SMs of all TPCs before the second ones; among these one of each GPC in turn.
std::vector<std::uint32_t> dispatch_order(const config::GpuGroup& gpu,
                                          const std::vector<std::uint32_t>& gpc) {
  const std::uint32_t per_tpc = std::max<std::uint32_t>(gpu.sms_per_tpc, 1);
  std::vector<std::uint32_t> first_tpc(gpu.sms);  // by GPC
  for (std::uint32_t sm = gpu.sms; sm-- > 0;) first_tpc[gpc[sm]] = sm / per_tpc;
  const auto key = [&](std::uint32_t sm) {
    return std::make_tuple(sm % per_tpc, sm / per_tpc - first_tpc[gpc[sm]], gpc[sm]);
  };
  std::vector<std::uint32_t> order(gpu.sms);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
  return order;
}

}  // namespace

Placement::Placement(const config::GpuConfig& config, std::uint32_t kernel_slots)
    : sm_(config.sm),
      order_(dispatch_order(config.gpu, config::gpc_of_sms(config.gpu))),
      position_(order_.size()),
      mirrors_(order_.size(), Mirror{sm_.max_warps, sm_.max_threads, sm_.registers, 0}),
      of_kernel_(order_.size() * kernel_slots) {
  for (const std::uint32_t kib : config.l1.shared_carveouts_kib) carveouts_.push_back(kib * 1024);
  const std::vector<std::uint32_t> gpc = config::gpc_of_sms(config.gpu);
  for (std::uint32_t p = 0; p < order_.size(); ++p) {
    position_[order_[p]] = p;
    if (gpc[order_[p]] >= gpcs_.size()) gpcs_.resize(gpc[order_[p]] + std::size_t{1});
    gpcs_[gpc[order_[p]]].push_back(p);
  }
}

bool Placement::fits(const Mirror& m, std::uint32_t position, const config::Occupancy& need,
                     std::uint8_t slot) const {
  if (m.ctas == 0) return true;  // occupancy() has checked that one CTA fits an empty SM
  return m.ctas < sm_.max_ctas && m.warps >= need.warps_per_cta && m.threads >= need.threads_per_cta &&
         m.registers >= need.registers_per_warp * need.warps_per_cta && m.shared >= need.shared_bytes &&
         of_kernel_[slot * mirrors_.size() + position] < need.ctas_per_sm;
}

std::optional<Placement::Choice> Placement::place(const config::Occupancy& need, std::uint8_t slot) {
  std::uint32_t best = 0, fewest = ~0u;
  for (std::uint32_t p = 0; p < mirrors_.size(); ++p) {
    if (mirrors_[p].ctas >= fewest || !fits(mirrors_[p], p, need, slot)) continue;
    best = p;
    fewest = mirrors_[p].ctas;
    if (fewest == 0) break;
  }
  if (fewest == ~0u) return std::nullopt;
  return take(best, need, slot);
}

Placement::Choice Placement::take(std::uint32_t position, const config::Occupancy& need, std::uint8_t slot) {
  Mirror& m = mirrors_[position];
  if (m.ctas == 0) {
    m.carveout = need.carveout;
    m.shared = shared_bytes(need.carveout);
  }
  ++m.ctas;
  m.warps -= need.warps_per_cta;
  m.threads -= need.threads_per_cta;
  m.registers -= need.registers_per_warp * need.warps_per_cta;
  m.shared -= need.shared_bytes;
  ++of_kernel_[slot * mirrors_.size() + position];
  ++resident_;
  return Choice{order_[position], m.carveout};
}

std::uint64_t Placement::resident_in(const std::vector<std::uint32_t>& gpc) const {
  std::uint64_t ctas = 0;
  for (const std::uint32_t p : gpc) ctas += mirrors_[p].ctas;
  return ctas;
}

bool Placement::place_cluster(const config::Occupancy& need, std::uint8_t slot, std::span<Choice> choices) {
  std::uint64_t tried = 0;  // GPCs, of which there are at most 64
  for (std::size_t tries = 0; tries < gpcs_.size(); ++tries) {
    std::size_t best = gpcs_.size();
    for (std::size_t g = 0; g < gpcs_.size(); ++g) {
      if ((tried >> g & 1) != 0) continue;
      if (best == gpcs_.size() ||
          resident_in(gpcs_[g]) * gpcs_[best].size() < resident_in(gpcs_[best]) * gpcs_[g].size())
        best = g;
    }
    tried |= std::uint64_t{1} << best;
    if (place_in(gpcs_[best], need, slot, choices)) return true;
  }
  return false;
}

bool Placement::place_in(const std::vector<std::uint32_t>& gpc, const config::Occupancy& need,
                         std::uint8_t slot, std::span<Choice> choices) {
  for (std::size_t placed = 0; placed < choices.size(); ++placed) {
    std::uint32_t best = 0, fewest = ~0u;
    for (const std::uint32_t p : gpc) {
      if (mirrors_[p].ctas >= fewest || !fits(mirrors_[p], p, need, slot)) continue;
      best = p;
      fewest = mirrors_[p].ctas;
    }
    if (fewest == ~0u) {
      for (std::size_t i = 0; i < placed; ++i) release(choices[i].sm, need, slot);
      return false;
    }
    choices[placed] = take(best, need, slot);
  }
  return true;
}

void Placement::release(std::uint32_t sm, const config::Occupancy& need, std::uint8_t slot) {
  const std::uint32_t p = position_[sm];
  Mirror& m = mirrors_[p];
  --m.ctas;
  m.warps += need.warps_per_cta;
  m.threads += need.threads_per_cta;
  m.registers += need.registers_per_warp * need.warps_per_cta;
  m.shared += need.shared_bytes;
  --of_kernel_[slot * mirrors_.size() + p];
  --resident_;
}

}  // namespace lockstep::core
