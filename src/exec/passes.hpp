// Passes over a decoded function that mark what the execution treats specially. Each stands in a file of its
// own. Internal to src/exec.
#pragma once

#include <cstdint>

#include "exec/translation.hpp"
#include "ptx/control_flow.hpp"

namespace lockstep::exec {

inline constexpr std::uint32_t kLongestWaitLoop = 64;  // operations of a loop that waits

/// fenced_polls.cpp: plain loads that poll in loops which do nothing but look, with a fence or a pause.
void find_fenced_polls(const FunctionCode& function, Translation& out);

/// signals.cpp: writes that other warps may wait for: strong stores, releasing atomics, and global writes
/// behind a fence (all atomics, the first plain store; those of multimem likewise).
void find_signals(const FunctionCode& function, Translation& out);

/// work_loops.cpp: Translation::takes_work.
void find_work_loops(const FunctionCode& function, Translation& out);

/// sharing.cpp: Translation::shared_accesses, of all functions.
void find_shared_accesses(Translation& out);

/// spin_loops.cpp: loops that wait for words of global memory.
void find_spin_loops(const FunctionCode& function, Translation& out);

/// known_bases.cpp: accesses of a block through one base register at several offsets.
void find_known_bases(const FunctionCode& function, const ptx::ControlFlow& flow, Translation& out);

}  // namespace lockstep::exec
