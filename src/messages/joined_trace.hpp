// The recordings of the processes of an MPI program as one trace: process i is that of device i.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "messages/schedule.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::messages {

/// What one process has left.
struct ProcessFiles {
  std::string calls;  // Recording
  std::string trace;  // compact trace of its CUDA work, all of device 0; empty: none
};

class JoinedTrace final : public trace::TraceSet {
 public:
  /// Throws InputError, UserError: recordings that are incomplete or do not fit together, and work that
  /// cannot be simulated in several processes (managed memory, requests of kernels to the network).
  JoinedTrace(const std::vector<ProcessFiles>& files, const Protocol& protocol, std::string name);

  /// Functions whose time is not simulated, each once, sorted.
  [[nodiscard]] const std::vector<std::string>& not_simulated() const { return not_simulated_; }

  [[nodiscard]] const std::string& name() const override { return name_; }
  /// Of the recordings' content, but for what differs from run to run. Measured times of the host count in
  /// the lower 32 bits alone: the upper ones are those of the same program without them.
  [[nodiscard]] std::uint64_t content_hash() const override { return hash_; }
  [[nodiscard]] const std::vector<trace::Command>& commands() const override { return commands_; }
  [[nodiscard]] const std::vector<trace::KernelHeader>& kernels() const override { return kernels_; }
  [[nodiscard]] std::unique_ptr<trace::CtaFeed> open(std::uint32_t index) const override;

 private:
  void add(std::uint16_t process, const std::string& path);
  /// `elapses`: what the hosts have computed takes time.
  [[nodiscard]] std::vector<trace::Command> join(const std::vector<std::vector<PlacedTask>>& tasks,
                                                 bool elapses) const;
  [[nodiscard]] std::uint64_t hash_of(const std::vector<trace::Command>& commands) const;
  [[nodiscard]] bool measures_host_time() const;

  std::string name_;
  std::uint64_t hash_ = 0;
  std::vector<std::unique_ptr<trace::TraceSet>> traces_;            // by process; null: none
  std::vector<std::uint32_t> first_kernel_;                         // by process
  std::vector<std::pair<std::uint16_t, std::uint32_t>> kernel_of_;  // process, and kernel of its trace
  std::vector<trace::Command> commands_;
  std::vector<trace::KernelHeader> kernels_;
  std::vector<std::string> not_simulated_;
};

}  // namespace lockstep::messages
