// simulate() with the parts of the machine as a parameter.
#pragma once

#include "gpu/device.hpp"
#include "gpu/program.hpp"
#include "gpu/simulation.hpp"

namespace lockstep::gpu {

/// For tests that must see the contract of windows broken: nothing of it is reachable from the program.
struct TestHooks {
  bool late_copies =
      false;  // the end of a copy may become visible within its own window, as over a channel without latency
};

[[nodiscard]] RunResult run(const trace::TraceSet& trace, const RunOptions& options, const Builder& builder,
                            const TestHooks& hooks = {});
/// The machine gets a GMMU when the program's first managed allocation is reported, usually among its first
/// commands: the run then starts over and replays what was reported until then.
[[nodiscard]] RunResult run(ProgramLog& program, const RunOptions& options, const Builder& builder);

}  // namespace lockstep::gpu
