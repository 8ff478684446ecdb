// Kernels whose CTAs take one piece of work after the other from a counter in global memory.
#include <algorithm>

#include "exec/passes.hpp"

namespace lockstep::exec {

namespace {

bool takes_from_memory(const Operation& op, const Translation& code) {
  if (op.handler != Handler::kAtomic || !code.atomics[op.second].takes) return false;
  const StateSpace space = code.memory[op.detail].state_space;
  return space == StateSpace::kGlobal || space == StateSpace::kGeneric;
}

}  // namespace

void find_work_loops(const FunctionCode& function, Translation& out) {
  const std::uint32_t end = function.first + function.size;
  for (std::uint32_t at = function.first; at < end && !out.takes_work; ++at) {
    if (!takes_from_memory(out.operations[at], out)) continue;
    // Some branch behind it leads back to before it.
    for (std::uint32_t branch = at + 1; branch < end; ++branch) {
      const Operation& op = out.operations[branch];
      out.takes_work |= op.handler == Handler::kBranch && op.target <= at && op.target >= function.first;
    }
  }
}

}  // namespace lockstep::exec
