// Ranks that are processes which mpirun or srun has started.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "ranks/group.hpp"

namespace lockstep::ranks {

/// Joins the group of processes with which this one was started. Null if it was started alone, or as the only
/// one of its group. Throws UserError if there are several and the program has no MPI. `folders`: where the
/// module (mpi/module.hpp) may be. To be called once; processes that this one starts are not in the group.
[[nodiscard]] std::unique_ptr<Group> join_mpi(std::span<const std::filesystem::path> folders);

}  // namespace lockstep::ranks
