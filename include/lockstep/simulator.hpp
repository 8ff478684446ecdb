// The simulator as a library, for C++20 programs that link with lockstep::lockstep (docs/api.md):
//
//   const lockstep::Machine gpu("v100", {"l2.ways=8"});
//   const lockstep::Result result = lockstep::simulate(lockstep::Trace("traces/sgemm"), gpu, {.threads = 4});
//   for (const lockstep::Kernel& kernel : result.kernels())
//     std::cout << kernel.name << ": " << kernel.cycles << " cycles, " << kernel.counter("l2.read_hits") <<
//     "\n";
//
// Same trace, machine and options: the same result to the last byte, for every number of threads. Different
// runs may be simulated at the same time by different threads of a program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// What the caller can mend: a name, a file, a setting. what() is the line that the program `lockstep` would
/// print.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A GPU, or a system of several. A value: copies are cheap.
class Machine {
 public:
  /// `name_or_file`: what `lockstep run -c` takes: a GPU model's or system's name (`lockstep config` lists
  /// them), or an INI file. `settings`: "key=value" each, as `--set` takes them (docs/config.md). Throws
  /// Error.
  explicit Machine(const std::string& name_or_file, const std::vector<std::string>& settings = {});

  [[nodiscard]] unsigned devices() const;
  /// Every parameter, of a system its text, as an INI file that makes the same machine again.
  [[nodiscard]] std::string ini() const;

  struct Description;  // internal
  [[nodiscard]] const Description& description() const { return *description_; }

 private:
  std::shared_ptr<const Description> description_;
};

/// What is simulated. A value: copies are cheap.
class Trace {
 public:
  /// Whatever `lockstep run` takes: a folder or list of Accel-Sim's tracer, one kernel's file, or a compact
  /// trace. Throws Error. Or made from one's own records: lockstep/trace_builder.hpp.
  explicit Trace(const std::string& path);

  struct Content;  // internal
  explicit Trace(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
  [[nodiscard]] const Content& content() const { return *content_; }

 private:
  std::shared_ptr<const Content> content_;
};

struct Options {
  unsigned threads = 1;
  std::uint64_t max_cycles = 0;  // core cycles of the first device; 0: no limit
  std::string managed = {};      // as `run --managed`: "all", "memcpy", ranges; empty: what the trace says
  std::string gpu_memory = {};   // as `run --gpu-memory`: "0.8x", "4 GiB"; empty: what the machine has
  std::function<bool()> interrupted = {};  // asked between windows of simulated time; true ends the run there
};

/// A counter of kernels.
struct Counter {
  std::string_view name, unit, help;  // "l1.hits"; docs/stats.md
};
/// All of them, in the order of Kernel::counters.
[[nodiscard]] const std::vector<Counter>& counters();

/// A kernel that has run.
struct Kernel {
  std::string name = {};
  std::uint64_t id = 0, stream = 0;
  unsigned device = 0;
  std::uint64_t start_cycle = 0, cycles = 0;  // core cycles of its device
  bool partial = false;                       // the run ended before it did
  std::vector<std::uint64_t> counters = {};
  /// By name. Throws Error for a name that counters() does not have.
  [[nodiscard]] std::uint64_t counter(std::string_view name) const;
};

enum class Outcome : std::uint8_t { kDone, kMaxCycles, kInterrupted, kDeadlock };

/// A value: copies are cheap.
class Result {
 public:
  [[nodiscard]] Outcome outcome() const;
  [[nodiscard]] std::uint64_t cycles() const;  // of the whole run, core cycles of the first device
  /// In the order in which they ended.
  [[nodiscard]] const std::vector<Kernel>& kernels() const;
  /// The text of stats.json, byte for byte that of `lockstep run -o` (docs/stats.md).
  [[nodiscard]] std::string json() const;
  /// stats.json, stats.csv, host.json and config.ini in a folder, which is made if it is missing. Throws
  /// Error.
  void write(const std::string& folder) const;
  /// After a deadlock: what every warp and queue waits for. Otherwise empty.
  [[nodiscard]] const std::string& deadlock() const;

  struct Content;  // internal
  explicit Result(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

 private:
  std::shared_ptr<const Content> content_;
};

/// Throws Error.
[[nodiscard]] Result simulate(const Trace& trace, const Machine& machine, const Options& options = {});

/// Of the library, "0.1.0".
[[nodiscard]] const char* version();

}  // namespace lockstep
