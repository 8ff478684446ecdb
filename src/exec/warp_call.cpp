#include "exec/warp_call.hpp"

#include <bit>

#include "exec/warp_runtime.hpp"

namespace lockstep::exec {

namespace {

/// The function that lanes call by its address.
std::uint32_t callee(const WarpState& warp, const CallSite& site, Address address, LaneMask lanes) {
  const Executable& kernel = warp.machine->kernel;
  const std::uint32_t function = kernel.function_at(address);
  if (function == ~0u)
    warp.fault(FaultKind::kIllegalInstruction, lanes, address, "call of an address that is no function");
  if (kernel.functions()[function].parameters.size() != site.arguments.size())
    warp.fault(FaultKind::kIllegalInstruction, lanes, address,
               "call with another number of arguments than the function has");
  return function;
}

/// All lanes of the split that runs call what their registers say, one function after the other.
void call_indirect(WarpState& warp, Divergence& paths, const CallSite& site, std::uint32_t meet) {
  const LaneValues target = *warp.at(site.target);
  for (LaneMask left = warp.now.mask; left != 0;) {
    const Address address = target.lane[std::countr_zero(left)];
    LaneMask same = 0;
    for_lanes(left, [&](int l) { same |= LaneMask{target.lane[l] == address} << l; });
    const std::uint32_t function = callee(warp, site, address, same);
    left &= ~same;
    if (left == 0) {
      push_frame(warp, site, function, same, warp.now);
      break;
    }
    paths.add_reconvergence_point(warp, meet);
    Split other = warp.now;
    other.mask = same;
    warp.now.mask &= ~same;
    push_frame(warp, site, function, same, other);
    paths.add(other);
  }
}

}  // namespace

bool execute_call(WarpState& warp, Divergence& paths, const Operation& op, LaneMask active) {
  const CallSite& site = warp.machine->kernel.calls()[op.detail];
  if (active == 0 || site.runtime != Runtime::kNone) {
    if (active != 0) call_runtime(warp, site, active), ++warp.machine->watch.changes;
    ++warp.now.pc;
    return true;
  }
  if (active != warp.now.mask) {  // those that do not call wait behind
    paths.add_reconvergence_point(warp, op.meet);
    paths.split_off(warp, warp.now.mask & ~active, warp.now.pc + 1);
  }
  if (site.function != ~0u)
    push_frame(warp, site, site.function, active, warp.now);
  else
    call_indirect(warp, paths, site, op.meet);
  paths.enter(warp);
  return true;
}

bool execute_return(WarpState& warp, Divergence& paths, LaneMask active) {
  if (active == 0) {
    ++warp.now.pc;
    return true;
  }
  if (active != warp.now.mask) {
    paths.wait_at_return(warp, active);
    ++warp.now.pc;
    return true;
  }
  if (paths.reconverges_at_return(warp.now)) return paths.arrive(warp);
  pop_frame(warp, warp.now);
  paths.enter(warp);
  return true;
}

}  // namespace lockstep::exec
