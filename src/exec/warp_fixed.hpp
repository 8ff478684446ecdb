// Special registers of a warp (PTX ISA 9.0, chapter 10). Internal to src/exec.
#pragma once

#include <cstdint>

#include "exec/warp_state.hpp"

namespace lockstep::exec {

/// Each that the kernel reads has a row of the warp's register file, Executable::fixed().
class FixedRegisters {
 public:
  /// Fills in what does not change while the warp runs. Precondition: start_frames().
  void start(WarpState& warp);
  /// Before an operation that reads clocks (Operation::reads_clock).
  void refresh_clocks(WarpState& warp);

 private:
  std::uint64_t clock_reads_ = 0;
};

}  // namespace lockstep::exec
