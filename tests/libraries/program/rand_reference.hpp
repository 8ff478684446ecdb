#pragma once

// The generators as they were published.
#include <cstdint>

struct Philox {
  std::uint32_t counter[4], key[2];

  void round() {
    const std::uint64_t a = std::uint64_t{counter[0]} * 0xD2511F53U,
                        b = std::uint64_t{counter[2]} * 0xCD9E8D57U;
    const auto high = [](std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); };
    const std::uint32_t next[4] = {high(b) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
                                   high(a) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    for (int i = 0; i < 4; ++i) counter[i] = next[i];
  }
  /// Leaves the result in the counter.
  void run() {
    for (int i = 0; i < 10; ++i) {
      if (i > 0) {
        key[0] += 0x9E3779B9U;
        key[1] += 0xBB67AE85U;
      }
      round();
    }
  }
};

/// Marsaglia, 2003, with his initial values.
struct Xorwow {
  std::uint32_t x = 123456789, y = 362436069, z = 521288629, w = 88675123, v = 5783321, d = 6615241;

  std::uint32_t next() {
    const std::uint32_t t = x ^ (x >> 2);
    x = y;
    y = z;
    z = w;
    w = v;
    v = (v ^ (v << 4)) ^ (t ^ (t << 1));
    return (d += 362437) + v;
  }
};
