#include "trace/temporary_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "util/error.hpp"

namespace lockstep::trace {

TemporaryFile::TemporaryFile() {
  std::error_code error;
  folder_ = std::filesystem::temp_directory_path(error).string();
  if (error) folder_ = P_tmpdir;
  fd_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd_ >= 0) return;
  std::string name = folder_ + "/lockstep-XXXXXX";  // the file system has no unnamed files
  fd_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd_ < 0) fail("create");
  ::unlink(name.c_str());
}

TemporaryFile::~TemporaryFile() { ::close(fd_); }

void TemporaryFile::append(const void* data, std::size_t size) {
  const char* p = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done = ::pwrite(fd_, p, size, static_cast<off_t>(size_));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail("write");
    p += done;
    size -= static_cast<std::size_t>(done);
    size_ += static_cast<std::uint64_t>(done);
  }
}

void TemporaryFile::read_at(std::uint64_t offset, void* data, std::size_t size) const {
  char* p = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t done = ::pread(fd_, p, size, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail("read");
    p += done;
    size -= static_cast<std::size_t>(done);
    offset += static_cast<std::uint64_t>(done);
  }
}

void TemporaryFile::fail(const char* what) const {
  throw UserError(std::string("cannot ") + what + " a temporary file in " + folder_ + ": " +
                  std::strerror(errno) + " (set TMPDIR to a folder with space)");
}

}  // namespace lockstep::trace
