#include "exec/device_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "util/error.hpp"

namespace lockstep::exec {

namespace {

constexpr std::uint64_t kArenaBytes = kMemoryKinds * kRegionBytes;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) & ~(to - 1);
}
constexpr Address region_begin(MemoryKind kind) {
  return kArenaBase + static_cast<unsigned>(kind) * kRegionBytes;
}
constexpr unsigned index_of(MemoryKind kind) { return static_cast<unsigned>(kind); }
constexpr std::uint64_t page_of(Address a) { return (a - kArenaBase) >> DeviceMemory::kPageShift; }
/// What an allocation takes up: whole units of the alignment, so that neighbours never share one.
constexpr std::uint64_t footprint(std::uint64_t bytes) { return round_up(bytes, DeviceMemory::kAlignment); }

using Ranges = std::map<Address, Allocation>;

std::optional<Address> first_fit(const Ranges& taken, std::uint64_t bytes, std::uint64_t alignment,
                                 Address begin, Address end) {
  Address at = round_up(begin, alignment);
  for (const auto& [first, allocation] : taken) {
    if (first >= at && first - at >= bytes) return at;
    at = std::max(at, round_up(first + footprint(allocation.bytes), alignment));
  }
  if (at > end || end - at < bytes) return std::nullopt;
  return at;
}

/// The one that holds `address`.
std::optional<Allocation> find_in(const Ranges& ranges, Address address) {
  const auto after = ranges.upper_bound(address);
  if (after == ranges.begin()) return std::nullopt;
  const Allocation& candidate = std::prev(after)->second;
  if (address - candidate.begin < candidate.bytes) return candidate;
  return std::nullopt;
}

}  // namespace

DeviceMemory::DeviceMemory(std::uint64_t capacity)
    : capacity_(std::min(capacity, kRegionBytes) & ~(kPageBytes - 1)), used_(kPages) {
  void* const wanted = reinterpret_cast<void*>(kArenaBase);
  void* const got = mmap(wanted, kArenaBytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == wanted) return;
  const int reason = got == MAP_FAILED ? errno : EEXIST;  // kernels before 4.17 take the address as a hint
  if (got != MAP_FAILED) munmap(got, kArenaBytes);
  throw UserError(fmt::format("cannot reserve {} GiB of addresses at {:#x} for the device's memory: {}",
                              kArenaBytes >> 30, kArenaBase, std::strerror(reason)));
}

DeviceMemory::~DeviceMemory() { munmap(reinterpret_cast<void*>(kArenaBase), kArenaBytes); }

std::uint64_t DeviceMemory::limit(MemoryKind kind) const {
  return kind == MemoryKind::kDevice ? capacity_ : kRegionBytes;
}

std::optional<Address> DeviceMemory::allocate(std::uint64_t bytes, MemoryKind kind, std::uint64_t alignment) {
  bytes = std::max<std::uint64_t>(bytes, 1);
  if (bytes > limit(kind)) return std::nullopt;
  const Address begin = region_begin(kind);
  const auto at = first_fit(allocations_[index_of(kind)], footprint(bytes), std::max(alignment, kAlignment),
                            begin, begin + limit(kind));
  if (!at || (kind == MemoryKind::kDevice && claimed_ > 0 && !leaves_claimed(*at, bytes)))
    return std::nullopt;
  allocations_[index_of(kind)].emplace(*at, Allocation{*at, bytes, kind});
  hold_pages(*at, bytes);
  if (observer_) observer_->allocated({*at, bytes, kind});
  return at;
}

bool DeviceMemory::release(Address begin) {
  for (auto& of_kind : allocations_) {
    const auto found = of_kind.find(begin);
    if (found == of_kind.end()) continue;
    const Allocation gone = found->second;
    drop_pages(begin, gone.bytes);
    of_kind.erase(found);
    if (observer_) observer_->released(gone);
    return true;
  }
  return false;
}

std::optional<Allocation> DeviceMemory::find(Address address) const {
  for (const auto& of_kind : allocations_)
    if (const auto found = find_in(of_kind, address)) return found;
  return find_in(mapped_, address);
}

/// Whether an allocation there would leave the claimed memory its share of the capacity.
bool DeviceMemory::leaves_claimed(Address begin, std::uint64_t bytes) const {
  std::uint64_t pages = mapped_pages_[index_of(MemoryKind::kDevice)];
  for (std::uint64_t page = page_of(begin); page <= page_of(begin + bytes - 1); ++page)
    pages += used_[page] == 0;
  return pages * kPageBytes + claimed_ <= capacity_;
}

