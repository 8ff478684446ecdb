#include "exec/device_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "util/error.hpp"

namespace lockstep::exec {

namespace {

constexpr std::uint64_t aligned_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) & ~(to - 1);
}
unsigned region_of(MemoryKind kind, unsigned device) {
  return kind == MemoryKind::kDevice ? device_region(device) : static_cast<unsigned>(kind);
}
constexpr Address region_begin(unsigned region) { return kArenaBase + region * kRegionBytes; }
constexpr unsigned regions(unsigned devices) { return device_region(devices - 1) + (devices == 1 ? 3 : 1); }
constexpr std::uint64_t page_of(Address a) { return (a - kArenaBase) >> DeviceMemory::kPageShift; }
/// What an allocation takes up: whole units of the alignment, so that neighbours never share one.
constexpr std::uint64_t footprint(std::uint64_t bytes) { return aligned_up(bytes, DeviceMemory::kAlignment); }

template <class Ranges>
std::optional<Address> first_fit(const Ranges& taken, std::uint64_t bytes, std::uint64_t alignment,
                                 Address begin, Address end) {
  Address at = aligned_up(begin, alignment);
  for (const auto& [first, allocation] : taken) {
    if (first >= at && first - at >= bytes) return at;
    at = std::max(at, aligned_up(first + footprint(allocation.bytes), alignment));
  }
  if (at > end || end - at < bytes) return std::nullopt;
  return at;
}

/// The one that holds `address`.
template <class Ranges>
std::optional<Allocation> find_in(const Ranges& ranges, Address address) {
  const auto after = ranges.upper_bound(address);
  if (after == ranges.begin()) return std::nullopt;
  const Allocation& candidate = std::prev(after)->second;
  if (address - candidate.begin < candidate.bytes) return candidate;
  return std::nullopt;
}

}  // namespace

DeviceMemory::DeviceMemory(std::uint64_t capacity, unsigned devices)
    : capacity_(std::min(capacity, kRegionBytes) & ~(kPageBytes - 1)),
      pages_(regions(devices) * (kRegionBytes / kPageBytes)),
      used_(make_pages()),
      peers_(devices),
      allocations_(regions(devices)),
      mapped_pages_(regions(devices)),
      claimed_(devices) {
  for (unsigned d = 0; d < devices; ++d) reach_.push_back(make_pages());
  void* const wanted = reinterpret_cast<void*>(kArenaBase);
  void* const got = mmap(wanted, arena_bytes(), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == wanted) return;
  const int reason = got == MAP_FAILED ? errno : EEXIST;  // kernels before 4.17 take the address as a hint
  if (got != MAP_FAILED) munmap(got, arena_bytes());
  throw UserError(fmt::format("cannot reserve {} GiB of addresses at {:#x} for the device's memory: {}",
                              arena_bytes() >> 30, kArenaBase, std::strerror(reason)));
}

DeviceMemory::~DeviceMemory() { munmap(reinterpret_cast<void*>(kArenaBase), arena_bytes()); }

DeviceMemory::Pages DeviceMemory::make_pages() const {
  Pages pages(static_cast<std::uint16_t*>(std::calloc(pages_, sizeof(std::uint16_t))));
  if (!pages) throw std::bad_alloc();
  return pages;
}

std::uint64_t DeviceMemory::limit(MemoryKind kind) const {
  return kind == MemoryKind::kDevice ? capacity_ : kRegionBytes;
}

std::optional<Address> DeviceMemory::allocate(std::uint64_t bytes, MemoryKind kind, std::uint64_t alignment,
                                              unsigned device) {
  bytes = std::max<std::uint64_t>(bytes, 1);
  if (bytes > limit(kind)) return std::nullopt;
  const unsigned region = region_of(kind, device);
  const Address begin = region_begin(region);
  const auto at = first_fit(allocations_[region], footprint(bytes), std::max(alignment, kAlignment), begin,
                            begin + limit(kind));
  if (!at || (kind == MemoryKind::kDevice && claimed_[device] > 0 && !leaves_claimed(*at, bytes, device)))
    return std::nullopt;
  const Held& held = allocations_[region][*at] = {{*at, bytes, kind, device}, kByPeers};
  hold_pages(held);
  if (observer_) observer_->allocated(held);
  return at;
}

