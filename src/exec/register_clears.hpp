// Where the registers of a kernel that may be read before they are written become 0. Internal to src/exec.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ptx/control_flow.hpp"
#include "ptx/ir.hpp"

namespace lockstep::exec {

/// Before `instruction`; the registers in ascending order.
struct RegisterClear {
  std::uint32_t instruction = 0;
  std::vector<ptx::RegisterId> registers;
  friend bool operator==(const RegisterClear&, const RegisterClear&) = default;
};

/// By instruction, ascending. A thread passes each once at most, and before all that names its registers. It
/// is as late as that allows, so that threads that leave the kernel early need not clear what only the others
/// use. `registers`: live at the function's begin, ascending.
[[nodiscard]] std::vector<RegisterClear> place_clears(const ptx::Function& function,
                                                      const ptx::ControlFlow& flow,
                                                      std::span<const ptx::RegisterId> registers);

}  // namespace lockstep::exec
