// Arrays, textures, surfaces and pools: what both APIs say of what was made, and fills and ranges of memory.
// What is expected is what the documentation in cuda_runtime_api.h and cuda.h (CUDA 13.0) says. Prints PASS,
// or which check failed.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "driver_types.hpp"
#include "registration.hpp"
#include "runtime_types.hpp"

namespace {

constexpr int kInvalidValue = 1, kOutOfMemory = 2, kNotSupported = 801;

struct ArrayDescription {  // CUDA_ARRAY3D_DESCRIPTOR; without depth and flags CUDA_ARRAY_DESCRIPTOR
  std::size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
struct FlatDescription {
  std::size_t width, height;
  int format;
  unsigned channels;
};
struct DriverResource {  // CUDA_RESOURCE_DESC
  int type;
  union {
    void* array;
    struct {
      Word pointer;
      int format;
      unsigned channels;
      std::size_t width, height, pitch;  // linear memory: width in bytes
    } memory;
    int reserved[32];
  };
  unsigned flags;
};
struct DriverTexture {  // CUDA_TEXTURE_DESC
  int address[3], filter;
  unsigned flags, anisotropy;
  int mipmap_filter;
  float level_bias, min_level, max_level, border[4];
  int reserved[12];
};
struct Resource {  // cudaResourceDesc
  int type;
  union {
    void* array;
    struct {
      void* pointer;
      Format format;
      std::size_t width, height, pitch;
    } memory;
    int reserved[32];
  };
  unsigned flags;
};
struct TextureDescription {  // cudaTextureDesc
  int address[3], filter, read_mode, srgb;
  float border[4];
  int normalized;
  unsigned anisotropy;
  int mipmap_filter;
  float level_bias, min_level, max_level;
  int trilinear, seamless;
};
struct PoolProperties {  // cudaMemPoolProps
  int type = 1, handles = 0;
  MemLocation location{1, 0};
  void* security = nullptr;
  std::size_t most = 0;
  unsigned char rest[56] = {};
};

}  // namespace

extern "C" {
int cuInit(unsigned);
int cuArray3DCreate_v2(void**, const ArrayDescription*);
int cuArray3DGetDescriptor_v2(ArrayDescription*, void*);
int cuArrayCreate_v2(void**, const FlatDescription*);
int cuArrayGetDescriptor_v2(FlatDescription*, void*);
int cuArrayDestroy(void*);
int cuMipmappedArrayCreate(void**, const ArrayDescription*, unsigned);
int cuMipmappedArrayGetLevel(void**, void*, unsigned);
int cuMipmappedArrayDestroy(void*);
int cuTexObjectCreate(unsigned long long*, const DriverResource*, const DriverTexture*, const void*);
int cuTexObjectDestroy(unsigned long long);
int cuTexObjectGetResourceDesc(DriverResource*, unsigned long long);
int cuTexObjectGetTextureDesc(DriverTexture*, unsigned long long);
int cuSurfObjectCreate(unsigned long long*, const DriverResource*);
int cuSurfObjectGetResourceDesc(DriverResource*, unsigned long long);
int cuSurfObjectDestroy(unsigned long long);
int cudaMalloc3DArray(void**, const Format*, Extent, unsigned);
int cudaGetChannelDesc(Format*, void*);
int cudaArrayGetInfo(Format*, Extent*, unsigned*, void*);
int cudaFreeArray(void*);
int cudaCreateTextureObject(unsigned long long*, const Resource*, const TextureDescription*, const void*);
int cudaGetTextureObjectResourceDesc(Resource*, unsigned long long);
int cudaGetTextureObjectTextureDesc(TextureDescription*, unsigned long long);
int cudaGetTextureObjectResourceViewDesc(void*, unsigned long long);
int cudaDestroyTextureObject(unsigned long long);
int cudaCreateSurfaceObject(unsigned long long*, const Resource*);
int cudaDestroySurfaceObject(unsigned long long);
int cudaGetSurfaceObjectResourceDesc(Resource*, unsigned long long);
int cudaMemPoolCreate(void**, const PoolProperties*);
int cudaMemPoolDestroy(void*);
int cudaMemPoolSetAttribute(void*, int, void*);
int cudaMemPoolGetAttribute(void*, int, void*);
int cudaMemPoolTrimTo(void*, std::size_t);
int cudaDeviceGetDefaultMemPool(void**, int);
int cudaDeviceGetMemPool(void**, int);
int cudaDeviceSetMemPool(int, void*);
int cudaMallocFromPoolAsync(void**, std::size_t, void*, void*);
int cudaFreeAsync(void*, void*);
int cuMemAllocPitch_v2(Word*, std::size_t*, std::size_t, std::size_t, unsigned);
int cuMemGetAddressRange_v2(Word*, std::size_t*, Word);
int cuMemsetD8_v2(Word, unsigned char, std::size_t);
int cuMemsetD16_v2(Word, unsigned short, std::size_t);
int cuMemsetD2D8_v2(Word, std::size_t, unsigned char, std::size_t, std::size_t);
int cuMemsetD2D16_v2(Word, std::size_t, unsigned short, std::size_t, std::size_t);
int cuMemsetD32Async(Word, unsigned, std::size_t, void*);
int cuMemcpyDtoD_v2(Word, Word, std::size_t);
int cuMemcpyDtoH_v2(void*, Word, std::size_t);
int cuMemcpy(Word, Word, std::size_t);
int cuMemHostRegister_v2(void*, std::size_t, unsigned);
int cuMemHostUnregister(void*);
int cuMemHostGetDevicePointer_v2(Word*, void*, unsigned);
int cuMemFree_v2(Word);
}

namespace {

constexpr int kUnsigned8 = 1, kSigned16 = 9, kHalf = 16, kFloat = 32;  // CUarray_format

void arrays() {
  const struct {
    int format;
    unsigned channels;
    Format runtime;
  } formats[] = {{kUnsigned8, 4, {8, 8, 8, 8, 1}},
                 {kSigned16, 2, {16, 16, 0, 0, 0}},
                 {kHalf, 1, {16, 0, 0, 0, 2}},
                 {kFloat, 4, {32, 32, 32, 32, 2}},
                 {3, 1, {32, 0, 0, 0, 1}}};
  for (const auto& [format, channels, runtime] : formats) {
    void* array = nullptr;
    const FlatDescription flat{16, 8, format, channels};
    FlatDescription found{};
    check(cuArrayCreate_v2(&array, &flat) == 0 && cuArrayGetDescriptor_v2(&found, array) == 0 &&
              found.width == 16 && found.height == 8 && found.format == format && found.channels == channels,
          "an array's description");
    Format as_runtime{};
    check(cudaGetChannelDesc(&as_runtime, array) == 0 &&
              std::memcmp(&as_runtime, &runtime, sizeof runtime) == 0,
          "the runtime's");
    check(cuArrayDestroy(array) == 0 && cudaGetChannelDesc(&as_runtime, array) != 0,
          "an array that is no more");
  }
  void *array = nullptr, *level = nullptr;
  const ArrayDescription layered{16, 8, 5, kFloat, 1, 1};  // CUDA_ARRAY3D_LAYERED
  ArrayDescription found{};
  check(cuArray3DCreate_v2(&array, &layered) == 0 && cuArray3DGetDescriptor_v2(&found, array) == 0 &&
            found.depth == 5 && found.flags == 1 && found.width == 16,
        "layers");
  Extent extent{};
  unsigned flags = 9;
  Format format{};
  check(cudaArrayGetInfo(&format, &extent, &flags, array) == 0 && extent.depth == 5 && flags == 1 &&
            format.x == 32 && format.kind == 2,
        "what the runtime says of them");
  check(cudaArrayGetInfo(nullptr, nullptr, &flags, array) == 0, "of which each may be left out");
  for (const auto& [wrong, channels] : {std::pair{kFloat, 3u}, std::pair{kFloat, 0u}, std::pair{0, 1u}}) {
    const FlatDescription bad{16, 8, wrong, channels};
    check(cuArrayCreate_v2(&array, &bad) == kInvalidValue, "channels and formats that there are not");
  }
  const ArrayDescription pyramid{16, 8, 0, kFloat, 1, 0};
  void* levels = nullptr;
  check(cuMipmappedArrayCreate(&levels, &pyramid, 3) == 0, "levels");
  for (unsigned l = 0; l < 3; ++l)
    check(cuMipmappedArrayGetLevel(&level, levels, l) == 0 && cuArray3DGetDescriptor_v2(&found, level) == 0 &&
              found.width == 16u >> l && found.height == 8u >> l,
          "each half as large as the one before");
  check(cuMipmappedArrayGetLevel(&level, levels, 3) == kInvalidValue, "a level too many");
  check(cuMipmappedArrayDestroy(levels) == 0, "the end of all levels");
}

void textures() {
  void *array = nullptr, *memory = nullptr;
  const Format bytes{8, 8, 0, 0, 1};
  check(cudaMalloc3DArray(&array, &bytes, {16, 8, 0}, 2) == 0 && cudaMalloc(&memory, 4096) == 0, "memory");
  DriverResource resource{};
  resource.type = 0;
  resource.array = array;
  DriverTexture texture{{0, 2, 3}, 1, 2, 4, 1, 0.5f, 1, 7, {1, 2, 3, 4}, {}};  // normalised coordinates
  unsigned long long handle = 0;
  check(cuTexObjectCreate(&handle, &resource, &texture, nullptr) == 0 && handle != 0, "a texture");
  DriverTexture found{};
  check(cuTexObjectGetTextureDesc(&found, handle) == 0 && std::memcmp(&found, &texture, sizeof found) == 0,
        "its description");
  DriverResource found_resource{};
  check(cuTexObjectGetResourceDesc(&found_resource, handle) == 0 && found_resource.type == 0 &&
            found_resource.array == array,
        "its array");
  TextureDescription runtime{};
  check(cudaGetTextureObjectTextureDesc(&runtime, handle) == 0 && runtime.address[1] == 2 &&
            runtime.normalized == 1 && runtime.read_mode == 1 && runtime.border[3] == 4 &&
            runtime.anisotropy == 4,
        "as the runtime has it: bytes are read as fractions");
  check(cudaGetTextureObjectResourceViewDesc(&runtime, handle) == kInvalidValue, "it has no view");
  texture.flags = 1;  // CU_TRSF_READ_AS_INTEGER
  check(cuTexObjectCreate(&handle, &resource, &texture, nullptr) == 0 &&
            cudaGetTextureObjectTextureDesc(&runtime, handle) == 0 && runtime.read_mode == 0 &&
            runtime.normalized == 0,
        "bytes as integers");
  check(cuTexObjectDestroy(handle) == 0 && cuTexObjectGetTextureDesc(&found, handle) == kInvalidValue,
        "a texture that is no more");
  Resource plane{};
  plane.type = 3;
  plane.memory = {memory, {32, 0, 0, 0, 2}, 10, 6, 64};
  TextureDescription description{};
  check(cudaCreateTextureObject(&handle, &plane, &description, nullptr) == 0 &&
            cuTexObjectGetResourceDesc(&found_resource, handle) == 0 && found_resource.type == 3 &&
            found_resource.memory.pointer == reinterpret_cast<Word>(memory) &&
            found_resource.memory.format == kFloat && found_resource.memory.channels == 1 &&
            found_resource.memory.width == 10 && found_resource.memory.height == 6 &&
            found_resource.memory.pitch == 64,
        "memory with a pitch");
  description.address[0] = 4;
  check(cudaCreateTextureObject(&handle, &plane, &description, nullptr) == kInvalidValue, "address modes");
  plane.type = 4, description.address[0] = 0;
  check(cudaCreateTextureObject(&handle, &plane, &description, nullptr) == kInvalidValue, "kinds of memory");
  plane.type = 3, plane.memory.pointer = &handle;
  check(cudaCreateTextureObject(&handle, &plane, &description, nullptr) == kInvalidValue,
        "the host's memory");
  Resource of_array{}, found_surface{};
  of_array.array = array;
  unsigned long long surface = 0;
  check(cudaCreateSurfaceObject(&surface, &of_array) == 0 &&
            cudaGetSurfaceObjectResourceDesc(&found_surface, surface) == 0 && found_surface.array == array,
        "a surface");
  check(cuSurfObjectGetResourceDesc(&found_resource, surface) == 0 && found_resource.array == array,
        "as the driver has it");
  check(cudaGetTextureObjectResourceDesc(&found_surface, surface) == kInvalidValue, "which is no texture");
  check(cudaCreateSurfaceObject(&surface, &plane) == kInvalidValue, "surfaces are arrays");
  check(cuSurfObjectCreate(&surface, &resource) == 0 && cuSurfObjectDestroy(surface) == 0 &&
            cudaGetSurfaceObjectResourceDesc(&found_surface, surface) == kInvalidValue,
        "a surface that is no more");
  check(cudaDestroyTextureObject(0) == 0 && cudaDestroySurfaceObject(0) == 0, "none is no error");
}

void pools() {
  PoolProperties properties;
  properties.most = std::size_t{8} << 20;
  void *pool = nullptr, *standard = nullptr, *current = nullptr, *memory = nullptr;
  check(cudaMemPoolCreate(&pool, &properties) == 0, "a pool");
  check(cudaDeviceGetDefaultMemPool(&standard, 0) == 0 && cudaDeviceGetMemPool(&current, 0) == 0 &&
            current == standard && standard != pool,
        "the device's own");
  check(cudaDeviceSetMemPool(0, pool) == 0 && cudaDeviceGetMemPool(&current, 0) == 0 && current == pool &&
            cudaDeviceGetDefaultMemPool(&current, 0) == 0 && current == standard,
        "another one in its place");
  for (const int reuse : {1, 2, 3}) {
    int value = 9;
    check(cudaMemPoolGetAttribute(pool, reuse, &value) == 0 && value == 1, "reuse is allowed");
    value = 0;
    check(cudaMemPoolSetAttribute(pool, reuse, &value) == 0 &&
              cudaMemPoolGetAttribute(pool, reuse, &value) == 0 && value == 0,
          "until it is not");
  }
  std::uint64_t threshold = 9, used = 9, high = 9, reserved = 9;
  check(cudaMemPoolGetAttribute(pool, 4, &threshold) == 0 && threshold == 0, "nothing is kept");
  threshold = 1 << 20;
  check(cudaMemPoolSetAttribute(pool, 4, &threshold) == 0, "something is");
  threshold = 0;
  check(cudaMemPoolGetAttribute(pool, 4, &threshold) == 0 && threshold == 1 << 20, "the threshold");
  check(cudaMallocFromPoolAsync(&memory, 1000, pool, nullptr) == 0 &&
            cudaMemPoolGetAttribute(pool, 7, &used) == 0 && used >= 1000 &&
            cudaMemPoolGetAttribute(pool, 5, &reserved) == 0 && reserved >= used,
        "what is in use");
  check(cudaFreeAsync(memory, nullptr) == 0 && cudaDeviceSynchronize() == 0 &&
            cudaMemPoolGetAttribute(pool, 8, &high) == 0 && high == used &&
            cudaMemPoolGetAttribute(pool, 7, &used) == 0 && used == 0,
        "the most that was");
  high = 5;
  check(cudaMemPoolSetAttribute(pool, 8, &high) == kInvalidValue, "a mark can only be reset");
  high = 0;
  check(cudaMemPoolSetAttribute(pool, 8, &high) == 0 && cudaMemPoolGetAttribute(pool, 8, &high) == 0 &&
            high == 0,
        "to what is in use");
  check(cudaMemPoolSetAttribute(pool, 5, &reserved) == kInvalidValue, "what is reserved is not set");
  check(cudaMemPoolGetAttribute(pool, 99, &high) == kInvalidValue, "an attribute that there is not");
  check(cudaMemPoolTrimTo(pool, 0) == 0 && cudaMemPoolGetAttribute(pool, 5, &reserved) == 0 && reserved == 0,
        "nothing is left");
  check(cudaMallocFromPoolAsync(&memory, std::size_t{9} << 20, pool, nullptr) == kOutOfMemory, "its limit");
  check(cudaMemPoolDestroy(standard) != 0, "the device's own pool stays");
  check(cudaMemPoolDestroy(pool) == 0 && cudaDeviceGetMemPool(&current, 0) == 0 && current == standard,
        "which takes the place of one that is destroyed");
  properties.handles = 1;
  check(cudaMemPoolCreate(&pool, &properties) == kNotSupported, "handles for other processes");
  properties.handles = 0, properties.location = {1, 1};
  check(cudaMemPoolCreate(&pool, &properties) != 0, "a device that is not there");
}

void fills() {
  Word memory = 0, base = 0, other = 0;
  std::size_t pitch = 0, size = 0;
  check(cuMemAllocPitch_v2(&memory, &pitch, 100, 4, 4) == 0 && pitch >= 100 && pitch % 4 == 0, "rows");
  check(cuMemAllocPitch_v2(&other, &pitch, 100, 4, 5) == kInvalidValue, "elements of 4, 8 or 16 bytes");
  check(cuMemAllocPitch_v2(&other, &pitch, 100, 4, 16) == 0, "of 16");
  check(cuMemGetAddressRange_v2(&base, &size, memory + 150) == 0 && base == memory && size >= 4 * pitch,
        "the allocation of an address");
  check(cuMemGetAddressRange_v2(nullptr, &size, memory) == 0 &&
            cuMemGetAddressRange_v2(&base, nullptr, memory) == 0,
        "of which either may be left out");
  check(cuMemGetAddressRange_v2(&base, &size, 64) != 0, "an address of nothing");
  std::vector<unsigned char> expected(4 * pitch), found(4 * pitch);
  const auto same = [&](const char* what) {
    check(cuMemcpyDtoH_v2(found.data(), memory, found.size()) == 0 && found == expected, what);
  };
  check(cuMemsetD8_v2(memory, 7, 4 * pitch) == 0, "bytes");
  expected.assign(4 * pitch, 7);
  check(cuMemsetD16_v2(memory + 2, 0x1234, 3) == 0 && cuMemsetD16_v2(memory + 1, 1, 1) == kInvalidValue,
        "halves, which are aligned");
  for (std::size_t i = 0; i < 3; ++i) expected[2 + 2 * i] = 0x34, expected[3 + 2 * i] = 0x12;
  check(cuMemsetD2D8_v2(memory + 10, pitch, 9, 5, 3) == 0, "a rectangle of bytes");
  check(cuMemsetD2D16_v2(memory + 20, pitch, 0xabcd, 2, 4) == 0, "of halves");
  for (std::size_t y = 0; y < 4; ++y) {
    for (std::size_t x = 0; x < 5 && y < 3; ++x) expected[y * pitch + 10 + x] = 9;
    for (std::size_t x = 0; x < 2; ++x)
      expected[y * pitch + 20 + 2 * x] = 0xcd, expected[y * pitch + 21 + 2 * x] = 0xab;
  }
  same("what was filled");
  check(cuMemsetD32Async(memory + 32, 0x01020304, 1, nullptr) == 0, "a word");
  for (std::size_t i = 0; i < 4; ++i) expected[32 + i] = static_cast<unsigned char>(4 - i);
  check(cuMemcpyDtoD_v2(memory + 40, memory + 32, 4) == 0 && cuMemcpy(memory + 48, memory + 32, 4) == 0,
        "copies");
  for (const std::size_t to : {40u, 48u})
    std::copy_n(expected.begin() + 32, 4, expected.begin() + static_cast<long>(to));
  same("what was copied");
  check(cuMemFree_v2(memory) == 0 && cuMemFree_v2(other) == 0 && cuMemFree_v2(memory) == kInvalidValue,
        "memory that is no more");
}

void host_memory() {
  alignas(4096) static char page[8192];
  Word device = 0;
  check(cuMemHostGetDevicePointer_v2(&device, page, 0) == kInvalidValue, "memory that is not registered");
  check(cuMemHostRegister_v2(page, sizeof page, 2) == 0 &&
            cuMemHostGetDevicePointer_v2(&device, page + 100, 0) == 0 &&
            device == reinterpret_cast<Word>(page + 100),
        "one address on both sides");
  check(cuMemHostGetDevicePointer_v2(&device, page, 1) == kInvalidValue, "there are no flags");
  check(cuMemHostRegister_v2(page, 64, 0) == 712, "registered twice");  // HOST_MEMORY_ALREADY_REGISTERED
  check(cuMemsetD8_v2(reinterpret_cast<Word>(page), 3, 10) == 0 && page[9] == 3 && page[10] == 0, "filled");
  check(cuMemHostUnregister(page) == 0 && cuMemHostUnregister(page) == 713, "unregistered twice");
}

}  // namespace

int main() {
  check(cuInit(0) == 0 && cudaMalloc(nullptr, 1) == kInvalidValue, "begin");
  arrays();
  textures();
  pools();
  fills();
  host_memory();
  std::puts(failures == 0 ? "PASS" : "FAILED");
  return failures == 0 ? 0 : 1;
}
