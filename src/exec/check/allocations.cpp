#include "exec/check/allocations.hpp"

#include <fmt/format.h>

#include <iterator>
#include <optional>

namespace lockstep::exec {

namespace {

const char* name(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kManaged:
      return "managed ";
    case MemoryKind::kHost:
      return "host ";
    default:
      return "";
  }
}

std::string text_of(const Allocation& a) {
  return fmt::format("{}allocation of {} bytes at {:#x}", name(a.kind), a.bytes, a.begin);
}

}  // namespace

void CheckedAllocations::allocated(const Allocation& allocation) {
  const Address end = allocation.begin + allocation.bytes;
  auto at = freed_.lower_bound(allocation.begin);
  if (at != freed_.begin() && std::prev(at)->first + std::prev(at)->second.bytes > allocation.begin) --at;
  while (at != freed_.end() && at->first < end) at = freed_.erase(at);
}

void CheckedAllocations::released(const Allocation& allocation) {
  bytes_ = 0;
  freed_[allocation.begin] = allocation;
}

bool CheckedAllocations::hold(Address address, std::uint64_t bytes) {
  if (address - begin_ < bytes_ && bytes <= bytes_ - (address - begin_)) return true;
  const auto found = memory_.find(address);
  if (!found) return !memory_.in_arena(address) && memory_.accessible(address, bytes);
  begin_ = found->begin;
  bytes_ = found->bytes;
  return bytes <= bytes_ - (address - begin_);
}

CheckedAllocations::Place CheckedAllocations::describe(Address address) const {
  if (const auto found = memory_.find(address))
    return {false, fmt::format("reaches beyond the end of the {}", text_of(*found))};
  if (const auto after = freed_.upper_bound(address); after != freed_.begin()) {
    const Allocation& freed = std::prev(after)->second;
    if (address - freed.begin < freed.bytes)
      return {true, fmt::format("{} bytes into a freed {}", address - freed.begin, text_of(freed))};
  }
  std::optional<Allocation> below, above;
  for (const Allocation& a : memory_.allocations()) {
    if (a.begin <= address && (!below || a.begin > below->begin)) below = a;
    if (a.begin > address && (!above || a.begin < above->begin)) above = a;
  }
  const std::uint64_t behind = below ? address - below->begin - below->bytes : 0;
  if (below && (!above || behind < above->begin - address))
    return {false, fmt::format("{} bytes behind the end of the nearest {}", behind, text_of(*below))};
  if (above)
    return {false, fmt::format("{} bytes before the nearest {}", above->begin - address, text_of(*above))};
  return {false, "there is no allocation"};
}

}  // namespace lockstep::exec
