#include "mem/apertures.hpp"

#include <algorithm>
#include <limits>

namespace lockstep::mem {

namespace {
constexpr Address kEnd = std::numeric_limits<Address>::max();
}

Address Apertures::last_of(Address begin, std::uint64_t bytes) {
  return begin + std::min(bytes - 1, kEnd - begin);
}

void Apertures::place(Address begin, std::uint64_t bytes, std::uint16_t device) {
  if (bytes == 0) return;
  ++changes_;
  const Address last = last_of(begin, bytes);
  cut_out(begin, last);
  ranges_.erase(ranges_.lower_bound(begin), ranges_.upper_bound(last));
  ranges_[begin] = {last, device, {}};
  silence(begin, last);
}

void Apertures::ring(Address begin, std::uint64_t bytes, std::uint16_t nic) {
  if (bytes == 0) return;
  ++changes_;
  silence(begin, last_of(begin, bytes));
  doorbells_[begin] = {last_of(begin, bytes), nic};
  first_queue_ = std::min(first_queue_, begin);
  last_queue_ = std::max(last_queue_, last_of(begin, bytes));
}

/// A queue whose memory is used for something else is no longer one.
void Apertures::silence(Address begin, Address last) {
  std::erase_if(doorbells_, [&](const auto& d) { return d.first <= last && d.second.last >= begin; });
}

void Apertures::multicast(Address begin, std::uint64_t bytes, std::uint16_t device, Address memory) {
  if (bytes == 0) return;
  const Address last = last_of(begin, bytes);
  ++changes_;
  const std::pair<std::uint16_t, Address> part(device, memory - begin);
  cut_out(begin, last);
  for (Address at = begin;;) {
    auto next = ranges_.lower_bound(at);
    if (next == ranges_.end() || next->first > at) {
      const Address gap = next == ranges_.end() ? last : std::min(last, next->first - 1);
      next = ranges_.emplace_hint(next, at, Range{gap, kMulticast, {}});
    }
    Range& range = next->second;
    range.device = kMulticast;
    std::erase_if(range.parts, [device](const auto& other) { return other.first == device; });
    range.parts.push_back(part);
    if (range.last >= last) return;
    at = range.last + 1;
  }
}

std::uint64_t Apertures::team(Address address) const {
  std::uint64_t devices = 0;
  if (const Range* const range = find(address))
    for (const auto& [device, distance] : range->parts) devices |= std::uint64_t{1} << device;
  return devices;
}

Address Apertures::place_of(Address address, std::uint16_t device) const {
  const Range* const range = find(address);
  if (range != nullptr)
    for (const auto& [member, distance] : range->parts)
      if (member == device) return address + distance;
  return address;
}

/// No range reaches over either end of [begin, last].
void Apertures::cut_out(Address begin, Address last) {
  cut(begin);
  if (last != kEnd) cut(last + 1);
}

/// A range that reaches over `at` becomes two.
void Apertures::cut(Address at) {
  const auto next = ranges_.lower_bound(at);
  if (next == ranges_.begin()) return;
  Range& range = std::prev(next)->second;
  if (range.last < at) return;
  ranges_.emplace_hint(next, at, range);
  range.last = at - 1;
}

}  // namespace lockstep::mem
