#include "cli/child.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cuda/settings.hpp"
#include "util/error.hpp"

extern char** environ;

namespace lockstep::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kRuntime = "libcudart.so.13";
constexpr const char* kHook = "liblockstep_hook.so";

/// Beside the program, as built, or in the lib folder of an installation.
fs::path library_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder : {program, program / "../lib/lockstep"})
    if (fs::exists(folder / kRuntime, error)) return fs::weakly_canonical(folder);
  throw UserError(fmt::format("{} is neither in {} nor in ../lib/lockstep beside it; build all targets",
                              kRuntime, program.string()));
}

/// The environment with `name` set to `value`, or with `value` in front of what it has.
void set(std::vector<std::string>& environment, const std::string& name, std::string value,
         bool in_front = false) {
  for (std::string& entry : environment) {
    if (!entry.starts_with(name + "=")) continue;
    if (in_front) value += ":" + entry.substr(name.size() + 1);
    entry = name + "=" + value;
    return;
  }
  environment.push_back(name + "=" + value);
}

std::vector<std::string> child_environment(const std::string& config, const std::string& trace) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  const fs::path folder = library_folder();
  set(environment, "LD_LIBRARY_PATH", folder.string(), true);
  set(environment, "LD_PRELOAD", (folder / kHook).string(), true);
  set(environment, cuda::kConfigVariable, config);
  if (!trace.empty()) set(environment, cuda::kTraceVariable, trace);
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command, const std::string& config,
                      const std::string& trace) {
  auto environment = child_environment(config, trace);
  auto arguments = command;
  pid_t child = 0;
  const int error = posix_spawnp(&child, command.front().c_str(), nullptr, nullptr,
                                 pointers(arguments).data(), pointers(environment).data());
  if (error != 0) throw UserError(fmt::format("{}: {}", command.front(), std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "lockstep-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr)
    throw UserError(fmt::format("{}: no temporary folder can be made: {}", pattern, std::strerror(errno)));
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace lockstep::cli
