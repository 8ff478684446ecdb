// The text after an opcode's first '.': "LDG.E.128.SYS" has the modifiers E, 128 and SYS.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/instruction.hpp"

namespace lockstep::trace {

class Opcode {
 public:
  /// Keeps views into `text`. Modifiers past kMax are ignored; no real opcode has that many.
  explicit Opcode(std::string_view text);

  [[nodiscard]] std::string_view base() const { return base_; }
  [[nodiscard]] bool has(std::string_view modifier) const;
  [[nodiscard]] const std::string_view* begin() const { return modifiers_.data(); }
  [[nodiscard]] const std::string_view* end() const { return modifiers_.data() + size_; }

 private:
  static constexpr unsigned kMax = 16;
  std::string_view base_;
  std::array<std::string_view, kMax> modifiers_{};
  unsigned size_ = 0;
};

/// Bytes a lane of a format or width modifier: U8 1, S16 2, F32 4, 64 8, 128 16, F16x2 4, F32x4 16, ...;
/// 0 if it is not one.
[[nodiscard]] unsigned modifier_bytes(std::string_view modifier);

/// Bytes that a lane moves in an ordinary access: the first width among the modifiers, else 4.
[[nodiscard]] unsigned access_bytes(const Opcode& opcode);

/// Registers a lane of LDSM, STSM (.2, .4 matrices), LDTM, STTM (.x2 ... .x128 repetitions).
[[nodiscard]] unsigned matrix_registers(const Opcode& opcode);

/// A matrix multiply-accumulate: D[m,n] = A[m,k] * B[k,n] + C[m,n], `k` of the dense equivalent.
struct MmaShape {
  std::uint32_t macs = 0;  // of the whole instruction
  TensorType type = TensorType::kNone;
  bool sparse = false;
  std::uint8_t a = 1, b = 1, c = 1;  // registers per lane; 0 where the operand is in shared memory
};

/// HMMA.16816.F32.BF16, IMMA.16832.S8.S8, DMMA.884, BMMA.168256, QMMA..., and .SP forms. nullopt: no shape.
[[nodiscard]] std::optional<MmaShape> mma_shape(const Opcode& opcode);

/// HGMMA.64x128x16.F32.BF16 and relatives, over four warps.
[[nodiscard]] std::optional<MmaShape> warpgroup_shape(const Opcode& opcode);

}  // namespace lockstep::trace
