// Programs whose CUDA runtime cannot be replaced.
#pragma once

#include <string>

namespace lockstep::cli {

/// The file of `command`: searches PATH if that has no slash; empty if it is not found.
[[nodiscard]] std::string find_program(const std::string& command);

/// `command` as posix_spawnp() finds it. Throws UserError where it is an ELF file without a program
/// interpreter (System V ABI, PT_INTERP): linked with -static, it loads no library, and no hook. Files
/// that do not exist or are not 64-bit ELF are left to the caller.
void refuse_static(const std::string& command);

}  // namespace lockstep::cli
