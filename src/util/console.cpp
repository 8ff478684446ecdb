#include "util/console.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

namespace lockstep {
namespace {

std::atomic<int> lost{0};

void note(int error) {
  int none = 0;
  lost.compare_exchange_strong(none, error != 0 ? error : EIO);
}

extern "C" void on_failed_write(int) {}

}  // namespace

void open_console() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    const int mode = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;  // using it fails, as on a closed one
    if (::open("/dev/null", mode) != stream) _exit(126);
  }
  for (const int number : {SIGPIPE, SIGXFSZ}) {
    struct sigaction now {};
    ::sigaction(number, nullptr, &now);
    if (now.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = on_failed_write;  // unlike SIG_IGN it is not inherited by programs
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    ::sigaction(number, &action, nullptr);
  }
}

void write_out(std::string_view text) {
  if (lost_output() != 0) return;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) note(errno);
}

void flush_out() {
  if (lost_output() != 0) return;
  errno = 0;
  if (std::fflush(stdout) != 0) note(errno);
}

int lost_output() { return lost.load(std::memory_order_relaxed); }

int finish_out() {
  flush_out();
  if (std::ferror(stdout) != 0) note(EIO);  // what wrote past write_out(), such as printf of a kernel
  // Some file systems report a failed write only when the file is closed; a copy's closing is one.
  const int copy = ::dup(STDOUT_FILENO);
  if (copy >= 0 && ::close(copy) != 0) note(errno);
  return lost_output();
}

void write_err(std::string_view text) {
  [[maybe_unused]] const auto written = std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace lockstep
