// Virtual memory management of the driver API: addresses without memory, memory without addresses, and the
// one mapped at the other. CUDA driver API 13, "Virtual Memory Management".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "exec/device_memory.hpp"

namespace lockstep::cuda {

/// CUmemAllocationProp.
struct AllocationProperties {
  int type = 0, handle_types = 0;
  int location_type = 0, location = 0;
  void* win32 = nullptr;
  std::uint8_t compression = 0, rdma = 0;
  std::uint16_t usage = 0;
  std::uint8_t reserved[4] = {};
};
static_assert(sizeof(AllocationProperties) == 32);

/// Value of AllocationProperties::handle_types: file descriptors of this system.
inline constexpr int kFileHandles = 1;

/// Sizes and addresses are whole pages of 2 MiB, in bytes. Functions throw ApiError with the driver's codes.
/// What differs from a GPU: memory is mapped at one place at a time (another is kErrorNotSupported), and what
/// may be read may be written.
class VirtualMemory {
 public:
  using Handle = unsigned long long;
  static constexpr std::uint64_t kGranularity = exec::DeviceMemory::kPageBytes;

  explicit VirtualMemory(exec::DeviceMemory& memory) : memory_(&memory) {}

  [[nodiscard]] Address reserve(std::uint64_t bytes, std::uint64_t alignment);
  void free(Address begin, std::uint64_t bytes);
  [[nodiscard]] Handle create(std::uint64_t bytes, const AllocationProperties& properties);
  /// A descriptor of the memory for another process, which the caller owns. The memory was created for that.
  [[nodiscard]] int share(Handle handle) const;
  /// Memory that another process shares: what it gave, which stays the caller's.
  [[nodiscard]] Handle import(int file);
  /// Releases one reference; the memory lives as long as it is mapped.
  void release(Handle handle);
  void map(Address begin, std::uint64_t bytes, std::uint64_t offset, Handle handle);
  /// All that is mapped in the range, which must be whole mappings. What has a reference keeps what it holds.
  void unmap(Address begin, std::uint64_t bytes);
  void set_access(Address begin, std::uint64_t bytes, bool accessible, unsigned device);
  [[nodiscard]] bool accessible(Address address, unsigned device) const;
  /// Whose memory is mapped there.
  [[nodiscard]] unsigned owner(Address address) const;
  /// A new reference to what is mapped there.
  [[nodiscard]] Handle retain(Address address);
  [[nodiscard]] const AllocationProperties& properties(Handle handle) const;
  [[nodiscard]] bool is_mapped(Address begin, std::uint64_t bytes) const {
    return !mapped_in(begin, bytes).empty();
  }

  // Memory that multicast objects stand for has an address, whether the program has mapped it or not.

  struct Bound {
    std::uint64_t bytes = 0;
    unsigned device = 0;
    Address place = 0;  // where it lies now
  };
  /// Until detach() as many times: it lives, and has a place.
  Bound attach(Handle handle);
  void detach(Handle handle);
  /// What is mapped there: its handle, and where the mapping begins.
  [[nodiscard]] std::pair<Handle, Address> mapping(Address address) const;
  /// Called whenever attached memory has got another place.
  void on_move(std::function<void(Handle, Address)> moved) { moved_ = std::move(moved); }
  /// Nothing of the device's memory is mapped or created any more, nothing is reserved without need.
  void clear(unsigned device);

 private:
  struct Physical {
    std::uint64_t bytes = 0;
    unsigned device = 0;
    AllocationProperties properties;
    int file = -1;      // that has its bytes, where processes share it
    bool owned = true;  // counts against the device's memory
    unsigned references = 1;
    Address mapped_at = 0;  // by the program; 0: nowhere
    unsigned attached = 0;
    Address own_place = 0;           // while it is attached and mapped nowhere
    std::vector<std::byte> content;  // while it lies nowhere; empty: never written
  };
  void lay(Physical& memory, Address place);
  void lift(Physical& memory, Address place);
  void give_own_place(Handle handle, Physical& memory);
  [[nodiscard]] std::vector<Handle> mapped_in(Address begin, std::uint64_t bytes) const;
  Physical& physical(Handle handle);
  void drop_unused(Handle handle);
  void give_back(const Physical& memory);

  exec::DeviceMemory* memory_;
  std::function<void(Handle, Address)> moved_ = [](Handle, Address) {};
  std::map<Handle, Physical> physical_;
  Handle next_ = 1;
};

/// Throws ApiError(InvalidValue) unless [begin, begin + bytes) is one or more whole pages of such memory.
void require_pages(std::uint64_t begin, std::uint64_t bytes);

}  // namespace lockstep::cuda
