// What a program can ask about the GPU: derived from the resolved configuration.
#pragma once

#include <cstdint>
#include <optional>

#include "config/gpu_config.hpp"
#include "cuda/abi.hpp"

namespace lockstep::cuda {

/// The CUDA version that the runtime claims: 13.0.
inline constexpr int kRuntimeVersion = 13000;

/// The properties of the configured GPU, `device` of which differs from the others in its PCI bus and UUID.
/// What the model does not have (textures' largest sizes, PCI ids) are the limits of the CUDA C++ Programming
/// Guide, table "Technical Specifications per Compute Capability", or zero where a program can only print it.
[[nodiscard]] abi::DeviceProp device_properties(const config::GpuConfig& config, unsigned device = 0);

/// cudaDeviceGetAttribute: the value of attribute `number` of enum cudaDeviceAttr, or nullopt when there is
/// none of that number.
[[nodiscard]] std::optional<int> device_attribute(const config::GpuConfig& config, int number,
                                                  unsigned device = 0);

/// The memory clock that NVIDIA's tools report: peak bandwidth = 2 * clock * bus width. For HBM before HBM3
/// it is the command clock, for other memory a multiple of it.
[[nodiscard]] std::uint64_t memory_clock_khz(const config::GpuConfig& config);

/// Largest shared memory of a CTA: without and with opting in, bytes.
struct SharedLimits {
  std::uint32_t standard, opt_in;
};
[[nodiscard]] SharedLimits shared_limits(const config::GpuConfig& config);

}  // namespace lockstep::cuda
