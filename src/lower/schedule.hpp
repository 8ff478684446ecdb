// The order in which a compiler puts the instructions of a function.
#pragma once

#include <cstdint>
#include <vector>

#include "lower/passes.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/ir.hpp"

namespace lockstep::lower {

/// A straight run of instructions: executed one after the other by the same lanes (but for guards).
struct Run {
  std::uint32_t first = 0, end = 0;  // PTX instructions [first, end)
};

/// The longest ones, up to a length that keeps the work near linear in the kernel's; each instruction that
/// keeps its place (dependences.hpp) is one.
[[nodiscard]] std::vector<Run> find_runs(const ptx::Function& function, const ptx::ControlFlow& flow);

/// order[j] is the PTX instruction at place j; a permutation within each run. Runs follow each other and
/// cover the function.
struct Schedule {
  std::vector<std::uint32_t> order;
  std::vector<Run> runs;
};

/// 32-bit registers of a thread with which an SM of this architecture (compute capability * 10) holds as many
/// warps as it can: registers over threads, rounded down to the allocation's granularity of 8. ptxas takes
/// more where values need it, but does not reorder beyond it: of examples/ptx, those with much to overlap
/// get 32 on sm_80 and sm_90 (2048 threads), 40 on sm_86 (1536), 64 to 80 on sm_75 (1024).
[[nodiscard]] unsigned registers_at_full_occupancy(unsigned arch);

/// List scheduling of each run by its critical path (Gibbons and Muchnick, 1986): with the latencies below,
/// loads go before what does not need them. An instruction that would raise the number of live 32-bit
/// registers above `registers` waits for one that does not, where there is one.
[[nodiscard]] Schedule schedule(const ptx::Function& function, const ptx::ControlFlow& flow,
                                unsigned registers, Passes passes = {});

/// The function with its instructions in that order.
[[nodiscard]] ptx::Function reordered(const ptx::Function& function, const Schedule& schedule);

}  // namespace lockstep::lower
