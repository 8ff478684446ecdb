// What a graph consists of: nodes, edges, types, parameters.
#include <algorithm>
#include <fstream>

#include "cuda/api.hpp"
#include "cuda/graph_dot.hpp"
#include "cuda/graph_functions.hpp"
#include "cuda/graph_params.hpp"

namespace lockstep::cuda {

namespace {

using Node = GraphNode*;

/// As all functions that list nodes: at most *count of them, the rest null; without a place for them, how
/// many there are.
void list(const std::vector<Node>& found, Node* nodes, std::size_t* count) {
  require(count != nullptr);
  if (nodes != nullptr) {
    std::fill_n(nodes, *count, nullptr);
    std::copy_n(found.begin(), std::min(*count, found.size()), nodes);
  }
  *count = nodes != nullptr ? std::min(*count, found.size()) : found.size();
}

int list_nodes(void* graph, Node* nodes, std::size_t* count, const auto& wanted) {
  return api([&](Runtime& rt) {
    std::vector<Node> found;
    for (const auto& node : rt.graphs.at(graph).nodes)
      if (wanted(*node)) found.push_back(node.get());
    list(found, nodes, count);
  });
}

struct Edge {
  Node from, to;
};
std::vector<Edge> edges_of(const Graph& graph) {
  std::vector<Edge> edges;
  for (const auto& node : graph.nodes)
    for (Node before : node->dependencies) edges.push_back({before, node.get()});
  return edges;
}

/// Changes `change` for each pair, or for none.
int change_edges(void* graph, const Node* from, const Node* to, std::size_t count,
                 void (Graph::*change)(Node, Node), void (Graph::*undo)(Node, Node)) {
  return api([&](Runtime& rt) {
    Graph& changed = rt.graphs.at(graph);
    const auto before = nodes_of(from, count), after = nodes_of(to, count);
    std::size_t done = 0;
    try {
      for (; done < count; ++done) (changed.*change)(before[done], after[done]);
    } catch (const ApiError&) {
      while (done-- > 0) (changed.*undo)(before[done], after[done]);
      throw;
    }
  });
}

const auto& operation_of(Runtime& rt, Node node, const auto* type) {
  (void)rt.graphs.owner(node);
  const auto* operation = std::get_if<std::remove_cvref_t<decltype(*type)>>(&node->operation);
  require(operation != nullptr);
  return *operation;
}

}  // namespace

LOCKSTEP_CUDA_API cudaGraphGetNodes(void* graph, Node* nodes, std::size_t* count) {
  return list_nodes(graph, nodes, count, [](const GraphNode&) { return true; });
}
LOCKSTEP_CUDA_API cudaGraphGetRootNodes(void* graph, Node* nodes, std::size_t* count) {
  return list_nodes(graph, nodes, count, [](const GraphNode& node) { return node.dependencies.empty(); });
}
LOCKSTEP_CUDA_API cudaGraphGetEdges(void* graph, Node* from, Node* to, void* fourth, std::size_t* fifth) {
  std::size_t* const count = count_at(fourth, fifth);
  return api([&](Runtime& rt) {
    require(count != nullptr && (from == nullptr) == (to == nullptr));
    std::vector<Node> begins, ends;
    for (const Edge& edge : edges_of(rt.graphs.at(graph))) {
      begins.push_back(edge.from);
      ends.push_back(edge.to);
    }
    std::size_t room = from != nullptr ? *count : 0;
    list(begins, from, &room);
    list(ends, to, count);
  });
}
LOCKSTEP_CUDA_API cudaGraphNodeGetDependencies(Node node, Node* nodes, void* third, std::size_t* fourth) {
  std::size_t* const count = count_at(third, fourth);
  return api([&](Runtime& rt) {
    (void)rt.graphs.owner(node);
    list(node->dependencies, nodes, count);
  });
}
LOCKSTEP_CUDA_API cudaGraphNodeGetDependentNodes(Node node, Node* nodes, void* third, std::size_t* fourth) {
  std::size_t* const count = count_at(third, fourth);
  return api([&](Runtime& rt) {
    std::vector<Node> found;
    for (const Edge& edge : edges_of(rt.graphs.owner(node)))
      if (edge.from == node) found.push_back(edge.to);
    list(found, nodes, count);
  });
}
LOCKSTEP_CUDA_API cudaGraphAddDependencies(void* graph, const Node* from, const Node* to, const void* fourth,
                                           std::size_t fifth) {
  return change_edges(graph, from, to, count_of(fourth, fifth), &Graph::connect, &Graph::disconnect);
}
LOCKSTEP_CUDA_API cudaGraphRemoveDependencies(void* graph, const Node* from, const Node* to,
                                              const void* fourth, std::size_t fifth) {
  return change_edges(graph, from, to, count_of(fourth, fifth), &Graph::disconnect, &Graph::connect);
}

LOCKSTEP_CUDA_API cudaGraphNodeGetType(Node node, int* type) {
  return api([&](Runtime& rt) {
    (void)rt.graphs.owner(node);
    require(type != nullptr);
    *type = type_of(*node);
  });
}
LOCKSTEP_CUDA_API cudaGraphKernelNodeGetParams(Node node, KernelNodeParams* p) {
  return api([&](Runtime& rt) {
    require(p != nullptr);
    const KernelLaunch& launch = operation_of(rt, node, static_cast<const KernelLaunch*>(nullptr));
    node->arguments.clear();
    for (const auto& parameter : launch.kernel->function().parameters)
      node->arguments.push_back(const_cast<std::byte*>(launch.parameters.data()) + parameter.offset);
    *p = {const_cast<void*>(launch.function),
          launch.grid,
          launch.block,
          static_cast<unsigned>(launch.dynamic_shared),
          node->arguments.data(),
          nullptr};
  });
}
LOCKSTEP_CUDA_API cudaGraphMemsetNodeGetParams(Node node, MemsetParams* p) {
  return api([&](Runtime& rt) {
    require(p != nullptr);
    const Fill& fill = operation_of(rt, node, static_cast<const Fill*>(nullptr));
    *p = {fill.address, fill.pitch, fill.value, fill.element, fill.width, fill.height};
  });
}
LOCKSTEP_CUDA_API cudaGraphHostNodeGetParams(Node node, HostNodeParams* p) {
  return api([&](Runtime& rt) {
    require(p != nullptr);
    const HostCall& call = operation_of(rt, node, static_cast<const HostCall*>(nullptr));
    *p = {call.call, call.data};
  });
}

LOCKSTEP_CUDA_API cudaGraphDebugDotPrint(void* graph, const char* path, unsigned) {
  return api([&](Runtime& rt) {
    require(path != nullptr);
    std::ofstream out(path);
    out << to_dot(rt.graphs.at(graph));
    out.close();
    if (!out) throw ApiError(Status::kErrorOperatingSystem, std::string(path) + ": cannot be written");
  });
}

}  // namespace lockstep::cuda
