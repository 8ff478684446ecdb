#include "cuda/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/access_window.hpp"

namespace lockstep::cuda {

namespace {

constexpr std::uint32_t kKib = 1024;
constexpr std::uint32_t kStandardShared = 48 * kKib;  // every compute capability
constexpr std::size_t kConstantBytes = 64 * kKib;

int as_int(std::uint64_t value) { return static_cast<int>(std::min<std::uint64_t>(value, 0x7fffffff)); }

std::uint64_t memory_bits_per_clock(const config::GpuConfig& c) {
  return std::uint64_t{c.l2.partitions} * c.dram.channels_per_partition * c.dram.burst_bytes * 8 /
         c.dram.burst_cycles;
}

/// Data pins of the memory. GDDR: each gives 16 bits of a burst (JESD232 GDDR5X, JESD250 GDDR6) or 32
/// (JESD239 GDDR7, which differs in nothing else that a standard says). HBM: two bits in a cycle of the
/// command clock, since HBM3 four (JESD235, JESD238).
std::uint64_t memory_bus_bits(const config::GpuConfig& c) {
  constexpr std::uint64_t kGddrBurst = 16, kGddr7Burst = 32;
  if (c.dram.standard == config::DramStandard::kGddr)
    return std::uint64_t{c.l2.partitions} * c.dram.channels_per_partition * c.dram.burst_bytes * 8 /
           (c.dram.type == "gddr7" ? kGddr7Burst : kGddrBurst);
  return memory_bits_per_clock(c) / (c.dram.type.starts_with("hbm3") ? 4 : 2);
}

void set_limits(abi::DeviceProp& p) {
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.totalConstMem = kConstantBytes;
  p.memPitch = 0x7fffffff;
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.surfaceAlignment = 512;
}

void set_texture_limits(abi::DeviceProp& p) {
  const auto assign = [](int* to, std::initializer_list<int> values) { std::ranges::copy(values, to); };
  p.maxTexture1D = p.maxSurface1D = p.maxTextureCubemap = p.maxSurfaceCubemap = 32768;
  p.maxTexture1D = 131072;
  p.maxTexture1DMipmap = 32768;
  assign(p.maxTexture2D, {131072, 65536});
  assign(p.maxTexture2DMipmap, {32768, 32768});
  assign(p.maxTexture2DLinear, {131072, 65000, 2097120});
  assign(p.maxTexture2DGather, {32768, 32768});
  assign(p.maxTexture3D, {16384, 16384, 16384});
  assign(p.maxTexture3DAlt, {8192, 8192, 32768});
  assign(p.maxTexture1DLayered, {32768, 2048});
  assign(p.maxTexture2DLayered, {32768, 32768, 2048});
  assign(p.maxTextureCubemapLayered, {32768, 2046});
  assign(p.maxSurface2D, {131072, 65536});
  assign(p.maxSurface3D, {16384, 16384, 16384});
  assign(p.maxSurface1DLayered, {32768, 2048});
  assign(p.maxSurface2DLayered, {32768, 32768, 2048});
  assign(p.maxSurfaceCubemapLayered, {32768, 2046});
}

void set_capabilities(abi::DeviceProp& p) {
  p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = 1;
  p.asyncEngineCount = 2;
  p.streamPrioritiesSupported = p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.managedMemory = p.concurrentManagedAccess = 1;
  p.computePreemptionSupported = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = 1;
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  p.unifiedFunctionPointers = 0;
  p.deviceNumaId = p.hostNumaId = -1;
}

}  // namespace

SharedLimits shared_limits(const config::GpuConfig& c) {
  const std::uint32_t most =
      *std::ranges::max_element(c.l1.shared_carveouts_kib) * kKib - c.sm.shared_reserved;
  return {std::min(kStandardShared, most), most};
}

std::uint64_t memory_clock_khz(const config::GpuConfig& c) {
  return memory_bits_per_clock(c) * c.clock.dram_khz / (2 * std::max<std::uint64_t>(memory_bus_bits(c), 1));
}

abi::DeviceProp device_properties(const config::GpuConfig& c, unsigned device) {
  abi::DeviceProp p;
  std::memset(&p, 0, sizeof p);
  std::memcpy(p.name, c.gpu.name.data(), std::min(c.gpu.name.size(), sizeof p.name - 1));
  std::memcpy(p.uuid, fmt::format("lockstep-gpu-{:03}", device).data(), sizeof p.uuid);
  p.totalGlobalMem = c.dram.capacity_bytes;
  p.sharedMemPerBlock = shared_limits(c).standard;
  p.regsPerBlock = as_int(c.sm.registers);
  p.warpSize = static_cast<int>(kWarpSize);
  p.major = static_cast<int>(c.gpu.arch / 10);
  p.minor = static_cast<int>(c.gpu.arch % 10);
  p.multiProcessorCount = as_int(c.gpu.sms);
  p.memoryBusWidth = as_int(memory_bus_bits(c));
  p.l2CacheSize = as_int(std::uint64_t{c.l2.partitions} * c.l2.slices_per_partition * c.l2.slice_bytes);
  if (c.gpu.arch >= kWindowArch) {
    // NVIDIA Ampere GPU Architecture Tuning Guide: 30 of the A100's 40 MB can be set aside.
    p.persistingL2CacheMaxSize = p.l2CacheSize / 4 * 3;
    p.accessPolicyMaxWindowSize = kMaxWindowBytes;
  }
  p.maxThreadsPerMultiProcessor = as_int(c.sm.max_threads);
  p.sharedMemPerMultiprocessor = *std::ranges::max_element(c.l1.shared_carveouts_kib) * kKib;
  p.regsPerMultiprocessor = as_int(c.sm.registers);
  p.sharedMemPerBlockOptin = shared_limits(c).opt_in;
  p.maxBlocksPerMultiProcessor = as_int(c.sm.max_ctas);
  p.reservedSharedMemPerBlock = c.sm.shared_reserved;
  p.clusterLaunch = c.gpu.arch >= 90 ? 1 : 0;
  p.pciBusID = static_cast<int>(device) + 1;
  set_limits(p);
  set_texture_limits(p);
  set_capabilities(p);
  return p;
}

}  // namespace lockstep::cuda
