// Arrays and texture objects of the driver API: its own descriptions, turned into the runtime's.
#include <algorithm>

#include "cuda/driver.hpp"

namespace lockstep::cuda {

namespace {

/// CUDA_ARRAY_DESCRIPTOR.
struct ArrayDescription {
  std::size_t width, height;
  int format;
  unsigned channels;
};
static_assert(sizeof(ArrayDescription) == 24);

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
abi::ChannelFormatDesc channels_of(int format, unsigned count) {
  enum { kSigned, kUnsigned, kFloat };
  struct Row {
    int format, bits, kind;
  };
  constexpr Row kRows[] = {{0x01, 8, kUnsigned}, {0x02, 16, kUnsigned}, {0x03, 32, kUnsigned},
                           {0x08, 8, kSigned},   {0x09, 16, kSigned},   {0x0a, 32, kSigned},
                           {0x10, 16, kFloat},   {0x20, 32, kFloat}};
  const auto* row = std::ranges::find(kRows, format, &Row::format);
  require(row != std::end(kRows) && (count == 1 || count == 2 || count == 4));
  return {row->bits, count > 1 ? row->bits : 0, count > 2 ? row->bits : 0, count > 2 ? row->bits : 0,
          row->kind};
}

abi::ResourceDesc runtime_resource(const Resource& r) {
  enum { kArray, kMipmappedArray, kLinear, kPitch2D };
  abi::ResourceDesc out{};
  out.resType = r.type;
  switch (r.type) {
    case kArray:
    case kMipmappedArray:
      out.res.array.array = r.array;
      return out;
    case kLinear:
      out.res.linear = {reinterpret_cast<void*>(r.linear.pointer),
                        channels_of(r.linear.format, r.linear.channels), r.linear.bytes};
      return out;
    case kPitch2D:
      out.res.pitch2D = {reinterpret_cast<void*>(r.pitch.pointer),
                         channels_of(r.pitch.format, r.pitch.channels), r.pitch.width, r.pitch.height,
                         r.pitch.pitch};
      return out;
    default:
      throw ApiError(Status::kErrorInvalidValue);
  }
}

abi::TextureDesc runtime_texture(const Texture& t, bool narrow_integer) {
  constexpr unsigned kReadAsInteger = 1, kNormalizedCoordinates = 2, kSrgb = 16;
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
  constexpr int kFloat = 2;
  const abi::ChannelFormatDesc format = r.resType == 0   ? rt.arrays.at(r.res.array.array).format
                                        : r.resType == 2 ? r.res.linear.desc
                                                         : r.res.pitch2D.desc;
  return format.f != kFloat && format.x <= 16;
}

}  // namespace

LOCKSTEP_CUDA_API cuArrayCreate_v2(void** array, const ArrayDescription* d) {
  abi::ChannelFormatDesc format{};
  const int result = driver_api([&](Runtime&) {
    require(d != nullptr);
    format = channels_of(d->format, d->channels);
  });
  return result != 0 ? result
                     : driver([&] { return cudaMallocArray(array, &format, d->width, d->height, 0); });
}
LOCKSTEP_CUDA_API cuArrayDestroy(void* array) {
  return driver([&] { return cudaFreeArray(array); });
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

}  // namespace lockstep::cuda
