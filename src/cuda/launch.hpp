// From the host's call to a launch: geometry, limits, parameters.
#pragma once

#include "config/gpu_config.hpp"
#include "cuda/modules.hpp"
#include "cuda/operation.hpp"
#include "cuda/register_choice.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::cuda {

inline constexpr std::uint32_t kMaxThreadsPerCta =
    1024;  // CUDA C++ Programming Guide, every compute capability

/// The most threads that the kernel's CTAs may have, by its directives too.
[[nodiscard]] std::uint32_t max_threads_of(const Kernel& kernel);
/// Static shared memory of a CTA, bytes.
[[nodiscard]] std::uint64_t static_shared_bytes(const Kernel& kernel);
/// Registers of a thread by lowering's assignment: between 16 and 255, within .maxnreg and what .maxntid
/// leaves.
[[nodiscard]] std::uint32_t register_estimate(const Kernel& kernel, const config::GpuConfig& gpu);
/// Static shared memory of a CTA that occupancy counts: that of its machine code where `choice` takes it,
/// without what the system adds, else the PTX's.
[[nodiscard]] std::uint32_t shared_of(const Kernel& kernel, const config::GpuConfig& gpu,
                                      const RegisterChoice& choice);
/// Registers of a thread: those that `choice` gives the kernel, those of its machine code, or the estimate.
[[nodiscard]] std::uint32_t registers_of(const Kernel& kernel, const config::GpuConfig& gpu,
                                         const RegisterChoice& choice);
/// Those of a launch: an estimate is no more than its CTAs leave, for it is no reason to refuse a program
/// that runs on the GPU.
[[nodiscard]] std::uint32_t registers_of(const Kernel& kernel, const KernelLaunch& launch,
                                         const config::GpuConfig& gpu, const RegisterChoice& choice);
/// The launch as the timing model's occupancy rules see it.
[[nodiscard]] trace::KernelHeader launch_header(const Kernel& kernel, const KernelLaunch& launch,
                                                const config::GpuConfig& gpu);
/// CTAs of one SM; 0 where not even one fits.
[[nodiscard]] std::uint32_t ctas_per_sm(const Kernel& kernel, const KernelLaunch& launch,
                                        const config::GpuConfig& gpu);

/// Completes `launch` with kernel and parameters, each copied from where args[i] points. Throws ApiError as
/// the runtime does: InvalidConfiguration, InvalidValue, LaunchOutOfResources, CooperativeLaunchTooLarge.
[[nodiscard]] KernelLaunch prepare_launch(const Kernel& kernel, KernelLaunch launch, void** args,
                                          const config::GpuConfig& gpu);

}  // namespace lockstep::cuda
