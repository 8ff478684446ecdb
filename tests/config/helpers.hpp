#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "config/system_config.hpp"
#include "tests/temporary_folder.hpp"
#include "util/error.hpp"

namespace lockstep::config::test {

using lockstep::test::TemporaryFolder;

/// A kind of link for system files.
inline constexpr const char* kLink =
    "[wire]\nbytes_per_second = 10 GB/s\nlatency_ps = 100 ns\npacket_bytes = 256\nheader_bytes = 16\n"
    "store_bytes = 0\nack_bytes = 1\n";

/// The system of a file with this text.
inline SystemConfig read_system(const std::string& text, std::uint32_t devices = 0) {
  const TemporaryFolder folder;
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
