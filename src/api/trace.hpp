// What a Trace is made of. Internal to src/api.
#pragma once

#include <memory>

#include "lockstep/simulator.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep {

/// `files`: what the trace is read from, where it is the library's own; it goes after the trace.
struct Trace::Content {
  std::shared_ptr<void> files;
  std::unique_ptr<trace::TraceSet> trace;
};

}  // namespace lockstep
