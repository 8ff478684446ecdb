#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace lockstep::cli {
namespace {

std::string temporary_name(const char* what) {
  std::string pattern = (std::filesystem::temp_directory_path() / (std::string(what) + "-XXXXXX")).string();
  const int file = mkstemp(pattern.data());
  REQUIRE(file >= 0);
  close(file);
  return pattern;
}

/// In the child: never returns.
[[noreturn]] void become(const Launch& launch, const std::string& out, const std::string& err) {
  for (const char* name : {"SLURM_CPUS_PER_TASK", "OMP_NUM_THREADS"}) unsetenv(name);
  for (const auto& [name, value] : launch.environment) {
    value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
  }
  // AddressSanitizer wants to be the first library of a process; the hook that exec preloads comes before it.
  const char* sanitizer = getenv("ASAN_OPTIONS");
  const std::string options =
      std::string(sanitizer == nullptr ? "" : sanitizer) + ":verify_asan_link_order=0";
  setenv("ASAN_OPTIONS", options.c_str(), 1);
  if (!launch.folder.empty() && chdir(launch.folder.c_str()) != 0) _exit(126);
  dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(::open((launch.out.empty() ? out : launch.out).c_str(), O_WRONLY | O_TRUNC), STDOUT_FILENO);
  dup2(::open((launch.err.empty() ? err : launch.err).c_str(), O_WRONLY | O_TRUNC), STDERR_FILENO);
  if (launch.file_limit > 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{launch.file_limit, launch.file_limit};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  std::vector<char*> arguments{const_cast<char*>(launch.program.c_str())};
  for (const std::string& argument : launch.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(launch.program.c_str(), arguments.data());
  _exit(127);
}

void write_kernel(const std::string& file, const TinyTrace& trace, unsigned id) {
  std::ofstream out(file);
  out << fmt::format(
      "-kernel name = _Z4tinyPf\n-kernel id = {}\n-grid dim = ({},1,1)\n-block dim = ({},1,1)\n-shmem = 0\n"
      "-nregs = 16\n-binary version = {}\n-cuda stream id = 0\n-shmem base_addr = 0x00007f0000000000\n"
      "-local mem base_addr = 0x00007f1000000000\n-nvbit version = 1.7\n-accelsim tracer version = 5\n"
      "-enable lineinfo = 0\n\n#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] "
      "mem_width "
      "[adrrescompress?] [mem_addresses] immediate\n\n",
      id, trace.ctas, trace.warps * 32, trace.arch);
  std::string warp = fmt::format("insts = {}\n", trace.body + trace.last_count + 1);
  for (unsigned i = 0; i < trace.body; ++i)
    warp += fmt::format("{:04x} ffffffff 1 R4 FFMA 3 R4 R5 R4 0 0 \n", i * 16);
  warp += trace.last_lines;
  warp += fmt::format("{:04x} ffffffff 0 EXIT 0 0 0 \n\n", (trace.body + trace.last_count) * 16);
  for (unsigned cta = 0; cta < trace.ctas; ++cta) {
    out << fmt::format("#BEGIN_TB\n\nthread block = {},0,0\n\n", cta);
    for (unsigned w = 0; w < trace.warps; ++w) out << fmt::format("warp = {}\n{}", w, warp);
    out << "#END_TB\n\n";
  }
}

}  // namespace

Program::Program(const Launch& launch) : out_(temporary_name("out")), err_(temporary_name("err")) {
  pid_ = fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) become(launch, out_, err_);
}

Program::~Program() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::filesystem::remove(out_);
  std::filesystem::remove(err_);
}

void Program::send(int signal) const { kill(pid_, signal); }

namespace {

/// Whether a process may write to what its descriptor stands for.
bool is_for_writing(const std::filesystem::path& process, const std::filesystem::path& descriptor) {
  std::istringstream lines(slurp(process / "fdinfo" / descriptor));
  for (std::string word; lines >> word;)
    if (word == "flags:") {
      lines >> word;
      return (std::stoul(word, nullptr, 8) & O_ACCMODE) != O_RDONLY;
    }
  return false;
}

}  // namespace

bool Program::writes(const std::string& folder, std::uintmax_t bytes) const {
  namespace fs = std::filesystem;
  using namespace std::chrono_literals;
  const auto open_files = [&](const fs::path& process) {
    std::error_code gone;
    for (const auto& file : fs::directory_iterator(process / "fd", gone)) {
      const std::string name = fs::read_symlink(file.path(), gone).string();
      struct stat info {};
      if (name.starts_with(folder + "/") && is_for_writing(process, file.path().filename()) &&
          stat(file.path().c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
          static_cast<std::uintmax_t>(info.st_size) >= bytes)
        return true;
    }
    return false;
  };
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  const fs::path self = fmt::format("/proc/{}", pid_);
  while (std::chrono::steady_clock::now() < deadline) {
    if (open_files(self)) return true;
    std::istringstream children(slurp(self / "task" / std::to_string(pid_) / "children"));
    for (std::string child; children >> child;)
      if (open_files("/proc/" + child)) return true;
    std::this_thread::sleep_for(2ms);
  }
  return false;
}

Finished Program::wait() {
  using namespace std::chrono_literals;
  const auto deadline = std::chrono::steady_clock::now() + 300s;  // a sanitized program beside other work
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) FAIL("the program does not end: " << slurp(err_));
    std::this_thread::sleep_for(2ms);
  }
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(out_), slurp(err_)};
}

Finished run(const Launch& launch) { return Program(launch).wait(); }
Finished run(std::vector<std::string> arguments) { return run(Launch{.arguments = std::move(arguments)}); }

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_trace(const std::string& folder, const TinyTrace& trace) {
  std::filesystem::create_directories(folder);
  std::string list;
  for (unsigned id = 1; id <= trace.kernels; ++id) {
    list += fmt::format("kernel-{}.traceg\n", id);
    write_kernel(fmt::format("{}/kernel-{}.traceg", folder, id), trace, id);
  }
  spill(folder + "/kernelslist.g", list);
}

std::string slurp(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void spill(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace lockstep::cli
