// Ranks that are processes which mpirun or srun has started.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "ranks/group.hpp"

namespace lockstep::ranks {

/// Of the group of processes that this one was started with. Null where it was started alone, or as the only
/// one of its group. Throws UserError where there are several and the program has no MPI. `folders`: where
/// the module (mpi/module.hpp) may be. Once; a process that this one starts is not of the group.
[[nodiscard]] std::unique_ptr<Group> join_mpi(std::span<const std::filesystem::path> folders);

}  // namespace lockstep::ranks