bool DeviceMemory::release(Address begin) {
  for (auto& of_region : allocations_) {
    const auto found = of_region.find(begin);
    if (found == of_region.end()) continue;
    const Held gone = found->second;
    drop_pages(gone);
    of_region.erase(found);
    if (observer_) observer_->released(gone);
    return true;
  }
  return false;
}

std::optional<Allocation> DeviceMemory::find(Address address) const {
  for (const auto& of_region : allocations_)
    if (const auto found = find_in(of_region, address)) return found;
  return find_in(mapped_, address);
}

std::optional<unsigned> DeviceMemory::owner(Address address) const {
  if (!in_arena(address) || kind_of(address) != MemoryKind::kDevice) return std::nullopt;
  if (const auto mapped = find_in(mapped_, address)) return mapped->device;
  const auto region = static_cast<unsigned>((address - kArenaBase) / kRegionBytes);
  return region == 0 ? 0 : region - device_region(1) + 1;
}

/// Whether an allocation there would leave the claimed memory its share of the capacity.
bool DeviceMemory::leaves_claimed(Address begin, std::uint64_t bytes, unsigned device) const {
  std::uint64_t pages = mapped_pages_[device_region(device)];
  for (std::uint64_t page = page_of(begin); page <= page_of(begin + bytes - 1); ++page)
    pages += used_[page] == 0;
  return pages * kPageBytes + claimed_[device] <= capacity_;
}

std::optional<Address> DeviceMemory::reserve(std::uint64_t bytes, std::uint64_t alignment) {
  const Address begin = region_begin(0);  // whose memory will be mapped there is not known yet
  const auto at =
      first_fit(reserved_, bytes, std::max(alignment, kPageBytes), begin + capacity_, begin + kRegionBytes);
  if (at) reserved_.emplace(*at, Allocation{*at, bytes, MemoryKind::kDevice});
  return at;
}

std::optional<Allocation> DeviceMemory::find_reserved(Address address) const {
  return find_in(reserved_, address);
}

bool DeviceMemory::claim(std::uint64_t bytes, unsigned device) {
  if (bytes > capacity_ - std::min(capacity_, mapped_bytes(MemoryKind::kDevice, device))) return false;
  claimed_[device] += bytes;
  return true;
}

void DeviceMemory::map(Address begin, std::uint64_t bytes, unsigned owner) {
  const Allocation mapped{begin, bytes, MemoryKind::kDevice, owner};
  mapped_.emplace(begin, mapped);
  if (observer_) observer_->allocated(mapped);
}

void DeviceMemory::open(Address begin, std::uint64_t bytes, bool accessible, unsigned device) {
  std::uint16_t* const reach = reach_[device].get();
  for (std::uint64_t page = page_of(begin); page <= page_of(begin + bytes - 1); ++page) {
    if ((reach[page] != 0) == accessible) continue;
    reach[page] = accessible;
    accessible ? ++used_[page] : --used_[page];
  }
}

void DeviceMemory::unmap(Address begin) {
  const auto found = mapped_.find(begin);
  if (found == mapped_.end()) return;
  const std::uint64_t bytes = found->second.bytes;
  for (unsigned device = 0; device < devices(); ++device) open(begin, bytes, false, device);
  clear_pages(begin, bytes);
  const Allocation gone = found->second;
  mapped_.erase(found);
  if (observer_) observer_->released(gone);
}

void DeviceMemory::back(Address begin, std::uint64_t bytes, int file, std::uint64_t offset) {
  void* const at = reinterpret_cast<void*>(begin);
  if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file,
           static_cast<off_t>(offset)) != at)
    throw UserError(fmt::format("cannot share {} MiB of memory with other processes: {}", bytes >> 20,
                                std::strerror(errno)));
  for (Address page = begin; page < begin + bytes; page += kPageBytes) backed_.insert(page >> kPageShift);
}

/// Whole pages that are mapped no more: zeros, and this process's alone.
void DeviceMemory::clear_pages(Address begin, std::uint64_t bytes) {
  madvise(reinterpret_cast<void*>(begin), bytes, MADV_DONTNEED);
  for (Address page = begin; !backed_.empty() && page < begin + bytes; page += kPageBytes) {
    if (backed_.erase(page >> kPageShift) == 0) continue;
    void* const at = reinterpret_cast<void*>(page);
    if (mmap(at, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1, 0) != at)
      throw UserError(fmt::format("cannot take back shared memory: {}", std::strerror(errno)));
  }
}

