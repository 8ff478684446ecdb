// Programs that leave nothing to record or simulate.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "cli/child.hpp"

namespace lockstep::cli {

/// A file that a program writes at its end, or does not: there may be an older one of its name.
class AwaitedFile {
 public:
  explicit AwaitedFile(std::string path);
  /// Has it been written since?
  [[nodiscard]] bool written() const { return identity(path_) && identity(path_) != before_; }

 private:
  using Identity = std::pair<ino_t, std::int64_t>;  // with the time of its last change
  static std::optional<Identity> identity(const std::string& path);

  std::string path_;
  std::optional<Identity> before_;
};

/// Why nothing was recorded, what was expected, and what to do. `from_start`: all of the program counts, not
/// only its ranges.
[[nodiscard]] std::string nothing_recorded(const cuda::Execution& execution, bool from_start);

/// What a command would have left: a trace that it was given a name for, or only the results of a simulation.
enum class Awaited { kTrace, kResults };

/// Prints that as `command`'s error and gives the exit code: the program's own where it is not 0. A program
/// that was ended by a signal has been reported already. That a program has no kernels is no error where no
/// trace of it was wanted: it says so, and the program's exit code stands.
[[nodiscard]] int end_with_nothing(const char* command, const ChildResult& child, bool from_start,
                                   Awaited awaited);

}  // namespace lockstep::cli
