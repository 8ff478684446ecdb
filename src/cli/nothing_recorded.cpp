#include "cli/nothing_recorded.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "cli/cli.hpp"
#include "cli/interrupt.hpp"
#include "stats/names.hpp"
#include "util/console.hpp"

namespace lockstep::cli {

AwaitedFile::AwaitedFile(std::string path) : path_(std::move(path)), before_(identity(path_)) {}

std::optional<AwaitedFile::Identity> AwaitedFile::identity(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return std::nullopt;
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return Identity{file.st_ino, file.st_mtim.tv_sec * kNanoseconds + file.st_mtim.tv_nsec};
}

std::string nothing_recorded(const cuda::Execution& execution, bool from_start) {
  if (!from_start && execution.ranges == 0)
    return "--profile-from-start off: the program has not called cudaProfilerStart() or cuProfilerStart(): "
           "it entered no range, so nothing was recorded; expected a kernel in one, or --profile-from-start "
           "on";
  if (execution.launch == 0)
    return "the program launched no kernel, so nothing was recorded; expected at least one. `lockstep exec "
           "--functional` executes programs without";
  if (!from_start)
    return "--profile-from-start off: the program launched no kernel between cudaProfilerStart() and "
           "cudaProfilerStop(), or one failed, so nothing was recorded; expected a kernel in a range, or "
           "--profile-from-start on";
  return fmt::format(
      "a kernel failed (the last one was {}), or the program ended before its exit functions ran, so nothing "
      "was recorded; expected kernels that end without an error. `lockstep exec --check all --functional` "
      "finds errors of kernels",
      stats::short_name(execution.kernel, 60));
}

int end_with_nothing(const char* command, const ChildResult& child, bool from_start, Awaited awaited) {
  if (interrupted()) return kInterrupted;
  if (child.signal != 0) return child.code;
  if (awaited == Awaited::kResults && from_start && child.execution.launch == 0) {
    print_err("lockstep: the program launched no kernel, so nothing was simulated\n");
    return child.code;
  }
  print_err("lockstep: error: {}: {}\n", command, nothing_recorded(child.execution, from_start));
  return child.code != 0 ? child.code : kBadInput;
}

}  // namespace lockstep::cli
