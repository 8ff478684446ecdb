// What a Machine is made of. Internal to src/api.
#pragma once

#include <optional>

#include "config/gpu_config.hpp"
#include "config/system_config.hpp"
#include "lockstep/simulator.hpp"

namespace lockstep {

struct Machine::Description {
  config::GpuConfig gpu;                       // of a system, its first device
  std::optional<config::SystemConfig> system;  // of several devices
};

}  // namespace lockstep
