// Output files that are either complete or absent, however the writing program ends.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

/// A file that takes its name only when it is complete. Until then it has no name (O_TMPFILE), so that the
/// system drops it when the program is killed. Where the file system has no such files it is called
/// `PATH.lockstep-tmpN`, locked (flock) as long as its writer lives; the next OutputFile for the same path
/// removes those whose writer has died. A file that is there is replaced, and keeps its access rights; a
/// symbolic link is followed. A device or a pipe is written to as it is.
///
/// Failures are OutputErrors where the system cannot take the data (a full disk, an input/output error) and
/// other UserErrors where the path is wrong. All name the path.
class OutputFile {
 public:
  enum class Until : std::uint8_t { kUnnamed, kNamed };  // kNamed: as where there are no unnamed files
  enum class Target : std::uint8_t { kAny, kRegular };   // kRegular: devices and pipes are refused
  explicit OutputFile(std::string path, Target target = Target::kAny, Until until = Until::kUnnamed);
  /// Without commit() before it nothing has happened to `path`.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void append(const void* data, std::size_t bytes);
  void append(std::string_view text) { append(text.data(), text.size()); }
  /// Replaces bytes that were appended before. Not for devices and pipes.
  void overwrite(std::uint64_t offset, const void* data, std::size_t bytes);
  /// The file ends at `bytes`, and the next append() continues there. Not for devices and pipes.
  void resize(std::uint64_t bytes);
  /// What is on the disk then: kData the content, kName the file's name, too, which then survive a power cut.
  enum class Sync : std::uint8_t { kNone, kData, kName };
  void commit(Sync sync = Sync::kNone);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Open for reading and writing; its position belongs to this object.
  [[nodiscard]] int descriptor() const { return fd_; }

 private:
  [[noreturn]] void fail(int error) const;
  bool open_unnamed(const std::string& folder);
  void open_named();
  void give_name();
  bool link_to(const std::string& name) const;

  std::string path_;       // as given, for messages
  std::string target_;     // the file to replace: links are resolved
  std::string temporary_;  // its name until then; empty: none
  int fd_ = -1;
  bool direct_ = false;  // a device or a pipe
};

/// Makes the names in a folder last over a power cut; no effect on file systems that cannot.
void sync_folder(const std::string& folder);

/// Throws OutputError or UserError "PATH: ACTION: reason", by what `error`, an errno, means.
[[noreturn]] void fail_output(const std::string& path, std::string_view action, int error);

}  // namespace lockstep
