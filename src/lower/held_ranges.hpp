// Where the values of a function are live: with the holes in which their registers hold nothing that is read
// again.
#pragma once

#include <cstdint>
#include <vector>

#include "lower/fusion.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::lower {

/// From one position to another, both included. Position n is before instruction n.
struct HeldRange {
  std::uint32_t first, last;
};

/// The ranges of each root, in no order; they may touch. `roots`: by register, that whose place it shares;
/// `whole`: by register, whether a write to it is one to all words of its root. What a fused instruction
/// takes in is read there.
[[nodiscard]] std::vector<std::vector<HeldRange>> held_ranges(
    const ptx::Function& function, const ptx::ControlFlow& flow, const ptx::Liveness& liveness,
    const Fusions& fusions, const std::vector<ptx::RegisterId>& roots, const std::vector<bool>& whole);

/// Which positions of a register are taken.
class TakenPositions {
 public:
  [[nodiscard]] bool overlaps(HeldRange range) const;
  void take(HeldRange range);

 private:
  std::vector<std::uint64_t> words_;  // a bit for each position
};

}  // namespace lockstep::lower
