// cudaAccessPolicyWindow.
#pragma once

#include <cstdint>

#include "cuda/abi.hpp"
#include "trace/l2_policy.hpp"

namespace lockstep::cuda {

/// accessPolicyMaxWindowSize of GPUs that have windows, bytes: what an A100 says (NVIDIA developer forum,
/// thread 275542).
inline constexpr std::uint32_t kMaxWindowBytes = 134213632;
/// The first architecture with windows (CUDA C++ Programming Guide, "L2 Cache Control").
inline constexpr std::uint32_t kWindowArch = 80;

/// The window that an attribute's value gives launches. None on GPUs without. Throws ApiError(InvalidValue):
/// larger than can be, a ratio outside 0 to 1, no property, or misses that persist.
[[nodiscard]] trace::L2Launch window_of(const abi::LaunchAttribute::Value& value, std::uint32_t arch);

}  // namespace lockstep::cuda
