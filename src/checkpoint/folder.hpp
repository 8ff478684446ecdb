// The checkpoints of a run in a folder: the newest one and the one before it.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/file.hpp"

namespace lockstep::checkpoint {

/// The folder's checkpoints, newest first: kernels-000000000012.checkpoint has 12 complete kernels. None
/// where there is no such folder. Throws UserError where it cannot be read.
[[nodiscard]] std::vector<std::string> list(const std::string& folder);

/// `place`: a checkpoint, or a folder, of which the newest is taken. Throws UserError and InputError.
struct Found {
  std::string file;
  Checkpoint checkpoint;
};
[[nodiscard]] Found read(const std::string& place);

/// Makes the folder where it is missing. Throws UserError where no file can be written in it: before a long
/// run, not after it.
void prepare(const std::string& folder);

/// Writes the checkpoint, and removes all but it and the one before.
/// Whatever ends the program, the checkpoints in the folder are whole. Throws UserError and OutputError.
void add(const std::string& folder, const Checkpoint& checkpoint);

/// Removes the checkpoints: the run is complete.
void clear(const std::string& folder);

}  // namespace lockstep::checkpoint
