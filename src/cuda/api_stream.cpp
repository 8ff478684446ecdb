// Streams and events.
#include "cuda/api.hpp"

namespace lockstep::cuda {

namespace {

int create_stream(abi::Stream* handle, unsigned flags, int priority) {
  return api([&](Runtime& rt) {
    require(handle != nullptr && flags <= kStreamNonBlocking);
    rt.held.catch_up();
    *handle = rt.streams.create_stream(flags, priority);
  });
}
/// The one flag of cudaEventRecordWithFlags and of cudaStreamWaitEvent: a capture makes a node of the call.
constexpr unsigned kExternal = 1;

int record(abi::Event event, abi::Stream stream, unsigned flags) {
  return api([&](Runtime& rt) {
    require(flags <= kExternal);
    (void)rt.streams.event(event);
    rt.submit(stream, RecordEvent{event, flags == kExternal});
  });
}
int wait_event(abi::Stream stream, abi::Event event, unsigned flags) {
  return api([&](Runtime& rt) {
    require(flags <= kExternal);
    (void)rt.streams.event(event);
    rt.submit(stream, WaitEvent{event, flags == kExternal});
  });
}
int synchronize(abi::Stream handle) {
  return api([&](Runtime& rt) {
    require(rt.streams.stream(handle).capture == nullptr, Status::kErrorStreamCaptureUnsupported);
    rt.wait_stream(handle);
  });
}
int query(abi::Stream handle) {
  return api([&](Runtime& rt) {
    require(rt.streams.stream(handle).capture == nullptr, Status::kErrorStreamCaptureUnsupported);
    require(rt.is_complete(handle), Status::kErrorNotReady);
  });
}
int host_function(abi::Stream stream, abi::HostFn call, void* data) {
  return api([&](Runtime& rt) {
    require(call != nullptr);
    rt.submit(stream, HostCall{call, data});
  });
}
int priority_of(abi::Stream handle, int* priority) {
  return api([&](Runtime& rt) {
    require(priority != nullptr);
    *priority = rt.streams.stream(handle).priority;
  });
}
int flags_of(abi::Stream handle, unsigned* flags) {
  return api([&](Runtime& rt) {
    require(flags != nullptr);
    *flags = rt.streams.stream(handle).flags;
  });
}

struct Callback {
  abi::StreamCallback call;
  abi::Stream stream;
  void* data;
};
#ifdef __clang__
__attribute__((no_sanitize("function")))  // the program has a name of its own for what a stream points to
#endif
void call_back(void* pointer) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(pointer));
  callback->call(callback->stream, 0, callback->data);
}
int add_callback(abi::Stream stream, abi::StreamCallback call, void* data, unsigned flags) {
  return api([&](Runtime& rt) {
    require(call != nullptr && flags == 0);
    require(rt.streams.stream(stream).capture == nullptr, Status::kErrorStreamCaptureUnsupported);
    rt.submit(stream,
              HostCall{call_back, std::make_unique<Callback>(Callback{call, stream, data}).release()});
  });
}

}  // namespace

