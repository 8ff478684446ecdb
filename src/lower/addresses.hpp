// Address arithmetic that is part of the access.
#pragma once

#include <cstdint>
#include <vector>

#include "lower/schedule.hpp"
#include "ptx/ir.hpp"

namespace lockstep::lower {

/// The instruction at place `at` is left out: where its result is an address, the access reads `from`
/// instead.
struct FoldedAddress {
  std::uint32_t at = 0;
  ptx::RegisterId from = 0;
};

/// Accesses to shared memory name a register, scaled by 4, 8 or 16 before sm_90, and a constant. These are
/// the sums with a constant and the shifts that only such accesses read. A symbol's address is a
/// constant before sm_90; later it is where the CTA's window in that of the cluster begins. So ptxas 13.0 did
/// for sm_75, sm_80 and sm_90. `function` in the order of `runs`.
[[nodiscard]] std::vector<FoldedAddress> folded_addresses(const ptx::Function& function,
                                                          const std::vector<Run>& runs, unsigned arch);

/// The register with which a load, store or atomic addresses shared memory, where nothing else of it reads
/// that; null otherwise.
[[nodiscard]] const ptx::RegisterId* shared_address(const ptx::Instruction& i);

}  // namespace lockstep::lower