std::optional<Address> DeviceMemory::reserve(std::uint64_t bytes, std::uint64_t alignment) {
  const Address begin = region_begin(MemoryKind::kDevice);
  const auto at =
      first_fit(reserved_, bytes, std::max(alignment, kPageBytes), begin + capacity_, begin + kRegionBytes);
  if (at) reserved_.emplace(*at, Allocation{*at, bytes, MemoryKind::kDevice});
  return at;
}

std::optional<Allocation> DeviceMemory::find_reserved(Address address) const {
  return find_in(reserved_, address);
}

bool DeviceMemory::claim(std::uint64_t bytes) {
  if (bytes > capacity_ - std::min(capacity_, mapped_bytes(MemoryKind::kDevice))) return false;
  claimed_ += bytes;
  return true;
}

void DeviceMemory::map(Address begin, std::uint64_t bytes) {
  mapped_.emplace(begin, Allocation{begin, bytes, MemoryKind::kDevice});
  if (observer_) observer_->allocated({begin, bytes, MemoryKind::kDevice});
}

void DeviceMemory::open(Address begin, std::uint64_t bytes, bool accessible) {
  for (std::uint64_t page = page_of(begin); page <= page_of(begin + bytes - 1); ++page)
    used_[page] = accessible;
}

void DeviceMemory::unmap(Address begin) {
  const auto found = mapped_.find(begin);
  if (found == mapped_.end()) return;
  const std::uint64_t bytes = found->second.bytes;
  open(begin, bytes, false);
  madvise(reinterpret_cast<void*>(begin), bytes, MADV_DONTNEED);
  const Allocation gone = found->second;
  mapped_.erase(found);
  if (observer_) observer_->released(gone);
}

void DeviceMemory::hold_pages(Address begin, std::uint64_t bytes) {
  const std::uint64_t region = (begin - kArenaBase) / kRegionBytes;
  for (std::uint64_t page = page_of(begin), last = page_of(begin + bytes - 1); page <= last; ++page)
    if (used_[page]++ == 0) ++mapped_pages_[region];
}

void DeviceMemory::drop_pages(Address begin, std::uint64_t bytes) {
  const std::uint64_t region = (begin - kArenaBase) / kRegionBytes;
  for (std::uint64_t page = page_of(begin), last = page_of(begin + bytes - 1); page <= last; ++page) {
    if (--used_[page] != 0) continue;
    --mapped_pages_[region];
    madvise(reinterpret_cast<void*>(kArenaBase + page * kPageBytes), kPageBytes, MADV_DONTNEED);
  }
}

bool DeviceMemory::add_host_range(Address begin, std::uint64_t bytes) {
  const Address end = begin + bytes;
  if (bytes == 0 || end < begin) return false;
  if (begin < kArenaBase + kArenaBytes && end > kArenaBase) return false;
  const auto after = host_ranges_.lower_bound(end);
  if (after != host_ranges_.begin() && std::prev(after)->second > begin) return false;
  host_ranges_.emplace(begin, end);
  return true;
}

bool DeviceMemory::remove_host_range(Address begin) { return host_ranges_.erase(begin) != 0; }

bool DeviceMemory::accessible_range(Address address, std::uint64_t bytes) const {
  if (bytes == 0) return true;
  const Address last = address + bytes - 1;
  if (last < address) return false;
  if (address >= kArenaBase && last < kArenaBase + kArenaBytes) {
    for (std::uint64_t page = page_of(address); page <= page_of(last); ++page)
      if (used_[page] == 0) return false;
    return true;
  }
  const auto after = host_ranges_.upper_bound(address);
  return after != host_ranges_.begin() && std::prev(after)->second > last;
}

std::uint64_t DeviceMemory::mapped_bytes(MemoryKind kind) const {
  return mapped_pages_[index_of(kind)] * kPageBytes + (kind == MemoryKind::kDevice ? claimed_ : 0);
}

std::vector<Allocation> DeviceMemory::allocations(MemoryKind kind) const {
  std::vector<Allocation> all;
  for (const auto& [begin, allocation] : allocations_[index_of(kind)]) all.push_back(allocation);
  return all;
}

std::vector<Allocation> DeviceMemory::allocations() const {
  std::vector<Allocation> all;
  for (const auto& of_kind : allocations_)
    for (const auto& [begin, allocation] : of_kind) all.push_back(allocation);
  return all;
}

}  // namespace lockstep::exec
