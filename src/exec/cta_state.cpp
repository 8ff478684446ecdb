#include "exec/cta_state.hpp"

namespace lockstep::exec {

MbarrierEvents::Mbarrier* CtaState::mbarrier_events(const std::byte* where) {
  return owns(where) ? &mbarriers.at(static_cast<std::uint64_t>(where - shared.data())) : nullptr;
}

void CtaState::phase_completed(const std::byte* where) {
  CtaState* owner = owns(where) ? this : nullptr;
  for (std::size_t rank = 0; !owner && rank < cluster.size(); ++rank)
    if (cluster[rank]->owns(where)) owner = cluster[rank];
  if (!owner) return;
  ++owner->phases;
  if (!owner->recorded) return;
  MbarrierEvents::Mbarrier& found = *owner->mbarrier_events(where);
  found.completed = found.events;
}

}  // namespace lockstep::exec
