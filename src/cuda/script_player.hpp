// Performs a launch script with the runtime of this process.
#pragma once

#include <string>

#include "cuda/launch_script.hpp"
#include "cuda/runtime.hpp"

namespace lockstep::cuda {

/// `ptx`: the file's text, `name` what messages call it. What expect and print say goes to stdout. Buffers
/// hold their data before the first launch, which takes no simulated time. Gives the exit code: 0, or 1 where
/// an expectation is not met. Throws InputError naming the script's line for everything else that is wrong.
[[nodiscard]] int play_script(const LaunchScript& script, const std::string& ptx, const std::string& name,
                              Runtime& runtime);

}  // namespace lockstep::cuda
