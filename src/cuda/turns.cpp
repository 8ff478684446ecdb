#include "cuda/turns.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace lockstep::cuda {

namespace {

namespace fs = std::filesystem;

/// Empty where the thread has ended meanwhile: then reading fails, not opening.
std::string content_of(const fs::path& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return std::move(content).str();
}

int number_of(const fs::path& task) {
  const std::string name = task.filename().string();
  int number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

/// When the thread was started: the 22nd field of /proc/PID/stat (proc(5)), of which the second, in
/// parentheses, may contain anything.
std::uint64_t start_of(const std::string& stat) {
  constexpr int kFieldsBetween = 20;
  std::size_t at = stat.rfind(')');
  for (int i = 0; i < kFieldsBetween && at != std::string::npos; ++i) at = stat.find(' ', at + 1);
  std::uint64_t start = 0;
  if (at != std::string::npos) std::from_chars(stat.data() + at + 1, stat.data() + stat.size(), start);
  return start;
}

/// A thread that is blocked until another one, or something outside, wakes it: how often it has been switched
/// away from. Nothing: it runs, is about to, or, where it calls CUDA, sleeps for a time, after which it may
/// call.
std::optional<std::string> switches_of_blocked(const fs::path& task, bool calls) {
  const std::string status = content_of(task / "status");
  if (status.find("\nState:\tS") == std::string::npos) return {};
  if (calls) {
    const std::string call = content_of(task / "syscall");  // empty where the system does not allow it
    int number = -1;
    std::from_chars(call.data(), call.data() + call.size(), number);
    if (number == SYS_nanosleep || number == SYS_clock_nanosleep) return {};
  }
  const std::size_t switches = status.find("\nvoluntary_ctxt_switches:");
  if (switches == std::string::npos) return {};
  return status.substr(switches);
}

/// switches_of_blocked() of all threads except `others`; nothing if one of them is not blocked.
using Blocked = std::map<int, std::string>;
std::optional<Blocked> blocked_but(const std::set<int>& others, const std::set<int>& callers) {
  Blocked blocked;
  std::error_code error;
  for (const auto& task : fs::directory_iterator("/proc/self/task", error)) {
    const int number = number_of(task.path());
    if (others.contains(number)) continue;
    auto switches = switches_of_blocked(task.path(), callers.contains(number));
    if (!switches) return {};
    blocked.emplace(number, std::move(*switches));
  }
  if (error) return {};
  return blocked;
}

/// Twice the same: between the two all of them were blocked, as none has run from its first check to its
/// second.
bool all_blocked_but(const std::set<int>& others, const std::set<int>& callers) {
  const auto first = blocked_but(others, callers);
  return first && first == blocked_but(others, callers);
}

/// Is the calling thread the only one of the process? The folder of its threads has a link for each beside
/// two of its own (proc_task_getattr() of Linux).
bool is_alone() {
  struct stat tasks {};
  return ::stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

}  // namespace

Turns::Turns(bool on, Clock::duration patience, std::function<void(std::string_view)> say)
    : on_(on), process_(::getpid()), patience_(patience), say_(std::move(say)) {}

Turns::Thread Turns::calling_thread() {
  static thread_local const Thread own = [] {
    const auto number = static_cast<int>(::syscall(SYS_gettid));
    return Thread{start_of(content_of(fs::path("/proc/self/task") / std::to_string(number) / "stat")),
                  number};
  }();
  return own;
}

bool Turns::on() {
  const std::scoped_lock lock(mutex_);
  return on_;
}

void Turns::begin() {
  std::unique_lock lock(mutex_);
  if (on_ && ::getpid() != process_) on_ = false;  // a copy of the process, in which only this thread is left
  callers_.insert(calling_thread().second);
  warn_of_end();
  if (on_ && holder_ != calling_thread() && take(lock)) return;
  ++calls_;
  ++changes_;
}

void Turns::end() {
  const std::scoped_lock lock(mutex_);
  --calls_;
  ++changes_;
}

void Turns::pass(std::recursive_mutex& held) {
  std::unique_lock lock(mutex_);
  if (!on_ || is_alone()) return;
  const unsigned calls = std::exchange(calls_, 0);
  held.unlock();
  if (take(lock))
    calls_ = calls;
  else  // turns have ended, and others call meanwhile
    calls_ += calls;
  lock.unlock();
  held.lock();
}

/// The first of those that wait, behind the holder.
Turns::Thread Turns::next() const {
  const auto behind = waiting_.upper_bound(holder_);
  return behind != waiting_.end() ? *behind : *waiting_.begin();
}

bool Turns::take(std::unique_lock<std::mutex>& lock) {
  using namespace std::chrono_literals;
  const Thread own = calling_thread();
  waiting_.insert(own);
  ++changes_;
  Clock::time_point since = Clock::now();
  std::uint64_t seen = changes_;
  for (auto pause = 20us; on_ && waiting_.contains(own);
       pause = std::min<std::chrono::microseconds>(pause * 2, 1ms)) {
    if (calls_ == 0 && own == *waiting_.begin()) pass_on(lock);
    if (!on_ || !waiting_.contains(own)) break;
    changed_.wait_for(lock, pause);
    if (std::exchange(seen, changes_) != changes_) since = Clock::now();
    if (calls_ > 0 || Clock::now() - since < patience_) continue;
    on_ = false;
    due_ = true;
    warn_of_end();
    changed_.notify_all();
  }
  return waiting_.erase(own) == 0;
}

void Turns::warn_of_end() {
  if (!due_ || callers_.size() < 2) return;
  due_ = false;
  say_(
      "lockstep: warning: the program's host threads call CUDA in an order that the operating system "
      "chooses, as one of them computed, slept or polled for long while another waited for its turn; "
      "results may differ from run to run\n");
}

/// Gives the turn to the next where all others are blocked. Their states are read without the lock.
void Turns::pass_on(std::unique_lock<std::mutex>& lock) {
  std::set<int> waiting;
  for (const Thread& thread : waiting_) waiting.insert(thread.second);
  const std::set<int> callers = callers_;
  const std::uint64_t before = changes_;
  lock.unlock();
  const bool blocked = all_blocked_but(waiting, callers);
  lock.lock();
  if (!blocked || changes_ != before || calls_ > 0) return;
  holder_ = next();
  calls_ = 1;  // the one that it waits with
  waiting_.erase(holder_);
  ++changes_;
  changed_.notify_all();
}

}  // namespace lockstep::cuda
