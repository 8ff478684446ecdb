// The state of the CUDA runtime in one process. The program's functional effects happen inside its calls, in
// their order: that is one of the orders that streams allow, and the same in every run.
#pragma once

#include <mutex>
#include <string>

#include "cuda/abi.hpp"
#include "cuda/allocations.hpp"
#include "cuda/array.hpp"
#include "cuda/call_watchdog.hpp"
#include "cuda/context.hpp"
#include "cuda/devices.hpp"
#include "cuda/error.hpp"
#include "cuda/findings_file.hpp"
#include "cuda/graphs.hpp"
#include "cuda/held_queue.hpp"
#include "cuda/kernel_runner.hpp"
#include "cuda/managed_advice.hpp"
#include "cuda/memory_log.hpp"
#include "cuda/modules.hpp"
#include "cuda/multicast.hpp"
#include "cuda/operation.hpp"
#include "cuda/performer.hpp"
#include "cuda/pinned_flags.hpp"
#include "cuda/pools.hpp"
#include "cuda/processes.hpp"
#include "cuda/recording.hpp"
#include "cuda/settings.hpp"
#include "cuda/streams.hpp"
#include "cuda/texture_objects.hpp"
#include "cuda/turns.hpp"
#include "cuda/user_objects.hpp"
#include "cuda/virtual_memory.hpp"
#include "cuda/warnings.hpp"
#include "exec/device_memory.hpp"
#include "exec/texture_table.hpp"

namespace lockstep::cuda {

/// The root: owns the components and has what concerns several of them. Whoever uses it holds `mutex`.
class Runtime {
 public:
  /// Made at the first call. The process ends with code 2 and one line on stderr when the environment that
  /// `lockstep exec` sets up is not there or wrong.
  static Runtime& instance();

  std::recursive_mutex mutex;
  CallWatchdog watchdog;
  Settings settings;
  Turns turns{!settings.trace.empty()};  // what is not recorded depends on no order
  Warnings warnings;
  exec::DeviceMemory memory;
  VirtualMemory virtual_memory{memory};
  MemoryLog memory_log{memory};
  Recording recording{settings, memory_log};
  MulticastObjects multicast{memory, virtual_memory, memory_log};
  Processes processes{memory};
  exec::TextureTable textures;
  TextureObjects texture_objects;
  Modules modules;
  Pools pools;
  PinnedFlags pinned;
  Allocations allocations{memory, memory_log, pools};
  Arrays arrays;
  ManagedAdvice advice;
  Devices devices{settings.devices, memory};
  Streams streams{devices, recording};
  UserObjects user_objects;
  Graphs graphs{streams};
  FindingsFile findings{settings, memory, warnings};
  KernelRunner kernels{{settings, memory, textures, modules, devices, recording, findings, warnings}};
  Performer performer{{memory, memory_log, allocations, devices, streams, recording, kernels}};
  HeldQueue held{
      performer,
      {memory, memory_log, devices, streams, recording, watchdog, processes, turns, kernels.agent(), mutex}};

  /// Performs `operation` or makes it a node of the graph that `stream` is captured into.
  void submit(abi::Stream stream, Operation operation, Issue issue = {});
  // An event of all work that the device has; all that it is given from now on waits for an event. Captures
  // that are in progress are an error and become invalid.
  void record_device(unsigned device, abi::Event event);
  void make_device_wait(unsigned device, abi::Event event);
  [[nodiscard]] KernelLaunch prepare(const void* function, KernelLaunch launch, void** args);
  // The host waits, as HeldQueue's functions say, and the trace says so. Other host threads come first.
  void wait_all();  // that the calling thread's device has
  void wait_stream(abi::Stream stream);
  void wait_event(abi::Event event);
  /// Whether it is so at the host's time; where no simulation runs beside the program, always.
  [[nodiscard]] bool is_complete(abi::Event event);
  [[nodiscard]] bool is_complete(abi::Stream stream);
  [[nodiscard]] float elapsed_milliseconds(abi::Event from, abi::Event to);
  /// cudaProfilerStart() and cudaProfilerStop(): the program enters a range, or leaves it.
  void set_in_range(bool in_range);
  /// cudaDeviceReset of the calling thread's device: frees what the program allocated, variables get their
  /// initial values, errors are forgotten.
  void reset();
  /// At the end of the process: what is held, recorded, found and was not supported.
  void report();

 private:
  explicit Runtime(Settings settings);
  /// To be called before the host waits, so that calls of one of its threads do not wait for another thread's
  /// work.
  void pass_turn() { turns.pass(mutex); }
  /// False: the stream is not captured.
  [[nodiscard]] bool capture(StreamState& stream, Operation& operation);
};

}  // namespace lockstep::cuda
