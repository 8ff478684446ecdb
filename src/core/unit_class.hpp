// Which unit does an instruction's arithmetic: what its lanes are counted under.
#pragma once

#include "stats/counters.hpp"
#include "trace/instruction.hpp"

namespace lockstep::core {

/// The classes of AccelWattch (gpu-simulator/ISA_Def/accelwattch_component_mapping.h of the public
/// accel-sim-framework), its FP64 add and multiply together, its four special functions too.
[[nodiscard]] stats::UnitClass unit_class(const trace::StaticInst& inst);

}  // namespace lockstep::core
