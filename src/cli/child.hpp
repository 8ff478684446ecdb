// A CUDA program as a child process under our runtime.
#pragma once

#include <string>
#include <vector>

namespace lockstep::cli {

struct ChildResult {
  int code = 0;    // exit code of the program; 128 + signal when one ended it
  int signal = 0;  // 0: it exited
};

/// Runs `command` (program and arguments) with the CUDA runtime of this installation in place of NVIDIA's.
/// `config`: INI file with the resolved configuration. `trace`: compact trace to write, "" for none. Standard
/// streams are the caller's. Throws UserError when the program cannot be started.
[[nodiscard]] ChildResult run_child(const std::vector<std::string>& command, const std::string& config,
                                    const std::string& trace);

/// A folder of its own for temporary files, removed with all in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace lockstep::cli
