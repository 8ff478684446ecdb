// A folder of its own for files that two processes share for a while.
#pragma once

#include <string>

namespace lockstep::cli {

/// In $TMPDIR, else the system's folder for such files; removed with all in it at the end. It is locked
/// (flock) as long as this process or one that it has started lives; the next one to be made removes those
/// that were left behind by a kill.
class TemporaryFolder {
 public:
  /// Throws UserError where none can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;
};

}  // namespace lockstep::cli
