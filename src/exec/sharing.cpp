#include "exec/sharing.hpp"

#include "exec/address_space.hpp"

namespace lockstep::exec {

namespace {

Sharing of_atomic(const AtomicForm& what) {
  if (what.mbarrier != ~0u) return Sharing::kNone;  // red.async
  return what.compare ? Sharing::kCompares : Sharing::kUpdates;
}

/// If it accesses shared memory.
Sharing kind_of(const Executable& kernel, const Operation& op) {
  switch (op.handler) {
    case Handler::kLoad:
      return Sharing::kReads;
    case Handler::kStore:
      return op.second == ~0u ? Sharing::kWrites : Sharing::kNone;  // the other is st.async
    case Handler::kAtomic:
      return of_atomic(kernel.atomics()[op.second]);
    case Handler::kMatrixMove:
      return kernel.matrices()[op.second].store ? Sharing::kWrites : Sharing::kReads;
    default:  // kCopyAsync
      return Sharing::kWrites;
  }
}

/// Does the first of the lanes access it?
bool accesses_shared(const WarpState& warp, const MemoryForm& form, LaneMask active) {
  if (form.state_space != StateSpace::kGeneric) return form.state_space == StateSpace::kShared;
  const std::uint64_t base = form.base.exists() ? warp.uniform(form.base, active) : 0;
  return in_shared_window(base + static_cast<std::uint64_t>(form.offset));
}

}  // namespace

Sharing sharing_of(const WarpState& warp, const Operation& op, LaneMask active) {
  const Executable& kernel = warp.machine->kernel;
  const std::uint32_t place = op.handler == Handler::kCopyAsync ? kernel.copies()[op.detail].to : op.detail;
  if (active == 0 || !accesses_shared(warp, kernel.memory()[place], active)) return Sharing::kNone;
  return kind_of(kernel, op);
}

}  // namespace lockstep::exec
