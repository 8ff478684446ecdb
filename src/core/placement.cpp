#include "core/placement.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace lockstep::core {
namespace {

/// TPCs are spread over the GPCs as evenly as their numbers allow, in order.
std::vector<std::uint32_t> dispatch_order(const config::GpuGroup& gpu) {
  const std::uint32_t per_tpc = std::max<std::uint32_t>(gpu.sms_per_tpc, 1);
  const std::uint64_t tpcs = (gpu.sms + per_tpc - 1) / per_tpc;
  const std::uint64_t gpcs = std::clamp<std::uint64_t>(gpu.gpcs, 1, tpcs);
  const auto key = [&](std::uint32_t sm) {
    const std::uint64_t tpc = sm / per_tpc;
    const std::uint64_t gpc = tpc * gpcs / tpcs;
    const std::uint64_t first_tpc = (gpc * tpcs + gpcs - 1) / gpcs;
    return std::make_tuple(sm % per_tpc, tpc - first_tpc, gpc);
  };
  std::vector<std::uint32_t> order(gpu.sms);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
  return order;
}

}  // namespace

Placement::Placement(const config::GpuConfig& config, std::uint32_t kernel_slots)
    : sm_(config.sm),
      order_(dispatch_order(config.gpu)),
      position_(order_.size()),
      mirrors_(order_.size(), Mirror{sm_.max_warps, sm_.max_threads, sm_.registers, 0}),
      of_kernel_(order_.size() * kernel_slots) {
  for (const std::uint32_t kib : config.l1.shared_carveouts_kib) carveouts_.push_back(kib * 1024);
  for (std::uint32_t p = 0; p < order_.size(); ++p) position_[order_[p]] = p;
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
  Mirror& m = mirrors_[best];
  if (m.ctas == 0) {
    m.carveout = need.carveout;
    m.shared = shared_bytes(need.carveout);
  }
  ++m.ctas;
  m.warps -= need.warps_per_cta;
  m.threads -= need.threads_per_cta;
  m.registers -= need.registers_per_warp * need.warps_per_cta;
  m.shared -= need.shared_bytes;
  ++of_kernel_[slot * mirrors_.size() + best];
  ++resident_;
  return Choice{order_[best], m.carveout};
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
