#include "mem/address_map.hpp"

#include <bit>

#include "config/gpcs.hpp"
#include "mem/hash.hpp"

namespace lockstep::mem {
AddressMap::AddressMap(const config::GpuConfig& config)
    : slices_(config.l2.partitions * config.l2.slices_per_partition),
      halves_(config.l2.halves),
      per_half_(slices_ / halves_),
      half_shift_(static_cast<std::uint32_t>(std::bit_width(config.l2.half_bytes / kLineBytes)) - 1),
      gpc_of_sm_(config::gpc_of_sms(config.gpu)) {}

AddressMap::Place AddressMap::in_half(Address line) const {
  const std::uint64_t number = line / kLineBytes;
  if (halves_ < 2) return {0, number};
  const std::uint64_t chunk = number >> half_shift_, pair = chunk / 2;
  const auto half = static_cast<std::uint32_t>((chunk ^ mix(pair)) & 1);
  return {half, pair << half_shift_ | (number & ((std::uint64_t{1} << half_shift_) - 1))};
}

/// Lines of a half come in blocks of as many lines as it has slices; a block's lines go to all slices in
/// turn, from a slice that is drawn for each block. A block does not begin where its predecessor ended: that
/// takes three slices.
std::uint32_t AddressMap::rotation(std::uint64_t block) const {
  std::uint32_t at = mix_below(block, per_half_);
  if (block % 2 == 0 || per_half_ < 3) return at;
  const std::uint32_t before = mix_below(block - 1, per_half_), after = mix_below(block + 1, per_half_);
  const std::uint32_t last_of_before = before == 0 ? per_half_ - 1 : before - 1;
  const std::uint32_t end_at_after = after + 1 == per_half_ ? 0 : after + 1;
  while (at == last_of_before || at == end_at_after) at = at + 1 == per_half_ ? 0 : at + 1;
  return at;
}

std::uint32_t AddressMap::home_slice(Address line) const {
  const Place place = in_half(line);
  const std::uint64_t block = place.number / per_half_;
  const auto slice = static_cast<std::uint32_t>(place.number - block * per_half_) + rotation(block);
  return place.half * per_half_ + (slice >= per_half_ ? slice - per_half_ : slice);
}

std::uint32_t AddressMap::near_slice(Address line, std::uint32_t half) const {
  const std::uint32_t home = home_slice(line);
  if (halves_ < 2 || half_of_slice(home) == half) return home;
  return half == 0 ? home - per_half_ : home + per_half_;
}

std::uint32_t AddressMap::half_of_slice(std::uint32_t slice) const {
  return halves_ > 1 && slice >= per_half_ ? 1 : 0;
}

std::uint32_t AddressMap::half_of_sm(std::uint32_t sm) const { return halves_ > 1 ? gpc_of_sm_[sm] % 2 : 0; }

}  // namespace lockstep::mem
