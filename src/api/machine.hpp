// The content of a Machine. Internal to src/api.
#pragma once

#include <optional>

#include "config/gpu_config.hpp"
#include "config/system_config.hpp"
#include "lockstep/simulator.hpp"

namespace lockstep {

struct Machine::Description {
  config::GpuConfig gpu;                       // the GPU, or a system's first device
  std::optional<config::SystemConfig> system;  // if there are several devices
};

}  // namespace lockstep
