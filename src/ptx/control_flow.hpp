// Basic blocks of a function, and where the lanes of a warp that a branch divides meet again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::ptx {

struct Block {
  std::uint32_t first = 0, end = 0;  // instructions [first, end)
  std::vector<std::uint32_t>
      successors;          // blocks: the fall-through first, then targets as written, each once
  bool reachable = false;  // from the function's first instruction
  bool exits = false;      // ends in ret, exit or trap, guarded or not
};

/// Any graph is accepted, irreducible ones and endless loops too. `call` does not end a block. A guarded
/// exit, ret or trap ends one: it has an edge to the exit and one to what follows.
class ControlFlow {
 public:
  explicit ControlFlow(const Function& function);

  /// "The end of the function" as a reconvergence point.
  static constexpr std::uint32_t kAtExit = ~std::uint32_t{0};

  [[nodiscard]] std::span<const Block> blocks() const { return blocks_; }
  [[nodiscard]] std::uint32_t block_of(std::uint32_t instruction) const { return block_of_[instruction]; }
  /// The block that immediately post-dominates `block`; kAtExit if there is none before the end, or if no
  /// exit can be reached from it.
  [[nodiscard]] std::uint32_t post_dominator(std::uint32_t block) const { return post_dominators_[block]; }
  /// First instruction of the immediate post-dominator of the block that `instruction` (the last of its
  /// block) ends; kAtExit as above.
  [[nodiscard]] std::uint32_t reconvergence(std::uint32_t instruction) const;

 private:
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> block_of_, post_dominators_;
};

}  // namespace lockstep::ptx
