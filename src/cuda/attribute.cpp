// cudaDeviceGetAttribute: enum cudaDeviceAttr by number.
#include <array>

#include "cuda/device.hpp"

namespace lockstep::cuda {

namespace {

using Prop = abi::DeviceProp;
using Read = int (*)(const Prop&);

struct Row {
  int number;
  Read read;
};

#define PROP(number, field)                                         \
  Row {                                                             \
    number, [](const Prop& p) { return static_cast<int>(p.field); } \
  }
#define CONSTANT(number, value)               \
  Row {                                       \
    number, [](const Prop&) { return value; } \
  }

/// Numbers are those of driver_types.h of CUDA 13; a property that has become an attribute only stands as a
/// constant.
constexpr std::array kRows{
    PROP(1, maxThreadsPerBlock),
    PROP(2, maxThreadsDim[0]),
    PROP(3, maxThreadsDim[1]),
    PROP(4, maxThreadsDim[2]),
    PROP(5, maxGridSize[0]),
    PROP(6, maxGridSize[1]),
    PROP(7, maxGridSize[2]),
    PROP(8, sharedMemPerBlock),
    PROP(9, totalConstMem),
    PROP(10, warpSize),
    PROP(11, memPitch),
    PROP(12, regsPerBlock),
    PROP(14, textureAlignment),
    CONSTANT(15, 1),
    PROP(16, multiProcessorCount),
    CONSTANT(17, 0),
    PROP(18, integrated),
    PROP(19, canMapHostMemory),
    CONSTANT(20, 0),
    PROP(21, maxTexture1D),
    PROP(22, maxTexture2D[0]),
    PROP(23, maxTexture2D[1]),
    PROP(24, maxTexture3D[0]),
    PROP(25, maxTexture3D[1]),
    PROP(26, maxTexture3D[2]),
    PROP(27, maxTexture2DLayered[0]),
    PROP(28, maxTexture2DLayered[1]),
    PROP(29, maxTexture2DLayered[2]),
    PROP(30, surfaceAlignment),
    PROP(31, concurrentKernels),
    PROP(32, ECCEnabled),
    PROP(33, pciBusID),
    PROP(34, pciDeviceID),
    PROP(35, tccDriver),
    PROP(37, memoryBusWidth),
    PROP(38, l2CacheSize),
    PROP(39, maxThreadsPerMultiProcessor),
    PROP(40, asyncEngineCount),
    PROP(41, unifiedAddressing),
    PROP(42, maxTexture1DLayered[0]),
    PROP(43, maxTexture1DLayered[1]),
    PROP(45, maxTexture2DGather[0]),
    PROP(46, maxTexture2DGather[1]),
    PROP(47, maxTexture3DAlt[0]),
    PROP(48, maxTexture3DAlt[1]),
    PROP(49, maxTexture3DAlt[2]),
    PROP(50, pciDomainID),
    PROP(51, texturePitchAlignment),
    PROP(52, maxTextureCubemap),
    PROP(53, maxTextureCubemapLayered[0]),
    PROP(54, maxTextureCubemapLayered[1]),
    PROP(55, maxSurface1D),
    PROP(56, maxSurface2D[0]),
    PROP(57, maxSurface2D[1]),
    PROP(58, maxSurface3D[0]),
    PROP(59, maxSurface3D[1]),
    PROP(60, maxSurface3D[2]),
    PROP(61, maxSurface1DLayered[0]),
    PROP(62, maxSurface1DLayered[1]),
    PROP(63, maxSurface2DLayered[0]),
    PROP(64, maxSurface2DLayered[1]),
    PROP(65, maxSurface2DLayered[2]),
    PROP(66, maxSurfaceCubemap),
    PROP(67, maxSurfaceCubemapLayered[0]),
    PROP(68, maxSurfaceCubemapLayered[1]),
    PROP(69, maxTexture1D),
    PROP(70, maxTexture2DLinear[0]),
    PROP(71, maxTexture2DLinear[1]),
    PROP(72, maxTexture2DLinear[2]),
    PROP(73, maxTexture2DMipmap[0]),
    PROP(74, maxTexture2DMipmap[1]),
    PROP(75, major),
    PROP(76, minor),
    PROP(77, maxTexture1DMipmap),
    PROP(78, streamPrioritiesSupported),
    PROP(79, globalL1CacheSupported),
    PROP(80, localL1CacheSupported),
    PROP(81, sharedMemPerMultiprocessor),
    PROP(82, regsPerMultiprocessor),
    PROP(83, managedMemory),
    PROP(84, isMultiGpuBoard),
    PROP(85, multiGpuBoardGroupID),
    PROP(86, hostNativeAtomicSupported),
    CONSTANT(87, 2),
    PROP(88, pageableMemoryAccess),
    PROP(89, concurrentManagedAccess),
    PROP(90, computePreemptionSupported),
    PROP(91, canUseHostPointerForRegisteredMem),
    PROP(95, cooperativeLaunch),
    CONSTANT(96, 0),  // of several devices
    PROP(97, sharedMemPerBlockOptin),
    CONSTANT(98, 0),
    PROP(99, hostRegisterSupported),
    PROP(100, pageableMemoryAccessUsesHostPageTables),
    PROP(101, directManagedMemAccessFromHost),
    PROP(106, maxBlocksPerMultiProcessor),
    PROP(108, persistingL2CacheMaxSize),
    PROP(109, accessPolicyMaxWindowSize),
    PROP(111, reservedSharedMemPerBlock),
    PROP(112, sparseCudaArraySupported),
    PROP(113, hostRegisterReadOnlySupported),
    PROP(114, timelineSemaphoreInteropSupported),
    PROP(115, memoryPoolsSupported),
    PROP(116, gpuDirectRDMASupported),
    PROP(117, gpuDirectRDMAFlushWritesOptions),
    PROP(118, gpuDirectRDMAWritesOrdering),
    PROP(119, memoryPoolSupportedHandleTypes),
    PROP(120, clusterLaunch),
    PROP(121, deferredMappingCudaArraySupported),
    PROP(125, ipcEventSupported),
    CONSTANT(126, 1),
    PROP(130, deviceNumaConfig),
    PROP(131, deviceNumaId),
    PROP(133, mpsEnabled),
    PROP(134, hostNumaId),
    CONSTANT(135, 0),
    CONSTANT(138, 0),
    PROP(139, gpuPciDeviceID),
    PROP(140, gpuPciSubsystemID),
    CONSTANT(142, 0),
    PROP(143, hostNumaMultinodeIpcSupported),
    CONSTANT(144, 0),
    CONSTANT(147, 0),
};

#undef PROP
#undef CONSTANT

constexpr int kClockRate = 13, kMemoryClockRate = 36;  // in kHz, no longer part of the properties

}  // namespace

std::optional<int> device_attribute(const config::GpuConfig& config, int number, unsigned device) {
  if (number == kClockRate) return static_cast<int>(config.clock.core_khz);
  if (number == kMemoryClockRate) return static_cast<int>(memory_clock_khz(config));
  for (const Row& row : kRows)
    if (row.number == number) return row.read(device_properties(config, device));
  return std::nullopt;
}

}  // namespace lockstep::cuda
