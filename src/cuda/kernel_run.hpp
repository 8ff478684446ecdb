// A launch in progress.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/operation.hpp"
#include "cuda/recorder.hpp"
#include "exec/launch.hpp"

namespace lockstep::cuda {

/// Its parts refer to each other: it stays where it is.
struct KernelRun {
  KernelRun() = default;
  KernelRun(const KernelRun&) = delete;
  KernelRun& operator=(const KernelRun&) = delete;

  KernelLaunch source;
  exec::Launch launch;
  exec::RunOptions options;
  std::string limit;  // the option that options.max_instructions comes from, without dashes; empty: none
  std::vector<exec::ChildLaunch> children;
  trace::KernelHeader header;
  std::optional<exec::Grid> grid;          // nothing: not begun
  std::vector<exec::AwaitedWord> awaited;  // where the grid waits
  KernelRecording recording;
};

}  // namespace lockstep::cuda
