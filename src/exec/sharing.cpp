#include "exec/sharing.hpp"

#include <algorithm>
#include <iterator>

namespace lockstep::exec {

namespace {

Sharing of_atomic(const AtomicForm& what) {
  if (what.mbarrier != ~0u) return Sharing::kNone;  // red.async
  return what.compare ? Sharing::kCompares : Sharing::kUpdates;
}

Sharing find(const Executable& kernel, const Operation& op) {
  const Sharing sharing = sharing_of(kernel, op);
  if (sharing == Sharing::kNone) return sharing;
  const bool copies = op.handler == Handler::kCopyAsync;
  switch (kernel.memory()[copies ? kernel.copies()[op.detail].to : op.detail].state_space) {
    case StateSpace::kShared:
      return sharing;
    case StateSpace::kGeneric:
      return copies ? sharing : Sharing::kGeneric;
    default:
      return Sharing::kNone;
  }
}

}  // namespace

Sharing sharing_of(const Executable& kernel, const Operation& op) {
  switch (op.handler) {
    case Handler::kLoad:
      return Sharing::kReads;
    case Handler::kStore:
      return op.second == ~0u ? Sharing::kWrites : Sharing::kNone;  // the other is st.async
    case Handler::kAtomic:
      return of_atomic(kernel.atomics()[op.second]);
    case Handler::kMatrixMove:
      return kernel.matrices()[op.second].store ? Sharing::kWrites : Sharing::kReads;
    case Handler::kCopyAsync:
      return Sharing::kWrites;
    default:
      return Sharing::kNone;
  }
}

std::vector<Sharing> find_sharing(const Executable& kernel) {
  std::vector<Sharing> all;
  std::ranges::transform(kernel.operations(), std::back_inserter(all),
                         [&](const Operation& op) { return find(kernel, op); });
  return all;
}

}  // namespace lockstep::exec
