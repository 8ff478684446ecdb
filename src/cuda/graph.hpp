// Task graphs: operations with dependences, built by hand or captured from streams.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cuda/operation.hpp"

namespace lockstep::cuda {

struct Graph;

struct GraphNode {
  Operation operation;
  std::shared_ptr<const Graph> child;    // a child graph's node performs all of it, as it was when added
  std::vector<GraphNode*> dependencies;  // each once, in the order given
  const GraphNode* original = nullptr;   // in a clone: the node it was copied from
  bool enabled = true;
};

/// Nodes have stable addresses: they are the program's handles.
struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;

  GraphNode* add(Operation operation, std::vector<GraphNode*> dependencies);
  void remove(GraphNode* node);
  [[nodiscard]] bool contains(const GraphNode* node) const;
  /// A copy whose nodes name these as their originals.
  [[nodiscard]] std::unique_ptr<Graph> clone() const;
  /// All nodes, dependences first, otherwise in the order of adding. Throws ApiError(InvalidValue) on a
  /// cycle.
  [[nodiscard]] std::vector<const GraphNode*> ordered() const;
  /// Calls visit(operation) for the enabled nodes in order, child graphs unfolded.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const GraphNode* node : ordered()) {
      if (!node->enabled) continue;
      if (node->child)
        node->child->for_each(visit);
      else
        visit(node->operation);
    }
  }
};

}  // namespace lockstep::cuda
