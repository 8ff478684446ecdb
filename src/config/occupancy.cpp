#include "config/occupancy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "util/error.hpp"

namespace lockstep::config {
namespace {

constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

std::uint32_t round_up(std::uint64_t value, std::uint32_t unit) {
  const std::uint64_t u = std::max<std::uint32_t>(unit, 1);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>((value + u - 1) / u * u, kUnlimited));
}

std::uint32_t quotient(std::uint64_t available, std::uint64_t each) {
  return each == 0 ? kUnlimited
                   : static_cast<std::uint32_t>(std::min<std::uint64_t>(available / each, kUnlimited));
}

/// Warps for which there are enough registers: each sub-core has its own part of the register file.
std::uint32_t warps_with_registers(const SmGroup& sm, std::uint32_t registers_per_warp) {
  if (registers_per_warp == 0) return kUnlimited;
  return sm.registers / sm.subcores / registers_per_warp * sm.subcores;
}

struct Limit {
  std::uint32_t ctas;
  const char* name;
};

Limit smallest(std::initializer_list<Limit> limits) {
  return *std::min_element(limits.begin(), limits.end(),
                           [](const Limit& a, const Limit& b) { return a.ctas < b.ctas; });
}

std::uint32_t ctas_with_shared(const L1Group& l1, std::size_t carveout, std::uint32_t shared_bytes) {
  return quotient(std::uint64_t{l1.shared_carveouts_kib[carveout]} * 1024, shared_bytes);
}

std::uint8_t choose_carveout(const L1Group& l1, std::uint32_t shared_bytes, std::uint32_t enough) {
  std::size_t best = 0;
  std::uint32_t best_ctas = 0;
  for (std::size_t i = 0; i < l1.shared_carveouts_kib.size(); ++i) {
    const std::uint32_t ctas = std::min(enough, ctas_with_shared(l1, i, shared_bytes));
    const bool smaller = l1.shared_carveouts_kib[i] < l1.shared_carveouts_kib[best];
    if (ctas > best_ctas || (ctas == best_ctas && smaller)) {
      best = i;
      best_ctas = ctas;
    }
  }
  return static_cast<std::uint8_t>(best);
}

[[noreturn]] void reject(const GpuConfig& config, const trace::KernelHeader& kernel, const Occupancy& o) {
  const auto& carveouts = config.l1.shared_carveouts_kib;
  throw UserError(fmt::format(
      "kernel {} ({}) does not fit an SM of {}: a CTA needs {} warps ({} threads), {} registers and {} bytes "
      "of shared "
      "memory; an SM has {} warps, {} threads, {} registers in {} sub-cores and at most {} bytes of shared "
      "memory",
      kernel.id, kernel.name, config.gpu.name, o.warps_per_cta, o.threads_per_cta,
      std::uint64_t{o.registers_per_warp} * o.warps_per_cta, o.shared_bytes, config.sm.max_warps,
      config.sm.max_threads, config.sm.registers, config.sm.subcores,
      carveouts.empty() ? 0 : std::uint64_t{*std::max_element(carveouts.begin(), carveouts.end())} * 1024));
}

}  // namespace

Occupancy occupancy(const GpuConfig& config, const trace::KernelHeader& kernel) {
  const SmGroup& sm = config.sm;
  Occupancy o;
  const std::uint64_t warps = (kernel.block.count() + kWarpSize - 1) / kWarpSize;
  o.warps_per_cta = static_cast<std::uint32_t>(std::min<std::uint64_t>(warps, kUnlimited / kWarpSize));
  o.threads_per_cta = o.warps_per_cta * kWarpSize;
  o.registers_per_warp = round_up(std::uint64_t{kernel.registers} * kWarpSize, sm.register_unit);
  o.shared_bytes = round_up(std::uint64_t{kernel.shared_bytes} + sm.shared_reserved, sm.shared_unit);

  const Limit others =
      smallest({{quotient(sm.max_warps, o.warps_per_cta), "warps"},
                {quotient(sm.max_threads, o.threads_per_cta), "threads"},
                {sm.max_ctas, "ctas"},
                {quotient(warps_with_registers(sm, o.registers_per_warp), o.warps_per_cta), "registers"}});
  if (o.warps_per_cta == 0 || config.l1.shared_carveouts_kib.empty()) reject(config, kernel, o);
  o.carveout = choose_carveout(config.l1, o.shared_bytes, others.ctas);
  const Limit shared{ctas_with_shared(config.l1, o.carveout, o.shared_bytes), "shared"};
  const Limit binding = smallest({others, shared});
  if (binding.ctas == 0) reject(config, kernel, o);
  o.ctas_per_sm = binding.ctas;
  o.limiter = binding.name;
  return o;
}

std::uint32_t max_registers(const SmGroup& sm, std::uint64_t threads) {
  const std::uint64_t warps = (threads + kWarpSize - 1) / kWarpSize;
  const std::uint64_t warps_of_subcore = std::max<std::uint64_t>((warps + sm.subcores - 1) / sm.subcores, 1);
  const std::uint64_t unit = std::max<std::uint32_t>(sm.register_unit, 1);
  return static_cast<std::uint32_t>(sm.registers / sm.subcores / warps_of_subcore / unit * unit / kWarpSize);
}

}  // namespace lockstep::config
