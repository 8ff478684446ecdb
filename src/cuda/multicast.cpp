#include "cuda/multicast.hpp"

#include <algorithm>
#include <utility>

#include "cuda/api.hpp"

namespace lockstep::cuda {

namespace {

/// Is [at, at + bytes) within `of` bytes?
bool is_within(std::uint64_t at, std::uint64_t bytes, std::uint64_t of) {
  return at <= of && bytes <= of - at;
}

}  // namespace

MulticastObjects::MulticastObjects(exec::DeviceMemory& memory, VirtualMemory& pages, MemoryLog& log)
    : memory_(&memory), pages_(&pages), log_(&log) {
  pages.on_move([this](Handle handle, Address place) { moved(handle, place); });
}

MulticastObjects::Handle MulticastObjects::create(const MulticastProperties& properties) {
  require_pages(0, properties.bytes);
  require(properties.flags == 0 && properties.devices > 0 && properties.devices <= memory_->devices());
  require(properties.handle_types == 0, Status::kErrorNotSupported);  // for other processes
  objects_[next_].properties = properties;
  return next_++;
}

MulticastObjects::Object& MulticastObjects::object(Handle handle) {
  const auto found = objects_.find(handle);
  require(found != objects_.end() && found->second.references > 0);
  return found->second;
}

void MulticastObjects::add_device(Handle handle, unsigned device) {
  Object& o = object(handle);
  const auto at = std::ranges::lower_bound(o.team, device);
  require(o.team.size() < o.properties.devices && (at == o.team.end() || *at != device));
  o.team.insert(at, device);
}

bool MulticastObjects::is_complete(Handle handle) {
  const Object& o = object(handle);
  return o.team.size() == o.properties.devices;
}

void MulticastObjects::bind(Handle handle, std::uint64_t offset, Handle memory, std::uint64_t memory_offset,
                            std::uint64_t bytes) {
  Object& o = object(handle);
  require_pages(memory_offset, bytes);
  const VirtualMemory::Bound bound = pages_->attach(memory);
  try {
    require(is_within(memory_offset, bytes, bound.bytes));
    add(o, {offset, bytes, bound.device, memory, memory_offset, bound.place + memory_offset});
  } catch (...) {
    pages_->detach(memory);
    throw;
  }
}

void MulticastObjects::bind_address(Handle handle, std::uint64_t offset, Address address,
                                    std::uint64_t bytes) {
  require_pages(address, bytes);
  if (pages_->is_mapped(address, 1)) {
    const auto [memory, begin] = pages_->mapping(address);
    return bind(handle, offset, memory, address - begin, bytes);
  }
  const auto found = memory_->find(address);
  require(found && found->kind == exec::MemoryKind::kDevice &&
          is_within(address - found->begin, bytes, found->bytes));
  add(object(handle), {offset, bytes, found->device, 0, 0, address});
}

/// The object has the binding from now on.
void MulticastObjects::add(Object& o, const Binding& binding) {
  require_pages(binding.offset, binding.bytes);
  require(is_within(binding.offset, binding.bytes, o.properties.bytes));
  require(std::ranges::find(o.team, binding.device) != o.team.end(), Status::kErrorInvalidDevice);
  for (const Binding& other : o.bindings)
    require(other.device != binding.device || other.offset >= binding.offset + binding.bytes ||
            binding.offset >= other.offset + other.bytes);
  o.bindings.push_back(binding);
  log_->place(binding.device, binding.place, binding.bytes);
  for (const Mapping& mapping : o.mappings) show(binding, mapping);
}

bool MulticastObjects::is_mapped(Address begin, std::uint64_t bytes) const {
  return std::ranges::any_of(objects_, [&](const auto& entry) {
    return std::ranges::any_of(entry.second.mappings, [&](const Mapping& mapping) {
      return mapping.begin < begin + bytes && begin < mapping.begin + mapping.bytes;
    });
  });
}

/// Where the two meet.
void MulticastObjects::show(const Binding& binding, const Mapping& mapping) {
  const std::uint64_t first = std::max(binding.offset, mapping.offset),
                      end = std::min(binding.offset + binding.bytes, mapping.offset + mapping.bytes);
  if (first >= end) return;
  const Address at = mapping.begin + (first - mapping.offset),
                memory = binding.place + (first - binding.offset);
  memory_->multicast().bind(at, end - first, binding.device, memory);
  log_->multicast(binding.device, at, end - first, memory);
}

void MulticastObjects::hide(const Object& o, const Binding& binding) {
  for (const Mapping& mapping : o.mappings) {
    const std::uint64_t first = std::max(binding.offset, mapping.offset),
                        end = std::min(binding.offset + binding.bytes, mapping.offset + mapping.bytes);
    if (first < end)
      memory_->multicast().bind(mapping.begin + (first - mapping.offset), end - first, binding.device, 0);
  }
}

/// Memory that is bound has got another place.
void MulticastObjects::moved(Handle memory, Address place) {
  for (auto& [handle, o] : objects_)
    for (Binding& binding : o.bindings) {
      if (binding.memory != memory) continue;
      binding.place = place + binding.memory_offset;
      log_->place(binding.device, binding.place, binding.bytes);
      for (const Mapping& mapping : o.mappings) show(binding, mapping);
    }
}

void MulticastObjects::unbind(Handle handle, unsigned device, std::uint64_t offset, std::uint64_t bytes) {
  Object& o = object(handle);
  const auto found = std::ranges::find_if(o.bindings, [&](const Binding& b) {
    return b.device == device && b.offset == offset && b.bytes == bytes;
  });
  require(found != o.bindings.end());
  const Binding gone = *found;
  o.bindings.erase(found);
  hide(o, gone);
  if (gone.memory != 0) pages_->detach(gone.memory);
}

void MulticastObjects::clear(unsigned device) {
  for (auto& [handle, o] : objects_) {
    for (const Binding& binding : o.bindings) {
      if (binding.device != device) continue;
      hide(o, binding);
      if (binding.memory != 0) pages_->detach(binding.memory);
    }
    std::erase_if(o.bindings, [device](const Binding& binding) { return binding.device == device; });
  }
}

void MulticastObjects::release(Handle handle) {
  --object(handle).references;
  drop_unused(handle);
}

void MulticastObjects::drop_unused(Handle handle) {
  Object& o = objects_.at(handle);
  if (o.references > 0 || !o.mappings.empty()) return;
  for (const Binding& binding : std::exchange(o.bindings, {}))
    if (binding.memory != 0) pages_->detach(binding.memory);
  objects_.erase(handle);
}

MulticastObjects::Handle MulticastObjects::retain(Address address) {
  for (auto& [handle, o] : objects_)
    for (const Mapping& mapping : o.mappings)
      if (address - mapping.begin < mapping.bytes) return ++o.references, handle;
  throw ApiError(Status::kErrorInvalidValue);
}

void MulticastObjects::map(Address begin, std::uint64_t bytes, std::uint64_t offset, Handle handle) {
  Object& o = object(handle);
  require_pages(begin, bytes);
  require_pages(offset, bytes);
  require(is_within(offset, bytes, o.properties.bytes));
  const auto range = memory_->find_reserved(begin);
  require(range && is_within(begin - range->begin, bytes, range->bytes));
  require(!is_mapped(begin, bytes) && !pages_->is_mapped(begin, bytes));
  memory_->multicast().add(begin, bytes, o.team);
  o.mappings.push_back({begin, bytes, offset});
  for (const Binding& binding : o.bindings) show(binding, o.mappings.back());
}

void MulticastObjects::unmap(Address begin, std::uint64_t bytes) {
  for (auto& [handle, o] : objects_) {
    const auto found = std::ranges::find_if(
        o.mappings, [&](const Mapping& m) { return m.begin == begin && m.bytes == bytes; });
    if (found == o.mappings.end()) continue;
    o.mappings.erase(found);
    memory_->multicast().remove(begin);
    return drop_unused(handle);
  }
  throw ApiError(Status::kErrorInvalidValue);
}

void MulticastObjects::set_access(Address begin, std::uint64_t bytes, bool accessible, unsigned device) {
  require_pages(begin, bytes);
  for (const auto& [handle, o] : objects_)
    for (const Mapping& mapping : o.mappings) {
      if (begin < mapping.begin || !is_within(begin - mapping.begin, bytes, mapping.bytes)) continue;
      require(!accessible || std::ranges::find(o.team, device) != o.team.end(), Status::kErrorInvalidDevice);
      return memory_->multicast().open(begin, bytes, accessible, device);
    }
  throw ApiError(Status::kErrorInvalidValue);
}

}  // namespace lockstep::cuda
