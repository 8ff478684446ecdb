#include "exec/warp_state.hpp"

namespace lockstep::exec {

void WarpState::note(LaneMask active, const Addresses& addresses) {
  if (active == 0) return note(active);
  const auto form = trace::pack_addresses(active, addresses.lane, record->words);
  record->records.push_back(trace::Record::make(now.pc, form, active));
}

/// As trace::pack_addresses() would, where the span says it all.
void WarpState::note(LaneMask active, const Addresses& addresses, const AddressSpan& span,
                     std::uint32_t bytes) {
  const bool equal = span.differ == 0 && (active & (active - 1)) != 0;
  if (!span.neighbours && !equal) return note(active, addresses);
  note_line(active, addresses.lane[std::countr_zero(active)], equal ? 0 : bytes);
}

void WarpState::fault(FaultKind kind, LaneMask of, Address address, const std::string& detail) const {
  const auto l = static_cast<std::uint32_t>(std::countr_zero(of != 0 ? of : now.mask));
  machine->fault(kind, cta->index, index * kWarpSize + l, now.pc, address, detail);
}

}  // namespace lockstep::exec
