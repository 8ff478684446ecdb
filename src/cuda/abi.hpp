// Types that CUDA 13 programs share with the runtime, x86-64. Sizes and offsets were measured on CUDA 13.0
// (see the static_asserts); names are the runtime's, so that calls read as in the programming guide.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::cuda::abi {

struct dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  friend bool operator==(const dim3&, const dim3&) = default;
};
static_assert(sizeof(dim3) == 12);

struct DeviceProp {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  std::size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  std::size_t totalConstMem;
  int major, minor;
  std::size_t textureAlignment, texturePitchAlignment;
  int multiProcessorCount, integrated, canMapHostMemory;
  int maxTexture1D, maxTexture1DMipmap, maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3],
      maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2],
      maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3],
      maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  std::size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount,
      unifiedAddressing, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor,
      streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,
      pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported,
      canUseHostPointerForRegisteredMem, cooperativeLaunch;
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
      accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported,
      timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers,
      deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId;
  unsigned gpuPciDeviceID, gpuPciSubsystemID;
  int hostNumaMultinodeIpcSupported;
  int reserved[56];
};
static_assert(sizeof(DeviceProp) == 1008);
static_assert(offsetof(DeviceProp, totalGlobalMem) == 288 && offsetof(DeviceProp, memPitch) == 312);
static_assert(offsetof(DeviceProp, totalConstMem) == 352 && offsetof(DeviceProp, textureAlignment) == 368);
static_assert(offsetof(DeviceProp, multiProcessorCount) == 384 && offsetof(DeviceProp, maxTexture1D) == 396);
static_assert(offsetof(DeviceProp, maxSurface1D) == 496 && offsetof(DeviceProp, surfaceAlignment) == 552);
static_assert(offsetof(DeviceProp, concurrentKernels) == 560 && offsetof(DeviceProp, l2CacheSize) == 596);
static_assert(offsetof(DeviceProp, sharedMemPerMultiprocessor) == 624);
static_assert(offsetof(DeviceProp, sharedMemPerBlockOptin) == 672);
static_assert(offsetof(DeviceProp, reservedSharedMemPerBlock) == 696);
static_assert(offsetof(DeviceProp, clusterLaunch) == 748 && offsetof(DeviceProp, reserved) == 784);

struct FuncAttributes {
  std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
      preferredShmemCarveout, clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight,
      requiredClusterDepth, clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed, reserved[17];
};
static_assert(sizeof(FuncAttributes) == 144 && offsetof(FuncAttributes, maxThreadsPerBlock) == 24);

struct LaunchAttribute {
  int id;
  char pad[4];
  union Value {
    char bytes[64];
    int cooperative;
    struct {
      unsigned x, y, z;
    } clusterDim;
    int priority;
    struct {
      void* base;
      std::size_t bytes;
      float ratio;
      int hit, miss;
    } window;
  } val;
};
static_assert(sizeof(LaunchAttribute) == 72 && offsetof(LaunchAttribute, val) == 8);
inline constexpr int kLaunchAttributeCooperative = 2, kLaunchAttributeClusterDimension = 4;

struct LaunchConfig {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  void* stream;
  LaunchAttribute* attrs;
  unsigned numAttrs;
};
static_assert(sizeof(LaunchConfig) == 56 && offsetof(LaunchConfig, stream) == 32);

struct ChannelFormatDesc {
  enum Kind { kSigned, kUnsigned, kFloat };  // f
  int x, y, z, w, f;
};
static_assert(sizeof(ChannelFormatDesc) == 20);

struct Extent {
  std::size_t width, height, depth;
};
struct Pos {
  std::size_t x, y, z;
};
struct PitchedPtr {
  void* ptr;
  std::size_t pitch, xsize, ysize;
};
static_assert(sizeof(Extent) == 24 && sizeof(Pos) == 24 && sizeof(PitchedPtr) == 32);

struct Memcpy3DParms {
  void* srcArray;
  Pos srcPos;
  PitchedPtr srcPtr;
  void* dstArray;
  Pos dstPos;
  PitchedPtr dstPtr;
  Extent extent;
  int kind;
};
static_assert(sizeof(Memcpy3DParms) == 160 && offsetof(Memcpy3DParms, dstArray) == 64);

struct PointerAttributes {
  int type, device;
  void *devicePointer, *hostPointer;
  long reserved[8];
};
static_assert(sizeof(PointerAttributes) == 88);

struct MemLocation {
  int type, id;
};
static_assert(sizeof(MemLocation) == 8);

struct MemAccessDesc {
  MemLocation location;
  int flags;
};
struct MemPoolProps {
  int allocType, handleTypes;
  MemLocation location;
  void* win32SecurityAttributes;
  std::size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};
static_assert(sizeof(MemPoolProps) == 88 && offsetof(MemPoolProps, maxSize) == 24);

struct ResourceDesc {
  enum Type { kArray, kMipmappedArray, kLinear, kPitch2D };
  int resType;
  union {
    struct {
      void* array;
    } array;
    struct {
      void* devPtr;
      ChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      ChannelFormatDesc desc;
      std::size_t width, height, pitchInBytes;
    } pitch2D;
    int reserved[32];
  } res;
  unsigned flags;
};
static_assert(sizeof(ResourceDesc) == 144 && offsetof(ResourceDesc, flags) == 136);

struct TextureDesc {
  int addressMode[3], filterMode, readMode, sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};
static_assert(sizeof(TextureDesc) == 72);

enum MemcpyKind { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kDefault };

using Stream = struct StreamHandle*;
using Event = struct EventHandle*;
using HostFn = void (*)(void*);
using StreamCallback = void (*)(Stream, int, void*);

/// Streams that are numbers and not handles.
inline constexpr std::uintptr_t kLegacyStream = 1, kPerThreadStream = 2;

}  // namespace lockstep::cuda::abi
