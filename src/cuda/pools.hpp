// Memory pools of stream-ordered allocation (CUDA Runtime API, "Stream Ordered Memory Allocator"). Memory
// comes from the device's arena; a pool keeps account of it, holds its limits, and has no memory of its own.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "cuda/abi.hpp"
#include "exec/device_memory.hpp"

namespace lockstep::cuda {

/// Where a pool's memory is: a type of cudaMemLocation and one of cudaMemAllocationType.
struct PoolPlace {
  enum Location { kNone, kDevice, kHost, kHostNuma, kHostNumaCurrent };
  enum Kind { kPinned = 1, kManaged };
  int location = kDevice;
  int kind = kPinned;
  int device = 0;  // of kDevice and of managed memory

  bool operator==(const PoolPlace&) const = default;
  bool operator<(const PoolPlace& other) const {
    return std::tuple(location, kind, device) < std::tuple(other.location, other.kind, other.device);
  }
  /// Of `devices`. Throws ApiError(InvalidValue) for what no pool has, ApiError(InvalidDevice) for a device
  /// that is not there.
  [[nodiscard]] static PoolPlace of(abi::MemLocation location, int kind, int devices);
  [[nodiscard]] static PoolPlace on(unsigned device) { return {kDevice, kPinned, static_cast<int>(device)}; }
  [[nodiscard]] exec::MemoryKind memory_kind() const;
};

class Pool {
 public:
  enum Attribute {
    kReuseFirst = 1,
    kReuseLast = 3,
    kReleaseThreshold,
    kReserved,
    kReservedHigh,
    kUsed,
    kUsedHigh
  };
  static constexpr int kReadWrite = 3;  // of cudaMemAccessFlags

  /// `most`: bytes in use at a time; 0 is no limit.
  Pool(PoolPlace place, std::uint64_t most);

  /// An attribute's value, also of those of type int. Throws ApiError(InvalidValue).
  [[nodiscard]] std::uint64_t get(int attribute) const;
  void set(int attribute, std::uint64_t value);
  [[nodiscard]] static bool is_int(int attribute);
  /// Keeps no more than `bytes` beside what is in use.
  void trim(std::uint64_t bytes);

  [[nodiscard]] bool has_room(std::uint64_t bytes) const { return most_ == 0 || bytes <= most_ - used_; }
  void take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes);

  /// cudaMemAccessFlags of a device; peer access between devices makes no difference to a pool.
  [[nodiscard]] int access(unsigned device) const { return access_[device]; }
  void set_access(unsigned device, int flags) { access_[device] = flags; }
  /// The devices that can access memory on a device, always including its own.
  [[nodiscard]] exec::DeviceSet reached_by() const;

  const PoolPlace place;
  bool destroyed = false;

 private:
  std::uint64_t most_, release_threshold_ = 0;
  std::uint64_t used_ = 0, used_high_ = 0, reserved_ = 0, reserved_high_ = 0;
  int reuse_[kReuseLast] = {1, 1, 1};
  std::array<int, exec::kMaxDevices> access_{};
};

class Pools {
 public:
  /// The default pool of the place; it is there from the first call on.
  [[nodiscard]] Pool& default_of(PoolPlace place);
  /// The place's default pool where no other was set.
  [[nodiscard]] Pool& current_of(PoolPlace place);
  void set_current(PoolPlace place, Pool& pool);
  [[nodiscard]] Pool& create(PoolPlace place, std::uint64_t most);
  /// The pool behind a handle. Throws ApiError(InvalidValue).
  [[nodiscard]] Pool& at(void* handle) const;
  /// Its memory that is in use stays. Throws ApiError(InvalidValue) for a default pool.
  void destroy(Pool& pool);

  /// Notes that `bytes` at `address` are the pool's.
  void begin_use(Pool& pool, Address address, std::uint64_t bytes);
  /// Does nothing where no memory of a pool begins there.
  void end_use(Address address);
  /// Whose memory begins there; nullptr where none does.
  [[nodiscard]] const Pool* owner(Address address) const;
  /// Calls visit(address) for all memory of the pool that is in use.
  template <class Visit>
  void for_each_use(const Pool& pool, Visit&& visit) const {
    for (const auto& [address, use] : in_use_)
      if (use.first == &pool) visit(address);
  }
  /// Reset of a device: only its default pools, empty.
  void clear(int device);

 private:
  std::map<void*, std::unique_ptr<Pool>> pools_;
  std::map<PoolPlace, Pool*> defaults_, currents_;
  std::map<Address, std::pair<Pool*, std::uint64_t>> in_use_;
};

}  // namespace lockstep::cuda
