// Runs the real program, and makes small traces for it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "paths.hpp"

namespace lockstep::cli {

struct Finished {
  int code = 0;  // exit code; 128 + n when signal n killed it
  std::string out, err;
};

struct Launch {
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment{};  // set beside the test's own; "" unsets
  std::string folder{};                                            // working directory; empty = the test's
  std::uint64_t file_limit = 0;  // files cannot grow beyond it, as on a full disk; 0 = none
  std::string program = LOCKSTEP_BINARY;
  std::string out{}, err{};  // files or devices for its output in place of Finished's; empty: Finished has it
};

/// A program that runs in the background. SLURM's and OpenMP's variables are not passed on to it.
class Program {
 public:
  explicit Program(const Launch& launch);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();
  void send(int signal) const;
  /// Waits until it, or a program that it has started, has an open file of at least that many bytes in
  /// `folder`, with a name or without. False: half a minute has passed.
  [[nodiscard]] bool writes(const std::string& folder, std::uintmax_t bytes) const;
  /// Waits for its end; fails the test after five minutes.
  Finished wait();

 private:
  pid_t pid_ = -1;
  std::string out_, err_;  // files that take its output
};

Finished run(const Launch& launch);
Finished run(std::vector<std::string> arguments);

/// A folder that goes at the end of the test.
class Folder {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Geometry of a trace: each warp runs `body` instructions, FFMAs that depend on each other, and an EXIT.
struct TinyTrace {
  unsigned kernels = 1, ctas = 2, warps = 2, body = 10;
  unsigned arch = 70;
  std::string last_lines{};  // put before each warp's EXIT, `last_count` of them
  unsigned last_count = 0;
  [[nodiscard]] std::uint64_t warp_instructions() const {
    return std::uint64_t{kernels} * ctas * warps * (body + last_count + 1);
  }
};

/// Writes kernelslist.g and kernel-N.traceg (tracer version 5) into `folder`, which it makes.
void write_trace(const std::string& folder, const TinyTrace& trace);

[[nodiscard]] std::string slurp(const std::string& file);
void spill(const std::string& file, const std::string& text);
[[nodiscard]] std::size_t count_lines(const std::string& text);

}  // namespace lockstep::cli
