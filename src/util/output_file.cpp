#include "util/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "util/error.hpp"

namespace lockstep {
namespace {

constexpr unsigned kNames =
    4;  // temporary names, which limit how many processes can write one path at a time
constexpr const char* kAction = "cannot be written";

std::string temporary_name(const std::string& target, unsigned number) {
  return fmt::format("{}.lockstep-tmp{}", target, number);
}

std::string descriptor_name(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

/// Whether `fd` is locked from now on and still has a name: who cleans up takes the lock, too, before it
/// unlinks.
bool lock(int fd) {
  errno = 0;
  struct stat info {};
  return ::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::fstat(fd, &info) == 0 && info.st_nlink > 0;
}

/// Removes temporary files whose writers have died: their locks are free.
void clean_up(const std::string& target) {
  for (unsigned n = 1; n <= kNames; ++n) {
    const std::string name = temporary_name(target, n);
    const int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) continue;
    if (lock(fd)) ::unlink(name.c_str());
    ::close(fd);
  }
}

/// Where a symbolic link leads, if to something that is there; else the path.
std::string resolved(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? real.get() : path;
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Some file systems report a failed write only when the file is closed; a copy's closing is one.
int write_back(int fd) {
  const int copy = ::dup(fd);
  return copy >= 0 && ::close(copy) == 0 ? 0 : errno;
}

bool system_cannot_take_it(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO || error == EPIPE;
}

}  // namespace

void sync_folder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

void fail_output(const std::string& path, std::string_view action, int error) {
  const std::string text = fmt::format("{}: {}: {}", path, action, std::strerror(error));
  if (system_cannot_take_it(error)) throw OutputError(text);
  throw UserError(text);
}

OutputFile::OutputFile(std::string path, Target target, Until until)
    : path_(std::move(path)), target_(resolved(path_)) {
  struct stat info {};
  const bool there = ::stat(target_.c_str(), &info) == 0;
  if (there && S_ISDIR(info.st_mode)) fail(EISDIR);
  if (there && !S_ISREG(info.st_mode)) {
    if (target == Target::kRegular) throw UserError(path_ + ": is not a regular file");
    direct_ = true;
    fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd_ < 0) fail(errno);
    return;
  }
  clean_up(target_);
  if (until == Until::kNamed || !open_unnamed(folder_of(target_))) open_named();
  if (there) (void)::fchmod(fd_, info.st_mode & 0777);
}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());  // locked until it is gone
  ::close(fd_);
}

void OutputFile::fail(int error) const { fail_output(path_, kAction, error); }

/// False: the file system has no unnamed files, or they could not get their name later.
bool OutputFile::open_unnamed(const std::string& folder) {
  fd_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (fd_ < 0 && errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) fail(errno);
  if (fd_ < 0) return false;
  if (::access(descriptor_name(fd_).c_str(), F_OK) == 0) {
    ::flock(fd_, LOCK_EX | LOCK_NB);  // for the time between its first name and its last
    return true;
  }
  ::close(std::exchange(fd_, -1));
  return false;
}

void OutputFile::open_named() {
  for (unsigned n = 1; n <= kNames; ++n) {
    const std::string name = temporary_name(target_, n);
    fd_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno == EEXIST) continue;
    if (fd_ < 0) fail(errno);
    if (lock(fd_) || errno == ENOLCK || errno == EOPNOTSUPP) {
      temporary_ = name;
      return;
    }
    ::close(std::exchange(fd_, -1));
  }
  throw UserError(path_ + ": other programs are writing this file");
}

void OutputFile::append(const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(fd_, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(written < 0 ? errno : ENOSPC);
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void OutputFile::overwrite(std::uint64_t offset, const void* data, std::size_t bytes) {
  const ssize_t wrote = ::pwrite(fd_, data, bytes, static_cast<off_t>(offset));
  if (wrote != static_cast<ssize_t>(bytes)) fail(wrote < 0 ? errno : ENOSPC);
}

void OutputFile::resize(std::uint64_t bytes) {
  const auto end = static_cast<off_t>(bytes);
  if (::ftruncate(fd_, end) != 0 || ::lseek(fd_, end, SEEK_SET) < 0) fail(errno);
}

/// Gives an unnamed file the name; false: something has it.
bool OutputFile::link_to(const std::string& name) const {
  if (::linkat(AT_FDCWD, descriptor_name(fd_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
    return true;
  if (errno != EEXIST) fail(errno);
  return false;
}

void OutputFile::give_name() {
  if (temporary_.empty() && link_to(target_)) return;
  for (unsigned n = 1; temporary_.empty(); ++n) {  // a link replaces nothing, a rename does
    if (n > kNames) throw UserError(path_ + ": other programs are writing this file");
    const std::string name = temporary_name(target_, n);
    if (link_to(name)) temporary_ = name;
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void OutputFile::commit(Sync sync) {
  if (sync != Sync::kNone && ::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) fail(errno);
  if (const int error = write_back(fd_); error != 0) fail(error);
  if (!direct_) give_name();
  if (sync == Sync::kName && !direct_) sync_folder(folder_of(target_));
  ::close(std::exchange(fd_, -1));
}

}  // namespace lockstep
