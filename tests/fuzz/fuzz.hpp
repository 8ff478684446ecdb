// What the fuzz targets share: the readers take files, so each input becomes one.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace lockstep::fuzz {

/// A folder of this process, kept between inputs.
inline const std::string& folder() {
  static const std::string path = [] {
    auto made = std::filesystem::temp_directory_path() / ("lockstep-fuzz-" + std::to_string(getpid()));
    std::filesystem::create_directories(made);
    return made.string();
  }();
  return path;
}

inline std::string write(const std::string& name, std::string_view bytes) {
  const std::string path = folder() + "/" + name;
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

}  // namespace lockstep::fuzz
