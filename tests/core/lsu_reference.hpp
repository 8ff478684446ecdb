// Lines, sectors and bank conflicts worked out lane by lane and byte by byte, for comparison.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "util/types.hpp"

namespace lockstep::core::test {

using Lanes = std::array<Address, kWarpSize>;

struct ReferenceLine {
  Address line;
  std::array<std::uint32_t, 4> bytes{};
  unsigned operations = 0;
  [[nodiscard]] SectorMask sectors() const {
    SectorMask m = 0;
    for (unsigned s = 0; s < 4; ++s)
      if (bytes[s]) m = static_cast<SectorMask>(m | 1u << s);
    return m;
  }
};

inline std::vector<ReferenceLine> reference_lines(LaneMask mask, const Lanes& lanes, unsigned width) {
  std::vector<ReferenceLine> out;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if (!(mask >> l & 1)) continue;
    for (unsigned b = 0; b < width; ++b) {
      const Address a = lanes[l] + b;
      auto at = std::find_if(out.begin(), out.end(), [&](const auto& x) { return x.line == a / 128 * 128; });
      if (at == out.end()) at = out.insert(out.end(), {a / 128 * 128, {}, 0});
      at->bytes[a % 128 / 32] |= 1u << a % 32;
    }
    // Aligned accesses lie in one line.
    for (auto& x : out)
      if (x.line == lanes[l] / 128 * 128) x.operations += std::max(1u, width / 4);
  }
  return out;
}

/// Groups of lanes that together move 128 bytes; per group the largest number of distinct words in one bank.
/// `group`: lanes of a pass.
inline unsigned reference_wavefronts(LaneMask mask, const Lanes& lanes, unsigned width, bool atomic,
                                     unsigned group) {
  unsigned sum = 0;
  for (unsigned first = 0; first < 32; first += group) {
    std::map<unsigned, std::multiset<Address>> banks;
    for (unsigned l = first; l < first + group; ++l) {
      if (!(mask >> l & 1)) continue;
      for (Address w = lanes[l] / 4; w <= (lanes[l] + width - 1) / 4; ++w) banks[w % 32].insert(w);
    }
    std::size_t most = 0;
    for (const auto& [bank, words] : banks)
      most = std::max(most, atomic ? words.size() : std::set<Address>(words.begin(), words.end()).size());
    sum += static_cast<unsigned>(most);
  }
  return sum;
}

inline unsigned reference_wavefronts(LaneMask mask, const Lanes& lanes, unsigned width, bool atomic = false) {
  return reference_wavefronts(mask, lanes, width, atomic, width <= 4 ? 32 : 128 / width);
}

/// Of a load that returns registers of two lanes together where all read alike in pairs.
inline unsigned reference_paired_wavefronts(LaneMask mask, const Lanes& lanes, unsigned width) {
  if (width <= 4) return reference_wavefronts(mask, lanes, width);
  bool neighbours = true, next_but_one = true;
  for (unsigned l = 0; l < kWarpSize; ++l)
    for (unsigned other = 0; other < kWarpSize; ++other) {
      const bool differ = (mask >> l & 1) && (mask >> other & 1) && lanes[l] != lanes[other];
      if (differ && l / 2 == other / 2) neighbours = false;
      if (differ && l / 4 == other / 4 && l % 2 == other % 2) next_but_one = false;
    }
  return reference_wavefronts(mask, lanes, width, false, (neighbours || next_but_one ? 256 : 128) / width);
}

/// Patterns that kernels have, and some that they have not.
inline Lanes random_lanes(std::mt19937_64& rng, unsigned width, LaneMask& mask) {
  const auto pick = [&](std::uint64_t n) { return rng() % n; };
  mask = pick(3) ? 0xffffffffu : static_cast<LaneMask>(rng());
  if (pick(4) == 0) mask = ((1u << (1 + pick(31))) - 1) << pick(8);
  if (mask == 0) mask = 1u << pick(32);
  Lanes lanes{};
  const Address base = (Address{1} << 32) + pick(4096) * width;
  const std::uint64_t kind = pick(5), range = std::uint64_t{1} << (3 + pick(20));
  const std::uint64_t stride = pick(2) ? pick(70) * width : (pick(9) - 4) * 4 * width;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if (kind < 2) lanes[l] = base + stride * l;
    if (kind == 2) lanes[l] = base + pick(range) * width;
    if (kind == 3) lanes[l] = base + l / 8 * 1024 + l % 8 * width;
    if (kind == 4) lanes[l] = base + (l * 7 % 32) * width;
  }
  return lanes;
}

}  // namespace lockstep::core::test
