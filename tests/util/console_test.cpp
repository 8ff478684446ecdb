// Standard streams of a process of its own: what arrives, and what is known of what does not.
#include "util/console.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "tests/temporary_folder.hpp"

namespace lockstep {
namespace {

/// The status of a child process that ends with what `work` returns.
int status_of(const std::function<int()>& work) {
  std::fflush(nullptr);  // the child would write it once more
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

/// Its exit code; -1: a signal ended it.
int code_of(const std::function<int()>& work) {
  const int status = status_of(work);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Gives a stream of this process another file.
void redirect(int stream, const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(file, stream);
  ::close(file);
}

/// Standard output becomes a pipe that is read by no process.
void lose_reader() {
  int ends[2];
  if (::pipe(ends) != 0) ::_exit(100);
  ::dup2(ends[1], STDOUT_FILENO);
  ::close(ends[0]);
  ::close(ends[1]);
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

const std::string kLong(100'000, 'x');  // more than stdio's buffer

}  // namespace

TEST_CASE("console: what is printed arrives in order, and nothing is lost") {
  const test::TemporaryFolder folder;
  const std::string out = folder / "out", err = folder / "err";
  CHECK(code_of([&] {
          open_console();
          redirect(STDOUT_FILENO, out);
          redirect(STDERR_FILENO, err);
          print_out("{} and {}\n", 1, "two");
          write_out(kLong);
          print_err("{:x}\n", 255);
          flush_out();
          write_out("last");
          return finish_out();
        }) == 0);
  CHECK(text_of(out) == "1 and two\n" + kLong + "last");
  CHECK(text_of(err) == "ff\n");
}

TEST_CASE("console: the first failure is remembered, and what follows it is dropped") {
  const test::TemporaryFolder folder;
  const std::string later = folder / "later";
  CHECK(code_of([&] {
          open_console();
          redirect(STDOUT_FILENO, "/dev/full");
          write_out("short");  // stays in the buffer
          if (lost_output() != 0) return 101;
          flush_out();
          if (lost_output() != ENOSPC) return 102;
          redirect(STDOUT_FILENO, later);
          write_out(kLong);
          return finish_out();
        }) == ENOSPC);
  CHECK(text_of(later).find('x') == std::string::npos);
}

TEST_CASE("console: a lost message does not count as lost output") {
  CHECK(code_of([] {
          open_console();
          redirect(STDERR_FILENO, "/dev/full");
          redirect(STDOUT_FILENO, "/dev/null");
          write_err(kLong);
          print_err("{}", 1);
          return finish_out();
        }) == 0);
}

TEST_CASE("console: a pipe without a reader is an error and not the end") {
  const auto write_to_it = [](bool console) {
    if (console) open_console();
    lose_reader();
    write_out(kLong);
    return finish_out();
  };
  CHECK(code_of([&] { return write_to_it(true); }) == EPIPE);
  const int status = status_of([&] { return write_to_it(false); });  // as it would be otherwise
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGPIPE);
}

TEST_CASE("console: the limit of a file's size is an error and not the end") {
  const test::TemporaryFolder folder;
  const std::string out = folder / "out";
  CHECK(code_of([&] {
          open_console();
          redirect(STDOUT_FILENO, out);
          const rlimit limit{4096, 4096};
          ::setrlimit(RLIMIT_FSIZE, &limit);
          write_out(kLong);
          return finish_out();
        }) == EFBIG);
  CHECK(text_of(out).size() == 4096);
}

TEST_CASE("console: programs that are started find the signals as they were") {
  const auto started = [](const char* command) {
    open_console();
    ::execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
    return 103;
  };
  for (const auto& [command, number] :
       {std::pair{"kill -s PIPE $$", SIGPIPE}, {"kill -s XFSZ $$", SIGXFSZ}}) {
    const int status = status_of([&, text = command] { return started(text); });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == number);
  }
  // One that was ignored before stays so.
  CHECK(code_of([&] {
          ::signal(SIGPIPE, SIG_IGN);
          return started("kill -s PIPE $$; exit 7");
        }) == 7);
}

TEST_CASE("console: a closed standard stream gives its number to no file, and cannot be used") {
  CHECK(code_of([] {
          for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(stream);
          open_console();
          const int file = ::open("/dev/null", O_RDWR);
          if (file <= STDERR_FILENO) return 104;
          char byte = 0;
          if (::read(STDIN_FILENO, &byte, 1) != -1) return 105;
          write_err("lost");
          write_out("lost");
          return finish_out();
        }) == EBADF);
  // Those that are open are left alone.
  const test::TemporaryFolder folder;
  const std::string out = folder / "out";
  CHECK(code_of([&] {
          redirect(STDOUT_FILENO, out);
          ::close(STDIN_FILENO);
          open_console();
          write_out("kept");
          return finish_out();
        }) == 0);
  CHECK(text_of(out) == "kept");
}

}  // namespace lockstep
