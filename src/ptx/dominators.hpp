// Immediate dominators of any directed graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::ptx {

using Graph = std::vector<std::vector<std::uint32_t>>;  // successors by node

inline constexpr std::uint32_t kNoNode = ~std::uint32_t{0};

/// By node; kNoNode for the root and for nodes that cannot be reached from it. Semi-NCA (L. Georgiadis,
/// "Linear-time algorithms for dominators and related problems", 2005, chapter 2), without recursion.
[[nodiscard]] std::vector<std::uint32_t> immediate_dominators(const Graph& graph, std::uint32_t root);

}  // namespace lockstep::ptx
