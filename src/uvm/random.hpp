// The generator behind the C library's rand(), which published random policies drew from.
#pragma once

#include <array>
#include <cstdint>

namespace lockstep::uvm {

/// Additive feedback r[i] = r[i-3] + r[i-31] mod 2^32, output r[i] >> 1 (the GNU C library's manual, TYPE_3);
/// the same numbers as its rand() after srand(seed).
class Random {
 public:
  static constexpr bool kPlain = true;  // its bytes are its state (util/archive_fields.hpp)

  explicit Random(std::uint32_t seed = 1) {
    std::int64_t word = seed == 0 ? 1 : static_cast<std::int32_t>(seed);  // signed, as there
    for (std::uint32_t& r : state_) {
      constexpr std::int64_t kModulus = 2147483647;
      r = static_cast<std::uint32_t>(word);
      word = word * 16807 % kModulus;  // Park and Miller's minimal standard generator
      if (word < 0) word += kModulus;
    }
    for (int i = 0; i < 310; ++i) (void)next();
  }
  /// 0 to 2^31 - 1.
  std::uint32_t next() {
    const std::uint32_t value = state_[at_] += state_[(at_ + 28) % 31];
    at_ = (at_ + 1) % 31;
    return value >> 1;
  }
  std::uint32_t below(std::uint32_t n) { return next() % n; }

 private:
  std::array<std::uint32_t, 31> state_{};
  unsigned at_ = 3;
};

}  // namespace lockstep::uvm
