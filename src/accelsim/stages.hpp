#pragma once

#include <cstdint>

namespace lockstep::accelsim {

/// Accel-Sim's latencies are those of the execution stage alone; ours count from issue to dependent issue. Of
/// the stages around it a pipeline cannot do without operand read and write-back, a cycle each: the shipped
/// `int 2` and `sp 2` then give the 4 cycles that V100's IADD and FFMA measure. (Accel-Sim's own distance is
/// longer and varies with bank conflicts: 6.8 for a chain of FFMA at latency 2.)
inline constexpr std::uint64_t kStagesAround = 2;

}  // namespace lockstep::accelsim
