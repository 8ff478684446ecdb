// Devices that reach each other's memory, and copies between them. Which can be peers follows from the links
// of the machine that is simulated (Settings::apart).
#include <algorithm>
#include <cstring>

#include "cuda/api.hpp"
#include "cuda/array.hpp"
#include "cuda/driver.hpp"

namespace lockstep::cuda {

namespace {

/// May the two, which are not the same, be peers?
bool linked(const Runtime& rt, unsigned a, unsigned b) {
  return !rt.settings.apart.contains(std::minmax(a, b));
}

/// Peer access has no flags (CUDA Runtime API, cudaDeviceEnablePeerAccess: must be 0).
int enable(int peer, unsigned flags) {
  return api([&](Runtime& rt) {
    const unsigned other = rt.devices.at(peer).number();
    require(flags == 0);
    require(other != current_device(), Status::kErrorInvalidDevice);
    require(linked(rt, current_device(), other), Status::kErrorPeerAccessUnsupported);
    require(!rt.memory.is_peer(current_device(), other), Status::kErrorPeerAccessAlreadyEnabled);
    make_context_current();
    rt.memory.set_peer(current_device(), other, true);
  });
}
int disable(int peer) {
  return api([&](Runtime& rt) {
    const unsigned other = rt.devices.at(peer).number();
    require(rt.memory.is_peer(current_device(), other), Status::kErrorPeerAccessNotEnabled);
    rt.held.wait_device(current_device());  // which may reach it still
    rt.memory.set_peer(current_device(), other, false);
  });
}

/// enum cudaDeviceP2PAttr.
int attribute_of(int* value, int attribute, int from, int to) {
  enum { kPerformanceRank = 1, kAccessSupported, kNativeAtomics, kArraysSupported, kOnlyPartialAtomics };
  return api([&](Runtime& rt) {
    require(value != nullptr);
    const unsigned a = rt.devices.at(from).number(), b = rt.devices.at(to).number();
    require(a != b, Status::kErrorInvalidDevice);
    require(attribute >= kPerformanceRank && attribute <= kOnlyPartialAtomics);
    const bool has =
        attribute == kAccessSupported || attribute == kNativeAtomics || attribute == kArraysSupported;
    *value = has && linked(rt, a, b);
  });
}

/// Work of the default stream of `to` from now on comes after what that of `from` has.
void order(Runtime& rt, unsigned from, unsigned to) {
  if (from == to) return;
  abi::Event event = nullptr;
  {
    const OnDevice device(from);
    event = rt.streams.create_event(kEventDisableTiming);
    rt.submit(nullptr, RecordEvent{event});
  }
  const OnDevice device(to);
  rt.submit(nullptr, WaitEvent{event});
  rt.streams.destroy_event(event);
}

/// `submit` puts the copy into the calling thread's device's default stream, serialised with all work of the
/// three devices (CUDA Runtime API, cudaMemcpyPeer).
template <class Submit>
void serialised(Runtime& rt, int to, int from, Submit&& submit) {
  const unsigned own = current_device(), ends[] = {rt.devices.at(to).number(), rt.devices.at(from).number()};
  for (const unsigned end : ends) order(rt, end, own);
  submit();
  for (const unsigned end : ends) order(rt, own, end);
}

Copy plain(void* to, const void* from, std::size_t n) {
  require(to != nullptr && from != nullptr);
  return {{static_cast<std::byte*>(to), n, n},
          {static_cast<std::byte*>(const_cast<void*>(from)), n, n},
          n,
          1,
          1,
          abi::kDeviceToDevice};
}

int copy_peer(void* to, int to_device, const void* from, int from_device, std::size_t n) {
  return api([&](Runtime& rt) {
    (void)rt.devices.at(to_device), (void)rt.devices.at(from_device);
    if (n == 0) return;
    serialised(rt, to_device, from_device, [&] { rt.submit(nullptr, plain(to, from, n)); });
  });
}
int copy_peer_async(void* to, int to_device, const void* from, int from_device, std::size_t n,
                    abi::Stream stream) {
  return api([&](Runtime& rt) {
    (void)rt.devices.at(to_device), (void)rt.devices.at(from_device);
    if (n > 0) rt.submit(stream, plain(to, from, n));
  });
}

/// cudaMemcpy3DPeerParms.
struct Memcpy3DPeerParms {
  void* srcArray;
  abi::Pos srcPos;
  abi::PitchedPtr srcPtr;
  int srcDevice;
  void* dstArray;
  abi::Pos dstPos;
  abi::PitchedPtr dstPtr;
  int dstDevice;
  abi::Extent extent;
};
static_assert(sizeof(Memcpy3DPeerParms) == 168 && offsetof(Memcpy3DPeerParms, dstArray) == 72);

Copy copy_of(Runtime& rt, const Memcpy3DPeerParms* p) {
  require(p != nullptr);
  (void)rt.devices.at(p->srcDevice), (void)rt.devices.at(p->dstDevice);
  return rt.arrays.copy_3d(
      {p->srcArray, p->srcPos, p->srcPtr, p->dstArray, p->dstPos, p->dstPtr, p->extent, abi::kDefault});
}
int copy_3d_peer(const Memcpy3DPeerParms* p) {
  return api([&](Runtime& rt) {
    const Copy copy = copy_of(rt, p);
    if (is_empty(copy.width, copy.height, copy.depth)) return;
    serialised(rt, p->dstDevice, p->srcDevice, [&] { rt.submit(nullptr, copy); });
  });
}
int copy_3d_peer_async(const Memcpy3DPeerParms* p, abi::Stream stream) {
  return api([&](Runtime& rt) {
    const Copy copy = copy_of(rt, p);
    if (!is_empty(copy.width, copy.height, copy.depth)) rt.submit(stream, copy);
  });
}

void throw_if(int result) {
  if (result != 0) throw ApiError(static_cast<Status>(result));
}

/// The device of a context that the program names.
int device_of(const void* context) {
  require(context != nullptr, Status::kErrorDeviceUninitialized);
  return static_cast<int>(static_cast<const Context*>(context)->device);
}

}  // namespace

LOCKSTEP_CUDA_API cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return api([&](Runtime& rt) {
    require(can != nullptr);
    const unsigned a = rt.devices.at(device).number(), b = rt.devices.at(peer).number();
    *can = a != b && linked(rt, a, b);
  });
}
LOCKSTEP_CUDA_API cudaDeviceEnablePeerAccess(int peer, unsigned flags) { return enable(peer, flags); }
LOCKSTEP_CUDA_API cudaDeviceDisablePeerAccess(int peer) { return disable(peer); }
LOCKSTEP_CUDA_API cudaDeviceGetP2PAttribute(int* value, int attribute, int from, int to) {
  return attribute_of(value, attribute, from, to);
}
LOCKSTEP_CUDA_API cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t n) {
  return copy_peer(to, to_device, from, from_device, n);
}
LOCKSTEP_CUDA_API cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                      std::size_t n, abi::Stream s) {
  return copy_peer_async(to, to_device, from, from_device, n, s);
}
LOCKSTEP_CUDA_API cudaMemcpy3DPeer(const Memcpy3DPeerParms* p) { return copy_3d_peer(p); }
LOCKSTEP_CUDA_API cudaMemcpy3DPeer_ptds(const Memcpy3DPeerParms* p) { return copy_3d_peer(p); }
LOCKSTEP_CUDA_API cudaMemcpy3DPeerAsync(const Memcpy3DPeerParms* p, abi::Stream s) {
  return copy_3d_peer_async(p, s);
}
LOCKSTEP_CUDA_API cudaMemcpy3DPeerAsync_ptsz(const Memcpy3DPeerParms* p, abi::Stream s) {
  return copy_3d_peer_async(p, s);
}

