#include "lower/live_points.hpp"

#include <algorithm>
#include <set>

namespace lockstep::lower {

LivePoints::LivePoints(const ptx::Function& function, const ptx::ControlFlow& flow,
                       const ptx::Liveness& liveness, const std::vector<bool>& wanted)
    : points_(function.registers.size()) {
  const std::size_t words = (function.instructions.size() + 63) / 64;
  for (ptx::RegisterId id = 0; id < points_.size(); ++id)
    if (wanted[id]) points_[id].resize(words);
  for (const ptx::Block& block : flow.blocks()) {
    if (!block.reachable) continue;
    std::set<ptx::RegisterId> live;
    for (const std::uint32_t next : block.successors)
      for (const ptx::RegisterId id : liveness.live_before(flow.blocks()[next].first))
        if (wanted[id]) live.insert(id);
    for (std::uint32_t at = block.end; at-- > block.first;) {
      const auto use = ptx::register_use(function.instructions[at]);
      for (const ptx::RegisterId id : live) set(id, at);
      for (const ptx::RegisterId id : use.writes) set(id, at), live.erase(id);
      for (const ptx::RegisterId id : use.reads)
        if (wanted[id]) live.insert(id);
    }
  }
}

bool LivePoints::apart(ptx::RegisterId a, ptx::RegisterId b) const {
  return std::ranges::equal(points_[a], points_[b],
                            [](std::uint64_t x, std::uint64_t y) { return (x & y) == 0; });
}

void LivePoints::join(ptx::RegisterId from, ptx::RegisterId to) {
  for (std::size_t w = 0; w < points_[to].size(); ++w) points_[to][w] |= points_[from][w];
  points_[from] = {};
}

}  // namespace lockstep::lower
