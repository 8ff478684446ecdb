#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "config/system_config.hpp"
#include "util/error.hpp"

namespace lockstep::config::test {

/// A folder of its own that goes away with the test.
class TempFolder {
 public:
  TempFolder() {
    static int number = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("lockstep-config-" + std::to_string(::getpid()) + "-" + std::to_string(number++));
    std::filesystem::create_directories(path_);
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  /// Writes `text` and returns the path.
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// A kind of link for system files.
inline constexpr const char* kLink =
    "[wire]\nbytes_per_second = 10 GB/s\nlatency_ps = 100 ns\npacket_bytes = 256\nheader_bytes = 16\n"
    "store_bytes = 0\nack_bytes = 1\n";

/// The system of a file with this text.
inline SystemConfig read_system(const std::string& text, std::uint32_t devices = 0) {
  const TempFolder folder;
  return resolve_system(folder.write("s.ini", text), devices);
}

/// The message of the UserError that `work` throws; "(no error)" where it throws none.
inline std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const UserError& e) {
    return e.what();
  }
  return "(no error)";
}

}  // namespace lockstep::config::test
