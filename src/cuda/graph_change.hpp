// How functions change the operation of a node. Its type does not change.
#pragma once

#include <utility>

#include "cuda/api.hpp"
#include "cuda/graph_params.hpp"

namespace lockstep::cuda {

/// A kernel node keeps its attributes: the parameters of nodes have none.
inline void set_operation(GraphNode& node, Operation operation) {
  require(node.operation.index() == operation.index() && !node.child && !node.choice);
  if (auto* launch = std::get_if<KernelLaunch>(&operation)) {
    const auto& before = std::get<KernelLaunch>(node.operation);
    launch->cooperative = before.cooperative;
    launch->cluster = before.cluster;
    launch->l2 = before.l2;
  }
  node.operation = std::move(operation);
}
/// `operation(runtime)` becomes that of the node of an executable graph that was made of `node`.
int set_in_exec(void* exec, const GraphNode* node, const auto& operation) {
  return api([&](Runtime& rt) { set_operation(twin_of(*rt.graphs.exec(exec).graph, node), operation(rt)); });
}
int set_in_graph(GraphNode* node, const auto& operation) {
  return api([&](Runtime& rt) {
    (void)rt.graphs.owner(node);
    set_operation(*node, operation(rt));
  });
}

}  // namespace lockstep::cuda
