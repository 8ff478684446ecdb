// The order in which processes come to their steps.
#pragma once

#include "messages/steps.hpp"

namespace lockstep::messages {

/// Where processes would wait for each other forever, those that wait go on with collective calls that they
/// have begun, as an MPI library does within any call: steps of such a call come before the one that waits.
/// All other steps keep their order. Longer messages than `eager_bytes` go by rendezvous. Precondition:
/// messages are matched.
void progress(std::vector<std::vector<Step>>& processes, std::uint64_t eager_bytes);

}  // namespace lockstep::messages
