#include "cuda/virtual_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "cuda/api.hpp"

namespace lockstep::cuda {

namespace {

constexpr int kPinned = 1, kOnDevice = 1;  // CU_MEM_ALLOCATION_TYPE_, CU_MEM_LOCATION_TYPE_

constexpr std::uint64_t kSharedMark = 0x4d454d5045545343;  // behind the bytes of shared memory, in its file
struct SharedTrailer {
  std::uint64_t mark = 0, bytes = 0;
  unsigned device = 0;
  AllocationProperties properties;
};

/// Zeros, and the trailer behind them.
int make_shared_file(const SharedTrailer& trailer) {
  const int file = ::memfd_create("lockstep-shared-memory", MFD_CLOEXEC);
  const auto size = static_cast<off_t>(trailer.bytes);
  if (file >= 0 && ::pwrite(file, &trailer, sizeof trailer, size) == sizeof trailer) return file;
  if (file >= 0) ::close(file);
  throw ApiError(Status::kErrorOperatingSystem);
}

/// Throws ApiError(InvalidValue) where the file is no such memory.
SharedTrailer read_trailer(int file) {
  SharedTrailer trailer;
  struct stat status = {};
  require(::fstat(file, &status) == 0 && status.st_size > static_cast<off_t>(sizeof trailer));
  const auto at = status.st_size - static_cast<off_t>(sizeof trailer);
  require(::pread(file, &trailer, sizeof trailer, at) == sizeof trailer && trailer.mark == kSharedMark &&
          trailer.bytes == static_cast<std::uint64_t>(at) &&
          trailer.bytes % VirtualMemory::kGranularity == 0 && trailer.bytes > 0 &&
          trailer.bytes <= exec::kRegionBytes);
  return trailer;
}

}  // namespace

void require_pages(std::uint64_t begin, std::uint64_t bytes) {
  require(bytes > 0 && begin % VirtualMemory::kGranularity == 0 && bytes % VirtualMemory::kGranularity == 0);
}

Address VirtualMemory::reserve(std::uint64_t bytes, std::uint64_t alignment) {
  require_pages(0, bytes);
  require((alignment & (alignment - 1)) == 0 || alignment == 0);
  const auto begin = memory_->reserve(bytes, alignment);
  require(begin.has_value(), Status::kErrorMemoryAllocation);
  return *begin;
}

void VirtualMemory::free(Address begin, std::uint64_t bytes) {
  const auto range = memory_->find_reserved(begin);
  require(range && range->begin == begin && range->bytes == bytes && mapped_in(begin, bytes).empty());
  memory_->release_reserved(begin);
}

VirtualMemory::Handle VirtualMemory::create(std::uint64_t bytes, const AllocationProperties& properties) {
  require_pages(0, bytes);
  require(properties.type == kPinned);
  require(properties.location_type == kOnDevice && (properties.handle_types & ~kFileHandles) == 0,
          Status::kErrorNotSupported);
  require(properties.location >= 0 && properties.location < static_cast<int>(memory_->devices()),
          Status::kErrorInvalidDevice);
  const auto device = static_cast<unsigned>(properties.location);
  require(memory_->claim(bytes, device), Status::kErrorMemoryAllocation);
  Physical& made = physical_[next_];
  made.bytes = bytes;
  made.device = device;
  made.properties = properties;
  made.properties.compression = 0;  // there is none
  if (properties.handle_types != 0)
    made.file = make_shared_file({kSharedMark, bytes, device, made.properties});
  return next_++;
}

VirtualMemory::Physical& VirtualMemory::physical(Handle handle) {
  const auto found = physical_.find(handle);
  require(found != physical_.end() && found->second.references > 0);
  return found->second;
}

void VirtualMemory::drop_unused(Handle handle) {
  const auto found = physical_.find(handle);
  if (found->second.references > 0 || found->second.mapped_at != 0 || found->second.attached > 0) return;
  give_back(found->second);
  physical_.erase(found);
}

void VirtualMemory::give_back(const Physical& memory) {
  if (memory.owned) memory_->give_back(memory.bytes, memory.device);
  if (memory.file >= 0) ::close(memory.file);
}

int VirtualMemory::share(Handle handle) const {
  const auto found = physical_.find(handle);
  require(found != physical_.end() && found->second.references > 0 && found->second.file >= 0);
  const int copy = ::fcntl(found->second.file, F_DUPFD, 0);
  require(copy >= 0, Status::kErrorOperatingSystem);
  return copy;
}

VirtualMemory::Handle VirtualMemory::import(int file) {
  const SharedTrailer trailer = read_trailer(file);
  require(trailer.device < memory_->devices(), Status::kErrorInvalidDevice);
  Physical made;
  made.bytes = trailer.bytes;
  made.device = trailer.device;
  made.properties = trailer.properties;
  made.owned = false;
  made.file = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
  require(made.file >= 0, Status::kErrorOperatingSystem);
  physical_[next_] = std::move(made);
  return next_++;
}

void VirtualMemory::release(Handle handle) {
  --physical(handle).references;
  drop_unused(handle);
}

void VirtualMemory::map(Address begin, std::uint64_t bytes, std::uint64_t offset, Handle handle) {
  require_pages(begin, bytes);
  Physical& memory = physical(handle);
  require(offset == 0 && bytes == memory.bytes);
  const auto range = memory_->find_reserved(begin);
  require(range && begin - range->begin + bytes <= range->bytes && mapped_in(begin, bytes).empty());
  require(memory.mapped_at == 0, Status::kErrorNotSupported);
  if (memory.own_place != 0) {
    lift(memory, memory.own_place);
    memory_->release_reserved(std::exchange(memory.own_place, 0));
  }
  memory.mapped_at = begin;
  lay(memory, begin);
  if (memory.attached > 0) moved_(handle, begin);
}

/// Its bytes get a place.
void VirtualMemory::lay(Physical& memory, Address place) {
  memory_->map(place, memory.bytes, memory.device);
  if (memory.file >= 0) {
    memory_->back(place, memory.bytes, memory.file, 0);
    memory_->wrote(place, memory.bytes);  // by whom is not known
  }
  if (memory.content.empty()) return;
  std::memcpy(reinterpret_cast<void*>(place), memory.content.data(), memory.bytes);
  memory_->wrote(place, memory.bytes);
  memory.content = {};
}

/// Its bytes lose their place, and are kept.
void VirtualMemory::lift(Physical& memory, Address place) {
  const auto* const from = reinterpret_cast<const std::byte*>(place);
  const bool kept = memory.references > 0 || memory.attached > 0;
  if (kept && memory.file < 0) memory.content.assign(from, from + memory.bytes);
  memory_->unmap(place);
}

void VirtualMemory::give_own_place(Handle handle, Physical& memory) {
  memory.own_place = reserve(memory.bytes, 0);
  lay(memory, memory.own_place);
  moved_(handle, memory.own_place);
}

VirtualMemory::Bound VirtualMemory::attach(Handle handle) {
  Physical& memory = physical(handle);
  if (memory.attached++ == 0 && memory.mapped_at == 0) give_own_place(handle, memory);
  return {memory.bytes, memory.device, memory.mapped_at != 0 ? memory.mapped_at : memory.own_place};
}

void VirtualMemory::detach(Handle handle) {
  Physical& memory = physical_.at(handle);
  if (--memory.attached > 0) return;
  if (memory.own_place != 0) {
    lift(memory, memory.own_place);
    memory_->release_reserved(std::exchange(memory.own_place, 0));
  }
  drop_unused(handle);
}

std::pair<VirtualMemory::Handle, Address> VirtualMemory::mapping(Address address) const {
  const auto found = mapped_in(address, 1);
  require(!found.empty());
  return {found.front(), physical_.at(found.front()).mapped_at};
}

std::vector<VirtualMemory::Handle> VirtualMemory::mapped_in(Address begin, std::uint64_t bytes) const {
  std::vector<Handle> found;
  for (const auto& [handle, memory] : physical_)
    if (memory.mapped_at != 0 && memory.mapped_at < begin + bytes && begin < memory.mapped_at + memory.bytes)
      found.push_back(handle);
  return found;
}

void VirtualMemory::unmap(Address begin, std::uint64_t bytes) {
  require_pages(begin, bytes);
  const auto handles = mapped_in(begin, bytes);
  std::uint64_t covered = 0;
  for (const Handle handle : handles) {
    const Physical& memory = physical_[handle];
    require(memory.mapped_at >= begin && memory.mapped_at + memory.bytes <= begin + bytes);
    covered += memory.bytes;
  }
  require(covered == bytes);
  for (const Handle handle : handles) {
    Physical& memory = physical_[handle];
    lift(memory, std::exchange(memory.mapped_at, 0));
    if (memory.attached > 0) give_own_place(handle, memory);
    drop_unused(handle);
  }
}

void VirtualMemory::set_access(Address begin, std::uint64_t bytes, bool accessible, unsigned device) {
  require_pages(begin, bytes);
  std::uint64_t covered = 0;
  for (const Handle handle : mapped_in(begin, bytes)) {
    const Physical& memory = physical_[handle];
    covered += std::min(begin + bytes, memory.mapped_at + memory.bytes) - std::max(begin, memory.mapped_at);
  }
  require(covered == bytes);
  memory_->open(begin, bytes, accessible, device);
}

bool VirtualMemory::accessible(Address address, unsigned device) const {
  require(!mapped_in(address, 1).empty());
  return exec::DeviceView(*memory_, device).accessible(address, 1);
}

unsigned VirtualMemory::owner(Address address) const {
  const auto found = mapped_in(address, 1);
  require(!found.empty());
  return physical_.at(found.front()).device;
}

VirtualMemory::Handle VirtualMemory::retain(Address address) {
  const auto found = mapped_in(address, 1);
  require(!found.empty());
  ++physical_[found.front()].references;
  return found.front();
}

const AllocationProperties& VirtualMemory::properties(Handle handle) const {
  const auto found = physical_.find(handle);
  require(found != physical_.end());
  return found->second.properties;
}

void VirtualMemory::clear(unsigned device) {
  for (auto& [handle, memory] : physical_) {
    if (memory.device != device) continue;
    if (memory.mapped_at != 0) memory_->unmap(memory.mapped_at);
    if (memory.own_place != 0) {
      memory_->unmap(memory.own_place);
      memory_->release_reserved(memory.own_place);
    }
    give_back(memory);
  }
  std::erase_if(physical_, [device](const auto& entry) { return entry.second.device == device; });
  if (physical_.empty()) memory_->release_all_reserved();
}

}  // namespace lockstep::cuda
