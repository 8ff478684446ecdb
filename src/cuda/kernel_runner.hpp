// Runs kernels: with or without a record, with the clocks of the simulation, in parts where one waits, and
// what they launch themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/devices.hpp"
#include "cuda/execution_page.hpp"
#include "cuda/findings_file.hpp"
#include "cuda/kernel_run.hpp"
#include "cuda/launch_monitor.hpp"
#include "cuda/modules.hpp"
#include "cuda/recording.hpp"
#include "cuda/settings.hpp"
#include "cuda/stream_state.hpp"
#include "cuda/warnings.hpp"
#include "exec/access_set.hpp"
#include "exec/device_memory.hpp"
#include "exec/launch.hpp"
#include "exec/signal_log.hpp"
#include "exec/texture_table.hpp"
#include "shmem/agent.hpp"
#include "shmem/messages.hpp"

namespace lockstep::cuda {

/// What kernels are run with; all must outlive the runner.
struct KernelSurroundings {
  const Settings& settings;
  exec::DeviceMemory& memory;
  const exec::TextureTable& textures;
  Modules& modules;
  Devices& devices;
  Recording& recording;
  FindingsFile& findings;
  Warnings& warnings;
};

class KernelRunner {
 public:
  explicit KernelRunner(const KernelSurroundings& with);

  /// On the calling thread's device. `may_wait`: for writes of the host or of another kernel.
  [[nodiscard]] std::unique_ptr<KernelRun> begin(KernelLaunch source, bool may_wait);
  /// The kernel and what it launches. False: it waits; call again to go on. Throws exec::DeviceFault.
  [[nodiscard]] bool run(KernelRun& run, const StreamState& stream);
  /// Warp instructions of the kernels that have been run to their ends.
  [[nodiscard]] std::uint64_t executed() const { return executed_; }

  /// The program has called cudaProfilerStart().
  void enter_range() { execution_.page().enter_range(); }

  /// The kernels' network queues are served from here on. Throws UserError.
  void attach(const shmem::World& world);
  [[nodiscard]] shmem::Agent& agent() { return agent_; }
  [[nodiscard]] shmem::Messages& messages() { return messages_; }

 private:
  void run_children(const std::vector<exec::ChildLaunch>& children, const KernelLaunch& parent,
                    const StreamState& stream);
  void run_child(const exec::ChildLaunch& child, const KernelLaunch& parent, const StreamState& stream);
  void copy_or_fill(const exec::ChildLaunch& child, unsigned device);
  [[nodiscard]] bool execute(KernelRun& run, const StreamState& stream);
  [[nodiscard]] bool execute_recorded(KernelRun& run, const StreamState& stream);
  [[nodiscard]] bool execute_clocked(KernelRun& run, const StreamState& stream);
  bool serve(unsigned device);

  KernelSurroundings with_;
  exec::SignalLog signals_;
  // Also of kernels that do not wait: of several devices, and of one once its kernels use the network.
  bool has_signals_;
  shmem::Agent agent_;
  shmem::Messages messages_;
  exec::AccessSets access_sets_;
  SharedPage execution_;
  LaunchMonitor monitor_{execution_.page()};
  std::uint64_t launches_ = 0;
  std::uint64_t executed_ = 0;
};

}  // namespace lockstep::cuda
