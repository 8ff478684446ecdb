#include "cli/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "cli/interrupt.hpp"
#include "cli/library_folders.hpp"
#include "cli/run_path.hpp"
#include "cli/static_program.hpp"
#include "cuda/settings.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kRuntime = "libcudart.so.13";
constexpr const char* kHook = "liblockstep_hook.so";
constexpr const char* kClock = "liblockstep_clock.so";
constexpr const char* kNccl = "libnccl.so.2";
constexpr const char* kNcclFolder = "nccl";  // in that of the others

fs::path library_folder() {
  std::error_code error;
  const auto folders = library_folders();
  for (const fs::path& folder : folders)
    if (fs::exists(folder / kRuntime, error) && fs::exists(folder / kHook, error))
      return fs::weakly_canonical(folder);
  throw UserError(
      fmt::format("{} and {} are neither in {} nor in ../lib/lockstep beside it; build all targets", kRuntime,
                  kHook, folders[0].string()));
}

enum class Where { kAlone, kInFront, kBehind };

/// The environment with `name` set to `value`, or with `value` in front of what it has or behind that.
void set(std::vector<std::string>& environment, const std::string& name, std::string value,
         Where where = Where::kAlone) {
  for (std::string& entry : environment) {
    if (!entry.starts_with(name + "=")) continue;
    const std::string had = entry.substr(name.size() + 1);
    if (where == Where::kInFront) value += ":" + had;
    if (where == Where::kBehind) value = had + ":" + value;
    entry = name;
    entry.append("=").append(value);
    return;
  }
  environment.push_back(name + "=" + value);
}

/// What one process can take once (kClaimVariable); closed at the end of the scope.
class Claim {
 public:
  Claim() : descriptor_(::eventfd(1, EFD_SEMAPHORE | EFD_NONBLOCK)) {
    if (descriptor_ < 0) throw UserError(fmt::format("no eventfd can be made: {}", std::strerror(errno)));
  }
  ~Claim() { ::close(descriptor_); }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

std::vector<std::string> child_environment(const Start& start, int claim, int execution) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  if (!start.own) {
    const fs::path folder = library_folder();
    set(environment, "LD_LIBRARY_PATH", folder.string(), Where::kInFront);
    // NVIDIA's NCCL runs here, where its source is built with the runtime as a shared library, and goes
    // first.
    if (!brings_library(start.command.front(), kNccl))
      set(environment, "LD_LIBRARY_PATH", (folder / kNcclFolder).string(), Where::kBehind);
    set(environment, "LD_PRELOAD", (folder / kHook).string(), Where::kInFront);
    if (!start.preload.empty()) set(environment, "LD_PRELOAD", start.preload, Where::kInFront);
    if (start.simulated_clock) set(environment, "LD_PRELOAD", (folder / kClock).string(), Where::kInFront);
  }
  set(environment, cuda::kConfigVariable, start.config);
  set(environment, cuda::kClaimVariable, std::to_string(claim));
  set(environment, cuda::kParentVariable, std::to_string(::getpid()));
  if (execution >= 0) set(environment, cuda::kExecutionVariable, std::to_string(execution));
  if (!start.trace.empty()) set(environment, cuda::kTraceVariable, start.trace);
  if (start.socket >= 0) set(environment, cuda::kSocketVariable, std::to_string(start.socket));
  if (start.threads > 1) set(environment, cuda::kThreadsVariable, std::to_string(start.threads));
  if (start.listings) set(environment, cuda::kListingVariable, "1");
  if (start.gpus > 1) set(environment, cuda::kDevicesVariable, std::to_string(start.gpus));
  for (const auto& [name, value] : start.variables) set(environment, name, value);
  if (start.multicast != 0) set(environment, cuda::kMulticastVariable, std::to_string(start.multicast));
  if (!start.apart.empty()) set(environment, cuda::kApartVariable, start.apart);
  if (!start.links.empty()) set(environment, cuda::kLinksVariable, start.links);
  if (start.max_cycles > 0) set(environment, cuda::kMaxCyclesVariable, std::to_string(start.max_cycles));
  if (start.max_instructions > 0)
    set(environment, cuda::kMaxInstructionsVariable, std::to_string(start.max_instructions));
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// Why a program cannot be started.
std::string start_error(const std::string& program, int error) {
  std::error_code ignored;
  if (error == EACCES && fs::is_directory(program, ignored))
    return program + " is a folder; expected a program";
  if (error == EACCES && fs::exists(program, ignored))
    return program + " is not executable (chmod +x makes it so)";
  return fmt::format("{}: {}", program, std::strerror(error));
}

}  // namespace

Child::Child(const Start& start) {
  if (!start.own) refuse_static(start.command.front());
  const Claim claim;
  auto environment = child_environment(start, claim.descriptor(), execution_.descriptor());
  auto arguments = start.command;
  const int error = posix_spawnp(&process_, arguments.front().c_str(), nullptr, nullptr,
                                 pointers(arguments).data(), pointers(environment).data());
  if (start.socket >= 0) ::close(start.socket);
  if (error == 0) return;
  process_ = 0;
  throw UserError(start_error(start.command.front(), error));
}

Child::~Child() { wait(); }

bool Child::ended() {
  int status = 0;
  if (process_ == 0 || waitpid(process_, &status, WNOHANG) != process_) return process_ == 0;
  process_ = 0;
  result_ = WIFSIGNALED(status) ? ChildResult{128 + WTERMSIG(status), WTERMSIG(status)}
                                : ChildResult{WEXITSTATUS(status), 0};
  result_.execution = execution();
  return true;
}

ChildResult Child::wait(const std::function<void()>& poll) {
  constexpr auto kPollInterval = std::chrono::milliseconds(5);
  int patience = 200;  // polls; a terminal's Ctrl-C reaches the program too
  while (!ended()) {
    if (interrupted() && patience-- == 0) ::kill(process_, signal_to_pass_on());
    if (poll) poll();
    std::this_thread::sleep_for(kPollInterval);
  }
  return result_;
}

SocketPair::SocketPair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || ::fcntl(ends[0], F_SETFD, FD_CLOEXEC) != 0)
    throw UserError(fmt::format("no connection to the program can be made: {}", std::strerror(errno)));
  ours = ends[0];
  theirs = ends[1];
}

}  // namespace lockstep::cli
