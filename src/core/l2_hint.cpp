#include "core/l2_hint.hpp"

#include <algorithm>

#include "core/kernel_slot.hpp"
#include "mem/hash.hpp"

namespace lockstep::core {

namespace {

/// The share of a line among all: a number below 2^16.
std::uint32_t drawn(Address line) { return static_cast<std::uint32_t>(mem::mix(line / kLineBytes) >> 48); }

}  // namespace

/// What instructions mark as to leave last has at most three quarters of the ways where nothing is set aside:
/// as much as can be (persistingL2CacheMaxSize of an A100: 30 of 40 MB). Assumed: what an instruction's
/// evict_last does without a set-aside is not published.
L2Shares L2Shares::of(const trace::L2Launch& launch, const config::L2Group& l2) {
  const std::uint64_t bytes = std::uint64_t{l2.partitions} * l2.slices_per_partition * l2.slice_bytes;
  const std::uint64_t most = l2.ways - l2.ways / 4;
  L2Shares shares;
  shares.any = launch.bytes > 0 || launch.resets > 0;
  shares.last_ways = static_cast<std::uint8_t>(most);
  if (launch.set_aside > 0) {
    const std::uint64_t aside = std::min(launch.set_aside, bytes) * l2.ways + bytes / 2;
    shares.last_ways = static_cast<std::uint8_t>(std::clamp<std::uint64_t>(aside / bytes, 1, most));
    shares.window_ways = shares.last_ways;
  }
  if (launch.resets > 0) shares.resets = static_cast<std::uint16_t>(1 + (launch.resets - 1) % 0xffff);
  return shares;
}

L2Placing placing_of(const trace::L2Launch& launch, const L2Shares& shares, trace::L2Policy policy,
                     Address line) {
  L2Placing placing;
  placing.resets = shares.resets;
  if (policy != trace::kNoL2Policy) {
    const bool some =
        drawn(line) * trace::kL2Sixteenths < trace::sixteenths_of(policy) * trace::L2Launch::kWhole;
    placing.priority = some ? trace::priority_of_some(policy) : trace::priority_of_rest(policy);
    placing.last_ways = shares.last_ways;
  } else if (line + kLineBytes > launch.base && line < launch.base + launch.bytes) {
    placing.priority = drawn(line) < launch.ratio ? launch.hit : launch.miss;
    placing.last_ways = shares.window_ways;
  }
  if (placing.priority == L2Priority::kLast && placing.last_ways == 0) placing.priority = L2Priority::kPlain;
  return placing;
}

L2Placing L2Hint::placing(Address line) const {
  return placing_of(launch->header->l2, launch->l2, policy, line);
}

}  // namespace lockstep::core
