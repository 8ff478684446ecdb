// The device's memory: one reserved range of host addresses in which a device address is the host address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "exec/address_space.hpp"

namespace lockstep::exec {

/// What an allocation is for. Each kind has a region of its own.
enum class MemoryKind : std::uint8_t {
  kDevice,   // cudaMalloc and module variables; counts against the capacity
  kManaged,  // cudaMallocManaged; may exceed the capacity
  kHost,     // page-locked host memory that the device can reach
};
inline constexpr unsigned kMemoryKinds = 3;

struct Allocation {
  Address begin = 0;
  std::uint64_t bytes = 0;  // as asked for
  MemoryKind kind = MemoryKind::kDevice;
};

/// Hears of what happens to the memory but for what kernels do.
class MemoryObserver {
 public:
  virtual ~MemoryObserver() = default;
  virtual void allocated(const Allocation& allocation) = 0;
  virtual void released(const Allocation& allocation) = 0;
  virtual void wrote(Address begin, std::uint64_t bytes) = 0;
  virtual void copied(Address to, Address from, std::uint64_t bytes) = 0;
};

/// Allocations are first fit, 256-byte aligned, so the same calls give the same addresses in every run.
/// Memory is mapped in pages of 2 MiB, as on hardware: an access is legal when its page holds any
/// allocation. Host pages are taken when they are first touched; a page's contents are zero when it becomes
/// mapped. Not thread-safe for changes; `accessible` may run beside other readers.
class DeviceMemory {
 public:
  static constexpr std::uint64_t kPageBytes = std::uint64_t{2} << 20;
  static constexpr unsigned kPageShift = 21;
  static constexpr std::uint64_t kAlignment = 256;

  /// `capacity` limits kDevice, in bytes (rounded down to pages, at most kRegionBytes). The arena has one
  /// place: a second one alive at the same time, or a host that refuses the range, throws UserError.
  explicit DeviceMemory(std::uint64_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Nothing where the memory is used up. `bytes` 0 is taken as 1. `alignment`: a power of two.
  [[nodiscard]] std::optional<Address> allocate(std::uint64_t bytes, MemoryKind kind = MemoryKind::kDevice,
                                                std::uint64_t alignment = kAlignment);
  /// False where `begin` is not the first address of an allocation.
  bool release(Address begin);
  /// The allocation that holds `address`.
  [[nodiscard]] std::optional<Allocation> find(Address address) const;

  // Pages that are apart from their addresses (cuMemAddressReserve, cuMemCreate, cuMemMap). Sizes and
  // addresses are whole pages.

  /// Addresses above those of all allocations, of which no page is mapped. Nothing where they are used up.
  [[nodiscard]] std::optional<Address> reserve(std::uint64_t bytes, std::uint64_t alignment);
  bool release_reserved(Address begin) { return reserved_.erase(begin) != 0; }
  void release_all_reserved() { reserved_.clear(); }
  /// The reserved range that holds `address`.
  [[nodiscard]] std::optional<Allocation> find_reserved(Address address) const;
  /// Memory without addresses, which counts against the capacity. False where that is used up.
  [[nodiscard]] bool claim(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { claimed_ -= bytes; }
  /// Claimed memory gets addresses within a reserved range; the device reaches it once open() says so.
  void map(Address begin, std::uint64_t bytes);
  void open(Address begin, std::uint64_t bytes, bool accessible);
  /// Of one map(). What the pages hold is lost.
  void unmap(Address begin);

  /// Lets the device reach host memory that lies outside the arena (cudaHostRegister). False where it
  /// overlaps another registered range or the arena.
  bool add_host_range(Address begin, std::uint64_t bytes);
  bool remove_host_range(Address begin);

  /// Is `address` in the range that belongs to the device's memory?
  [[nodiscard]] static bool in_arena(Address address) {
    return address - kArenaBase < kMemoryKinds * kRegionBytes;
  }

  /// From now on; nullptr: nobody. The observer must outlive the memory or end this before.
  void observe(MemoryObserver* observer) { observer_ = observer; }
  /// Whoever writes to memory, but for kernels, says so: the observer hears of it.
  void wrote(Address begin, std::uint64_t bytes) const {
    if (observer_) observer_->wrote(begin, bytes);
  }
  /// As wrote(), of what has been copied within the memory or from outside.
  void copied(Address to, Address from, std::uint64_t bytes) const {
    if (observer_) observer_->copied(to, from, bytes);
  }

  /// May the device read and write [address, address + bytes)?
  [[nodiscard]] bool accessible(Address address, std::uint64_t bytes) const {
    const std::uint64_t first = (address - kArenaBase) >> kPageShift;
    const std::uint64_t last = (address + bytes - 1 - kArenaBase) >> kPageShift;
    if (first < kPages && last < kPages && first == last) return used_[first] != 0;
    return accessible_range(address, bytes);
  }
  /// Accesses of one page: is page (address - kArenaBase) >> kPageShift mapped? Any page number may be asked.
  [[nodiscard]] bool page_mapped(std::uint64_t page) const { return page < kPages && used_[page] != 0; }

  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  /// Bytes of mapped pages of a kind, with those that are claimed.
  [[nodiscard]] std::uint64_t mapped_bytes(MemoryKind kind) const;
  /// Sorted by address.
  [[nodiscard]] std::vector<Allocation> allocations() const;
  [[nodiscard]] std::vector<Allocation> allocations(MemoryKind kind) const;

 private:
  static constexpr std::uint64_t kPages = kMemoryKinds * kRegionBytes / kPageBytes;

  [[nodiscard]] bool accessible_range(Address address, std::uint64_t bytes) const;
  [[nodiscard]] bool leaves_claimed(Address begin, std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t limit(MemoryKind kind) const;
  void hold_pages(Address begin, std::uint64_t bytes);
  void drop_pages(Address begin, std::uint64_t bytes);

  std::uint64_t capacity_;
  std::vector<std::uint16_t> used_;  // per page of the arena: allocations in it
  std::map<Address, Allocation> allocations_[kMemoryKinds];
  std::uint64_t mapped_pages_[kMemoryKinds] = {};
  std::map<Address, Address> host_ranges_;  // begin to end
  std::map<Address, Allocation> reserved_, mapped_;
  std::uint64_t claimed_ = 0;
  MemoryObserver* observer_ = nullptr;
};

}  // namespace lockstep::exec
