// Runs a program functionally.
#pragma once

#include <string>

#include "cli/child.hpp"
#include "cli/run_options.hpp"

namespace lockstep::cli {

/// The program to its end, and nothing beside it. kInterrupted where a signal has ended this process early.
/// `folder`: for a file with the configuration. A signal that ended the program is left to the caller to say.
[[nodiscard]] ChildResult execute(const RunArguments& arguments, Start start, const std::string& folder);

}  // namespace lockstep::cli
