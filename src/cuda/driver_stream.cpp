// Streams and events of the driver API.
#include "cuda/driver.hpp"

namespace lockstep::cuda {

namespace {
using Value = abi::LaunchAttribute::Value;

abi::Stream stream(void* handle) { return static_cast<abi::Stream>(handle); }
abi::Event event(void* handle) { return static_cast<abi::Event>(handle); }

int create(abi::Stream* made, unsigned flags, int priority) {
  return driver([&] {
    const int result = cudaStreamCreateWithPriority(made, flags, priority);
    return result != 0 ? result
                       : api([&](Runtime& rt) { rt.streams.stream(*made).context = &current_context(); });
  });
}
int context_of(void* handle, void** context) {
  return driver_api([&](Runtime& rt) {
    require(context != nullptr);
    const StreamState& s = rt.streams.stream(stream(handle));
    *context = s.context != nullptr           ? s.context
               : s.device == current_device() ? &current_context()
                                              : &primary_context(s.device);
  });
}
}  // namespace

LOCKSTEP_CUDA_API cuStreamCreate(abi::Stream* s, unsigned flags) { return create(s, flags, 0); }
LOCKSTEP_CUDA_API cuStreamCreateWithPriority(abi::Stream* s, unsigned flags, int priority) {
  return create(s, flags, priority);
}
LOCKSTEP_CUDA_API cuStreamDestroy_v2(void* s) {
  return driver([&] { return cudaStreamDestroy(stream(s)); });
}
LOCKSTEP_CUDA_API cuStreamSynchronize(void* s) {
  return driver([&] { return cudaStreamSynchronize(stream(s)); });
}
LOCKSTEP_CUDA_API cuStreamQuery(void* s) {
  return driver([&] { return cudaStreamQuery(stream(s)); });
}
LOCKSTEP_CUDA_API cuStreamWaitEvent(void* s, void* e, unsigned flags) {
  return driver([&] { return cudaStreamWaitEvent(stream(s), event(e), flags); });
}
LOCKSTEP_CUDA_API cuStreamGetPriority(void* s, int* priority) {
  return driver([&] { return cudaStreamGetPriority(stream(s), priority); });
}
LOCKSTEP_CUDA_API cuStreamGetFlags(void* s, unsigned* flags) {
  return driver([&] { return cudaStreamGetFlags(stream(s), flags); });
}
LOCKSTEP_CUDA_API cuStreamGetCtx(void* s, void** context) { return context_of(s, context); }
LOCKSTEP_CUDA_API cuStreamGetCtx_v2(void* s, void** context, void** green) {
  if (green != nullptr) *green = nullptr;
  return context_of(s, context);
}
LOCKSTEP_CUDA_API cuStreamGetDevice(void* s, int* device) {
  return driver([&] { return cudaStreamGetDevice(stream(s), device); });
}
LOCKSTEP_CUDA_API cuStreamGetId(void* s, unsigned long long* id) {
  return driver([&] { return cudaStreamGetId(stream(s), id); });
}
LOCKSTEP_CUDA_API cuStreamIsCapturing(void* s, int* status) {
  return driver([&] { return cudaStreamIsCapturing(stream(s), status); });
}
LOCKSTEP_CUDA_API cuStreamAddCallback(void* s, abi::StreamCallback call, void* data, unsigned flags) {
  return driver([&] { return cudaStreamAddCallback(stream(s), call, data, flags); });
}

LOCKSTEP_CUDA_API cuStreamAttachMemAsync(void* s, DevicePointer p, std::size_t bytes, unsigned flags) {
  return driver(
      [&] { return cudaStreamAttachMemAsync(stream(s), reinterpret_cast<void*>(p), bytes, flags); });
}
LOCKSTEP_CUDA_API cuStreamGetAttribute(void* s, int id, Value* value) {
  return driver([&] { return cudaStreamGetAttribute(stream(s), id, value); });
}
LOCKSTEP_CUDA_API cuStreamSetAttribute(void* s, int id, const Value* value) {
  return driver([&] { return cudaStreamSetAttribute(stream(s), id, value); });
}
LOCKSTEP_CUDA_API cuStreamCopyAttributes(void* to, void* from) {
  return driver([&] { return cudaStreamCopyAttributes(stream(to), stream(from)); });
}

LOCKSTEP_CUDA_API cuEventCreate(abi::Event* e, unsigned flags) {
  return driver([&] { return cudaEventCreateWithFlags(e, flags); });
}
LOCKSTEP_CUDA_API cuEventDestroy_v2(void* e) {
  return driver([&] { return cudaEventDestroy(event(e)); });
}
LOCKSTEP_CUDA_API cuEventRecord(void* e, void* s) {
  return driver([&] { return cudaEventRecord(event(e), stream(s)); });
}
LOCKSTEP_CUDA_API cuEventRecordWithFlags(void* e, void* s, unsigned flags) {
  return driver([&] { return cudaEventRecordWithFlags(event(e), stream(s), flags); });
}
LOCKSTEP_CUDA_API cuEventSynchronize(void* e) {
  return driver([&] { return cudaEventSynchronize(event(e)); });
}
LOCKSTEP_CUDA_API cuEventQuery(void* e) {
  return driver([&] { return cudaEventQuery(event(e)); });
}
LOCKSTEP_CUDA_API cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  return driver([&] { return cudaEventElapsedTime(milliseconds, event(from), event(to)); });
}
LOCKSTEP_CUDA_API cuEventElapsedTime_v2(float* milliseconds, void* from, void* to) {
  return driver([&] { return cudaEventElapsedTime(milliseconds, event(from), event(to)); });
}

}  // namespace lockstep::cuda
