// A graph as text for Graphviz (cudaGraphDebugDotPrint).
#pragma once

#include <string>

#include "cuda/graph.hpp"

namespace lockstep::cuda {

/// A directed graph in the DOT language: node i of the graph, in the order of adding, is graph_0_node_i, and
/// its label says what it does. Child graphs and bodies of conditional nodes are clusters graph_1, graph_2,
/// ...
[[nodiscard]] std::string to_dot(const Graph& graph);

}  // namespace lockstep::cuda
