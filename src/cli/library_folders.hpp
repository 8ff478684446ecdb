// Where the program finds what it loads into itself or into programs.
#pragma once

#include <array>
#include <filesystem>

namespace lockstep::cli {

/// Beside the program, as built, and the lib folder of an installation; either may be missing.
[[nodiscard]] inline std::array<std::filesystem::path, 2> library_folders() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return {program, program / "../lib/lockstep"};
}

}  // namespace lockstep::cli
