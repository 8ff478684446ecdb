// Loops of which a compiler knows how they count, and perhaps how often they are executed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::lower {

/// One basic block that ends in a branch to its own beginning, taken as long as a comparison of a counter
/// with a limit is true. The counter grows or falls by the same constant in each iteration, the limit stays,
/// and nothing else reads the comparison's result.
struct CountedLoop {
  std::uint32_t first = 0, end = 0;  // instructions [first, end), the branch the last
  std::uint32_t test = 0;            // the comparison; the step may be before or behind it
  std::uint32_t step = 0;            // the addition to the counter
  std::uint32_t count = 0;           // iterations, if they always number the same: at least 2; 0: not known
  std::int64_t start = 0;            // of the counter, if `count` is known
  bool nested = false;               // inside another loop, in which there is no choice behind this one
};

inline constexpr std::uint32_t kMaxIterations = 1 << 16;

/// Whether it always adds a constant to an integer register, and writes nothing else.
[[nodiscard]] bool is_step(const ptx::Instruction& instruction);

/// The first one at or behind `from` whose body has none of the instructions that keep their place
/// (dependences.hpp) but barriers and the branch. More iterations than kMaxIterations count as not known.
[[nodiscard]] std::optional<CountedLoop> find_counted_loop(const ptx::Function& function, std::uint32_t from);

}  // namespace lockstep::lower
