// Graphs built by hand: graphs and their nodes.
#include "cuda/api.hpp"
#include "cuda/graph_functions.hpp"
#include "cuda/graph_params.hpp"

namespace lockstep::cuda {

namespace {

using Node = GraphNode*;

int add(Node* node, void* graph, const Node* deps, std::size_t count, const auto& operation) {
  return api([&](Runtime& rt) {
    require(node != nullptr);
    *node = rt.graphs.at(graph).add(operation(rt), nodes_of(deps, count));
    place(rt, **node);
  });
}

}  // namespace

LOCKSTEP_CUDA_API cudaGraphCreate(void** graph, unsigned flags) {
  return api([&](Runtime& rt) {
    require(graph != nullptr && flags == 0);
    *graph = &rt.graphs.add(std::make_unique<Graph>());
  });
}
LOCKSTEP_CUDA_API cudaGraphDestroy(void* graph) {
  return api([&](Runtime& rt) { rt.graphs.destroy(graph); });
}
LOCKSTEP_CUDA_API cudaGraphClone(void** clone, void* graph) {
  return api([&](Runtime& rt) {
    require(clone != nullptr);
    *clone = &rt.graphs.add(rt.graphs.at(graph).clone());
  });
}
LOCKSTEP_CUDA_API cudaGraphNodeFindInClone(Node* twin, Node original, void* clone) {
  return api([&](Runtime& rt) {
    require(twin != nullptr);
    *twin = &twin_of(rt.graphs.at(clone), original);
  });
}

LOCKSTEP_CUDA_API cudaGraphAddEmptyNode(Node* node, void* graph, const Node* deps, std::size_t count) {
  return add(node, graph, deps, count, [](Runtime&) { return Operation{Nothing{}}; });
}
LOCKSTEP_CUDA_API cudaGraphAddKernelNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                         const KernelNodeParams* p) {
  return add(node, graph, deps, count, [&](Runtime& rt) {
    require(p != nullptr);
    return kernel_operation(rt, *p);
  });
}
LOCKSTEP_CUDA_API cudaGraphAddMemcpyNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                         const abi::Memcpy3DParms* p) {
  return add(node, graph, deps, count, [&](Runtime& rt) {
    require(p != nullptr);
    return Operation{rt.arrays.copy_3d(*p)};
  });
}
LOCKSTEP_CUDA_API cudaGraphAddMemcpyNode1D(Node* node, void* graph, const Node* deps, std::size_t count,
                                           void* to, const void* from, std::size_t n, int kind) {
  return add(node, graph, deps, count, [&](Runtime&) { return copy_of_line(to, from, n, kind); });
}
LOCKSTEP_CUDA_API cudaGraphAddMemcpyNodeToSymbol(Node* node, void* graph, const Node* deps, std::size_t count,
                                                 const void* symbol, const void* from, std::size_t n,
                                                 std::size_t offset, int kind) {
  return add(node, graph, deps, count,
             [&](Runtime& rt) { return copy_of_line(inside_symbol(rt, symbol, offset, n), from, n, kind); });
}
LOCKSTEP_CUDA_API cudaGraphAddMemcpyNodeFromSymbol(Node* node, void* graph, const Node* deps,
                                                   std::size_t count, void* to, const void* symbol,
                                                   std::size_t n, std::size_t offset, int kind) {
  return add(node, graph, deps, count,
             [&](Runtime& rt) { return copy_of_line(to, inside_symbol(rt, symbol, offset, n), n, kind); });
}
LOCKSTEP_CUDA_API cudaGraphAddMemsetNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                         const MemsetParams* p) {
  return add(node, graph, deps, count, [&](Runtime&) {
    require(p != nullptr);
    return fill_operation(*p);
  });
}
LOCKSTEP_CUDA_API cudaGraphAddHostNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                       const HostNodeParams* p) {
  return add(node, graph, deps, count, [&](Runtime&) {
    require(p != nullptr);
    return host_operation(*p);
  });
}
LOCKSTEP_CUDA_API cudaGraphAddEventRecordNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                              abi::Event event) {
  return add(node, graph, deps, count, [&](Runtime& rt) {
    (void)rt.streams.event(event);
    return Operation{RecordEvent{event}};
  });
}
LOCKSTEP_CUDA_API cudaGraphAddEventWaitNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                            abi::Event event) {
  return add(node, graph, deps, count, [&](Runtime& rt) {
    (void)rt.streams.event(event);
    return Operation{WaitEvent{event}};
  });
}
LOCKSTEP_CUDA_API cudaGraphAddChildGraphNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                             void* child) {
  return api([&](Runtime& rt) {
    require(node != nullptr);
    *node = add_child_node(rt, rt.graphs.at(graph), nodes_of(deps, count), child);
  });
}
LOCKSTEP_CUDA_API cudaGraphDestroyNode(Node node) {
  return api([&](Runtime& rt) { rt.graphs.owner(node).remove(node); });
}

}  // namespace lockstep::cuda
