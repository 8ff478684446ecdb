// Handles of memory and events for other processes. Work is done in its call, so that what another process
// records into an event is complete when it has done so: an event that is opened here has nothing to wait
// for.
#include "cuda/api.hpp"
#include "cuda/driver.hpp"

namespace lockstep::cuda {

namespace {

constexpr unsigned kLazyPeerAccess = 1;

void give_memory(Runtime& rt, IpcHandle* handle, Address begin) {
  require(handle != nullptr);
  make_context_current();
  *handle = rt.settings.functional ? rt.processes.give(begin) : rt.processes.name(begin);
}

Address open_memory(Runtime& rt, const IpcHandle& handle, unsigned flags) {
  require(flags == kLazyPeerAccess);
  require_functional(rt);
  make_context_current();
  return rt.processes.open(handle, current_device());
}

void close_memory(Runtime& rt, Address address) {
  rt.held.wait_all();
  rt.processes.close(address);
}

void give_event(Runtime& rt, IpcHandle* handle, abi::Event event) {
  require(handle != nullptr);
  require_functional(rt);
  require((rt.streams.event(event).flags & kEventInterprocess) != 0, Status::kErrorInvalidResourceHandle);
  *handle = rt.processes.give_event();
}

void open_event(Runtime& rt, abi::Event* event, const IpcHandle& handle) {
  require(event != nullptr);
  require_functional(rt);
  require(Processes::is_event(handle), Status::kErrorInvalidResourceHandle);
  make_context_current();
  *event = rt.streams.create_event(kEventDisableTiming | kEventInterprocess);
  rt.processes.note_shared();
}

}  // namespace

LOCKSTEP_CUDA_API cudaIpcGetMemHandle(IpcHandle* handle, void* pointer) {
  return api([&](Runtime& rt) { give_memory(rt, handle, reinterpret_cast<Address>(pointer)); });
}
LOCKSTEP_CUDA_API cudaIpcOpenMemHandle(void** pointer, IpcHandle handle, unsigned flags) {
  return api([&](Runtime& rt) {
    require(pointer != nullptr);
    *pointer = reinterpret_cast<void*>(open_memory(rt, handle, flags));
  });
}
LOCKSTEP_CUDA_API cudaIpcCloseMemHandle(void* pointer) {
  return api([&](Runtime& rt) { close_memory(rt, reinterpret_cast<Address>(pointer)); });
}
LOCKSTEP_CUDA_API cudaIpcGetEventHandle(IpcHandle* handle, abi::Event event) {
  return api([&](Runtime& rt) { give_event(rt, handle, event); });
}
LOCKSTEP_CUDA_API cudaIpcOpenEventHandle(abi::Event* event, IpcHandle handle) {
  return api([&](Runtime& rt) { open_event(rt, event, handle); });
}

LOCKSTEP_CUDA_API cuIpcGetMemHandle(IpcHandle* handle, DevicePointer pointer) {
  return driver_api([&](Runtime& rt) { give_memory(rt, handle, pointer); });
}
LOCKSTEP_CUDA_API cuIpcOpenMemHandle_v2(DevicePointer* pointer, IpcHandle handle, unsigned flags) {
  return driver_api([&](Runtime& rt) {
    require(pointer != nullptr);
    *pointer = open_memory(rt, handle, flags);
  });
}
LOCKSTEP_CUDA_API cuIpcCloseMemHandle(DevicePointer pointer) {
  return driver_api([&](Runtime& rt) { close_memory(rt, pointer); });
}
LOCKSTEP_CUDA_API cuIpcGetEventHandle(IpcHandle* handle, abi::Event event) {
  return driver_api([&](Runtime& rt) { give_event(rt, handle, event); });
}
LOCKSTEP_CUDA_API cuIpcOpenEventHandle(abi::Event* event, IpcHandle handle) {
  return driver_api([&](Runtime& rt) { open_event(rt, event, handle); });
}

}  // namespace lockstep::cuda
