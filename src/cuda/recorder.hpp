// The program's work as a compact trace: kernels, copies, and where the host waited.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda/modules.hpp"
#include "cuda/operation.hpp"
#include "exec/launch.hpp"
#include "lower/code.hpp"
#include "trace/compact_file.hpp"

namespace lockstep::cuda {

class Recorder {
 public:
  /// Begins to write `path`; the file is there after finish() only.
  explicit Recorder(std::string path);

  /// Runs `grid` to its end and records it. False: interrupted.
  [[nodiscard]] bool kernel(exec::Grid& grid, const KernelLaunch& launch, const trace::KernelHeader& header);
  void copy_to_device(Address to, std::uint64_t bytes);
  void copy_to_host(Address from, std::uint64_t bytes);
  /// kManage, kRelease, kAdvise, kPrefetch, kHostAccess.
  void managed(const trace::Command& command) { commands_.push_back(command); }
  /// The host waits for everything before; not written twice in a row.
  void wait();
  /// Does nothing where no kernel was launched: a trace needs one.
  void finish(const std::string& name);

 private:
  const lower::Code& code_of(const Kernel& kernel, unsigned arch);

  trace::CompactFile file_;
  std::vector<trace::Command> commands_;
  std::map<const Kernel*, std::unique_ptr<lower::Code>> codes_;
  exec::CtaRecord executed_;
  trace::CtaTrace replayed_;
  std::uint32_t kernels_ = 0;
};

}  // namespace lockstep::cuda
