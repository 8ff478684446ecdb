// Which of the program's threads asks for work, and as what.
#pragma once

#include <cstdint>

namespace lockstep::cuda {

/// A host thread of this process: 0 is its first; another one's number is its own for ever, and says nothing
/// else.
using HostThread = std::uint64_t;
[[nodiscard]] HostThread calling_thread();

struct Issue {
  enum class As : std::uint8_t {
    kCall,        // a call of its own
    kGraph,       // the launch of a graph, of which it is the first work
    kGraphBehind  // the launch of a graph, behind the first
  } as = As::kCall;
  HostThread thread = calling_thread();
};

}  // namespace lockstep::cuda
