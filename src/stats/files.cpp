#include "stats/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "util/error.hpp"

namespace lockstep::stats {
namespace {

[[noreturn]] void fail(const std::string& path, const char* action, int error) {
  throw UserError(fmt::format("{}: {}: {}", path, action, std::strerror(error)));
}

/// An open file descriptor, closed at the end of its scope.
class FileHandle {
 public:
  explicit FileHandle(int number) : number_(number) {}
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  ~FileHandle() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int get() const { return number_; }
  /// Some file systems report a failed write only here.
  int close() {
    const int result = ::close(number_);
    number_ = -1;
    return result;
  }

 private:
  int number_;
};

/// 0, or the errno of what failed.
int write_and_sync(const std::string& path, std::string_view content) {
  FileHandle file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) return errno;
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(file.get()) != 0 && errno != EINVAL && errno != EROFS) return errno;
  return file.close() == 0 ? 0 : errno;
}

/// Makes the rename last over a power cut; a file system that cannot is none the worse.
void sync_folder(const std::string& path) {
  const FileHandle folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) ::fsync(folder.get());
}

}  // namespace

void make_folder(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) fail(directory, "cannot make the folder", error.value());
  if (!std::filesystem::is_directory(directory, error)) fail(directory, "cannot make the folder", ENOTDIR);
}

namespace {

void replace_file(const std::string& path, std::string_view content) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  int error = write_and_sync(temporary, content);
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    fail(path, "cannot write", error);
  }
}

}  // namespace

void write_file(const std::string& path, std::string_view content) {
  replace_file(path, content);
  sync_folder(std::filesystem::path(path).parent_path().string());
}

void write_files(const std::string& directory, std::span<const NamedContent> files) {
  for (const NamedContent& file : files) replace_file(directory + "/" + file.name, file.content);
  sync_folder(directory);
}

void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail(path, "cannot remove", errno);
}

std::string read_file(const std::string& path) {
  FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail(path, "cannot open", errno);
  std::string content;
  std::array<char, 65536> block;
  for (;;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "cannot read", errno);
    if (got == 0) return content;
    content.append(block.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace lockstep::stats
