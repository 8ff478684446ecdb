// What all CTAs of a launch share. Internal to src/exec.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "exec/device_heap.hpp"
#include "exec/executable.hpp"
#include "exec/launch.hpp"
#include "exec/watch.hpp"

namespace lockstep::exec {

class AccessSet;
class LaunchCheck;

struct Machine {
  Machine(const Launch& launch_, DeviceMemory& memory_, const RunOptions& options_)
      : kernel(*launch_.kernel),
        memory(memory_),
        view(memory_, launch_.device),
        options(options_),
        launch(launch_),
        parameters(launch_.parameters.begin(), launch_.parameters.end()) {}

  const Executable& kernel;
  DeviceMemory& memory;
  DeviceView view;  // what the executing device reaches of it
  RunOptions options;
  Launch launch;
  std::vector<std::byte> parameters;
  Address workspace = 0;           // of a cooperative launch
  bool turns = false;              // CTAs take turns: what takes work ends one
  std::uint32_t shared_bytes = 0;  // of a CTA, static and dynamic, in whole units
  RunCounts counts;
  RunCounts observed;             // of `counts`, what the observer knows
  std::uint64_t clock_ahead = 0;  // of the clocks before the instructions executed, see ClockSource
  DeviceHeap* heap = nullptr;
  LaunchCheck* check = nullptr;   // observes everything that CTAs do; may be null
  AccessSet* accesses = nullptr;  // collects the CTAs' accesses to global memory; may be null
  // Dynamic parallelism: parameters of launches to come, last errors by CTA and thread, streams and events
  // made.
  std::map<Address, ChildLaunch> buffers;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> last_errors;
  std::uint64_t handles = 0;
  Watch watch;

  [[nodiscard]] bool observer_waits() const {
    return options.observer != nullptr &&
           counts.warp_instructions - observed.warp_instructions >= LaunchObserver::kSteps;
  }
  /// Notifies the observer, if there is one.
  void notify_observer(std::uint64_t ctas, const std::function<std::string()>& dump);

  [[nodiscard]] Dim3 cta_id(std::uint64_t index) const;
  [[nodiscard]] Dim3 thread_id(std::uint32_t linear) const;
  /// With several devices: text on which one executed, and whose memory it was.
  [[nodiscard]] std::string devices_of(Address address) const;
  /// Throws a DeviceFault at an operation.
  [[noreturn]] void fault(FaultKind kind, std::uint64_t cta, std::uint32_t thread, std::uint32_t operation,
                          Address address, const std::string& detail) const;
};

}  // namespace lockstep::exec
