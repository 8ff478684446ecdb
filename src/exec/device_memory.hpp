// The devices' memories: one reserved range of host addresses in which a device address is the host address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "exec/address_space.hpp"
#include "exec/multicast.hpp"

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
  unsigned device = 0;  // whose memory it is; of the other kinds: for whom it was allocated
};

/// Observes changes of the memory other than those made by kernels.
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
///
/// All devices have one address space. A device reaches its own memory, managed and host memory; that of
/// another device where it has peer access to it, or where the allocation was opened to it (reach_only(),
/// open()). As pages are what is mapped, it then also reaches what else lies in the allocation's pages.
class DeviceMemory {
 public:
  static constexpr std::uint64_t kPageBytes = std::uint64_t{2} << 20;
  static constexpr unsigned kPageShift = 21;
  static constexpr std::uint64_t kAlignment = 256;

  /// `capacity` limits kDevice of each of `devices` (1 to kMaxDevices), in bytes (rounded down to pages, at
  /// most kRegionBytes). The arena has one place: a second one alive at the same time, or a host that refuses
  /// the range, throws UserError.
  explicit DeviceMemory(std::uint64_t capacity, unsigned devices = 1);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Nothing where the memory is used up. `bytes` 0 is taken as 1. `alignment`: a power of two.
  [[nodiscard]] std::optional<Address> allocate(std::uint64_t bytes, MemoryKind kind = MemoryKind::kDevice,
                                                std::uint64_t alignment = kAlignment, unsigned device = 0);
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
  /// A device's memory without addresses, which counts against its capacity. False where that is used up.
  [[nodiscard]] bool claim(std::uint64_t bytes, unsigned device = 0);
  void give_back(std::uint64_t bytes, unsigned device = 0) { claimed_[device] -= bytes; }
  /// Claimed memory gets addresses within a reserved range; a device reaches it once open() says so.
  void map(Address begin, std::uint64_t bytes, unsigned owner = 0);
  void open(Address begin, std::uint64_t bytes, bool accessible, unsigned device = 0);
  /// Undoes one map(). The content of the pages is lost.
  void unmap(Address begin);

  /// The bytes of whole mapped pages are those of a file, from `offset` on, until they are mapped no more:
  /// other processes have them too. Throws UserError where the host refuses.
  void back(Address begin, std::uint64_t bytes, int file, std::uint64_t offset);
  [[nodiscard]] bool is_backed(Address address) const { return backed_.contains(address >> kPageShift); }

  /// Lets the device reach host memory that lies outside the arena (cudaHostRegister). False where it
  /// overlaps another registered range or the arena.
  bool add_host_range(Address begin, std::uint64_t bytes);
  bool remove_host_range(Address begin);

  [[nodiscard]] unsigned devices() const { return static_cast<unsigned>(reach_.size()); }
  /// Is `address` in the range that belongs to the devices' memories?
  [[nodiscard]] bool in_arena(Address address) const { return address - kArenaBase < arena_bytes(); }
  /// From kArenaBase on.
  [[nodiscard]] std::uint64_t arena_bytes() const { return pages_ << kPageShift; }
  /// The kind of an address in the arena, by its region.
  [[nodiscard]] static MemoryKind kind_of(Address address) {
    const std::uint64_t region = (address - kArenaBase) / kRegionBytes;
    return region < kMemoryKinds ? static_cast<MemoryKind>(region) : MemoryKind::kDevice;
  }
  /// Whose memory lies at an address of the arena; nothing for managed and host memory.
  [[nodiscard]] std::optional<unsigned> owner(Address address) const;

  // Which device reaches another one's memory. By default each reaches its own.

  /// `device` reaches all memory of `peer`, now and later, but what reach_only() is for. A device is no peer
  /// of its own.
  void set_peer(unsigned device, unsigned peer, bool reaches);
  [[nodiscard]] bool is_peer(unsigned device, unsigned peer) const {
    return (peers_[device] >> peer & 1) != 0;
  }
  /// From now on the devices of the mask (bit d: device d) reach this allocation, and no others.
  void reach_only(Address begin, DeviceSet devices);

  /// Addresses of several devices' memory: no device reaches them but by multimem instructions.
  [[nodiscard]] MulticastWindows& multicast() { return multicast_; }
  [[nodiscard]] const MulticastWindows& multicast() const { return multicast_; }

