// Programs whose runtime nothing can take the place of.
#pragma once

#include <string>

namespace lockstep::cli {

/// `command` as posix_spawnp() finds it. Throws UserError where it is an ELF file without a program
/// interpreter (System V ABI, PT_INTERP): linked with -static, it loads no library, and no hook. What is not
/// there, or no ELF file of 64 bits, is somebody else's affair.
void refuse_static(const std::string& command);

}  // namespace lockstep::cli
