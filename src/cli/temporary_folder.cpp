#include "cli/temporary_folder.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "util/output_file.hpp"

namespace lockstep::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPrefix = "lockstep-exec-";

/// A descriptor that holds the folder's lock; -1: another process has it, or the folder is gone. Programs
/// inherit it.
int locked(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  struct stat info {};
  if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::fstat(fd, &info) == 0 && info.st_nlink > 0)
    return fd;
  if (fd >= 0) ::close(fd);
  return -1;
}

/// Removes the folders of this user whose processes have ended.
void clean_up(const fs::path& temporary) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(temporary, ignored)) {
    struct stat info {};
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    if (::lstat(entry.path().c_str(), &info) != 0 || info.st_uid != ::geteuid()) continue;
    const int lock = locked(entry.path());
    if (lock < 0) continue;
    fs::remove_all(entry.path(), ignored);
    ::close(lock);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  constexpr int kTries = 10;  // another process may clean up what is not locked yet
  const fs::path temporary = fs::temp_directory_path();
  clean_up(temporary);
  for (int i = 0; i < kTries && lock_ < 0; ++i) {
    path_ = (temporary / kPrefix).string() + "XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) break;
    lock_ = locked(path_);
  }
  if (lock_ < 0) fail_output(path_, "cannot make a temporary folder", errno);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(lock_);
}

}  // namespace lockstep::cli
