// Instructions of alloca's memory.
#include "exec/warp_instructions.hpp"

namespace lockstep::exec {

void execute_stack(WarpState& warp, const Operation& op, LaneMask active) {
  if (warp.record) warp.note(active);
  const auto action = static_cast<StackAction>(op.detail);
  const OperandRef first = warp.operands[op.operands];
  const std::uint64_t most = warp.machine->options.stack_bytes;
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
    const LaneMask self = LaneMask{1} << l;
    if (action == StackAction::kRestore) {
      const std::uint64_t to = warp.at(first)->lane[l];
      if (!warp.local.release(l, to))
        warp.fault(FaultKind::kIllegalInstruction, self, to, "not saved before");
      return;
    }
    std::optional<Address> given = warp.local.top(l);
    if (action == StackAction::kAllocate)
      given = warp.local.allocate(l, warp.at(warp.operands[op.operands + 1])->lane[l], op.immediate, most);
    if (!given) warp.fault(FaultKind::kStackOverflow, self, 0, "the stack is used up");
    if (first.exists()) warp.at(first)->lane[l] = *given;
  });
}

}  // namespace lockstep::exec
