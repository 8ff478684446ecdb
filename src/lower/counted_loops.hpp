// Loops of which a compiler knows how often they are executed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::lower {

/// One basic block that ends in a branch to its own beginning and is entered from one other block, which sets
/// the counter. Its iterations always number the same.
struct CountedLoop {
  std::uint32_t first = 0, end = 0;  // instructions [first, end), the branch the last
  std::uint32_t count = 0;           // iterations, at least 2
  bool nested = false;               // inside another loop, in which there is no choice behind this one
};

inline constexpr std::uint32_t kMaxIterations = 1024;

/// The first one at or behind `from` whose body has none of the instructions that keep their place
/// (dependences.hpp) but the branch, whose comparison nothing else reads, and of at most kMaxIterations.
[[nodiscard]] std::optional<CountedLoop> find_counted_loop(const ptx::Function& function, std::uint32_t from);

}  // namespace lockstep::lower
