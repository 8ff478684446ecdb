#include "exec/cta_state.hpp"

namespace lockstep::exec {

CtaState::Place CtaState::mbarrier_at(const std::byte* where) {
  Place place;
  CtaState* owner = in_cluster() ? nullptr : this;
  for (std::uint32_t rank = 0; !owner && rank < cluster.size(); ++rank) {
    if (!cluster[rank]->owns(where)) continue;
    owner = cluster[rank];
    place.rank = rank;
  }
  if (!owner || !owner->owns(where)) return place;
  const auto offset = static_cast<std::uint64_t>(where - owner->shared.data());
  place.own = owner == this;
  place.events = &owner->mbarriers.at(offset);
  if (place.events->number == 0)
    place.events->number = (in_cluster() ? cluster[0]->numbers : numbers).of(offset);
  return place;
}

void CtaState::phase_completed(const std::byte* where) {
  CtaState* owner = owns(where) ? this : nullptr;
  for (std::size_t rank = 0; !owner && rank < cluster.size(); ++rank)
    if (cluster[rank]->owns(where)) owner = cluster[rank];
  if (!owner) return;
  ++owner->phases;
  if (!owner->recorded) return;
  MbarrierEvents::Mbarrier& found = *owner->mbarrier_at(where).events;
  found.completed = found.events;
}

}  // namespace lockstep::exec
