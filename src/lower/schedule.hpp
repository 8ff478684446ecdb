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

/// List scheduling of each run from its end (Gibbons and Muchnick, 1986), as ptxas 13.0 does for sm_75,
/// sm_80, sm_86 and sm_90: an instruction stands as late as possible, but its latency before the first that
/// needs its result; loads then stand before others, which go by the longest path that leads to them. An
/// instruction that would raise the number of live 32-bit registers above `values` waits for one that does
/// not, where there is one.
///
/// Read off straight code of a load and C FFMAs that need it, repeated 32 to 40 times. Between a load from
/// shared memory and the first FFMA that needs it are 12 FFMAs of one chain of sums, which are 4 cycles apart
/// (C = 8; 11, 10 and 9 with C = 4, 2 and 1: each load between them counts as 2 cycles more, and with two
/// loads for each FFMA there are 6), or 40 to 48 of 8 chains, and likewise FADDs and IMADs, 8 or fewer DFMAs:
/// 52 cycles. Between a load from global memory and its FFMA are 80 FFMAs of one chain and 320 of 8, 40 to 56
/// DFMAs: 340 cycles. Of 16 EX2 whose results are summed, with 8 chains of 16 FFMAs, two are 8 or 9 other
/// instructions apart (sm_75, sm_80, sm_90).
[[nodiscard]] Schedule schedule(const ptx::Function& function, const ptx::ControlFlow& flow, unsigned values,
                                Passes passes = {});

/// The function with its instructions in that order.
[[nodiscard]] ptx::Function reordered(const ptx::Function& function, const Schedule& schedule);

}  // namespace lockstep::lower
