// Graphs built by hand: nodes, edges, instantiation, launch.
#include <algorithm>
#include <cstring>

#include "cuda/api.hpp"
#include "cuda/graph_launch.hpp"
#include "cuda/graph_params.hpp"

namespace lockstep::cuda {

namespace {

using Node = GraphNode*;

/// Flag of cudaGraphInstantiate: what the launch before allocated and did not free.
constexpr unsigned long long kAutoFreeOnLaunch = 1;

std::vector<Node> dependencies(const Node* nodes, std::size_t count) {
  require(count == 0 || nodes != nullptr);
  return {nodes, nodes + count};
}

int add(Node* node, void* graph, const Node* deps, std::size_t count, const auto& operation) {
  return api([&](Runtime& rt) {
    require(node != nullptr);
    *node = rt.graphs.at(graph).add(operation(rt), dependencies(deps, count));
    place(rt, **node);
  });
}

int instantiate(void** exec, void* graph, unsigned long long flags) {
  return api([&](Runtime& rt) {
    constexpr unsigned long long kAllFlags = 15;
    require(exec != nullptr && flags <= kAllFlags);
    Graph& source = rt.graphs.at(graph);
    (void)source.ordered();  // no cycles
    auto result = std::make_unique<GraphExec>();
    result->graph = source.clone();
    result->flags = flags;
    *exec = &rt.graphs.add(std::move(result));
  });
}

int launch(void* exec, abi::Stream stream) {
  return api([&](Runtime& rt) {
    GraphExec& launched = rt.graphs.exec(exec);
    GraphLaunch launch(rt, launched, stream);
    if ((launched.flags & kAutoFreeOnLaunch) != 0)
      launched.graph->for_each_allocation(
          [&](const GraphAllocation& memory) { (void)rt.devices.end_graph_use(memory.address()); });
    for (const auto& condition : launched.graph->conditions)
      if (condition->assigned_at_launch) condition->set(condition->initial_value);
    launch.run();
    if (rt.streams.stream(stream).capture == nullptr) rt.graphs.drop_events(launched);
  });
}

Node twin_of(Graph& graph, const GraphNode* original) {
  for (const auto& node : graph.nodes)
    if (node->original == original) return node.get();
  throw ApiError(Status::kErrorInvalidValue);
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
    *twin = twin_of(rt.graphs.at(clone), original);
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
  return add(node, graph, deps, count, [&](Runtime&) {
    require(to != nullptr && from != nullptr);
    return Operation{Copy{{static_cast<std::byte*>(to), n, n},
                          {static_cast<std::byte*>(const_cast<void*>(from)), n, n},
                          n,
                          1,
                          1,
                          kind}};
  });
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
    *node = add_child_node(rt, rt.graphs.at(graph), dependencies(deps, count), child);
  });
}
LOCKSTEP_CUDA_API cudaGraphDestroyNode(Node node) {
  return api([&](Runtime& rt) { rt.graphs.owner(node).remove(node); });
}
LOCKSTEP_CUDA_API cudaGraphGetNodes(void* graph, Node* nodes, std::size_t* count) {
  return api([&](Runtime& rt) {
    require(count != nullptr);
    const auto& all = rt.graphs.at(graph).nodes;
    if (nodes != nullptr)
      for (std::size_t i = 0; i < std::min(*count, all.size()); ++i) nodes[i] = all[i].get();
    *count = all.size();
  });
}

LOCKSTEP_CUDA_API cudaGraphInstantiate(void** exec, void* graph, unsigned long long flags) {
  return instantiate(exec, graph, flags);
}
LOCKSTEP_CUDA_API cudaGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags) {
  return instantiate(exec, graph, flags);
}
LOCKSTEP_CUDA_API cudaGraphExecDestroy(void* exec) {
  return api([&](Runtime& rt) { rt.graphs.destroy_exec(exec); });
}
LOCKSTEP_CUDA_API cudaGraphUpload(void* exec, abi::Stream stream) {
  return api([&](Runtime& rt) {
    (void)rt.graphs.exec(exec);
    (void)rt.streams.stream(stream);
  });
}
LOCKSTEP_CUDA_API cudaGraphLaunch(void* exec, abi::Stream stream) { return launch(exec, stream); }
LOCKSTEP_CUDA_API cudaGraphLaunch_ptsz(void* exec, abi::Stream stream) { return launch(exec, stream); }

/// cudaGraphExecUpdateResultInfo: a code, the node that differs, the node it depends on.
struct UpdateResult {
  int result;
  Node error_node, error_from_node;
};
LOCKSTEP_CUDA_API cudaGraphExecUpdate(void* exec, void* graph, UpdateResult* info) {
  return api([&](Runtime& rt) {
    GraphExec& target = rt.graphs.exec(exec);
    Graph& source = rt.graphs.at(graph);
    if (info != nullptr) *info = {};
    bool same = source.nodes.size() == target.graph->nodes.size();
    for (std::size_t i = 0; same && i < source.nodes.size(); ++i)
      same = source.nodes[i]->operation.index() == target.graph->nodes[i]->operation.index();
    if (!same) {
      if (info != nullptr) info->result = 2;  // the topology changed
      throw ApiError(Status::kErrorGraphExecUpdateFailure);
    }
    target.graph = source.clone();
  });
}
LOCKSTEP_CUDA_API cudaGraphExecKernelNodeSetParams(void* exec, Node node, const KernelNodeParams* p) {
  return api([&](Runtime& rt) {
    require(p != nullptr);
    twin_of(*rt.graphs.exec(exec).graph, node)->operation = kernel_operation(rt, *p);
  });
}
LOCKSTEP_CUDA_API cudaGraphKernelNodeSetParams(Node node, const KernelNodeParams* p) {
  return api([&](Runtime& rt) {
    require(node != nullptr && p != nullptr);
    node->operation = kernel_operation(rt, *p);
  });
}
LOCKSTEP_CUDA_API cudaGraphExecMemsetNodeSetParams(void* exec, Node node, const MemsetParams* p) {
  return api([&](Runtime& rt) {
    require(p != nullptr);
    twin_of(*rt.graphs.exec(exec).graph, node)->operation = fill_operation(*p);
  });
}
LOCKSTEP_CUDA_API cudaGraphExecHostNodeSetParams(void* exec, Node node, const HostNodeParams* p) {
  return api([&](Runtime& rt) {
    require(p != nullptr);
    twin_of(*rt.graphs.exec(exec).graph, node)->operation = host_operation(*p);
  });
}

}  // namespace lockstep::cuda