LOCKSTEP_CUDA_API cuDeviceCanAccessPeer(int* can, int device, int peer) {
  return driver([&] { return cudaDeviceCanAccessPeer(can, device, peer); });
}
LOCKSTEP_CUDA_API cuDeviceGetP2PAttribute(int* value, int attribute, int from, int to) {
  return driver([&] { return attribute_of(value, attribute, from, to); });
}
LOCKSTEP_CUDA_API cuCtxEnablePeerAccess(void* context, unsigned flags) {
  return driver_api([&](Runtime&) { throw_if(enable(device_of(context), flags)); });
}
LOCKSTEP_CUDA_API cuCtxDisablePeerAccess(void* context) {
  return driver_api([&](Runtime&) { throw_if(disable(device_of(context))); });
}
LOCKSTEP_CUDA_API cuMemcpyPeer(DevicePointer to, void* to_context, DevicePointer from, void* from_context,
                               std::size_t n) {
  return driver_api([&](Runtime&) {
    throw_if(copy_peer(reinterpret_cast<void*>(to), device_of(to_context), reinterpret_cast<void*>(from),
                       device_of(from_context), n));
  });
}
LOCKSTEP_CUDA_API cuMemcpyPeerAsync(DevicePointer to, void* to_context, DevicePointer from,
                                    void* from_context, std::size_t n, void* stream) {
  return driver_api([&](Runtime&) {
    throw_if(copy_peer_async(reinterpret_cast<void*>(to), device_of(to_context),
                             reinterpret_cast<void*>(from), device_of(from_context), n,
                             static_cast<abi::Stream>(stream)));
  });
}

}  // namespace lockstep::cuda
