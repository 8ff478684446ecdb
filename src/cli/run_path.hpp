// Libraries that a program brings with it.
#pragma once

#include <string>

namespace lockstep::cli {

/// Whether the program's own search path (DT_RUNPATH) has `library` in one of its folders. `command` is
/// searched for in PATH if it has no slash.
[[nodiscard]] bool brings_library(const std::string& command, const std::string& library);

}  // namespace lockstep::cli
