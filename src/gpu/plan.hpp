// A trace as the dispatcher takes it: launch plans, host commands, streams.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/system_config.hpp"
#include "core/dispatcher.hpp"
#include "gpu/managed.hpp"
#include "gpu/net_checks.hpp"
#include "gpu/timestamps.hpp"
#include "host/host_queue.hpp"
#include "mem/apertures.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::gpu {

using IdRanges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// How a device launches a kernel of the trace.
struct KernelPlan {
  std::uint16_t device = 0;
  std::uint32_t kernel = 0;  // index in the trace
  core::LaunchPlan launch;
};

struct Plan {
  std::vector<KernelPlan> kernels;          // one for each kernel and device that launches it
  std::vector<host::HostCommand> commands;  // selected kernels, all copies
  std::uint32_t streams = 0;
  std::uint64_t kernel_commands = 0;
  bool manages = false;       // there is managed memory, or may be: the machine has a GMMU
  bool needs_gmmu = false;    // there is after all, and the machine has none: the run must begin anew
  uvm::AddressSpace managed;  // grows while a program runs
  mem::Apertures apertures;   // whose memory is where, of several devices; grows while a program runs
  std::vector<std::uint64_t> managed_frames;  // pages for it of each device, when the run begins
  std::vector<Timestamps> timestamps;         // by device; empty: there are none
  std::vector<std::string> remarks;           // sorted: kernels of another architecture
};

/// Whose memory is where, where the command says it; and where the system's design has a device's network
/// queues.
void place(const trace::Command& command, const config::SystemConfig& system, mem::Apertures& apertures);

/// Makes a plan command by command.
class Planner {
 public:
  /// `system` and `plan` must outlive it; of the plan it reads what is managed and whose memory is where.
  /// `selection`: kernels with other ids are left out; empty: none is. With managed memory that the program
  /// has (kTrace) the device's copies touch it as its kernels do.
  Planner(const config::SystemConfig& system, IdRanges selection, const Plan& plan,
          const ManagedOptions& managed);

  /// Appends what the host does. `header`: of a kernel's command. False: the command is left out, or became
  /// an order to managed memory.
  bool add(const trace::Command& command, const trace::KernelHeader* header,
           std::vector<host::HostCommand>& out);
  /// A copy to or from memory that the program would have managed: the host's own write or read of it.
  void add_host_access(const trace::Command& copy, std::vector<host::HostCommand>& out);
  /// To be made once for each kernel that runs and each device that it runs on; `header` must outlive it.
  /// Throws UserError where the kernel does not fit an SM.
  [[nodiscard]] core::LaunchPlan launch(const trace::KernelHeader& header, std::uint16_t device);
  [[nodiscard]] std::uint32_t streams() const { return static_cast<std::uint32_t>(streams_.size()); }
  [[nodiscard]] const std::set<std::string>& remarks() const { return remarks_; }

 private:
  void check_multicast(const trace::Command& c) const;
  void check_device(const trace::Command& command) const;
  void check_sharing();
  void add_managed(const trace::Command& command, const uvm::ManagedCommand& managed,
                   std::vector<host::HostCommand>& out);
  void name_other(std::uint16_t place, host::HostCommand& command) const;
  [[nodiscard]] std::uint32_t dense(std::uint16_t device, std::uint64_t stream);
  [[nodiscard]] bool add_network(const trace::Command& command, std::vector<host::HostCommand>& out);
  void add_peer_copy(const trace::Command& command, std::vector<host::HostCommand>& out);
  void enlarge_memory(const trace::Command& command, std::vector<host::HostCommand>& out);
  void put_in_stream(const trace::Command& command, host::HostCommand& managed);
  void add_device_access(const trace::Command& command, std::vector<host::HostCommand>& out);

  const config::SystemConfig* system_;
  NetChecks network_;
  std::vector<std::vector<std::uint32_t>> routes_;
  IdRanges selection_;
  const Plan* plan_;
  const uvm::AddressSpace* managed_;  // the plan's
  bool moves_pages_;
  ManagedMemory memory_;         // a share where it grows with the program's allocations, else nothing
  uvm::AddressSpace allocated_;  // by the program so far, where that counts
  std::map<std::pair<std::uint16_t, std::uint64_t>, std::uint32_t>
      streams_;                                              // dense numbers, by device and stream
  std::map<std::string, std::uint64_t, std::less<>> rooms_;  // of code, by kernel name
  std::set<std::string> remarks_;
};

/// Throws UserError: a range of ids that names no kernel, a kernel that does not fit an SM, work of a device
/// that the system does not have, parameters that managed memory of several devices does not know. With
/// ManagedOptions::Kind::kCopies a copy to or from managed memory becomes the host's own write or read of it.
/// With kTrace, where the program had it managed, the device's copy engine accesses it: what is absent comes
/// first. Else copies are as in the trace and move no pages.
[[nodiscard]] Plan make_plan(const trace::TraceSet& trace, const config::SystemConfig& system,
                             const IdRanges& selection, const ManagedOptions& managed = {});

}  // namespace lockstep::gpu
