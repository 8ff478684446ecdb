// How many registers a compiler gives a thread.
#pragma once

#include "lower/passes.hpp"
#include "ptx/ir.hpp"

namespace lockstep::lower {

/// Registers that the schedule leaves to the stack pointer and to what the assignment loses: 25 values at
/// most are live in the code that ptxas 13.0 makes of the sum of 64 loads for sm_80 (of 32 registers), 33 for
/// sm_86 (of 40), 57 for sm_75 (of 64).
inline constexpr unsigned kReserved = 7;

/// 32-bit registers that values of the function have at once at most, in the order in which it stands.
[[nodiscard]] unsigned values_at_once(const ptx::Function& function, Passes passes);

/// Where full occupancy leaves a thread less than its values need, ptxas gives it as many as leave the SM as
/// many warps, in fours, or CTAs, where their size is known, as what its values need. Of loops with 32, 64
/// and 128 accumulators, which have 45, 80 and 152 values at once, ptxas 13.0 makes code with 48, 80 and 168
/// registers for sm_86 (40, 24 and 12 warps), 54, 84 and 174 inside another loop.
[[nodiscard]] unsigned registers_for(unsigned values, const ptx::Directives& directives, unsigned arch);

}  // namespace lockstep::lower
