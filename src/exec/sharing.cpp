// What each operation does with shared memory. Copies by whole blocks, products of warpgroups, st.async and
// red.async count for nothing: who needs what they do waits for it at an mbarrier.
#include <algorithm>
#include <iterator>

#include "exec/passes.hpp"

namespace lockstep::exec {

namespace {

Sharing of_atomic(const AtomicForm& what) {
  if (what.mbarrier != ~0u) return Sharing::kNone;  // red.async
  return what.compare ? Sharing::kCompares : Sharing::kUpdates;
}

/// If it accesses shared memory.
Sharing sharing_of(const Operation& op, const Translation& code) {
  switch (op.handler) {
    case Handler::kLoad:
      return Sharing::kReads;
    case Handler::kStore:
      return op.second == ~0u ? Sharing::kWrites : Sharing::kNone;  // the other is st.async
    case Handler::kAtomic:
      return of_atomic(code.atomics[op.second]);
    case Handler::kMatrixMove:
      return code.matrices[op.second].store ? Sharing::kWrites : Sharing::kReads;
    case Handler::kCopyAsync:
      return code.copies[op.detail].prefetch ? Sharing::kNone : Sharing::kWrites;
    default:
      return Sharing::kNone;
  }
}

SharedAccess access_of(const Operation& op, const Translation& code) {
  const Sharing sharing = sharing_of(op, code);
  if (sharing == Sharing::kNone || op.handler == Handler::kCopyAsync) return {sharing, false};
  const StateSpace space = code.memory[op.detail].state_space;
  if (space != StateSpace::kShared && space != StateSpace::kGeneric) return {};
  return {sharing, space == StateSpace::kGeneric};
}

}  // namespace

void find_shared_accesses(Translation& out) {
  std::ranges::transform(out.operations, std::back_inserter(out.shared_accesses),
                         [&](const Operation& op) { return access_of(op, out); });
}

}  // namespace lockstep::exec
