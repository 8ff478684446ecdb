#include "cuda/pools.hpp"

#include <algorithm>

#include "cuda/error.hpp"

namespace lockstep::cuda {

PoolPlace PoolPlace::of(abi::MemLocation location, int kind, int devices) {
  require(kind == kPinned || kind == kManaged);
  const int first = kind == kManaged ? kNone : kDevice;
  require(location.type >= first && location.type <= kHostNuma);
  if (location.type == kDevice)
    require(location.id >= 0 && location.id < devices, Status::kErrorInvalidDevice);
  if (location.type == kHostNuma) require(location.id == 0, Status::kErrorInvalidDevice);
  return {location.type, kind, location.type == kDevice ? location.id : 0};
}

exec::MemoryKind PoolPlace::memory_kind() const {
  if (kind == kManaged) return exec::MemoryKind::kManaged;
  return location == kDevice ? exec::MemoryKind::kDevice : exec::MemoryKind::kHost;
}

Pool::Pool(PoolPlace of, std::uint64_t most) : place(of), most_(most) {
  if (of.memory_kind() == exec::MemoryKind::kHost) return;  // the host's: the host
  if (of.memory_kind() == exec::MemoryKind::kManaged) access_.fill(kReadWrite);
  access_[static_cast<unsigned>(of.device)] = kReadWrite;
}

exec::DeviceSet Pool::reached_by() const {
  exec::DeviceSet all = exec::device_bit(static_cast<unsigned>(place.device));
  for (unsigned device = 0; device < exec::kMaxDevices; ++device)
    if (access_[device] != 0) all |= exec::device_bit(device);
  return all;
}

bool Pool::is_int(int attribute) { return attribute >= kReuseFirst && attribute <= kReuseLast; }

std::uint64_t Pool::get(int attribute) const {
  switch (attribute) {
    case kReleaseThreshold:
      return release_threshold_;
    case kReserved:
      return reserved_;
    case kReservedHigh:
      return reserved_high_;
    case kUsed:
      return used_;
    case kUsedHigh:
      return used_high_;
    default:
      require(is_int(attribute));
      return static_cast<std::uint64_t>(reuse_[attribute - kReuseFirst]);
  }
}

void Pool::set(int attribute, std::uint64_t value) {
  if (is_int(attribute)) {
    reuse_[attribute - kReuseFirst] = static_cast<int>(value);
  } else if (attribute == kReleaseThreshold) {
    release_threshold_ = value;
  } else {  // a high watermark can only be reset
    require((attribute == kReservedHigh || attribute == kUsedHigh) && value == 0);
    (attribute == kUsedHigh ? used_high_ : reserved_high_) = attribute == kUsedHigh ? used_ : reserved_;
  }
}

void Pool::trim(std::uint64_t bytes) { reserved_ = std::max(used_, std::min(reserved_, bytes)); }

void Pool::take(std::uint64_t bytes) {
  used_ += bytes;
  reserved_ = std::max(reserved_, used_);
  used_high_ = std::max(used_high_, used_);
  reserved_high_ = std::max(reserved_high_, reserved_);
}

void Pool::give_back(std::uint64_t bytes) {
  used_ -= bytes;
  trim(release_threshold_);
}

Pool& Pools::default_of(PoolPlace place) {
  Pool*& pool = defaults_[place];
  if (pool == nullptr) pool = &create(place, 0);
  return *pool;
}

Pool& Pools::current_of(PoolPlace place) {
  const auto found = currents_.find(place);
  return found != currents_.end() ? *found->second : default_of(place);
}

void Pools::set_current(PoolPlace place, Pool& pool) {
  require(pool.place == place);
  currents_[place] = &pool;
}

Pool& Pools::create(PoolPlace place, std::uint64_t most) {
  auto pool = std::make_unique<Pool>(place, most);
  Pool& made = *pool;
  pools_.emplace(&made, std::move(pool));
  return made;
}

Pool& Pools::at(void* handle) const {
  const auto found = pools_.find(handle);
  require(found != pools_.end() && !found->second->destroyed);
  return *found->second;
}

void Pools::destroy(Pool& pool) {
  const auto standing = defaults_.find(pool.place);
  require(standing == defaults_.end() || standing->second != &pool);
  if (&current_of(pool.place) == &pool) currents_.erase(pool.place);
  pool.destroyed = true;
  if (pool.get(Pool::kUsed) == 0) pools_.erase(&pool);
}

void Pools::begin_use(Pool& pool, Address address, std::uint64_t bytes) {
  in_use_[address] = {&pool, bytes};
  pool.take(bytes);
}

void Pools::end_use(Address address) {
  const auto found = in_use_.find(address);
  if (found == in_use_.end()) return;
  const auto [pool, bytes] = found->second;
  in_use_.erase(found);
  pool->give_back(bytes);
  if (pool->destroyed && pool->get(Pool::kUsed) == 0) pools_.erase(pool);
}

void Pools::clear(int device) {
  const auto is_own = [device](const auto& entry) { return entry.first.device == device; };
  std::erase_if(in_use_, [&](const auto& use) { return use.second.first->place.device == device; });
  std::erase_if(defaults_, is_own);
  std::erase_if(currents_, is_own);
  std::erase_if(pools_, [&](const auto& entry) { return entry.second->place.device == device; });
}

const Pool* Pools::owner(Address address) const {
  const auto found = in_use_.find(address);
  return found != in_use_.end() ? found->second.first : nullptr;
}

}  // namespace lockstep::cuda
