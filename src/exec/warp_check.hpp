// What a warp reports to the checks of its launch. Precondition of all: machine->check. Internal to src/exec.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/warp_state.hpp"

namespace lockstep::exec {

/// Before an operation of the split that runs.
void check_operation(WarpState& warp, const Operation& op, LaneMask active);

/// The end of a copy of a lane that the mbarrier at `where` waits for.
void check_signal(WarpState& warp, StateSpace state_space, std::uint32_t lane, Address where);
/// A test of mbarriers, of which lanes `complete` found the phase complete.
void check_wait(WarpState& warp, StateSpace state_space, LaneMask complete, const Addresses& where);
/// wmma.load and wmma.store: line i of the matrix counts as an access of lane i % 32.
void check_matrix_lines(WarpState& warp, const MatrixForm& form, StateSpace state_space,
                        const std::vector<Address>& lines);

}  // namespace lockstep::exec
