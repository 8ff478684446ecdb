// A nameless file that disappears with its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lockstep::trace {

class TemporaryFile {
 public:
  /// In $TMPDIR, else the system's folder for such files. Throws UserError when none can be made.
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Throw UserError naming the folder, for instance when the disk is full.
  void append(const void* data, std::size_t size);
  void read_at(std::uint64_t offset, void* data, std::size_t size) const;
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  [[noreturn]] void fail(const char* what) const;
  std::string folder_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace lockstep::trace
