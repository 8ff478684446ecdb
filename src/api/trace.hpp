// The content of a Trace. Internal to src/api.
#pragma once

#include <memory>

#include "lockstep/simulator.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep {

/// `files`: the files from which the trace is read, if the library made them; they outlive the trace.
struct Trace::Content {
  std::shared_ptr<void> files;
  std::unique_ptr<trace::TraceSet> trace;
};

}  // namespace lockstep
