// Multicast objects of the driver API: addresses that stand for memory of several devices. CUDA driver API
// 13, "Multicast Object Management".
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "cuda/memory_log.hpp"
#include "cuda/virtual_memory.hpp"
#include "exec/device_memory.hpp"

namespace lockstep::cuda {

/// CUmulticastObjectProp.
struct MulticastProperties {
  unsigned devices = 0;
  std::size_t bytes = 0;
  unsigned long long handle_types = 0, flags = 0;
};
static_assert(sizeof(MulticastProperties) == 32);

/// Sizes, offsets and addresses are whole pages of 2 MiB. Functions throw ApiError with the driver's codes.
/// Handles are others than VirtualMemory's.
class MulticastObjects {
 public:
  using Handle = VirtualMemory::Handle;

  /// All of them must outlive this.
  MulticastObjects(exec::DeviceMemory& memory, VirtualMemory& pages, MemoryLog& log);

  [[nodiscard]] Handle create(const MulticastProperties& properties);
  [[nodiscard]] bool has(Handle handle) const { return objects_.contains(handle); }
  void add_device(Handle handle, unsigned device);
  /// Has it all of its devices? Before, nothing can be bound or mapped.
  [[nodiscard]] bool is_complete(Handle handle);
  void bind(Handle handle, std::uint64_t offset, Handle memory, std::uint64_t memory_offset,
            std::uint64_t bytes);
  /// Memory by an address at which it is mapped, or of an allocation.
  void bind_address(Handle handle, std::uint64_t offset, Address address, std::uint64_t bytes);
  void unbind(Handle handle, unsigned device, std::uint64_t offset, std::uint64_t bytes);
  void release(Handle handle);
  /// A new reference to the object that is mapped there.
  [[nodiscard]] Handle retain(Address address);

  void map(Address begin, std::uint64_t bytes, std::uint64_t offset, Handle handle);
  [[nodiscard]] bool is_mapped(Address begin, std::uint64_t bytes = 1) const;
  /// One whole mapping.
  void unmap(Address begin, std::uint64_t bytes);
  void set_access(Address begin, std::uint64_t bytes, bool accessible, unsigned device);
  [[nodiscard]] bool accessible(Address address, unsigned device) const {
    return memory_->multicast().is_open(address, device);
  }
  /// Nothing of the device's memory is bound any more.
  void clear(unsigned device);

 private:
  struct Binding {
    std::uint64_t offset = 0, bytes = 0;  // in the object
    unsigned device = 0;
    Handle memory = 0;                // 0: an allocation, which does not move
    std::uint64_t memory_offset = 0;  // of a handle
    Address place = 0;
  };
  struct Mapping {
    Address begin = 0;
    std::uint64_t bytes = 0, offset = 0;
  };
  struct Object {
    MulticastProperties properties;
    std::vector<unsigned> team;
    unsigned references = 1;
    std::vector<Binding> bindings;
    std::vector<Mapping> mappings;
  };
  Object& object(Handle handle);
  void add(Object& object, const Binding& binding);
  void show(const Binding& binding, const Mapping& mapping);
  void hide(const Object& object, const Binding& binding);
  void moved(Handle memory, Address place);
  void drop_unused(Handle handle);

  exec::DeviceMemory* memory_;
  VirtualMemory* pages_;
  MemoryLog* log_;
  std::map<Handle, Object> objects_;
  Handle next_ = Handle{1} << 40;
};

}  // namespace lockstep::cuda
