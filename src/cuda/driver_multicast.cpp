// Multicast objects: see multicast.hpp.
#include <chrono>
#include <thread>

#include "cuda/driver.hpp"

namespace lockstep::cuda {

namespace {

using Handle = MulticastObjects::Handle;

void require_multicast(const Runtime& rt, unsigned device) {
  require((rt.settings.multicast >> device & 1) != 0, Status::kErrorNotSupported);
}

}  // namespace

void wait_for_team(Runtime& rt, Handle object) {
  using namespace std::chrono_literals;
  while (!rt.multicast.is_complete(object)) {
    if (!rt.watchdog.has_other_threads())
      throw ApiError(Status::kErrorIllegalState,
                     "a multicast object lacks devices, and the program has no other thread to add them "
                     "(cuMulticastAddDevice)");
    rt.turns.pass(rt.mutex);
    rt.mutex.unlock();
    std::this_thread::sleep_for(1ms);
    rt.mutex.lock();
  }
}

LOCKSTEP_CUDA_API cuMulticastGetGranularity(std::size_t* bytes, const MulticastProperties* properties,
                                            int option) {
  return driver_api([&](Runtime&) {
    require(bytes != nullptr && properties != nullptr && (option == 0 || option == 1));
    *bytes = VirtualMemory::kGranularity;
  });
}

LOCKSTEP_CUDA_API cuMulticastCreate(Handle* handle, const MulticastProperties* properties) {
  return driver_api([&](Runtime& rt) {
    require(handle != nullptr && properties != nullptr);
    require(rt.settings.multicast != 0, Status::kErrorNotSupported);
    *handle = rt.multicast.create(*properties);
  });
}
LOCKSTEP_CUDA_API cuMulticastAddDevice(Handle handle, int device) {
  return driver_api([&](Runtime& rt) {
    const unsigned number = rt.devices.at(device).number();
    require_multicast(rt, number);
    rt.multicast.add_device(handle, number);
  });
}

LOCKSTEP_CUDA_API cuMulticastBindMem(Handle handle, std::size_t offset, Handle memory,
                                     std::size_t memory_offset, std::size_t bytes, unsigned long long flags) {
  return driver_api([&](Runtime& rt) {
    require(flags == 0);
    wait_for_team(rt, handle);
    rt.multicast.bind(handle, offset, memory, memory_offset, bytes);
  });
}
LOCKSTEP_CUDA_API cuMulticastBindAddr(Handle handle, std::size_t offset, DevicePointer memory,
                                      std::size_t bytes, unsigned long long flags) {
  return driver_api([&](Runtime& rt) {
    require(flags == 0);
    wait_for_team(rt, handle);
    rt.multicast.bind_address(handle, offset, memory, bytes);
  });
}
LOCKSTEP_CUDA_API cuMulticastUnbind(Handle handle, int device, std::size_t offset, std::size_t bytes) {
  return driver_api([&](Runtime& rt) {
    const unsigned number = rt.devices.at(device).number();
    rt.held.wait_all();  // as every work may use it
    rt.multicast.unbind(handle, number, offset, bytes);
  });
}

}  // namespace lockstep::cuda
