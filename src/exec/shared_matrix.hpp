// A matrix of wgmma in shared memory, as its 64-bit descriptor says ("PTX ISA 9.0", 9.7.15.5.1: strides,
// leading and stride byte offsets, swizzling modes, descriptor format).
#pragma once

#include <cstdint>

#include "util/types.hpp"

namespace lockstep::exec {

/// Swizzles of 2^swizzle_bits 16-byte units (32, 64, 128 bytes; 0: none): bits 4 and up of an address are
/// combined with bits 7 and up. The same for tensor maps.
[[nodiscard]] constexpr Address swizzled(Address a, unsigned swizzle_bits, Address base = 0) {
  return a ^ ((a - base) >> 3 & ((Address{1} << swizzle_bits) - 1) << 4);
}

struct SharedMatrix {
  Address start = 0;
  std::uint64_t leading = 0, stride = 0;  // bytes
  unsigned swizzle_bits = 0;
  Address base = 0;     // of the repeating pattern, from a multiple of its size
  bool across = false;  // elements of one k are neighbours, not those of one row

  SharedMatrix(std::uint64_t descriptor, bool across_)
      : start((descriptor & 0x3fff) << 4),
        leading((descriptor >> 16 & 0x3fff) << 4),
        stride((descriptor >> 32 & 0x3fff) << 4),
        swizzle_bits(static_cast<unsigned>(4 - (descriptor >> 62)) & 3),
        base((descriptor >> 49 & 7) << 7),
        across(across_) {}

  /// The 16 bytes with unit `along` (in the direction of neighbours) of line `line` (in the other direction).
  [[nodiscard]] Address unit(unsigned line, unsigned along) const {
    const unsigned span = 1u << swizzle_bits, eight = line / 8;
    const Address in_line = Address{16} * (line % 8) * span;
    Address a = start + in_line;
    if (across && swizzle_bits == 0)
      a += eight * leading + along * stride;
    else  // lines are rows, eight to a core matrix, or swizzled
      a += eight * stride + along / span * leading + Address{16} * (along % span);
    return swizzled(a, swizzle_bits, base);
  }
};

}  // namespace lockstep::exec
