// Bank conflicts: 32 banks of 4 bytes, in shared memory and in the data array of the L1.
#pragma once

#include <array>
#include <cstdint>

#include "core/coalescer.hpp"

namespace lockstep::core {

inline constexpr unsigned kBanks = 32;

/// Lanes that one pass over the banks can serve without conflicts: the warp up to 4 bytes per lane, a half
/// for 8, a quarter for 16 (CUDA C++ Programming Guide, cc 5.x shared memory; at most 128 bytes per pass).
[[nodiscard]] constexpr unsigned lanes_per_pass(unsigned width) {
  return width <= 4 ? 32 : width <= 8 ? 16 : width <= 16 ? 8 : 4;
}

/// Groups of lanes_per_pass() lanes with an active one.
[[nodiscard]] unsigned bank_passes(const LaneAddresses& addresses);

/// A load from shared memory returns the same registers of two lanes together where lanes read alike in
/// pairs.
enum class Returns : std::uint8_t { kEachLane, kPairs };

/// Wavefronts of a load or store: for each group of lanes_per_pass() lanes with an active one, the largest
/// number of distinct words in one bank. A word read by several lanes is broadcast. With kPairs, groups of 8
/// and 16 bytes per lane are twice as large if all active lanes n and n ^ 1, or all n and n ^ 2, read the
/// same address (NVIDIA about LDS.128, forums.developer.nvidia.com/t/77228; of 64 bits assumed).
[[nodiscard]] unsigned bank_wavefronts(LaneAddresses& addresses, Returns returns = Returns::kEachLane);

/// bank_wavefronts() with a memory: kernels repeat few patterns of lane offsets very often. A pattern is the
/// offsets, the mask, the width, and where the base lies in a row of banks: nothing else decides about
/// conflicts.
class WavefrontMemo {
 public:
  [[nodiscard]] unsigned operator()(LaneAddresses& addresses, Returns returns = Returns::kEachLane);

 private:
  struct Entry {
    LaneMask mask = 0;  // 0: empty
    std::uint8_t width = 0, row_offset = 0, wavefronts = 0;
    Returns returns = Returns::kEachLane;
    std::array<std::uint64_t, kWarpSize / 2> offsets{};
  };
  std::array<Entry, 32> entries_{};
};

/// For an atomic: a wavefront serves one lane per bank, and lanes with the same address one by one.
[[nodiscard]] unsigned atomic_wavefronts(LaneAddresses& addresses);

/// For LDSM and STSM: for each of the `matrices`, eight lanes with the addresses of 16-byte rows.
[[nodiscard]] unsigned matrix_wavefronts(LaneAddresses& addresses, unsigned matrices);

}  // namespace lockstep::core
