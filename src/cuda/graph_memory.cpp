#include "cuda/graph_memory.hpp"

#include <algorithm>
#include <utility>

#include "cuda/error.hpp"

namespace lockstep::cuda {

GraphAllocation::GraphAllocation(exec::DeviceMemory& memory, std::uint64_t bytes, unsigned device)
    : memory_(&memory), bytes_(bytes) {
  const auto address =
      memory.allocate(bytes, exec::MemoryKind::kDevice, exec::DeviceMemory::kAlignment, device);
  if (!address) throw ApiError(Status::kErrorMemoryAllocation);
  address_ = *address;
}
GraphAllocation::~GraphAllocation() { memory_->release(address_); }

void GraphMemory::begin_use(const std::shared_ptr<const GraphAllocation>& allocation) {
  const std::uint64_t bytes = allocation->bytes();
  const Address address = allocation->address();
  if (!in_use_.try_emplace(address, allocation).second) throw ApiError(Status::kErrorInvalidValue);
  footprint_.used += bytes;
  footprint_.reserved = std::max(footprint_.reserved, footprint_.used);
  footprint_.used_high = std::max(footprint_.used_high, footprint_.used);
  footprint_.reserved_high = std::max(footprint_.reserved_high, footprint_.reserved);
}

bool GraphMemory::end_use(Address address) {
  const auto found = in_use_.find(address);
  if (found == in_use_.end()) return false;
  footprint_.used -= found->second->bytes();
  in_use_.erase(found);
  return true;
}

void GraphMemory::reset_high(bool used) {
  if (used)
    footprint_.used_high = footprint_.used;
  else
    footprint_.reserved_high = footprint_.reserved;
}

void GraphMemory::clear() {
  in_use_.clear();
  footprint_ = {};
}

}  // namespace lockstep::cuda
