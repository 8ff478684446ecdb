// The simulator as a library, for C++20 programs that link with lockstep::lockstep (docs/api.md):
//
//   const lockstep::Machine gpu("v100", {"l2.ways=8"});
//   const lockstep::Result result = lockstep::simulate(lockstep::Trace("traces/sgemm"), gpu, {.threads = 4});
//   for (const lockstep::Kernel& kernel : result.kernels())
//     std::cout << kernel.name << ": " << kernel.cycles << " cycles, " << kernel.counter("l2.read_hits") <<
//     "\n";
//
// The same trace, machine and options give the same result to the last byte, for any number of threads.
// Different threads of a program may simulate different runs at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// An error that the caller can correct: a name, a file, a setting. what() is the line that the program
/// `lockstep` would print.
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
  /// All parameters (for a system: its description) as the text of an INI file that gives the same machine.
  [[nodiscard]] std::string ini() const;

  struct Description;  // internal
  [[nodiscard]] const Description& description() const { return *description_; }

 private:
  std::shared_ptr<const Description> description_;
};

/// The workload to simulate. A value: copies are cheap.
class Trace {
 public:
  /// Anything that `lockstep run` accepts: a folder or kernel list of Accel-Sim's tracer, a single kernel's
  /// file, or a compact trace. Throws Error. lockstep/trace_builder.hpp makes traces from records.
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
  std::string managed = {};      // as `run --managed`: "all", "memcpy", ranges; empty: as the trace says
  std::string gpu_memory = {};   // as `run --gpu-memory`: "0.8x", "4 GiB"; empty: the machine's capacity
  std::function<bool()> interrupted = {};  // asked between windows of simulated time; true ends the run there
};

/// Describes a per-kernel counter.
struct Counter {
  std::string_view name, unit, help;  // "l1.hits"; docs/stats.md
};
/// All counters, in the order of Kernel::counters.
[[nodiscard]] const std::vector<Counter>& counters();

/// A kernel that was executed.
struct Kernel {
  std::string name = {};
  std::uint64_t id = 0, stream = 0;
  unsigned device = 0;
  std::uint64_t start_cycle = 0, cycles = 0;  // core cycles of its device
  bool partial = false;                       // the run ended before the kernel did
  std::vector<std::uint64_t> counters = {};
  /// A counter's value, by name. Throws Error if counters() has no such name.
  [[nodiscard]] std::uint64_t counter(std::string_view name) const;
};

enum class Outcome : std::uint8_t { kDone, kMaxCycles, kInterrupted, kDeadlock };

/// A value: copies are cheap.
class Result {
 public:
  [[nodiscard]] Outcome outcome() const;
  [[nodiscard]] std::uint64_t cycles() const;  // of the whole run, core cycles of the first device
  /// The kernels, in the order in which they ended.
  [[nodiscard]] const std::vector<Kernel>& kernels() const;
  /// The text of stats.json, byte for byte that of `lockstep run -o` (docs/stats.md).
  [[nodiscard]] std::string json() const;
  /// stats.json, stats.csv, host.json and config.ini in a folder, which is made if it is missing. Throws
  /// Error.
  void write(const std::string& folder) const;
  /// After a deadlock: what every warp and queue is waiting for. Otherwise empty.
  [[nodiscard]] const std::string& deadlock() const;

  struct Content;  // internal
  explicit Result(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

 private:
  std::shared_ptr<const Content> content_;
};

/// Throws Error.
[[nodiscard]] Result simulate(const Trace& trace, const Machine& machine, const Options& options = {});

/// The library's version, such as "0.1.0".
[[nodiscard]] const char* version();

}  // namespace lockstep
