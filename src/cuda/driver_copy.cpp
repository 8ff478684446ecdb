// Copies of the driver API that name arrays or have three dimensions.
#include "cuda/driver_copy.hpp"

#include "cuda/array.hpp"

namespace lockstep::cuda {

namespace {

CopyEnd end_of(Runtime& rt, const Side3D& side, const Copy3D& copy) {
  if (side.type == MemoryType::kArray) {
    const Array& array = rt.arrays.at(side.array);
    require(array.has_rows(side.x, side.y, copy.width, copy.height) && side.z <= array.slices() &&
            copy.depth <= array.slices() - side.z);
    return array.part(side.x, side.y, side.z);
  }
  require(side.type >= MemoryType::kHost && side.type <= MemoryType::kUnified);
  const void* const begin =
      side.type == MemoryType::kHost ? side.host : reinterpret_cast<const void*>(side.device);
  const std::size_t pitch = side.pitch != 0 ? side.pitch : copy.width;
  const std::size_t height = side.height != 0 ? side.height : copy.height;
  require(pitch >= copy.width && height >= copy.height);
  CopyEnd end = linear(begin, pitch, slice_of(pitch, height));
  end.address += side.z * end.slice + side.y * end.pitch + side.x;
  return end;
}

Side3D side_of(const Arrays& arrays, const CopyEnd& end) {
  Side3D side{};
  if (const Array* const array = arrays.find(end.address)) {
    const abi::Pos at = array->position(end.address);
    side.type = MemoryType::kArray;
    side.array = const_cast<Array*>(array);
    side.x = at.x * array->texel_bytes;
    side.y = at.y;
    side.z = at.z;
    return side;
  }
  side.type = MemoryType::kUnified;
  side.device = reinterpret_cast<DevicePointer>(end.address);
  side.pitch = end.pitch;
  side.height = end.pitch > 0 ? end.slice / end.pitch : 0;
  return side;
}

int copy_3d(const Copy3D* c, void* stream) {
  return driver_api([&](Runtime& rt) {
    require(c != nullptr);
    if (!is_empty(c->width, c->height, c->depth))
      rt.submit(static_cast<abi::Stream>(stream), copy_of(rt, *c));
  });
}

/// One row between an array, in which `at` is counted in bytes, and other memory.
Side3D in_array(void* array, std::size_t at) {
  Side3D side{};
  side.type = MemoryType::kArray;
  side.array = array;
  side.x = at;
  return side;
}
Side3D in_memory(const void* host) {
  Side3D side{};
  side.type = MemoryType::kHost;
  side.host = host;
  return side;
}
Side3D in_memory(DevicePointer address) {
  Side3D side{};
  side.type = MemoryType::kDevice;
  side.device = address;
  return side;
}
int copy_row(const Side3D& to, const Side3D& from, std::size_t bytes, void* stream) {
  const Copy3D copy{from, to, bytes, 1, 1};
  return copy_3d(&copy, stream);
}

}  // namespace

Copy copy_of(Runtime& rt, const Copy3D& c) {
  require(!is_empty(c.width, c.height, c.depth));
  return Copy{end_of(rt, c.to, c), end_of(rt, c.from, c), c.width, c.height, c.depth, abi::kDefault};
}

Copy3D parameters_of(const Arrays& arrays, const Copy& c) {
  return {side_of(arrays, c.from), side_of(arrays, c.to), c.width, c.height, c.depth};
}

LOCKSTEP_CUDA_API cuMemcpy3D_v2(const Copy3D* c) { return copy_3d(c, kBlocking); }
LOCKSTEP_CUDA_API cuMemcpy3DAsync_v2(const Copy3D* c, void* stream) { return copy_3d(c, stream); }
// CUDA_MEMCPY3D_PEER is the same with a context for each side; addresses tell their devices.
LOCKSTEP_CUDA_API cuMemcpy3DPeer(const Copy3D* c) { return copy_3d(c, kBlocking); }
LOCKSTEP_CUDA_API cuMemcpy3DPeerAsync(const Copy3D* c, void* stream) { return copy_3d(c, stream); }

LOCKSTEP_CUDA_API cuMemcpyAtoA_v2(void* to, std::size_t to_at, void* from, std::size_t at, std::size_t n) {
  return copy_row(in_array(to, to_at), in_array(from, at), n, kBlocking);
}
LOCKSTEP_CUDA_API cuMemcpyAtoD_v2(DevicePointer to, void* from, std::size_t at, std::size_t n) {
  return copy_row(in_memory(to), in_array(from, at), n, kBlocking);
}
LOCKSTEP_CUDA_API cuMemcpyDtoA_v2(void* to, std::size_t at, DevicePointer from, std::size_t n) {
  return copy_row(in_array(to, at), in_memory(from), n, kBlocking);
}
LOCKSTEP_CUDA_API cuMemcpyAtoH_v2(void* to, void* from, std::size_t at, std::size_t n) {
  return copy_row(in_memory(to), in_array(from, at), n, kBlocking);
}
LOCKSTEP_CUDA_API cuMemcpyHtoA_v2(void* to, std::size_t at, const void* from, std::size_t n) {
  return copy_row(in_array(to, at), in_memory(from), n, kBlocking);
}
LOCKSTEP_CUDA_API cuMemcpyAtoHAsync_v2(void* to, void* from, std::size_t at, std::size_t n, void* stream) {
  return copy_row(in_memory(to), in_array(from, at), n, stream);
}
LOCKSTEP_CUDA_API cuMemcpyHtoAAsync_v2(void* to, std::size_t at, const void* from, std::size_t n,
                                       void* stream) {
  return copy_row(in_array(to, at), in_memory(from), n, stream);
}

}  // namespace lockstep::cuda
