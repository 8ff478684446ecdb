#include "study/runner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>

#include "checkpoint/folder.hpp"
#include "stats/files.hpp"
#include "stats/text.hpp"
#include "util/error.hpp"

namespace lockstep::study {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLockDescriptor = 9;  // that of the lock in the child; it is never used there
constexpr auto kPollInterval = std::chrono::milliseconds(5);

struct Process {
  std::size_t job;
  pid_t id;
  RunLock lock;
  Clock::time_point start;
};

/// Where the standard streams of a child go, and that signals of the terminal are for us to pass on.
class SpawnSetup {
 public:
  SpawnSetup(const std::string& log, int lock) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
    posix_spawn_file_actions_adddup2(&files_, STDOUT_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&files_, lock, kLockDescriptor);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes_, 0);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
  [[nodiscard]] pid_t spawn(std::vector<std::string>& words) const {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    pid_t id = 0;
    const int error = posix_spawn(&id, pointers.front(), &files_, &attributes_, pointers.data(), environ);
    if (error != 0)
      throw UserError(fmt::format("{}: cannot be started: {}", words.front(), std::strerror(error)));
    return id;
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

/// "run -o FOLDER -q -t N", what keeps and resumes its state, and the rest.
std::vector<std::string> command_of(const Job& job, const std::string& folder, const RunnerOptions& options) {
  std::vector<std::string> words{
      options.program, job.arguments.front(), "-o", folder, "-q", "-t", std::to_string(options.threads)};
  if (job.resumable) {
    const std::string checkpoints = checkpoints_of(folder);
    words.insert(words.end(), {"--checkpoint", checkpoints});
    if (!checkpoint::list(checkpoints).empty()) words.insert(words.end(), {"--resume", checkpoints});
  }
  words.insert(words.end(), job.arguments.begin() + 1, job.arguments.end());
  return words;
}

/// The last part of a file that may be large.
std::string tail_of(const std::string& file) {
  constexpr off_t kBytes = 65536;
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  const off_t size = ::lseek(fd, 0, SEEK_END);
  ::lseek(fd, size > kBytes ? size - kBytes : 0, SEEK_SET);
  std::string text(kBytes, '\0');
  const ssize_t got = ::read(fd, text.data(), text.size());
  ::close(fd);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

/// The last line in which the program complains, else the last one that is not empty.
std::string complaint_in(const std::string& log) {
  constexpr std::string_view kOurs = "lockstep: ";
  std::string_view last, ours;
  const std::string text = tail_of(log);
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    if (line.find_first_not_of(" \r\t") != std::string_view::npos) last = line;
    if (line.starts_with(kOurs) && !line.starts_with("lockstep: warning")) ours = line.substr(kOurs.size());
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  constexpr std::size_t kLongest = 300;
  return stats::printable((ours.empty() ? last : ours).substr(0, kLongest));
}

/// Why a run that has ended is not complete; empty: it was told to end.
std::string error_of(int status, bool told, const std::string& log) {
  constexpr int kCheckpointed = 75, kInterrupted = 130;
  const bool signalled = WIFSIGNALED(status);
  if (told && (signalled || WEXITSTATUS(status) == kInterrupted || WEXITSTATUS(status) == kCheckpointed))
    return "";
  const std::string complaint = complaint_in(log);
  const std::string how =
      signalled ? fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                : fmt::format("exit code {}", WEXITSTATUS(status));
  return complaint.empty() ? how : fmt::format("{}: {}", how, complaint);
}

class Runner {
 public:
  Runner(const RunStore& store, const std::vector<Job>& jobs, const RunnerOptions& options)
      : store_(store), jobs_(jobs), options_(options) {}
  ~Runner() {
    for (const Process& process : processes_) ::kill(process.id, SIGTERM);
    for (const Process& process : processes_) ::waitpid(process.id, nullptr, 0);
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  void run() {
    while (next_ < jobs_.size() || !processes_.empty()) {
      tell_signal();
      while (!told_ && next_ < jobs_.size() && processes_.size() < options_.jobs) start(next_++);
      if (told_) next_ = jobs_.size();
      if (!collect()) std::this_thread::sleep_for(kPollInterval);
    }
  }

 private:
  void tell_signal() {
    const int signal = options_.signal ? options_.signal() : 0;
    if (signal == 0 || told_) return;
    told_ = true;
    for (const Process& process : processes_) ::kill(process.id, signal);
  }

  void start(std::size_t index) {
    const Job& job = jobs_[index];
    const std::string folder = store_.folder_of(job.key);
    stats::make_folder(folder);
    auto lock = RunLock::take(folder);
    if (!lock) return;
    store_.prepare(job.key, job.identity);
    auto words = command_of(job, folder, options_);
    const pid_t id = SpawnSetup(folder + "/log", lock->descriptor()).spawn(words);
    processes_.push_back({index, id, std::move(*lock), Clock::now()});
  }

  /// Takes one process that has ended.
  bool collect() {
    for (auto process = processes_.begin(); process != processes_.end(); ++process) {
      int status = 0;
      if (::waitpid(process->id, &status, WNOHANG) != process->id) continue;
      const Process ended = std::move(*process);
      processes_.erase(process);
      finish(ended, status);
      return true;
    }
    return false;
  }

  void finish(const Process& process, int status) {
    const Job& job = jobs_[process.job];
    const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    Stored stored = store_.lookup_unlocked(job.key);
    if (!well || stored.state != State::kComplete) {
      stored.error = error_of(status, told_, store_.folder_of(job.key) + "/log");
      stored.state = stored.error.empty() ? State::kMissing : State::kFailed;
      if (stored.state == State::kFailed) store_.fail(job.key, stored.error);
    }
    const std::chrono::duration<double> seconds = Clock::now() - process.start;
    if (options_.ended) options_.ended(process.job, stored, seconds.count());
  }

  const RunStore& store_;
  const std::vector<Job>& jobs_;
  const RunnerOptions& options_;
  std::vector<Process> processes_;
  std::size_t next_ = 0;
  bool told_ = false;
};

}  // namespace

void run_jobs(const RunStore& store, const std::vector<Job>& jobs, const RunnerOptions& options) {
  Runner(store, jobs, options).run();
}

}  // namespace lockstep::study
