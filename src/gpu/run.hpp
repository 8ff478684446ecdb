// simulate() with the parts of the machine as a parameter.
#pragma once

#include "gpu/device.hpp"
#include "gpu/program.hpp"
#include "gpu/simulation.hpp"

namespace lockstep::gpu {

/// For tests that must see the contract of windows broken: nothing of it is reachable from the program.
struct TestHooks {
  bool late_copies =
      false;  // the end of a copy may be heard within its own window, as from a channel of no latency
};

/// `program`: what the commands come from, and trace is its trace; without one they are the trace's.
/// `manages`: the program has managed memory; else FoundManaged may be thrown.
[[nodiscard]] RunResult run(const trace::TraceSet& trace, const RunOptions& options, const Builder& builder,
                            const TestHooks& hooks = {}, ProgramLog* program = nullptr, bool manages = false);

}  // namespace lockstep::gpu
