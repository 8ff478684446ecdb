// --checkpoint and --resume.
#pragma once

#include <boost/program_options.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/folder.hpp"
#include "gpu/simulation.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::cli {

struct CheckpointArguments {
  std::string folder;                                          // for checkpoints; empty: none are written
  std::chrono::milliseconds every = std::chrono::minutes(10);  // of the host's time; 0: after every kernel
  std::string resume;  // a checkpoint, or a folder of them; empty: none
  [[nodiscard]] bool any() const { return !folder.empty() || !resume.empty(); }
};

void add_checkpoint_options(boost::program_options::options_description& options);
/// Throws UserError. `command` as in run_arguments().
[[nodiscard]] CheckpointArguments checkpoint_arguments(std::string_view command,
                                                       const boost::program_options::variables_map& values);
/// "90s", "10min", "2h". Throws UserError.
[[nodiscard]] std::chrono::milliseconds parse_every(std::string_view text);

/// The checkpoints of one run.
class Checkpoints {
 public:
  /// Reads the checkpoint to resume from, and sets options.checkpoint, which refers to this object. Unless
  /// `quiet`, prints on stderr where the run resumes. Throws UserError, also where the folder holds
  /// checkpoints that the run would replace by earlier ones.
  Checkpoints(const CheckpointArguments& arguments, const trace::TraceSet& trace, gpu::RunOptions& options,
              bool quiet);
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  /// The run. A state that does not fit is an InputError.
  [[nodiscard]] gpu::RunResult run(const trace::TraceSet& trace, const gpu::RunOptions& options) const;
  /// After the run: its exit code, of which `code` is what it would be without checkpoints. Removes the
  /// checkpoints of a complete run.
  [[nodiscard]] int end(int code);

 private:
  using Clock = std::chrono::steady_clock;
  using Decision = gpu::CheckpointOptions::Decision;

  void check_folder(const std::string& resumed_file);
  [[nodiscard]] Decision decide(std::uint64_t kernels);
  [[nodiscard]] bool keep(std::string_view state, std::uint64_t kernels);

  CheckpointArguments arguments_;
  checkpoint::Checkpoint current_;  // the last one; `state` is the one to resume from
  Clock::time_point due_;
  bool written_ = false;  // current_ is in the folder
  bool waiting_ = false;  // for a time at which the state can be taken
  bool stopped_ = false, warned_ = false;
};

}  // namespace lockstep::cli
