// A trace as Accel-Sim's tracer writes it: a list and a file for each kernel.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "trace/kernel_list.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

class TextTraceSet final : public TraceSet {
 public:
  /// `path`: a folder, a list file or a kernel file. With a device in `list`, all of it is that device's, at
  /// the addresses of its region. Throws InputError.
  TextTraceSet(const std::string& path, const OpenOptions& options, const ListOptions& list = {});

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::vector<Command>& commands() const override { return commands_; }
  [[nodiscard]] const std::vector<KernelHeader>& kernels() const override { return kernels_; }
  [[nodiscard]] std::unique_ptr<CtaFeed> open(std::uint32_t index) const override;
  [[nodiscard]] std::uint64_t content_hash() const override;

  /// Waits for events of other devices' lists.
  [[nodiscard]] const std::vector<ForeignEvent>& foreign() const { return foreign_; }
  /// The list's file; empty where a single kernel was named.
  [[nodiscard]] const std::string& list_file() const { return list_; }

 private:
  void open_list(const std::string& list, const ListOptions& options);
  [[nodiscard]] std::uint64_t compute_hash() const;

  std::string name_;
  OpenOptions options_;
  Address region_ = 0;  // 0: addresses are not moved
  std::string list_;
  std::vector<std::string> files_;
  std::vector<bool> tracez_;  // of each file: whether it is one
  std::vector<Command> commands_;
  std::vector<KernelHeader> kernels_;
  std::vector<std::string> remarks_;
  std::vector<ForeignEvent> foreign_;
  mutable std::mutex hash_mutex_;
  mutable std::optional<std::uint64_t> hash_;
};

}  // namespace lockstep::trace
