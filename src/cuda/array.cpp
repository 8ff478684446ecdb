#include "cuda/array.hpp"

#include <algorithm>

#include "cuda/error.hpp"
#include "exec/texel_layout.hpp"

namespace lockstep::cuda {

exec::TexelFormat texel_format(const abi::ChannelFormatDesc& d) {
  using Channel = abi::ChannelFormatDesc;
  exec::TexelFormat format;
  format.bits = static_cast<std::uint8_t>(d.x);
  format.channels = static_cast<std::uint8_t>(1 + (d.y > 0) + (d.z > 0) + (d.w > 0));
  const bool even = (d.y == 0 || d.y == d.x) && (d.z == 0 || d.z == d.x) && (d.w == 0 || d.w == d.x);
  const bool width = d.x == 8 || d.x == 16 || d.x == 32;
  if (!even || !width || format.channels == 3 || d.f < Channel::kSigned || d.f > Channel::kFloat ||
      (d.f == Channel::kFloat && d.x == 8))
    throw ApiError(Status::kErrorInvalidChannelDescriptor);
  format.kind = d.f == Channel::kFloat    ? exec::TexelKind::kFloat
                : d.f == Channel::kSigned ? exec::TexelKind::kSigned
                                          : exec::TexelKind::kUnsigned;
  return format;
}

exec::Image Array::image() const {
  exec::Image image;
  image.data = address;
  image.format = texel_format(format);
  image.width = static_cast<std::uint32_t>(width);
  image.height = static_cast<std::uint32_t>(rows());
  const auto third = static_cast<std::uint32_t>(slices());
  if ((flags & (kArrayLayered | kArrayCubemap)) != 0)
    image.layers = third;
  else
    image.depth = third;
  image.row_pitch = pitch;
  image.slice_pitch = pitch * rows();
  image.block_linear = true;
  return image;
}

std::size_t Array::reserved() const {
  return std::max<std::size_t>(bytes(), exec::TexelLayout(image()).slice_bytes() * slices());
}

CopyEnd Array::part(std::size_t x, std::size_t y, std::size_t z) const {
  if (x >= pitch || y >= rows() || z >= slices()) throw ApiError(Status::kErrorInvalidValue);
  const std::size_t slice = pitch * rows();
  return {reinterpret_cast<std::byte*>(address) + z * slice + y * pitch + x, pitch, slice};
}

abi::Pos Array::position(const std::byte* inside) const {
  const std::size_t offset = reinterpret_cast<Address>(inside) - address, slice = pitch * rows();
  return {offset % pitch / texel_bytes, offset % slice / pitch, offset / slice};
}

CopyEnd linear(const void* pointer, std::size_t pitch, std::size_t slice) {
  if (pointer == nullptr) throw ApiError(Status::kErrorInvalidValue);
  return {static_cast<std::byte*>(const_cast<void*>(pointer)), pitch, slice};
}

CopyEnd linear_rows(const void* pointer, std::size_t pitch, std::size_t width, std::size_t height) {
  if (width > pitch) throw ApiError(Status::kErrorInvalidPitchValue);
  return linear(pointer, pitch, slice_of(pitch, height));
}

Array& Arrays::add(std::unique_ptr<Array> array) {
  const Array* const handle = array.get();
  return *(arrays_[handle] = std::move(array));
}

Array& Arrays::at(const void* handle) const {
  const auto found = arrays_.find(static_cast<const Array*>(handle));
  if (found == arrays_.end()) throw ApiError(Status::kErrorInvalidResourceHandle);
  return *found->second;
}

MipmappedArray& Arrays::add(std::unique_ptr<MipmappedArray> mipmapped) {
  const MipmappedArray* const handle = mipmapped.get();
  return *(mipmapped_[handle] = std::move(mipmapped));
}

MipmappedArray& Arrays::mipmapped(const void* handle) const {
  const auto found = mipmapped_.find(static_cast<const MipmappedArray*>(handle));
  if (found == mipmapped_.end()) throw ApiError(Status::kErrorInvalidResourceHandle);
  return *found->second;
}

void Arrays::remove_if(const std::function<bool(const Array&)>& is_gone) {
  std::erase_if(mipmapped_, [&](const auto& entry) { return is_gone(*entry.second->levels.front()); });
  std::erase_if(arrays_, [&](const auto& entry) { return is_gone(*entry.second); });
}

Copy Arrays::copy_3d(const abi::Memcpy3DParms& p) const {
  if ((p.srcArray == nullptr) == (p.srcPtr.ptr == nullptr) ||
      (p.dstArray == nullptr) == (p.dstPtr.ptr == nullptr))
    throw ApiError(Status::kErrorInvalidValue);
  if (p.srcArray != nullptr && p.dstArray != nullptr &&
      at(p.srcArray).texel_bytes != at(p.dstArray).texel_bytes)
    throw ApiError(Status::kErrorInvalidValue);
  const void* any = p.srcArray != nullptr ? p.srcArray : p.dstArray;  // positions count its texels
  const std::size_t unit = any != nullptr ? at(any).texel_bytes : 1;
  const auto end = [&](const void* handle, const abi::Pos& from, const abi::PitchedPtr& pointer) {
    if (handle != nullptr) {
      const Array& a = at(handle);
      if (!a.has_box(from, p.extent)) throw ApiError(Status::kErrorInvalidValue);
      return a.part(from.x * unit, from.y, from.z);
    }
    if (p.extent.depth > 1 && pointer.ysize < p.extent.height) throw ApiError(Status::kErrorInvalidValue);
    if ((p.extent.height > 1 || p.extent.depth > 1) && pointer.pitch < p.extent.width * unit)
      throw ApiError(Status::kErrorInvalidPitchValue);
    CopyEnd e = linear(pointer.ptr, pointer.pitch, slice_of(pointer.pitch, pointer.ysize));
    e.address += from.z * e.slice + from.y * e.pitch + from.x;
    return e;
  };
  Copy copy;
  copy.width = p.extent.width * unit;
  copy.height = p.extent.height;
  copy.depth = p.extent.depth;
  if (p.extent.width == 0 || copy.height == 0 || copy.depth == 0) return copy;
  copy.to = end(p.dstArray, p.dstPos, p.dstPtr);
  copy.from = end(p.srcArray, p.srcPos, p.srcPtr);
  copy.kind = p.kind;
  return copy;
}

const Array* Arrays::find(const std::byte* address) const {
  const auto number = reinterpret_cast<Address>(address);
  for (const auto& [handle, array] : arrays_)
    if (number >= array->address && number - array->address < array->bytes()) return handle;
  return nullptr;
}

abi::Memcpy3DParms Arrays::parameters_of(const Copy& c) const {
  abi::Memcpy3DParms p{};
  const auto end = [&](const CopyEnd& side, void*& array, abi::Pos& from, abi::PitchedPtr& pointer) {
    const Array* const inside = find(side.address);
    array = const_cast<Array*>(inside);
    if (inside != nullptr)
      from = inside->position(side.address);
    else
      pointer = {side.address, side.pitch, c.width, side.pitch > 0 ? side.slice / side.pitch : c.height};
    return inside;
  };
  const Array* const from = end(c.from, p.srcArray, p.srcPos, p.srcPtr);
  const Array* const to = end(c.to, p.dstArray, p.dstPos, p.dstPtr);
  const Array* const any = from != nullptr ? from : to;
  p.extent = {c.width / (any != nullptr ? any->texel_bytes : 1), c.height, c.depth};
  p.kind = c.kind;
  return p;
}

}  // namespace lockstep::cuda
