// What an access makes of its line's eviction priority in the L2.
#pragma once

#include <cstdint>

namespace lockstep {

/// PTX ISA, "Cache Eviction Priority Hints"; CUDA C++ Programming Guide, "L2 Cache Control".
enum class L2Priority : std::uint8_t {
  kPlain,   // leaves it as it is; normal for a new line
  kFirst,   // the line leaves before all others: streaming
  kLast,    // it leaves after all others of its set, within the ways set aside: persisting
  kNormal,  // it is like others again, whatever it was before
};

struct L2Placing {
  L2Priority priority = L2Priority::kPlain;
  std::uint8_t last_ways = 0;  // with kLast: ways of a set that such lines may take
  /// How often the program had made lines that leave last like others again before the launch whose access
  /// this is (cudaCtxResetPersistingL2Cache), in 1 to 65535 and then from 1 again; 0: never, or not known.
  std::uint16_t resets = 0;
};

}  // namespace lockstep
