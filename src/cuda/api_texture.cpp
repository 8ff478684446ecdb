// Texture and surface objects.
#include <algorithm>
#include <utility>
#include <vector>

#include "cuda/api.hpp"
#include "cuda/array.hpp"

namespace lockstep::cuda {

namespace {

exec::Image image_of(Runtime& rt, const abi::ResourceDesc& r) {
  exec::Image image;
  switch (r.resType) {
    case abi::ResourceDesc::kArray:
      return rt.arrays.at(r.res.array.array).image();
    case abi::ResourceDesc::kLinear:
      image.format = texel_format(r.res.linear.desc);
      image.data = reinterpret_cast<Address>(r.res.linear.devPtr);
      image.width = static_cast<std::uint32_t>(r.res.linear.sizeInBytes / image.format.bytes());
      image.row_pitch = image.slice_pitch = r.res.linear.sizeInBytes;
      break;
    case abi::ResourceDesc::kPitch2D:
      image.format = texel_format(r.res.pitch2D.desc);
      image.data = reinterpret_cast<Address>(r.res.pitch2D.devPtr);
      image.width = static_cast<std::uint32_t>(r.res.pitch2D.width);
      image.height = static_cast<std::uint32_t>(r.res.pitch2D.height);
      image.row_pitch = r.res.pitch2D.pitchInBytes;
      image.slice_pitch = image.row_pitch * image.height;
      break;
    default:
      throw ApiError(Status::kErrorInvalidValue);
  }
  require(rt.memory.accessible(image.data, std::max<std::uint64_t>(image.slice_pitch, 1)));
  return image;
}

std::vector<exec::Image> levels_of(Runtime& rt, const abi::ResourceDesc& r) {
  if (r.resType != abi::ResourceDesc::kMipmappedArray) return {image_of(rt, r)};
  std::vector<exec::Image> levels;
  for (const Array* level : rt.arrays.mipmapped(r.res.array.array).levels) levels.push_back(level->image());
  return levels;
}

exec::Texture texture_of(std::vector<exec::Image> levels, const abi::TextureDesc& d) {
  exec::Texture t;
  t.levels = std::move(levels);
  for (std::size_t i = 0; i < t.address.size(); ++i) {
    require(d.addressMode[i] >= 0 && d.addressMode[i] <= 3);
    t.address[i] = std::array{exec::AddressMode::kWrap, exec::AddressMode::kClamp, exec::AddressMode::kMirror,
                              exec::AddressMode::kBorder}[static_cast<std::size_t>(d.addressMode[i])];
  }
  t.linear_filter = d.filterMode == 1;
  t.linear_mipmap = d.mipmapFilterMode == 1;
  t.normalized_coordinates = d.normalizedCoords != 0;
  t.normalized_values = d.readMode == 1;
  t.srgb = d.sRGB != 0;
  std::ranges::copy(d.borderColor, t.border.begin());
  t.level_bias = d.mipmapLevelBias;
  t.min_level = d.minMipmapLevelClamp;
  t.max_level = d.maxMipmapLevelClamp;
  return t;
}

}  // namespace

LOCKSTEP_CUDA_API cudaCreateTextureObject(unsigned long long* handle, const abi::ResourceDesc* resource,
                                          const abi::TextureDesc* description, const void* view) {
  return api([&](Runtime& rt) {
    require(handle != nullptr && resource != nullptr && description != nullptr);
    if (view != nullptr)
      throw ApiError(Status::kErrorNotSupported, "resource views of textures are not supported");
    *handle = rt.textures.add(texture_of(levels_of(rt, *resource), *description));
    rt.texture_objects.textures[*handle] = {*resource, *description};
  });
}
LOCKSTEP_CUDA_API cudaDestroyTextureObject(unsigned long long handle) {
  return api([&](Runtime& rt) {
    require(handle == 0 || rt.textures.remove(handle));
    rt.texture_objects.textures.erase(handle);
  });
}
LOCKSTEP_CUDA_API cudaCreateSurfaceObject(unsigned long long* handle, const abi::ResourceDesc* resource) {
  return api([&](Runtime& rt) {
    require(handle != nullptr && resource != nullptr && resource->resType == abi::ResourceDesc::kArray);
    *handle = rt.textures.add_surface(rt.arrays.at(resource->res.array.array).image());
    rt.texture_objects.surfaces[*handle] = *resource;
  });
}
LOCKSTEP_CUDA_API cudaDestroySurfaceObject(unsigned long long handle) {
  return api([&](Runtime& rt) {
    require(handle == 0 || rt.textures.remove(handle));
    rt.texture_objects.surfaces.erase(handle);
  });
}

namespace {
const TextureObjects::Texture& object_of(Runtime& rt, unsigned long long handle) {
  const auto found = rt.texture_objects.textures.find(handle);
  require(found != rt.texture_objects.textures.end());
  return found->second;
}
}  // namespace

LOCKSTEP_CUDA_API cudaGetTextureObjectResourceDesc(abi::ResourceDesc* out, unsigned long long handle) {
  return api([&](Runtime& rt) {
    require(out != nullptr);
    *out = object_of(rt, handle).resource;
  });
}
LOCKSTEP_CUDA_API cudaGetTextureObjectTextureDesc(abi::TextureDesc* out, unsigned long long handle) {
  return api([&](Runtime& rt) {
    require(out != nullptr);
    *out = object_of(rt, handle).description;
  });
}
/// No texture object has a view, which is an error when one is asked for (CUDA Runtime API).
LOCKSTEP_CUDA_API cudaGetTextureObjectResourceViewDesc(void*, unsigned long long handle) {
  return api([&](Runtime& rt) {
    (void)object_of(rt, handle);
    throw ApiError(Status::kErrorInvalidValue);
  });
}
LOCKSTEP_CUDA_API cudaGetSurfaceObjectResourceDesc(abi::ResourceDesc* out, unsigned long long handle) {
  return api([&](Runtime& rt) {
    const auto found = rt.texture_objects.surfaces.find(handle);
    require(out != nullptr && found != rt.texture_objects.surfaces.end());
    *out = found->second;
  });
}

}  // namespace lockstep::cuda
