// One instruction on the lanes of one warp, from its PTX text.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "exec/lane_op.hpp"
#include "ptx/instruction.hpp"

namespace lockstep::test {

using Bits = std::uint64_t;
__extension__ typedef __int128 Wide;

/// The lowest bits of a value.
inline Bits cut(Bits value, int width) { return width == 64 ? value : value & ((Bits{1} << width) - 1); }

/// "{r,r}" and the like, with this number of registers.
inline std::string register_vector(int registers) {
  std::string out = "{r";
  for (int i = 1; i < registers; ++i) out += ",r";
  return out + "}";
}

/// An instruction of the form with these operands: "r" a register, "!r" a negated one, "_" the sink, "#5" a
/// constant,
/// "{r,r}" a vector, "r|r" a pair; "r.h1" and the like select a part. Commas at the top level separate
/// operands.
ptx::Instruction instruction(std::string_view form, std::string_view operands);

/// The kernel and the rows it works on.
class Warp {
 public:
  Warp(std::string_view form, std::string_view operands, unsigned destination_bits = 0);

  /// Lanes are the values in order, repeated.
  Warp& set(int source, const std::vector<std::uint64_t>& lanes);
  Warp& set_all(int source, std::uint64_t value) { return set(source, {value}); }
  std::uint64_t& source(int index, int lane) { return sources_[static_cast<std::size_t>(index)].lane[lane]; }
  void run(std::uint32_t mask = ~0u);
  [[nodiscard]] std::uint64_t result(int lane, int destination = 0) const {
    return destinations_[static_cast<std::size_t>(destination) * 2].lane[lane];
  }
  [[nodiscard]] std::uint64_t high_result(int lane) const { return destinations_[1].lane[lane]; }
  exec::WarpFlags flags;
  exec::LaneOp op;
  static constexpr std::uint64_t kUntouched = 0x5a5a5a5a5a5a5a5a;

 private:
  std::vector<exec::LaneValues> sources_, destinations_;
};

/// Result of one scalar instruction.
std::uint64_t eval(std::string_view form, std::string_view operands,
                   std::initializer_list<std::uint64_t> sources);

/// Integers that matter (0, 1, all ones, extremes, single bits) and random ones, mixed over all magnitudes.
std::uint64_t any_bits(std::mt19937_64& random);
/// Bits of floating-point values that matter for a format (zeros, subnormals, extremes, infinities, NaNs,
/// near powers of two) and random ones.
std::uint64_t any_float(std::mt19937_64& random, int exponent_bits, int mantissa_bits);

}  // namespace lockstep::test