  /// Sets the observer; nullptr: none. It must outlive the memory or be removed before.
  void observe(MemoryObserver* observer) { observer_ = observer; }
  /// To be called for every write to the memory that a kernel does not make: notifies the observer.
  void wrote(Address begin, std::uint64_t bytes) const {
    if (observer_) observer_->wrote(begin, bytes);
  }
  /// As wrote(), of what has been copied within the memory or from outside.
  void copied(Address to, Address from, std::uint64_t bytes) const {
    if (observer_) observer_->copied(to, from, bytes);
  }

  /// May any device read and write [address, address + bytes)?
  [[nodiscard]] bool accessible(Address address, std::uint64_t bytes) const {
    return accessible_range(used_.get(), address, bytes);
  }

  /// Per device.
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  /// Bytes of mapped pages of a kind, with those that are claimed; kDevice: of one device.
  [[nodiscard]] std::uint64_t mapped_bytes(MemoryKind kind, unsigned device = 0) const;
  /// Sorted by address.
  [[nodiscard]] std::vector<Allocation> allocations() const;
  [[nodiscard]] std::vector<Allocation> allocations(MemoryKind kind) const;

 private:
  friend class DeviceView;
  static constexpr DeviceSet kByPeers = 0;  // Held::reached_by: owner and its peers
  struct Held : Allocation {
    DeviceSet reached_by = kByPeers;
  };
  struct Free {
    void operator()(std::uint16_t* pages) const { std::free(pages); }
  };
  /// Per page of the arena, zeros of which the host only takes what is touched.
  using Pages = std::unique_ptr<std::uint16_t[], Free>;

  [[nodiscard]] bool accessible_range(const std::uint16_t* pages, Address address, std::uint64_t bytes) const;
  [[nodiscard]] bool leaves_claimed(Address begin, std::uint64_t bytes, unsigned device) const;
  [[nodiscard]] std::uint64_t limit(MemoryKind kind) const;
  [[nodiscard]] Pages make_pages() const;
  [[nodiscard]] DeviceSet reaching(const Held& held) const;
  void hold_pages(const Held& held);
  void drop_pages(const Held& held);
  void count(DeviceSet devices, const Held& held, int change);
  void clear_pages(Address begin, std::uint64_t bytes);

  std::uint64_t capacity_, pages_;
  Pages used_;                    // allocations in the page; of mapped memory: devices that reach it
  std::vector<Pages> reach_;      // by device: of these, what the device reaches
  std::vector<DeviceSet> peers_;  // by device: whose memory it reaches
  std::vector<std::map<Address, Held>> allocations_;  // by region
  std::vector<std::uint64_t> mapped_pages_;           // by region
  std::vector<std::uint64_t> claimed_;                // by device
  std::map<Address, Address> host_ranges_;            // begin to end
  std::map<Address, Allocation> reserved_, mapped_;
  std::set<std::uint64_t> backed_;  // pages, by address >> kPageShift
  MulticastWindows multicast_;
  MemoryObserver* observer_ = nullptr;
};

/// The memory as one device reaches it. What it shows follows the memory, which must outlive it.
class DeviceView {
 public:
  DeviceView(const DeviceMemory& memory, unsigned device = 0)  // NOLINT: any memory is also device 0's
      : pages_(memory.reach_[device].get()), count_(memory.pages_), memory_(&memory) {}

  /// May the device read and write [address, address + bytes)?
  [[nodiscard]] bool accessible(Address address, std::uint64_t bytes) const {
    const std::uint64_t first = (address - kArenaBase) >> DeviceMemory::kPageShift;
    const std::uint64_t last = (address + bytes - 1 - kArenaBase) >> DeviceMemory::kPageShift;
    if (first < count_ && last < count_ && first == last) return pages_[first] != 0;
    return memory_->accessible_range(pages_, address, bytes);
  }
  /// Accesses of one page: does the device reach page (address - kArenaBase) >> kPageShift? Any page number
  /// may be asked.
  [[nodiscard]] bool page_mapped(std::uint64_t page) const { return page < count_ && pages_[page] != 0; }

 private:
  const std::uint16_t* pages_;
  std::uint64_t count_;
  const DeviceMemory* memory_;
};

}  // namespace lockstep::exec
