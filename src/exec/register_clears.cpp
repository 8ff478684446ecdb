#include "exec/register_clears.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "ptx/dominators.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::exec {
namespace {

/// The blocks of a function, each below its immediate dominator. The root is block 0.
class DominatorTree {
 public:
  explicit DominatorTree(const ptx::ControlFlow& flow) {
    ptx::Graph graph;
    for (const ptx::Block& block : flow.blocks()) graph.push_back(block.successors);
    parents_ = ptx::immediate_dominators(graph, 0);
    depths_.assign(parents_.size(), 0);
    for (std::uint32_t b = 0; b < parents_.size(); ++b) note_depth(b);
  }
  [[nodiscard]] std::uint32_t parent(std::uint32_t block) const { return parents_[block]; }
  /// The last block that dominates both.
  [[nodiscard]] std::uint32_t common(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
      if (depths_[a] < depths_[b]) std::swap(a, b);
      a = parents_[a];
    }
    return a;
  }

 private:
  /// Of the block and of those above it.
  void note_depth(std::uint32_t block) {
    std::vector<std::uint32_t> below;
    for (; parents_[block] != ptx::kNoNode && depths_[block] == 0; block = parents_[block])
      below.push_back(block);
    for (std::uint32_t depth = depths_[block]; !below.empty(); below.pop_back())
      depths_[below.back()] = ++depth;
  }

  std::vector<std::uint32_t> parents_, depths_;
};

/// By block: whether it may be in a loop, which then has an edge from it, or from behind it, to it or to
/// before it.
std::vector<bool> find_loops(const ptx::ControlFlow& flow) {
  const auto count = static_cast<std::uint32_t>(flow.blocks().size());
  std::vector<std::uint32_t> ends(count);  // by first block of a loop: behind the last
  for (std::uint32_t b = 0; b < count; ++b)
    for (const std::uint32_t to : flow.blocks()[b].successors)
      if (to <= b) ends[to] = b + 1;
  std::vector<bool> inside(count);
  for (std::uint32_t b = 0, end = 0; b < count; ++b) {
    end = std::max(end, ends[b]);
    inside[b] = b < end;
  }
  return inside;
}

/// By register of `registers`: the last block that dominates all that names it.
std::map<ptx::RegisterId, std::uint32_t> blocks_of(const ptx::Function& function,
                                                   const ptx::ControlFlow& flow,
                                                   std::span<const ptx::RegisterId> registers,
                                                   const DominatorTree& tree) {
  std::vector<std::uint32_t> found(function.registers.size(), ptx::kNoNode);
  const auto note = [&](std::uint32_t block, std::span<const ptx::RegisterId> named) {
    for (const ptx::RegisterId id : named)
      found[id] = found[id] == ptx::kNoNode ? block : tree.common(found[id], block);
  };
  for (std::uint32_t b = 0; b < flow.blocks().size(); ++b) {
    const ptx::Block& block = flow.blocks()[b];
    for (std::uint32_t i = block.first; block.reachable && i < block.end; ++i) {
      const ptx::RegisterUse use = ptx::register_use(function.instructions[i]);
      note(b, use.reads);
      note(b, use.writes);
    }
  }
  std::map<ptx::RegisterId, std::uint32_t> blocks;
  for (const ptx::RegisterId id : registers) blocks[id] = found[id] == ptx::kNoNode ? 0 : found[id];
  return blocks;
}

}  // namespace

std::vector<RegisterClear> place_clears(const ptx::Function& function, const ptx::ControlFlow& flow,
                                        std::span<const ptx::RegisterId> registers) {
  if (registers.empty()) return {};
  const DominatorTree tree(flow);
  const std::vector<bool> in_loop = find_loops(flow);
  // An instruction's guard is read before the instruction is looked at.
  const auto is_place = [&](std::uint32_t block) {
    return block == 0 || (!function.instructions[flow.blocks()[block].first].guard && !in_loop[block]);
  };
  std::map<std::uint32_t, std::uint32_t> places;  // by block
  std::map<std::uint32_t, std::vector<ptx::RegisterId>> clears;
  for (const auto& [id, block] : blocks_of(function, flow, registers, tree)) {
    const auto [known, fresh] = places.try_emplace(block, block);
    while (fresh && !is_place(known->second)) known->second = tree.parent(known->second);
    clears[flow.blocks()[known->second].first].push_back(id);
  }
  std::vector<RegisterClear> out;
  for (auto& [instruction, ids] : clears) out.push_back({instruction, std::move(ids)});
  return out;
}

}  // namespace lockstep::exec