LOCKSTEP_CUDA_API cudaStreamCreate(abi::Stream* s) { return create_stream(s, 0, 0); }
LOCKSTEP_CUDA_API cudaStreamCreateWithFlags(abi::Stream* s, unsigned flags) {
  return create_stream(s, flags, 0);
}
LOCKSTEP_CUDA_API cudaStreamCreateWithPriority(abi::Stream* s, unsigned flags, int priority) {
  return create_stream(s, flags, priority);
}
LOCKSTEP_CUDA_API cudaStreamDestroy(abi::Stream s) {
  return api([&](Runtime& rt) { rt.streams.destroy_stream(s); });
}
LOCKSTEP_CUDA_API cudaStreamSynchronize(abi::Stream s) { return synchronize(s); }
LOCKSTEP_CUDA_API cudaStreamSynchronize_ptsz(abi::Stream s) { return synchronize(s); }
LOCKSTEP_CUDA_API cudaStreamQuery(abi::Stream s) { return query(s); }
LOCKSTEP_CUDA_API cudaStreamQuery_ptsz(abi::Stream s) { return query(s); }
LOCKSTEP_CUDA_API cudaStreamWaitEvent(abi::Stream s, abi::Event e, unsigned flags) {
  return wait_event(s, e, flags);
}
LOCKSTEP_CUDA_API cudaStreamWaitEvent_ptsz(abi::Stream s, abi::Event e, unsigned flags) {
  return wait_event(s, e, flags);
}
LOCKSTEP_CUDA_API cudaStreamGetPriority(abi::Stream s, int* p) { return priority_of(s, p); }
LOCKSTEP_CUDA_API cudaStreamGetPriority_ptsz(abi::Stream s, int* p) { return priority_of(s, p); }
LOCKSTEP_CUDA_API cudaStreamGetFlags(abi::Stream s, unsigned* f) { return flags_of(s, f); }
LOCKSTEP_CUDA_API cudaStreamGetFlags_ptsz(abi::Stream s, unsigned* f) { return flags_of(s, f); }
LOCKSTEP_CUDA_API cudaStreamGetId(abi::Stream s, unsigned long long* id) {
  return api([&](Runtime& rt) {
    require(id != nullptr);
    *id = rt.streams.stream(s).number;
  });
}
LOCKSTEP_CUDA_API cudaStreamGetDevice(abi::Stream s, int* device) {
  return api([&](Runtime& rt) {
    require(device != nullptr);
    *device = static_cast<int>(rt.streams.stream(s).device);
  });
}
LOCKSTEP_CUDA_API cudaStreamAddCallback(abi::Stream s, abi::StreamCallback call, void* data, unsigned flags) {
  return add_callback(s, call, data, flags);
}
LOCKSTEP_CUDA_API cudaStreamAddCallback_ptsz(abi::Stream s, abi::StreamCallback call, void* data,
                                             unsigned flags) {
  return add_callback(s, call, data, flags);
}
LOCKSTEP_CUDA_API cudaLaunchHostFunc(abi::Stream s, abi::HostFn call, void* data) {
  return host_function(s, call, data);
}
LOCKSTEP_CUDA_API cudaLaunchHostFunc_ptsz(abi::Stream s, abi::HostFn call, void* data) {
  return host_function(s, call, data);
}

LOCKSTEP_CUDA_API cudaEventCreate(abi::Event* e) {
  return api([&](Runtime& rt) {
    require(e != nullptr);
    *e = rt.streams.create_event(0);
  });
}
LOCKSTEP_CUDA_API cudaEventCreateWithFlags(abi::Event* e, unsigned flags) {
  return api([&](Runtime& rt) {
    constexpr unsigned kAll = 7;
    require(e != nullptr && flags <= kAll);
    require((flags & kEventInterprocess) == 0 || (flags & kEventDisableTiming) != 0);
    *e = rt.streams.create_event(flags);
  });
}
LOCKSTEP_CUDA_API cudaEventDestroy(abi::Event e) {
  return api([&](Runtime& rt) { rt.streams.destroy_event(e); });
}
LOCKSTEP_CUDA_API cudaEventRecord(abi::Event e, abi::Stream s) { return record(e, s, 0); }
LOCKSTEP_CUDA_API cudaEventRecord_ptsz(abi::Event e, abi::Stream s) { return record(e, s, 0); }
LOCKSTEP_CUDA_API cudaEventRecordWithFlags(abi::Event e, abi::Stream s, unsigned flags) {
  return record(e, s, flags);
}
LOCKSTEP_CUDA_API cudaEventRecordWithFlags_ptsz(abi::Event e, abi::Stream s, unsigned flags) {
  return record(e, s, flags);
}
LOCKSTEP_CUDA_API cudaEventSynchronize(abi::Event e) {
  return api([&](Runtime& rt) { rt.wait_event(e); });
}
LOCKSTEP_CUDA_API cudaEventQuery(abi::Event e) {
  return api([&](Runtime& rt) { require(rt.is_complete(e), Status::kErrorNotReady); });
}
LOCKSTEP_CUDA_API cudaEventElapsedTime(float* milliseconds, abi::Event from, abi::Event to) {
  return api([&](Runtime& rt) {
    require(milliseconds != nullptr);
    *milliseconds = rt.elapsed_milliseconds(from, to);
  });
}

}  // namespace lockstep::cuda
