#include "cuda/allocations.hpp"

#include "cuda/context.hpp"
#include "cuda/error.hpp"

namespace lockstep::cuda {

Address Allocations::allocate(std::uint64_t bytes, exec::MemoryKind kind) {
  constexpr std::uint64_t kManagedUnit = 64 << 10, kManagedBlock = 2 << 20;
  // Managed allocations share no pages, and large ones begin where the driver's blocks do, at 2 MiB.
  const std::uint64_t alignment = kind != exec::MemoryKind::kManaged ? exec::DeviceMemory::kAlignment
                                  : bytes < kManagedBlock            ? kManagedUnit
                                                                     : kManagedBlock;
  const auto address = memory_.allocate(bytes, kind, alignment, current_device());
  if (!address) throw ApiError(Status::kErrorMemoryAllocation);
  return *address;
}

bool Allocations::release(Address address) {
  const auto found = memory_.find(address);
  if (!found || found->begin != address) return false;
  const bool managed = found->kind == exec::MemoryKind::kManaged;
  if (managed) log_.note_host();
  pools_.end_use(address);
  memory_.release(address);
  if (managed) log_.note_host();
  return true;
}

}  // namespace lockstep::cuda
