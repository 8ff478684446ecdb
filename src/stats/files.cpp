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
#include "util/output_file.hpp"

namespace lockstep::stats {
namespace {

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

 private:
  int number_;
};

[[noreturn]] void fail_to_read(const std::string& path, const char* action) {
  throw UserError(fmt::format("{}: {}: {}", path, action, std::strerror(errno)));
}

}  // namespace

void make_folder(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) fail_output(directory, "cannot make the folder", error.value());
  if (!std::filesystem::is_directory(directory, error))
    fail_output(directory, "cannot make the folder", ENOTDIR);
}

void write_file(const std::string& path, std::string_view content) {
  OutputFile file(path);
  file.append(content);
  file.commit(OutputFile::Sync::kName);
}

void write_files(const std::string& directory, std::span<const NamedContent> files) {
  for (const NamedContent& content : files) {
    OutputFile file(directory + "/" + content.name);
    file.append(content.content);
    file.commit(OutputFile::Sync::kData);
  }
  sync_folder(directory);
}

void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail_output(path, "cannot remove", errno);
}

std::string read_file(const std::string& path) {
  FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_to_read(path, "cannot open");
  std::string content;
  std::array<char, 65536> block;
  for (;;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to_read(path, "cannot read");
    if (got == 0) return content;
    content.append(block.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace lockstep::stats
