// Where in a partition's DRAM a line lies.
#pragma once

#include <bit>
#include <cstdint>

#include "config/gpu_config.hpp"
#include "mem/hash.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

struct DramPlace {
  std::uint64_t row = 0;
  std::uint16_t bank = 0;     // in the channel: group * banks_per_group + bank in the group
  std::uint16_t channel = 0;  // in the partition
};

/// The partition's lines are numbered densely (local line * slices + slice). From the lowest digit up a
/// number is
///   channel (rotated by a hash of the rest) | bank group | line in the row | bank in the group | row,
/// with bank group and bank exchanged by a hash of the row. So a stream alternates between the bank groups,
/// whose column accesses may follow each other at tCCD_S, opens each row once, and streams that lie a power
/// of two apart do not meet in the same banks all the time.
class DramMap {
 public:
  explicit DramMap(const config::GpuConfig& config)
      : slices_(config.l2.slices_per_partition),
        channels_(config.dram.channels_per_partition),
        group_bits_(bits(config.dram.bank_groups)),
        bank_bits_(bits(config.dram.banks_per_group)),
        column_bits_(bits(config.dram.row_bytes / kLineBytes)) {}

  [[nodiscard]] DramPlace place(std::uint64_t local_line, std::uint32_t slice) const {
    const std::uint64_t number = local_line * slices_ + slice;
    std::uint64_t rest = number / channels_;
    const auto turn = static_cast<std::uint32_t>(number - rest * channels_) + mix_below(rest, channels_);
    DramPlace p;
    p.channel = static_cast<std::uint16_t>(turn >= channels_ ? turn - channels_ : turn);
    const std::uint64_t group = rest;
    rest >>= group_bits_ + column_bits_;
    p.row = rest >> bank_bits_;
    const std::uint64_t h = mix(p.row);
    const std::uint64_t in_group = low(rest ^ h >> 32, bank_bits_);
    p.bank = static_cast<std::uint16_t>(low(group ^ h, group_bits_) << bank_bits_ | in_group);
    return p;
  }

 private:
  static unsigned bits(std::uint32_t power_of_two) {
    return static_cast<unsigned>(std::countr_zero(power_of_two));
  }
  static std::uint64_t low(std::uint64_t x, unsigned n) { return x & ((std::uint64_t{1} << n) - 1); }

  std::uint64_t slices_;
  std::uint32_t channels_;
  unsigned group_bits_, bank_bits_, column_bits_;
};

}  // namespace lockstep::mem
