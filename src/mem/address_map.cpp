#include "mem/address_map.hpp"

#include <algorithm>

#include "mem/hash.hpp"

namespace lockstep::mem {
namespace {

/// SMs of the GPCs of half 0; TPCs are spread over the GPCs as evenly as their numbers allow, in order.
std::uint32_t sms_of_first_half(const config::GpuConfig& config) {
  const std::uint32_t per_tpc = std::max<std::uint32_t>(config.gpu.sms_per_tpc, 1);
  const std::uint32_t tpcs = (config.gpu.sms + per_tpc - 1) / per_tpc;
  const std::uint32_t gpcs = std::clamp<std::uint32_t>(config.gpu.gpcs, 1, std::max(tpcs, 1u));
  const std::uint32_t first_gpcs = (gpcs + 1) / 2;
  const std::uint32_t first_tpcs = (first_gpcs * tpcs + gpcs - 1) / gpcs;
  return std::min(first_tpcs * per_tpc, config.gpu.sms);
}

}  // namespace

AddressMap::AddressMap(const config::GpuConfig& config)
    : slices_(config.l2.partitions * config.l2.slices_per_partition),
      halves_(config.l2.halves),
      sms_(config.gpu.sms),
      sms_per_half_(halves_ > 1 ? sms_of_first_half(config) : sms_) {}

/// Lines come in blocks of as many lines as there are slices; a block's lines go to all slices in turn, from
/// a slice that is drawn for each block. A block does not begin where its predecessor ended: that takes three
/// slices.
std::uint32_t AddressMap::rotation(std::uint64_t block) const {
  std::uint32_t at = mix_below(block, slices_);
  if (block % 2 == 0 || slices_ < 3) return at;
  const std::uint32_t before = mix_below(block - 1, slices_), after = mix_below(block + 1, slices_);
  const std::uint32_t last_of_before = before == 0 ? slices_ - 1 : before - 1;
  const std::uint32_t end_at_after = after + 1 == slices_ ? 0 : after + 1;
  while (at == last_of_before || at == end_at_after) at = at + 1 == slices_ ? 0 : at + 1;
  return at;
}

std::uint32_t AddressMap::home_slice(Address line) const {
  const std::uint64_t number = line / kLineBytes, block = number / slices_;
  const auto slice = static_cast<std::uint32_t>(number - block * slices_) + rotation(block);
  return slice >= slices_ ? slice - slices_ : slice;
}

std::uint32_t AddressMap::near_slice(Address line, std::uint32_t half) const {
  const std::uint32_t home = home_slice(line);
  if (halves_ < 2 || half_of_slice(home) == half) return home;
  return half == 0 ? home - slices_ / 2 : home + slices_ / 2;
}

std::uint32_t AddressMap::half_of_slice(std::uint32_t slice) const {
  return halves_ > 1 && slice >= slices_ / 2 ? 1 : 0;
}

std::uint32_t AddressMap::half_of_sm(std::uint32_t sm) const {
  return halves_ > 1 && sm >= sms_per_half_ ? 1 : 0;
}

}  // namespace lockstep::mem
