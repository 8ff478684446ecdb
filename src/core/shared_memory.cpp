#include "core/shared_memory.hpp"

#include <algorithm>
#include <array>

#include "util/bits.hpp"

namespace lockstep::core {
namespace {

unsigned bank_of(Address word) { return static_cast<unsigned>(word % kBanks); }

/// Largest number of distinct words in one bank.
unsigned largest_degree(const std::array<Address, kWarpSize>& each, LaneMask lanes, unsigned width) {
  constexpr unsigned kMaxWords = 64;  // 32 lanes x 2, 16 x 3, 8 x 5, 4 x 9
  std::array<Address, kMaxWords> word;
  std::array<std::uint8_t, kMaxWords> next;
  std::array<std::uint8_t, kBanks> first, degree;
  std::uint32_t used = 0;
  unsigned words = 0, largest = 1;
  for (const unsigned lane : bits_of(lanes)) {
    const Address a = each[lane];
    const auto count = static_cast<unsigned>((a % 4 + width + 3) / 4);
    for (unsigned k = 0; k < count; ++k) {
      const Address w = a / 4 + k;
      const unsigned b = bank_of(w);
      if (!(used >> b & 1)) {
        used |= 1u << b;
        degree[b] = 1;
        next[words] = 0xff;
      } else {
        unsigned i = first[b];
        while (i != 0xff && word[i] != w) i = next[i];
        if (i != 0xff) continue;
        largest = std::max<unsigned>(largest, ++degree[b]);
        next[words] = first[b];
      }
      word[words] = w;
      first[b] = static_cast<std::uint8_t>(words++);
    }
  }
  return largest;
}

/// Accesses within a word each, no two lanes on the same bank.
bool all_banks_differ(const std::array<Address, kWarpSize>& each, LaneMask lanes, unsigned width) {
  std::uint32_t used = 0, twice = 0;
  bool straddle = false;
  for (const unsigned lane : bits_of(lanes)) {
    const Address a = each[lane];
    const std::uint32_t bit = 1u << bank_of(a / 4);
    twice |= used & bit;
    used |= bit;
    straddle |= a % 4 + width > 4;
  }
  return !twice && !straddle;
}

unsigned groups_in(LaneMask mask, unsigned lanes) {
  if (lanes == kWarpSize) return 1;
  unsigned groups = 0;
  for (unsigned first = 0; first < kWarpSize; first += lanes)
    if (mask >> first & ((1u << lanes) - 1)) ++groups;
  return groups;
}

/// Whether lanes whose numbers differ by that bit read the same address where both are active.
bool alike_in_pairs(const std::array<Address, kWarpSize>& each, LaneMask mask, unsigned bit) {
  for (const unsigned lane : bits_of(mask))
    if (mask >> (lane ^ bit) & 1 && each[lane] != each[lane ^ bit]) return false;
  return true;
}

template <class F>
unsigned sum_over_groups(LaneMask mask, unsigned lanes, F&& wavefronts) {
  if (lanes == kWarpSize) return wavefronts(mask);
  unsigned sum = 0;
  for (unsigned first = 0; first < kWarpSize; first += lanes) {
    const LaneMask group = mask & ((1u << lanes) - 1) << first;
    if (group) sum += wavefronts(group);
  }
  return sum;
}

}  // namespace

unsigned bank_passes(const LaneAddresses& a) { return groups_in(a.mask(), lanes_per_pass(a.width())); }

unsigned bank_wavefronts(LaneAddresses& a, Returns returns) {
  const unsigned width = a.width();
  const bool may_pair = returns == Returns::kPairs && (width == 8 || width == 16);
  unsigned lanes = lanes_per_pass(width);
  if (a.affine()) {
    const bool aligned = std::has_single_bit(width) && a.base() % width == 0;
    // Neighbouring or equal accesses: a group's words fit the banks once.
    if (aligned && a.stride() == 0) return groups_in(a.mask(), may_pair ? 2 * lanes : lanes);
    if (aligned && a.stride() == width && (!may_pair || a.run())) return groups_in(a.mask(), lanes);
    if (width <= 4 && a.base() % 4 + width <= 4 && a.stride() % 4 == 0 && a.run()) {
      if (a.stride() == 0) return 1;
      // Words a constant step apart take turns on 32 / gcd(step, 32) banks.
      const unsigned used = kBanks >> std::min(5, std::countr_zero(a.stride() / 4));
      return (a.lanes() + used - 1) / used;
    }
  }
  const auto& each = a.each();
  if (may_pair && (alike_in_pairs(each, a.mask(), 1) || alike_in_pairs(each, a.mask(), 2))) lanes *= 2;
  if (width <= 4 && all_banks_differ(each, a.mask(), width)) return 1;
  return sum_over_groups(a.mask(), lanes, [&](LaneMask group) { return largest_degree(each, group, width); });
}

unsigned WavefrontMemo::operator()(LaneAddresses& a, Returns returns) {
  const std::uint64_t* offsets = a.packed_offsets();
  if (!offsets) return bank_wavefronts(a, returns);
  const std::size_t words = a.lanes() / 2;  // (lanes - 1) halves of words
  const auto row_offset = static_cast<std::uint8_t>(a.base() % kLineBytes);
  const std::uint64_t mix =
      (offsets[0] * 3 + offsets[words / 2] * 5 + offsets[words - 1] * 7 + row_offset + a.mask()) *
      0x9e3779b97f4a7c15;
  Entry& e = entries_[mix >> 59];
  if (e.mask == a.mask() && e.width == a.width() && e.row_offset == row_offset && e.returns == returns &&
      std::equal(offsets, offsets + words, e.offsets.begin()))
    return e.wavefronts;
  e = {a.mask(),   static_cast<std::uint8_t>(a.width()),
       row_offset, static_cast<std::uint8_t>(bank_wavefronts(a, returns)),
       returns,    {}};
  std::copy(offsets, offsets + words, e.offsets.begin());
  return e.wavefronts;
}

unsigned atomic_wavefronts(LaneAddresses& a) {
  const unsigned width = a.width();
  const auto& each = a.each();
  return sum_over_groups(a.mask(), lanes_per_pass(width), [&](LaneMask group) {
    std::array<std::uint8_t, kBanks> load{};
    unsigned largest = 1;
    for (const unsigned lane : bits_of(group)) {
      const Address word = each[lane] / 4;
      for (unsigned k = 0; k < (width + 3) / 4; ++k)
        largest = std::max<unsigned>(largest, ++load[bank_of(word + k)]);
    }
    return largest;
  });
}

unsigned matrix_wavefronts(LaneAddresses& a, unsigned matrices) {
  constexpr unsigned kRows = 8, kRowBytes = 16;
  const auto& each = a.each();
  unsigned sum = 0;
  for (unsigned m = 0; m < std::min(matrices, kWarpSize / kRows); ++m) {
    const LaneMask rows = a.mask() & 0xffu << kRows * m;
    sum += rows ? largest_degree(each, rows, kRowBytes) : 1;
  }
  return std::max(sum, 1u);
}

}  // namespace lockstep::core
