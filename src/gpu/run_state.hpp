// The state of a run between two kernels as bytes.
#pragma once

#include <string>
#include <string_view>

#include "gpu/controller.hpp"
#include "gpu/feed_set.hpp"
#include "gpu/system.hpp"
#include "sim/engine.hpp"

namespace lockstep::gpu {

/// Everything of a run that later cycles or results depend on. What the run is made from (configuration,
/// trace, options) is not in it.
struct RunState {
  sim::Engine* engine = nullptr;
  System* system = nullptr;
  FeedSet* feeds = nullptr;
  Controller* controller = nullptr;
};

/// Precondition: System::at_rest(), between windows, and all kernels that have ended are closed.
[[nodiscard]] std::string keep(const RunState& run);
/// Restores the state of a run that has been set up from the same configuration, trace and options and has
/// not begun. Throws ArchiveError if the bytes do not fit; the run is unusable then.
void restore(std::string_view state, const RunState& run);

}  // namespace lockstep::gpu
