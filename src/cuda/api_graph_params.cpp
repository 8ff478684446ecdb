// Parameters of graph nodes, in graphs and in executable graphs: given again, and changed.
#include <algorithm>

#include "cuda/api.hpp"
#include "cuda/graph_change.hpp"
#include "cuda/graph_functions.hpp"
#include "cuda/graph_params.hpp"

namespace lockstep::cuda {

namespace {

using Node = GraphNode*;

/// The node's operation of this type, ApiError(InvalidValue) where it has another.
template <class Type>
const Type& operation_in(Runtime& rt, Node node) {
  (void)rt.graphs.owner(node);
  const auto* operation = std::get_if<Type>(&node->operation);
  require(operation != nullptr && !node->child && !node->choice);
  return *operation;
}

template <class Type>
int event_of(Node node, abi::Event* event) {
  return api([&](Runtime& rt) {
    require(event != nullptr);
    *event = operation_in<Type>(rt, node).event;
  });
}
template <class Type>
Operation with_event(Runtime& rt, abi::Event event) {
  (void)rt.streams.event(event);
  return Type{event};
}

/// Same types in the same order, to any depth.
bool alike(const Graph& a, const Graph& b) {
  return std::ranges::equal(a.nodes, b.nodes, [](const auto& left, const auto& right) {
    if (type_of(*left) != type_of(*right) || left->dependencies.size() != right->dependencies.size())
      return false;
    return !left->child || alike(*left->child, *right->child);
  });
}

int set_child(void* exec, Node node, void* graph) {
  return api([&](Runtime& rt) {
    GraphNode& twin = twin_of(*rt.graphs.exec(exec).graph, node);
    Graph& child = rt.graphs.at(graph);
    require(twin.child != nullptr && alike(*twin.child, child));
    auto copy = child.clone();
    // The program names the nodes of an executable child by those of the graph that it was made of.
    for (std::size_t i = 0; i < copy->nodes.size(); ++i)
      copy->nodes[i]->original = twin.child->nodes[i]->original;
    twin.child = std::move(copy);
  });
}

/// Only what is not the node's type may change.
Operation same_type(Runtime& rt, NodeParams* p) {
  require(p != nullptr && p->type != kMemAllocNode && p->type != kMemFreeNode);
  return operation_of(rt, *p);
}

}  // namespace

LOCKSTEP_CUDA_API cudaGraphChildGraphNodeGetGraph(Node node, void** graph) {
  return api([&](Runtime& rt) {
    (void)rt.graphs.owner(node);
    require(graph != nullptr && node->child != nullptr);
    *graph = node->child.get();
  });
}
LOCKSTEP_CUDA_API cudaGraphExecChildGraphNodeSetParams(void* exec, Node node, void* graph) {
  return set_child(exec, node, graph);
}

LOCKSTEP_CUDA_API cudaGraphEventRecordNodeGetEvent(Node node, abi::Event* event) {
  return event_of<RecordEvent>(node, event);
}
LOCKSTEP_CUDA_API cudaGraphEventWaitNodeGetEvent(Node node, abi::Event* event) {
  return event_of<WaitEvent>(node, event);
}
LOCKSTEP_CUDA_API cudaGraphEventRecordNodeSetEvent(Node node, abi::Event event) {
  return set_in_graph(node, [&](Runtime& rt) { return with_event<RecordEvent>(rt, event); });
}
LOCKSTEP_CUDA_API cudaGraphEventWaitNodeSetEvent(Node node, abi::Event event) {
  return set_in_graph(node, [&](Runtime& rt) { return with_event<WaitEvent>(rt, event); });
}
LOCKSTEP_CUDA_API cudaGraphExecEventRecordNodeSetEvent(void* exec, Node node, abi::Event event) {
  return set_in_exec(exec, node, [&](Runtime& rt) { return with_event<RecordEvent>(rt, event); });
}
LOCKSTEP_CUDA_API cudaGraphExecEventWaitNodeSetEvent(void* exec, Node node, abi::Event event) {
  return set_in_exec(exec, node, [&](Runtime& rt) { return with_event<WaitEvent>(rt, event); });
}

LOCKSTEP_CUDA_API cudaGraphNodeSetParams(Node node, NodeParams* p) {
  return set_in_graph(node, [&](Runtime& rt) { return same_type(rt, p); });
}
LOCKSTEP_CUDA_API cudaGraphExecNodeSetParams(void* exec, Node node, NodeParams* p) {
  if (p != nullptr && p->type == kGraphNode) return set_child(exec, node, p->graph.graph);
  return set_in_exec(exec, node, [&](Runtime& rt) { return same_type(rt, p); });
}

LOCKSTEP_CUDA_API cudaGraphMemcpyNodeGetParams(Node node, abi::Memcpy3DParms* p) {
  return api([&](Runtime& rt) {
    require(p != nullptr);
    *p = rt.arrays.parameters_of(operation_in<Copy>(rt, node));
  });
}
LOCKSTEP_CUDA_API cudaGraphMemcpyNodeSetParams(Node node, const abi::Memcpy3DParms* p) {
  return set_in_graph(node, [&](Runtime& rt) {
    require(p != nullptr);
    return Operation{rt.arrays.copy_3d(*p)};
  });
}
LOCKSTEP_CUDA_API cudaGraphMemcpyNodeSetParams1D(Node node, void* to, const void* from, std::size_t n,
                                                 int kind) {
  return set_in_graph(node, [&](Runtime&) { return copy_of_line(to, from, n, kind); });
}
LOCKSTEP_CUDA_API cudaGraphMemcpyNodeSetParamsToSymbol(Node node, const void* symbol, const void* from,
                                                       std::size_t n, std::size_t offset, int kind) {
  return set_in_graph(
      node, [&](Runtime& rt) { return copy_of_line(inside_symbol(rt, symbol, offset, n), from, n, kind); });
}
LOCKSTEP_CUDA_API cudaGraphMemcpyNodeSetParamsFromSymbol(Node node, void* to, const void* symbol,
                                                         std::size_t n, std::size_t offset, int kind) {
  return set_in_graph(
      node, [&](Runtime& rt) { return copy_of_line(to, inside_symbol(rt, symbol, offset, n), n, kind); });
}
LOCKSTEP_CUDA_API cudaGraphExecMemcpyNodeSetParamsToSymbol(void* exec, Node node, const void* symbol,
                                                           const void* from, std::size_t n,
                                                           std::size_t offset, int kind) {
  return set_in_exec(exec, node, [&](Runtime& rt) {
    return copy_of_line(inside_symbol(rt, symbol, offset, n), from, n, kind);
  });
}
LOCKSTEP_CUDA_API cudaGraphExecMemcpyNodeSetParamsFromSymbol(void* exec, Node node, void* to,
                                                             const void* symbol, std::size_t n,
                                                             std::size_t offset, int kind) {
  return set_in_exec(exec, node, [&](Runtime& rt) {
    return copy_of_line(to, inside_symbol(rt, symbol, offset, n), n, kind);
  });
}

LOCKSTEP_CUDA_API cudaGraphMemsetNodeSetParams(Node node, const MemsetParams* p) {
  return set_in_graph(node, [&](Runtime&) {
    require(p != nullptr);
    return fill_operation(*p);
  });
}
LOCKSTEP_CUDA_API cudaGraphHostNodeSetParams(Node node, const HostNodeParams* p) {
  return set_in_graph(node, [&](Runtime&) {
    require(p != nullptr);
    return host_operation(*p);
  });
}
LOCKSTEP_CUDA_API cudaGraphMemAllocNodeGetParams(Node node, MemAllocNodeParams* p) {
  return api([&](Runtime& rt) {
    require(p != nullptr);
    const GraphAllocation& memory = *operation_in<AllocateMemory>(rt, node).memory;
    *p = {};
    p->properties.allocType = 1;  // pinned, the only one there is
    p->properties.location = {1, static_cast<int>(node->device)};
    p->bytesize = memory.bytes();
    p->dptr = reinterpret_cast<void*>(memory.address());
  });
}

}  // namespace lockstep::cuda
