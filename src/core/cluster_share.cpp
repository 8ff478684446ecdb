#include "core/cluster_share.hpp"

#include <algorithm>

#include "core/shared_memory.hpp"
#include "trace/mbarrier_words.hpp"
#include "util/bits.hpp"

namespace lockstep::core {
namespace {

constexpr unsigned kRankShift = 24;
constexpr Address kWindow = (Address{1} << 29) - 1;  // of shared memory in the generic address space
constexpr Address kOffset = (Address{1} << kRankShift) - 1;
constexpr unsigned kMaxWavefronts = 255;

/// Each lane begins behind the one before: no two of them touch the same word.
bool ascending(const std::array<Address, kWarpSize>& each, LaneMask lanes, unsigned width) {
  Address end = 0;
  for (const unsigned lane : bits_of(lanes)) {
    if (each[lane] < end) return false;
    end = each[lane] + width;
  }
  return true;
}

/// Distinct words in the bank with the most of them; of an atomic the words of all lanes.
unsigned wavefronts_of(const std::array<Address, kWarpSize>& each, LaneMask lanes, unsigned width,
                       bool atomic) {
  constexpr unsigned kMaxWords = kWarpSize * (LaneAddresses::kMaxBytes / 4 + 1);
  std::array<Address, kMaxWords> seen;
  std::array<std::uint16_t, kBanks> load{};
  const bool all = atomic || (width % 4 == 0 && ascending(each, lanes, width));
  unsigned count = 0, largest = 1;
  for (const unsigned lane : bits_of(lanes))
    for (Address w = each[lane] / 4; w <= (each[lane] + width - 1) / 4; ++w) {
      if (!all && std::find(seen.begin(), seen.begin() + count, w) != seen.begin() + count) continue;
      if (!all) seen[count++] = w;
      largest = std::max<unsigned>(largest, ++load[w % kBanks]);
    }
  return std::min(largest, kMaxWavefronts);
}

unsigned sectors_of(const std::array<Address, kWarpSize>& each, LaneMask lanes, unsigned width) {
  std::array<Address, 2 * kWarpSize> seen;
  unsigned count = 0;
  for (const unsigned lane : bits_of(lanes))
    for (Address s = each[lane] / kSectorBytes; s <= (each[lane] + width - 1) / kSectorBytes; ++s) {
      if (count > 0 && seen[count - 1] == s) continue;
      if (std::find(seen.begin(), seen.begin() + count, s) == seen.begin() + count) seen[count++] = s;
    }
  return count;
}

}  // namespace

void ClusterShares::split(const MioOperation& op, std::uint32_t own, std::uint32_t ranks) {
  std::array<Address, kWarpSize> each{};
  trace::expand_addresses(op.form, op.mask, op.words, each.data());
  count_ = 0;
  for (const unsigned lane : bits_of(op.mask)) {
    const auto window = static_cast<std::uint32_t>((each[lane] & kWindow) >> kRankShift);
    const std::uint32_t rank = window == 0 || window > ranks ? own : window - 1;
    const std::uint32_t mbarrier = trace::targets_of(each[lane]);
    each[lane] &= kOffset;
    unsigned i = 0;
    while (i < count_ && (share_[i].rank != rank || share_[i].mbarrier != mbarrier)) ++i;
    if (i == count_) share_[count_++] = {rank, mbarrier, 0, 1, 0};
    share_[i].lanes |= LaneMask{1} << lane;
  }
  const bool atomic = op.op_class == trace::OpClass::kAtomic || op.op_class == trace::OpClass::kReduction;
  const unsigned width = std::clamp<unsigned>(op.access_bytes, 1, LaneAddresses::kMaxBytes);
  for (unsigned i = 0; i < count_; ++i) {
    ClusterShare& share = share_[i];
    share.wavefronts = static_cast<std::uint8_t>(wavefronts_of(each, share.lanes, width, atomic));
    share.bytes = static_cast<std::uint16_t>(sectors_of(each, share.lanes, width) * kSectorBytes);
  }
}

}  // namespace lockstep::core
