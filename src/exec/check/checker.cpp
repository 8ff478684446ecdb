#include "exec/check/checker.hpp"

#include <fmt/format.h>

namespace lockstep::exec {

Checker::Checker(const Checks& checks, DeviceMemory& memory)
    : checks_(checks), memory_(memory), allocations_(memory) {
  memory.observe(this);
}

Checker::~Checker() { memory_.observe(nullptr); }

bool Checker::is_tracked(Address address) {
  return address - kArenaBase < (device_region(kMaxDevices - 1) + 1) * kRegionBytes &&
         DeviceMemory::kind_of(address) == MemoryKind::kDevice;
}

void Checker::allocated(const Allocation& allocation) {
  allocations_.allocated(allocation);
  if (is_tracked(allocation.begin)) written_.set(allocation.begin, allocation.bytes, false);
}

void Checker::released(const Allocation& allocation) {
  allocations_.released(allocation);
  cells_.forget(allocation.begin, allocation.bytes);
}

void Checker::wrote(Address begin, std::uint64_t bytes) {
  if (checks_.init && is_tracked(begin)) written_.set(begin, bytes, true);
}

void Checker::copied(Address to, Address from, std::uint64_t bytes) {
  if (!checks_.init || !is_tracked(to)) return;
  if (is_tracked(from))
    written_.move(to, from, bytes);
  else
    written_.set(to, bytes, true);
}

void Checker::find_leaks(const std::function<bool(const Allocation&)>& own) {
  if (!checks_.leak) return;
  constexpr const char* kSpaces[] = {"device", "managed", "host"};
  for (const Allocation& a : memory_.allocations()) {
    if (own(a)) continue;
    Finding leak;
    leak.kind = FindingKind::kLeak;
    leak.space = kSpaces[static_cast<unsigned>(a.kind)];
    leak.bytes = a.bytes;
    leak.address = a.begin;
    (void)findings_.add(std::move(leak));
  }
}

}  // namespace lockstep::exec
