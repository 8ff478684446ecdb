// Which row of a frame holds each register of a function. Internal to src/exec.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/control_flow.hpp"
#include "ptx/ir.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::exec {

/// Sets `rows`, the first row of each register (one of more than 64 bits has two), and returns how many there
/// are. PTX gives each result a register of its own, and a row is 256 bytes: registers that are live at
/// different places share one, so that the rows in use stay in the host's caches. No result of an instruction
/// shares a row with its operands. Registers of loops that may wait keep their own, as what such a loop
/// depends on is found by row, and so do parameters and results, which calls move.
[[nodiscard]] std::uint32_t allocate_rows(const ptx::Function& function, const ptx::ControlFlow& flow,
                                          const ptx::Liveness& liveness, std::vector<std::uint32_t>& rows);

}  // namespace lockstep::exec
