// Arrays and texture objects of the driver API: its own descriptions, turned into the runtime's.
#include <algorithm>

#include "cuda/array.hpp"
#include "cuda/driver.hpp"

extern "C" {
int cudaMallocMipmappedArray(void**, const lockstep::cuda::abi::ChannelFormatDesc*,
                             lockstep::cuda::abi::Extent, unsigned, unsigned);
int cudaGetMipmappedArrayLevel(void**, const void*, unsigned);
int cudaFreeMipmappedArray(void*);
int cudaArrayGetMemoryRequirements(void*, void*, int);
int cudaArrayGetPlane(void**, void*, unsigned);
int cudaArrayGetSparseProperties(void*, void*);
int cudaMipmappedArrayGetMemoryRequirements(void*, void*, int);
int cudaMipmappedArrayGetSparseProperties(void*, void*);
int cudaGetTextureObjectResourceViewDesc(void*, unsigned long long);
int cudaCreateSurfaceObject(unsigned long long*, const lockstep::cuda::abi::ResourceDesc*);
int cudaDestroySurfaceObject(unsigned long long);
int cudaGetSurfaceObjectResourceDesc(lockstep::cuda::abi::ResourceDesc*, unsigned long long);
}

namespace lockstep::cuda {

namespace {

/// CUDA_ARRAY_DESCRIPTOR.
struct ArrayDescription {
  std::size_t width, height;
  int format;
  unsigned channels;
};
static_assert(sizeof(ArrayDescription) == 24);

/// CUDA_ARRAY3D_DESCRIPTOR.
struct ArrayDescription3D {
  std::size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
static_assert(sizeof(ArrayDescription3D) == 40);

/// CUDA_RESOURCE_DESC.
struct Resource {
  int type;
  union {
    void* array;
    struct {
      DevicePointer pointer;
      int format;
      unsigned channels;
      std::size_t bytes;
    } linear;
    struct {
      DevicePointer pointer;
      int format;
      unsigned channels;
      std::size_t width, height, pitch;
    } pitch;
    int reserved[32];
  };
  unsigned flags;
};
static_assert(sizeof(Resource) == 144);

/// CUDA_TEXTURE_DESC.
struct Texture {
  int address[3], filter;
  unsigned flags, anisotropy;
  int mipmap_filter;
  float level_bias, min_level, max_level, border[4];
  int reserved[12];
};
static_assert(sizeof(Texture) == 104);

/// enum CUarray_format: the kind in the high bits, the size in the low ones.
struct Format {
  int number, bits, kind;
};
using ChannelFormat = abi::ChannelFormatDesc;
constexpr Format kFormats[] = {{0x01, 8, ChannelFormat::kUnsigned},  {0x02, 16, ChannelFormat::kUnsigned},
                               {0x03, 32, ChannelFormat::kUnsigned}, {0x08, 8, ChannelFormat::kSigned},
                               {0x09, 16, ChannelFormat::kSigned},   {0x0a, 32, ChannelFormat::kSigned},
                               {0x10, 16, ChannelFormat::kFloat},    {0x20, 32, ChannelFormat::kFloat}};

abi::ChannelFormatDesc channels_of(int format, unsigned count) {
  const auto* row = std::ranges::find(kFormats, format, &Format::number);
  require(row != std::end(kFormats) && (count == 1 || count == 2 || count == 4));
  return {row->bits, count > 1 ? row->bits : 0, count > 2 ? row->bits : 0, count > 2 ? row->bits : 0,
          row->kind};
}
int format_of(const abi::ChannelFormatDesc& d) {
  const auto* row = std::ranges::find_if(
      kFormats, [&](const Format& format) { return format.bits == d.x && format.kind == d.f; });
  require(row != std::end(kFormats));
  return row->number;
}

abi::ResourceDesc runtime_resource(const Resource& r) {
  abi::ResourceDesc out{};
  out.resType = r.type;
  switch (r.type) {
    case abi::ResourceDesc::kArray:
    case abi::ResourceDesc::kMipmappedArray:
      out.res.array.array = r.array;
      return out;
    case abi::ResourceDesc::kLinear:
      out.res.linear = {reinterpret_cast<void*>(r.linear.pointer),
                        channels_of(r.linear.format, r.linear.channels), r.linear.bytes};
      return out;
    case abi::ResourceDesc::kPitch2D:
      out.res.pitch2D = {reinterpret_cast<void*>(r.pitch.pointer),
                         channels_of(r.pitch.format, r.pitch.channels), r.pitch.width, r.pitch.height,
                         r.pitch.pitch};
      return out;
    default:
      throw ApiError(Status::kErrorInvalidValue);
  }
}

Resource driver_resource(const abi::ResourceDesc& r) {
  Resource out{};
  out.type = r.resType;
  const auto address = [](void* pointer) { return reinterpret_cast<DevicePointer>(pointer); };
  const auto& line = r.res.linear;
  const auto& pitch = r.res.pitch2D;
  if (r.resType == abi::ResourceDesc::kLinear)
    out.linear = {address(line.devPtr), format_of(line.desc), texel_format(line.desc).channels,
                  line.sizeInBytes};
  else if (r.resType == abi::ResourceDesc::kPitch2D)
    out.pitch = {address(pitch.devPtr), format_of(pitch.desc), texel_format(pitch.desc).channels,
                 pitch.width,           pitch.height,          pitch.pitchInBytes};
  else
    out.array = r.res.array.array;
  return out;
}

constexpr unsigned kReadAsInteger = 1, kNormalizedCoordinates = 2, kSrgb = 16;

abi::TextureDesc runtime_texture(const Texture& t, bool narrow_integer) {
  abi::TextureDesc out{};
  std::ranges::copy(t.address, out.addressMode);
  out.filterMode = t.filter;
  out.readMode = narrow_integer && (t.flags & kReadAsInteger) == 0 ? 1 : 0;
  out.sRGB = (t.flags & kSrgb) != 0;
  std::ranges::copy(t.border, out.borderColor);
  out.normalizedCoords = (t.flags & kNormalizedCoordinates) != 0;
  out.maxAnisotropy = t.anisotropy;
  out.mipmapFilterMode = t.mipmap_filter;
  out.mipmapLevelBias = t.level_bias;
  out.minMipmapLevelClamp = t.min_level;
  out.maxMipmapLevelClamp = t.max_level;
  return out;
}

/// 8 and 16-bit integers, which textures read as fractions unless they are told not to.
bool narrow_integers(Runtime& rt, const abi::ResourceDesc& r) {
  const abi::ChannelFormatDesc format = r.resType == abi::ResourceDesc::kArray
                                            ? rt.arrays.at(r.res.array.array).format
                                        : r.resType == abi::ResourceDesc::kMipmappedArray
                                            ? rt.arrays.mipmapped(r.res.array.array).levels.front()->format
                                        : r.resType == abi::ResourceDesc::kLinear ? r.res.linear.desc
                                                                                  : r.res.pitch2D.desc;
  return format.f != ChannelFormat::kFloat && format.x <= 16;
}

const TextureObjects::Texture& texture_of(Runtime& rt, unsigned long long handle) {
  const auto found = rt.texture_objects.textures.find(handle);
  require(found != rt.texture_objects.textures.end());
  return found->second;
}

Texture driver_texture(Runtime& rt, const TextureObjects::Texture& object) {
  const abi::TextureDesc& t = object.description;
  Texture out{};
  std::ranges::copy(t.addressMode, out.address);
  out.filter = t.filterMode;
  out.flags = (narrow_integers(rt, object.resource) && t.readMode == 0 ? kReadAsInteger : 0U) |
              (t.normalizedCoords != 0 ? kNormalizedCoordinates : 0U) | (t.sRGB != 0 ? kSrgb : 0U);
  out.anisotropy = t.maxAnisotropy;
  out.mipmap_filter = t.mipmapFilterMode;
  out.level_bias = t.mipmapLevelBias;
  out.min_level = t.minMipmapLevelClamp;
  out.max_level = t.maxMipmapLevelClamp;
  std::ranges::copy(t.borderColor, out.border);
  return out;
}

}  // namespace

LOCKSTEP_CUDA_API cuArrayCreate_v2(void** array, const ArrayDescription* d) {
  return driver_api([&](Runtime& rt) {
    require(array != nullptr && d != nullptr);
    *array = &make_array(rt, channels_of(d->format, d->channels), {d->width, d->height, 0}, 0);
  });
}
LOCKSTEP_CUDA_API cuArray3DCreate_v2(void** array, const ArrayDescription3D* d) {
  return driver_api([&](Runtime& rt) {
    require(array != nullptr && d != nullptr);
    *array = &make_array(rt, channels_of(d->format, d->channels), {d->width, d->height, d->depth}, d->flags);
  });
}
LOCKSTEP_CUDA_API cuArrayGetDescriptor_v2(ArrayDescription* d, void* array) {
  return driver_api([&](Runtime& rt) {
    require(d != nullptr);
    const Array& a = rt.arrays.at(array);
    *d = {a.width, a.height, format_of(a.format), texel_format(a.format).channels};
  });
}
LOCKSTEP_CUDA_API cuArray3DGetDescriptor_v2(ArrayDescription3D* d, void* array) {
  return driver_api([&](Runtime& rt) {
    require(d != nullptr);
    const Array& a = rt.arrays.at(array);
    *d = {a.width, a.height, a.depth, format_of(a.format), texel_format(a.format).channels, a.flags};
  });
}
LOCKSTEP_CUDA_API cuArrayDestroy(void* array) {
  return driver([&] { return cudaFreeArray(array); });
}
LOCKSTEP_CUDA_API cuMipmappedArrayCreate(void** array, const ArrayDescription3D* d, unsigned levels) {
  if (d == nullptr) return static_cast<int>(Status::kErrorInvalidValue);
  abi::ChannelFormatDesc format{};
  const int result = driver_api([&](Runtime&) { format = channels_of(d->format, d->channels); });
  if (result != 0) return result;
  return driver([&] {
    return cudaMallocMipmappedArray(array, &format, {d->width, d->height, d->depth}, levels, d->flags);
  });
}
LOCKSTEP_CUDA_API cuMipmappedArrayGetLevel(void** level, void* array, unsigned number) {
  return driver([&] { return cudaGetMipmappedArrayLevel(level, array, number); });
}
LOCKSTEP_CUDA_API cuMipmappedArrayDestroy(void* array) {
  return driver([&] { return cudaFreeMipmappedArray(array); });
}
LOCKSTEP_CUDA_API cuArrayGetMemoryRequirements(void* out, void* array, int device) {
  return driver([&] { return cudaArrayGetMemoryRequirements(out, array, device); });
}
LOCKSTEP_CUDA_API cuArrayGetPlane(void** plane, void* array, unsigned number) {
  return driver([&] { return cudaArrayGetPlane(plane, array, number); });
}
LOCKSTEP_CUDA_API cuArrayGetSparseProperties(void* out, void* array) {
  return driver([&] { return cudaArrayGetSparseProperties(out, array); });
}
LOCKSTEP_CUDA_API cuMipmappedArrayGetMemoryRequirements(void* out, void* array, int device) {
  return driver([&] { return cudaMipmappedArrayGetMemoryRequirements(out, array, device); });
}
LOCKSTEP_CUDA_API cuMipmappedArrayGetSparseProperties(void* out, void* array) {
  return driver([&] { return cudaMipmappedArrayGetSparseProperties(out, array); });
}
LOCKSTEP_CUDA_API cuTexObjectCreate(unsigned long long* handle, const Resource* resource,
                                    const Texture* texture, const void* view) {
  abi::ResourceDesc r{};
  abi::TextureDesc t{};
  const int result = driver_api([&](Runtime& rt) {
    require(resource != nullptr && texture != nullptr);
    r = runtime_resource(*resource);
    t = runtime_texture(*texture, narrow_integers(rt, r));
  });
  return result != 0 ? result : driver([&] { return cudaCreateTextureObject(handle, &r, &t, view); });
}
LOCKSTEP_CUDA_API cuTexObjectDestroy(unsigned long long handle) {
  return driver([&] { return cudaDestroyTextureObject(handle); });
}

LOCKSTEP_CUDA_API cuTexObjectGetResourceDesc(Resource* out, unsigned long long handle) {
  return driver_api([&](Runtime& rt) {
    require(out != nullptr);
    *out = driver_resource(texture_of(rt, handle).resource);
  });
}
LOCKSTEP_CUDA_API cuTexObjectGetTextureDesc(Texture* out, unsigned long long handle) {
  return driver_api([&](Runtime& rt) {
    require(out != nullptr);
    *out = driver_texture(rt, texture_of(rt, handle));
  });
}
LOCKSTEP_CUDA_API cuTexObjectGetResourceViewDesc(void* out, unsigned long long handle) {
  return driver([&] { return cudaGetTextureObjectResourceViewDesc(out, handle); });
}
LOCKSTEP_CUDA_API cuSurfObjectCreate(unsigned long long* handle, const Resource* resource) {
  abi::ResourceDesc r{};
  const int result = driver_api([&](Runtime&) {
    require(resource != nullptr);
    r = runtime_resource(*resource);
  });
  return result != 0 ? result : driver([&] { return cudaCreateSurfaceObject(handle, &r); });
}
LOCKSTEP_CUDA_API cuSurfObjectDestroy(unsigned long long handle) {
  return driver([&] { return cudaDestroySurfaceObject(handle); });
}
LOCKSTEP_CUDA_API cuSurfObjectGetResourceDesc(Resource* out, unsigned long long handle) {
  abi::ResourceDesc r{};
  const int result = driver([&] { return cudaGetSurfaceObjectResourceDesc(&r, handle); });
  return result != 0 ? result : driver_api([&](Runtime&) {
    require(out != nullptr);
    *out = driver_resource(r);
  });
}

}  // namespace lockstep::cuda
