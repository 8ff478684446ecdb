// Which virtual registers can share a register of the machine although they hold different values.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/control_flow.hpp"
#include "ptx/ir.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::lower {

/// For some registers of a function, or sets of them: after which instructions one of them holds a value, be
/// it one that is not read. Unreachable instructions do not count.
class LivePoints {
 public:
  /// `wanted`: by register, which ones will be asked for.
  LivePoints(const ptx::Function& function, const ptx::ControlFlow& flow, const ptx::Liveness& liveness,
             const std::vector<bool>& wanted);

  /// Whether there is no instruction after which both hold a value.
  [[nodiscard]] bool apart(ptx::RegisterId a, ptx::RegisterId b) const;
  /// From now on `to` stands for both.
  void join(ptx::RegisterId from, ptx::RegisterId to);

 private:
  void set(ptx::RegisterId id, std::uint32_t at) {
    if (!points_[id].empty()) points_[id][at / 64] |= std::uint64_t{1} << at % 64;
  }

  std::vector<std::vector<std::uint64_t>> points_;  // by register: a bit for each instruction
};

}  // namespace lockstep::lower
