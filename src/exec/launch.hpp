// Runs a kernel launch functionally: CTA by CTA, in the order of their index, with the same results in every
// run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/device_heap.hpp"
#include "exec/device_memory.hpp"
#include "exec/fault.hpp"
#include "exec/record.hpp"
#include "exec/texture_table.hpp"

namespace lockstep::exec {

class AccessSets;
class Checker;
class Executable;
class SignalLog;

struct Launch {
  const Executable* kernel = nullptr;
  Dim3 grid, block, cluster;  // cluster: CTAs; its sizes divide the grid's
  std::uint32_t dynamic_shared_bytes = 0;
  std::span<const std::byte>
      parameters;  // laid out as ptx::Parameter::offset says; at least Executable::parameter_bytes()
  bool cooperative = false;  // %envreg1/2 point to a workspace for grid synchronisation
  std::uint64_t id = 1;      // %gridid
  unsigned device = 0;       // that executes it, of DeviceMemory::devices()
};

/// Where %clock, %clock64 and %globaltimer come from. Reads of one warp are numbered from 0. Without one,
/// clocks give the warp instructions executed so far by the grid, and the timer the same in ns; from a warp's
/// 65th read on, each read advances them twice as far as the one before, so that a kernel that waits for a
/// time ends.
struct ClockSource {
  void* context = nullptr;
  std::uint64_t (*cycle)(void* context, std::uint64_t cta, std::uint32_t warp, std::uint64_t read) = nullptr;
  std::uint64_t (*nanosecond)(void* context, std::uint64_t cta, std::uint32_t warp,
                              std::uint64_t read) = nullptr;
};

/// What a kernel asks the device to do after it (CUDA dynamic parallelism): a kernel, or a copy or fill of
/// memory.
struct ChildLaunch {
  enum class Kind : std::uint8_t { kKernel, kCopy, kFill } kind = Kind::kKernel;
  std::uint32_t function = 0;  // ptx::Program::functions
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;
  Address to = 0, from = 0;
  std::uint64_t bytes = 0, value = 0;
  bool tail = false;  // in the stream of tail launches: after all others
};

/// A word of global memory for whose change a launch waits, and what it was.
struct AwaitedWord {
  Address address = 0;
  std::uint32_t bytes = 0;
  std::uint64_t bits = 0;
};

struct RunCounts {
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
};

/// Receives the progress of a launch from the threads that execute it, which call it concurrently.
class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  /// A thread calls this after kSteps of its warp instructions (at the end of a warp's turn, so somewhat
  /// later) and after each of its CTAs. `executed`, `ctas`: since its last call. `dump` says where
  /// the warps of the CTA that it is executing stand (WarpPlaces::text()).
  virtual void executed(const RunCounts& executed, std::uint64_t ctas,
                        const std::function<std::string()>& dump) = 0;
  /// What has been executed at once was in vain: the CTAs run one by one, from the first on.
  virtual void restarted() = 0;
  static constexpr std::uint64_t kSteps = 1 << 20;
};

struct RunOptions {
  const TextureTable* textures = nullptr;
  ClockSource clock;
  std::function<void(std::string_view)>
      print;  // text of vprintf, in the order of execution; nothing: dropped
  const std::atomic<bool>* interrupt = nullptr;        // looked at after at most some milliseconds
  std::uint64_t max_instructions = ~std::uint64_t{0};  // warp instructions of the launch
  std::uint32_t stack_bytes = 64 * 1024;               // local memory of a thread for called functions
  std::uint32_t shared_bytes_limit = 227 * 1024;       // of a CTA, static and dynamic
  std::uint32_t shared_unit = 128;                     // shared memory is given to a CTA in multiples of this
  std::uint32_t sm_count = 132;                        // %nsmid; CTAs take them in turn
  std::uint32_t sm_threads = 2048, sm_ctas = 32;       // that an SM holds at most
  std::vector<ChildLaunch>* children = nullptr;  // gets launches in their order; nothing: they are faults
  DeviceHeap* heap = nullptr;  // of malloc() in kernels; nothing: one of 8 MiB for this launch
  // Operations that a warp executes before the next warp of its CTA does. 0: a warp runs to its next barrier,
  // but lets others run where it turns from reading shared memory to writing it or back
  // (Warp::yields_before): so programs that lack a barrier there do as on hardware, whose warps advance
  // together.
  std::uint32_t interleave = 0;
  unsigned threads = 1;        // on which Grid::run_concurrently() runs CTAs
  bool may_wait = false;       // see Grid::waits()
  Checker* checker = nullptr;  // looks for errors (check/checker.hpp); CTAs then run one after the other
  AccessSets* access_sets = nullptr;  // of launches one after the other; nothing: they are made for this one
  LaunchObserver* observer = nullptr;
  // Serves kernels through memory from outside. Called when no CTA can make progress; true: it has written to
  // memory, so some CTA may continue. An exception ends run_cta(). Empty: there is no server.
  std::function<bool()> server;
  SignalLog* signals = nullptr;  // gets signals, and records say what was waited for; nothing: they do not
};

/// Gets what CTAs that run at once executed.
class CtaSink {
 public:
  virtual ~CtaSink() = default;
  /// Called by thread `thread` of RunOptions::threads for each of its CTAs, in ascending order; by several
  /// threads at a time. `failed`: all is in vain. What it throws makes the launch fail.
  virtual void take(unsigned thread, const CtaRecord& record, const std::atomic<bool>& failed) = 0;
  /// Called by each of the threads after its last CTA, unless it failed.
  virtual void end(unsigned thread, const std::atomic<bool>& failed) = 0;
};

/// One launch in progress.
class Grid {
 public:
  /// Checks the geometry and parameters; throws UserError naming what is wrong. `launch.kernel` and `memory`
  /// must outlive the grid; the parameters are copied.
  Grid(const Launch& launch, DeviceMemory& memory, const RunOptions& options);
  ~Grid();
  Grid(Grid&&) noexcept;

  [[nodiscard]] std::uint64_t ctas() const;
  [[nodiscard]] unsigned threads() const;
  /// Runs CTA `index` to its end; to be called for 0, 1, 2 ... in this order. Others run along where it waits
  /// for them. `record`, where given, gets what it executed: give one for all CTAs or for none. False:
  /// interrupted, or waits(); call again to go on. Throws DeviceFault.
  [[nodiscard]] bool run_cta(std::uint64_t index, CtaRecord* record);
  /// Runs all CTAs on several threads, instead of run_cta(). False: the result is not certain to be that of
  /// one thread; then nothing has changed, and what `sink` has received must not be used.
  [[nodiscard]] bool run_concurrently(CtaSink* sink = nullptr);
  /// Where RunOptions::may_wait: run_cta() has returned false since nothing of the launch can get any further
  /// unless memory that it has read is written from outside. All of its state is what it was some turns
  /// before, and it has written nothing that makes a difference: registers, predicates, barriers, memory.
  [[nodiscard]] bool waits() const;
  /// What it has read in these turns.
  [[nodiscard]] std::vector<AwaitedWord> awaited() const;
  [[nodiscard]] RunCounts counts() const;
  /// Where the warps that are on their way stand: WarpPlaces::text(), with PTX lines and instructions.
  [[nodiscard]] std::string dump() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// All CTAs without record, at once where they can be. False: interrupted.
[[nodiscard]] bool run(const Launch& launch, DeviceMemory& memory, const RunOptions& options,
                       RunCounts* counts = nullptr);

}  // namespace lockstep::exec
