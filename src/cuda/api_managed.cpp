// Hints for managed memory, of both APIs, and what the program has said of it.
#include <algorithm>
#include <cstring>
#include <span>

#include "cuda/driver.hpp"
#include "cuda/managed_advice.hpp"

namespace lockstep::cuda {

namespace {

/// CUDA 12 gives a device's number, -1 for the host, in the register that has cudaMemLocation's type in CUDA
/// 13 (from 1 on: device, host, NUMA nodes of the host). Which is meant, the name of this library says.
bool is_form_of_12(abi::MemLocation place) { return is_cuda_12() || place.type <= 0; }

/// Throws ApiError(InvalidDevice).
int device_place(Runtime& rt, int device) {
  return device == kHostPlace ? kHostPlace : static_cast<int>(rt.devices.at(device).number());
}
int place_of(Runtime& rt, abi::MemLocation place) {
  constexpr int kDevice = 1, kLastHost = 4;
  require(place.type >= kDevice && place.type <= kLastHost, Status::kErrorInvalidDevice);
  return place.type == kDevice ? device_place(rt, place.id) : kHostPlace;
}
int named(Runtime& rt, abi::MemLocation place) {
  return is_form_of_12(place) ? device_place(rt, place.type) : place_of(rt, place);
}

/// Managed memory lies where host and device both reach it: only the recorded trace knows of the place.
void check_managed(Runtime& rt, const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<Address>(pointer);
  const auto found = rt.memory.find(address);
  require(found && found->kind == exec::MemoryKind::kManaged && bytes > 0 &&
          bytes <= found->bytes - (address - found->begin));
}

void prefetch(Runtime& rt, const void* pointer, std::size_t bytes, int place, abi::Stream stream) {
  check_managed(rt, pointer, bytes);
  const auto address = reinterpret_cast<Address>(pointer);
  const bool host = place == kHostPlace;
  rt.submit(stream, PrefetchMemory{address, bytes, host, static_cast<std::uint16_t>(host ? 0 : place)});
  rt.advice.note(address, bytes, ManagedAdvice::kPrefetch, place);
}
/// Of other advice the place is ignored (CUDA Runtime API, cudaMemAdvise).
bool has_place(int advice) {
  return advice >= ManagedAdvice::kSetPreferred && advice != ManagedAdvice::kUnsetPreferred;
}
void advise(Runtime& rt, const void* pointer, std::size_t bytes, int advice, int place) {
  require(advice >= ManagedAdvice::kSetReadMostly && advice <= ManagedAdvice::kUnsetAccessedBy);
  check_managed(rt, pointer, bytes);
  const auto address = reinterpret_cast<Address>(pointer);
  const bool host = place == kHostPlace;
  rt.memory_log.advise(address, bytes, advice, host, static_cast<std::uint16_t>(host ? 0 : place));
  rt.advice.note(address, bytes, static_cast<ManagedAdvice::Kind>(advice), place);
}

/// CUDA 13: place, flags, stream. CUDA 12: device, stream.
int prefetch_either(const void* pointer, std::size_t bytes, abi::MemLocation place, std::uintptr_t fourth,
                    abi::Stream fifth) {
  return api([&](Runtime& rt) {
    const int to = named(rt, place);
    require(is_form_of_12(place) || static_cast<unsigned>(fourth) == 0);  // flags: none are defined
    prefetch(rt, pointer, bytes, to, is_form_of_12(place) ? reinterpret_cast<abi::Stream>(fourth) : fifth);
  });
}

/// Ranges in order; place i is for those from its index on.
struct Batch {
  void* const* pointers;
  const std::size_t* sizes;
  std::size_t count;
  const abi::MemLocation* places;
  const std::size_t* begins;
  std::size_t place_count;
};
void check_batch(Runtime& rt, const Batch& b, unsigned long long flags, bool with_places) {
  require(b.count > 0 && b.pointers != nullptr && b.sizes != nullptr && flags == 0);
  for (std::size_t i = 0; i < b.count; ++i) check_managed(rt, b.pointers[i], b.sizes[i]);
  if (!with_places) return;
  require(b.place_count > 0 && b.places != nullptr && b.begins != nullptr && b.begins[0] == 0);
  require(std::ranges::is_sorted(b.begins, b.begins + b.place_count) &&
          b.begins[b.place_count - 1] < b.count);
}
int prefetch_batch(const Batch& b, unsigned long long flags, abi::Stream stream) {
  return api([&](Runtime& rt) {
    check_batch(rt, b, flags, true);
    for (std::size_t i = 0, place = 0; i < b.count; ++i) {
      while (place + 1 < b.place_count && b.begins[place + 1] <= i) ++place;
      prefetch(rt, b.pointers[i], b.sizes[i], place_of(rt, b.places[place]), stream);
    }
  });
}
/// What is discarded may be anything until it is written: it stays as it is.
int discard_batch(const Batch& b, unsigned long long flags, abi::Stream stream) {
  return api([&](Runtime& rt) {
    check_batch(rt, b, flags, false);
    (void)rt.streams.stream(stream);
    rt.warnings.once("memory that is discarded is moved all the same");
  });
}

/// enum cudaMemRangeAttribute.
enum RangeAttribute {
  kReadMostly = 1,
  kPreferred,
  kAccessedBy,
  kLastPrefetch,
  kPreferredType,
  kPreferredId,
  kPrefetchType,
  kPrefetchId
};
int type_of_place(int place) { return place == kNoPlace ? 0 : place == kHostPlace ? 2 : 1; }

int number_of(const Advised& advised, int attribute) {
  const int place = attribute == kPreferred || attribute == kPreferredType || attribute == kPreferredId
                        ? advised.preferred
                        : advised.prefetched;
  if (attribute == kReadMostly) return advised.read_mostly ? 1 : 0;
  if (attribute == kPreferredType || attribute == kPrefetchType) return type_of_place(place);
  if (attribute == kPreferredId || attribute == kPrefetchId) return std::max(place, 0);
  return place;
}

void range_attribute(Runtime& rt, void* data, std::size_t bytes, int attribute, const void* pointer,
                     std::size_t count) {
  require(data != nullptr && attribute >= kReadMostly && attribute <= kPrefetchId);
  check_managed(rt, pointer, count);
  const Advised advised = rt.advice.of(reinterpret_cast<Address>(pointer), count);
  if (attribute != kAccessedBy) {
    require(bytes == sizeof(int));
    const int value = number_of(advised, attribute);
    std::memcpy(data, &value, sizeof value);
    return;
  }
  require(bytes > 0 && bytes % sizeof(int) == 0);
  const std::span devices(static_cast<int*>(data), bytes / sizeof(int));
  std::ranges::fill(devices, static_cast<int>(kNoPlace));
  std::copy_n(advised.accessed_by.begin(), std::min(devices.size(), advised.accessed_by.size()),
              devices.begin());
}

int range_attributes(void** data, const std::size_t* bytes, const int* attributes, std::size_t count,
                     const void* pointer, std::size_t range) {
  return api([&](Runtime& rt) {
    require(count > 0 && data != nullptr && bytes != nullptr && attributes != nullptr);
    for (std::size_t i = 0; i < count; ++i)
      range_attribute(rt, data[i], bytes[i], attributes[i], pointer, range);
  });
}

}  // namespace

LOCKSTEP_CUDA_API cudaMemPrefetchAsync(const void* p, std::size_t n, abi::MemLocation place,
                                       std::uintptr_t fourth, abi::Stream fifth) {
  return prefetch_either(p, n, place, fourth, fifth);
}
LOCKSTEP_CUDA_API cudaMemAdvise(const void* p, std::size_t n, int advice, abi::MemLocation place) {
  return api([&](Runtime& rt) {
    advise(rt, p, n, advice, has_place(advice) ? named(rt, place) : static_cast<int>(current_device()));
  });
}
/// On hardware with concurrent managed access it has no effect but on visibility.
LOCKSTEP_CUDA_API cudaStreamAttachMemAsync(abi::Stream s, void* p, std::size_t n, unsigned flags) {
  return api([&](Runtime& rt) {
    enum { kGlobal = 1, kHost = 2, kSingle = 4 };
    require(flags == kGlobal || flags == kHost || flags == kSingle);
    (void)rt.streams.stream(s);
    check_managed(rt, p, std::max<std::size_t>(n, 1));
  });
}
LOCKSTEP_CUDA_API cudaMemPrefetchBatchAsync(void** p, std::size_t* n, std::size_t count,
                                            const abi::MemLocation* places, const std::size_t* begins,
                                            std::size_t place_count, unsigned long long flags,
                                            abi::Stream s) {
  return prefetch_batch({p, n, count, places, begins, place_count}, flags, s);
}
LOCKSTEP_CUDA_API cudaMemDiscardBatchAsync(void** p, std::size_t* n, std::size_t count,
                                           unsigned long long flags, abi::Stream s) {
  return discard_batch({p, n, count, nullptr, nullptr, 0}, flags, s);
}
LOCKSTEP_CUDA_API cudaMemDiscardAndPrefetchBatchAsync(void** p, std::size_t* n, std::size_t count,
                                                      const abi::MemLocation* places,
                                                      const std::size_t* begins, std::size_t place_count,
                                                      unsigned long long flags, abi::Stream s) {
  return prefetch_batch({p, n, count, places, begins, place_count}, flags, s);
}
LOCKSTEP_CUDA_API cudaMemRangeGetAttribute(void* data, std::size_t bytes, int attribute, const void* p,
                                           std::size_t n) {
  return api([&](Runtime& rt) { range_attribute(rt, data, bytes, attribute, p, n); });
}
LOCKSTEP_CUDA_API cudaMemRangeGetAttributes(void** data, std::size_t* bytes, int* attributes,
                                            std::size_t count, const void* p, std::size_t n) {
  return range_attributes(data, bytes, attributes, count, p, n);
}

// The driver API: first with a device's number, then with a place.

LOCKSTEP_CUDA_API cuMemPrefetchAsync(DevicePointer p, std::size_t n, int device, void* stream) {
  return driver_api([&](Runtime& rt) {
    prefetch(rt, pointer_to(p), n, device_place(rt, device), static_cast<abi::Stream>(stream));
  });
}
LOCKSTEP_CUDA_API cuMemPrefetchAsync_v2(DevicePointer p, std::size_t n, abi::MemLocation place,
                                        unsigned flags, void* stream) {
  return driver_api([&](Runtime& rt) {
    require(flags == 0);
    prefetch(rt, pointer_to(p), n, place_of(rt, place), static_cast<abi::Stream>(stream));
  });
}
LOCKSTEP_CUDA_API cuMemAdvise(DevicePointer p, std::size_t n, int advice, int device) {
  return driver_api([&](Runtime& rt) { advise(rt, pointer_to(p), n, advice, device_place(rt, device)); });
}
LOCKSTEP_CUDA_API cuMemAdvise_v2(DevicePointer p, std::size_t n, int advice, abi::MemLocation place) {
  return driver_api([&](Runtime& rt) {
    advise(rt, pointer_to(p), n, advice, has_place(advice) ? place_of(rt, place) : kHostPlace);
  });
}
LOCKSTEP_CUDA_API cuMemPrefetchBatchAsync(void** p, std::size_t* n, std::size_t count,
                                          const abi::MemLocation* places, const std::size_t* begins,
                                          std::size_t place_count, unsigned long long flags, abi::Stream s) {
  return driver([&] { return prefetch_batch({p, n, count, places, begins, place_count}, flags, s); });
}
LOCKSTEP_CUDA_API cuMemDiscardBatchAsync(void** p, std::size_t* n, std::size_t count,
                                         unsigned long long flags, abi::Stream s) {
  return driver([&] { return discard_batch({p, n, count, nullptr, nullptr, 0}, flags, s); });
}
LOCKSTEP_CUDA_API cuMemDiscardAndPrefetchBatchAsync(void** p, std::size_t* n, std::size_t count,
                                                    const abi::MemLocation* places, const std::size_t* begins,
                                                    std::size_t place_count, unsigned long long flags,
                                                    abi::Stream s) {
  return driver([&] { return prefetch_batch({p, n, count, places, begins, place_count}, flags, s); });
}
LOCKSTEP_CUDA_API cuMemRangeGetAttribute(void* data, std::size_t bytes, int attribute, DevicePointer p,
                                         std::size_t n) {
  return driver_api([&](Runtime& rt) { range_attribute(rt, data, bytes, attribute, pointer_to(p), n); });
}
LOCKSTEP_CUDA_API cuMemRangeGetAttributes(void** data, std::size_t* bytes, int* attributes, std::size_t count,
                                          DevicePointer p, std::size_t n) {
  return driver([&] { return range_attributes(data, bytes, attributes, count, pointer_to(p), n); });
}

}  // namespace lockstep::cuda
