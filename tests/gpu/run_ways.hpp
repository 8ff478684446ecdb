// Ways to run a simulation, none of which may change a byte of its results.
#pragma once

#include "gpu/simulation.hpp"

namespace lockstep::test {

struct Way {
  unsigned threads;
  Cycle window;  // 0: the machine's own
  bool skip, shuffle, dynamic;
};

/// With a seed for the order of domains.
struct RunWay {
  unsigned threads;
  Cycle window;
  bool skip, dynamic;
  std::uint64_t shuffle;  // 0: domains in their own order

  [[nodiscard]] gpu::RunOptions options() const {
    gpu::RunOptions options;
    options.threads = threads;
    options.window = window;
    options.skip = skip;
    options.schedule = dynamic ? gpu::Schedule::kDynamic : gpu::Schedule::kStatic;
    if (shuffle) options.shuffle = shuffle;
    return options;
  }
};

inline constexpr RunWay kRunWays[] = {{2, 0, true, true, 0},
                                      {3, 7, false, false, 5},
                                      {1, 1, true, true, 9},
                                      {4, 2, true, false, 3},
                                      {2, 0, false, true, 8}};

}  // namespace lockstep::test