/// Devices that reach it.
DeviceSet DeviceMemory::reaching(const Held& held) const {
  if (held.kind != MemoryKind::kDevice) return ~DeviceSet{0};
  if (held.reached_by != kByPeers) return held.reached_by;
  DeviceSet all = device_bit(held.device);
  for (unsigned device = 0; device < devices(); ++device)
    if (is_peer(device, held.device)) all |= device_bit(device);
  return all;
}

void DeviceMemory::count(DeviceSet of, const Held& held, int change) {
  for (unsigned device = 0; device < devices(); ++device) {
    if ((of >> device & 1) == 0) continue;
    std::uint16_t* const reach = reach_[device].get();
    for (std::uint64_t page = page_of(held.begin), last = page_of(held.begin + held.bytes - 1); page <= last;
         ++page)
      reach[page] = static_cast<std::uint16_t>(reach[page] + change);
  }
}

void DeviceMemory::hold_pages(const Held& held) {
  const std::uint64_t region = (held.begin - kArenaBase) / kRegionBytes;
  for (std::uint64_t page = page_of(held.begin), last = page_of(held.begin + held.bytes - 1); page <= last;
       ++page)
    if (used_[page]++ == 0) ++mapped_pages_[region];
  count(reaching(held), held, 1);
}

void DeviceMemory::drop_pages(const Held& held) {
  const std::uint64_t region = (held.begin - kArenaBase) / kRegionBytes;
  count(reaching(held), held, -1);
  for (std::uint64_t page = page_of(held.begin), last = page_of(held.begin + held.bytes - 1); page <= last;
       ++page) {
    if (--used_[page] != 0) continue;
    --mapped_pages_[region];
    clear_pages(kArenaBase + page * kPageBytes, kPageBytes);
  }
}

void DeviceMemory::set_peer(unsigned device, unsigned peer, bool reaches) {
  if (device == peer || is_peer(device, peer) == reaches) return;
  peers_[device] ^= device_bit(peer);
  for (const auto& [begin, held] : allocations_[device_region(peer)])
    if (held.reached_by == kByPeers) count(device_bit(device), held, reaches ? 1 : -1);
}

void DeviceMemory::reach_only(Address begin, DeviceSet devices) {
  for (auto& of_region : allocations_) {
    const auto found = of_region.find(begin);
    if (found == of_region.end() || found->second.kind != MemoryKind::kDevice) continue;
    Held& held = found->second;
    count(reaching(held), held, -1);
    held.reached_by = devices;
    count(reaching(held), held, 1);
  }
}

bool DeviceMemory::add_host_range(Address begin, std::uint64_t bytes) {
  const Address end = begin + bytes;
  if (bytes == 0 || end < begin) return false;
  if (begin < kArenaBase + arena_bytes() && end > kArenaBase) return false;
  const auto after = host_ranges_.lower_bound(end);
  if (after != host_ranges_.begin() && std::prev(after)->second > begin) return false;
  host_ranges_.emplace(begin, end);
  return true;
}

bool DeviceMemory::remove_host_range(Address begin) { return host_ranges_.erase(begin) != 0; }

bool DeviceMemory::accessible_range(const std::uint16_t* pages, Address address, std::uint64_t bytes) const {
  if (bytes == 0) return true;
  const Address last = address + bytes - 1;
  if (last < address) return false;
  if (address >= kArenaBase && last < kArenaBase + arena_bytes()) {
    for (std::uint64_t page = page_of(address); page <= page_of(last); ++page)
      if (pages[page] == 0) return false;
    return true;
  }
  const auto after = host_ranges_.upper_bound(address);
  return after != host_ranges_.begin() && std::prev(after)->second > last;
}

std::uint64_t DeviceMemory::mapped_bytes(MemoryKind kind, unsigned device) const {
  return mapped_pages_[region_of(kind, device)] * kPageBytes +
         (kind == MemoryKind::kDevice ? claimed_[device] : 0);
}

std::vector<Allocation> DeviceMemory::allocations(MemoryKind kind) const {
  std::vector<Allocation> all = allocations();
  std::erase_if(all, [kind](const Allocation& a) { return a.kind != kind; });
  return all;
}

std::vector<Allocation> DeviceMemory::allocations() const {
  std::vector<Allocation> all;
  for (const auto& of_region : allocations_)
    for (const auto& [begin, allocation] : of_region) all.push_back(allocation);
  return all;
}

}  // namespace lockstep::exec
