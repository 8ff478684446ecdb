// How `lockstep exec` tells the runtime in the program's process what to do: environment variables.
#pragma once

#include <string>

#include "config/gpu_config.hpp"

namespace lockstep::cuda {

/// A file with the whole configuration, as to_ini() writes it.
inline constexpr const char* kConfigVariable = "LOCKSTEP_CUDA_CONFIG";
/// The compact trace to write; not set: none.
inline constexpr const char* kTraceVariable = "LOCKSTEP_CUDA_TRACE";

struct Settings {
  config::GpuConfig gpu;
  std::string trace;  // path; empty: nothing is recorded
};

/// From the environment. Throws UserError naming the variable.
[[nodiscard]] Settings read_settings();

}  // namespace lockstep::cuda
