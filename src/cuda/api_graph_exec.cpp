// Executable graphs: instantiation, launch, changes.
#include <algorithm>
#include <map>

#include "cuda/api.hpp"
#include "cuda/graph_change.hpp"
#include "cuda/graph_functions.hpp"
#include "cuda/graph_launch.hpp"
#include "cuda/graph_params.hpp"

namespace lockstep::cuda {

namespace {

using Node = GraphNode*;

/// Flag of cudaGraphInstantiate: what the launch before allocated and did not free.
constexpr unsigned long long kAutoFreeOnLaunch = 1;

/// The kinds of nodes that can be disabled (CUDA Runtime API, cudaGraphNodeSetEnabled).
bool can_be_disabled(const GraphNode& node) {
  const NodeType type = type_of(node);
  return type == kKernelNode || type == kMemcpyNode || type == kMemsetNode;
}

/// cudaGraphExecUpdateResult.
enum UpdateFailure { kTopologyChanged = 2, kTypeChanged = 3, kParametersChanged = 5 };

/// The graphs inside a node: its child, or the bodies of its choice.
std::vector<const Graph*> inside(const GraphNode& node) {
  std::vector<const Graph*> graphs;
  if (node.child) graphs.push_back(node.child.get());
  if (node.choice)
    for (const auto& body : node.choice->bodies) graphs.push_back(body.get());
  return graphs;
}

/// Why `now` cannot take the place of `before`, and the nodes that CUDA's documentation of
/// cudaGraphExecUpdate names. Nodes are paired in the order in which they can run.
UpdateResult update_failure(const Graph& before, const Graph& now) {
  const auto olds = before.ordered(), news = now.ordered();
  if (olds.size() != news.size()) return {kTopologyChanged, nullptr, nullptr};
  std::map<const GraphNode*, const GraphNode*> old_of;
  for (std::size_t i = 0; i < news.size(); ++i) {
    const GraphNode &one = *olds[i], &other = *news[i];
    const Node named = const_cast<Node>(&other);
    if (type_of(one) != type_of(other)) return {kTypeChanged, named, nullptr};
    if (one.dependencies.size() != other.dependencies.size()) return {kTopologyChanged, named, nullptr};
    for (const Node from : other.dependencies)
      if (std::ranges::find(one.dependencies, old_of.at(from)) == one.dependencies.end())
        return {kTopologyChanged, named, from};
    old_of[&other] = &one;
    const auto old_graphs = inside(one), new_graphs = inside(other);
    if (old_graphs.size() != new_graphs.size()) return {kParametersChanged, named, nullptr};
    for (std::size_t g = 0; g < new_graphs.size(); ++g)
      if (const auto within = update_failure(*old_graphs[g], *new_graphs[g]); within.result != 0)
        return within;
  }
  return {};
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

int instantiate_with(void** exec, void* graph, InstantiateParams* p) {
  enum { kSuccess, kError };  // of InstantiateParams::result
  if (p == nullptr) return finish(Status::kErrorInvalidValue);
  const int result = instantiate(exec, graph, p->flags);
  p->error_node = nullptr;
  p->result = result == 0 ? kSuccess : kError;
  return result;
}

}  // namespace

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

LOCKSTEP_CUDA_API cudaGraphExecUpdate(void* exec, void* graph, UpdateResult* info) {
  return api([&](Runtime& rt) {
    GraphExec& target = rt.graphs.exec(exec);
    Graph& source = rt.graphs.at(graph);
    const UpdateResult failure = update_failure(*target.graph, source);
    if (info != nullptr) *info = failure;
    require(failure.result == 0, Status::kErrorGraphExecUpdateFailure);
    auto updated = source.clone();
    updated->take_names_of(*target.graph);
    target.graph = std::move(updated);
  });
}
LOCKSTEP_CUDA_API cudaGraphInstantiateWithParams(void** exec, void* graph, InstantiateParams* p) {
  return instantiate_with(exec, graph, p);
}
LOCKSTEP_CUDA_API cudaGraphInstantiateWithParams_ptsz(void** exec, void* graph, InstantiateParams* p) {
  return instantiate_with(exec, graph, p);
}
LOCKSTEP_CUDA_API cudaGraphExecGetFlags(void* exec, unsigned long long* flags) {
  return api([&](Runtime& rt) {
    require(flags != nullptr);
    *flags = rt.graphs.exec(exec).flags;
  });
}

LOCKSTEP_CUDA_API cudaGraphNodeSetEnabled(void* exec, Node node, unsigned enabled) {
  return api([&](Runtime& rt) {
    GraphNode& twin = twin_of(*rt.graphs.exec(exec).graph, node);
    require(can_be_disabled(twin));
    twin.enabled = enabled != 0;
  });
}
LOCKSTEP_CUDA_API cudaGraphNodeGetEnabled(void* exec, Node node, unsigned* enabled) {
  return api([&](Runtime& rt) {
    const GraphNode& twin = twin_of(*rt.graphs.exec(exec).graph, node);
    require(enabled != nullptr && can_be_disabled(twin));
    *enabled = twin.enabled ? 1 : 0;
  });
}

LOCKSTEP_CUDA_API cudaGraphExecKernelNodeSetParams(void* exec, Node node, const KernelNodeParams* p) {
  return set_in_exec(exec, node, [&](Runtime& rt) {
    require(p != nullptr);
    return kernel_operation(rt, *p);
  });
}
LOCKSTEP_CUDA_API cudaGraphKernelNodeSetParams(Node node, const KernelNodeParams* p) {
  return set_in_graph(node, [&](Runtime& rt) {
    require(p != nullptr);
    return kernel_operation(rt, *p);
  });
}
LOCKSTEP_CUDA_API cudaGraphExecMemcpyNodeSetParams(void* exec, Node node, const abi::Memcpy3DParms* p) {
  return set_in_exec(exec, node, [&](Runtime& rt) {
    require(p != nullptr);
    return Operation{rt.arrays.copy_3d(*p)};
  });
}
LOCKSTEP_CUDA_API cudaGraphExecMemcpyNodeSetParams1D(void* exec, Node node, void* to, const void* from,
                                                     std::size_t n, int kind) {
  return set_in_exec(exec, node, [&](Runtime&) { return copy_of_line(to, from, n, kind); });
}
LOCKSTEP_CUDA_API cudaGraphExecMemsetNodeSetParams(void* exec, Node node, const MemsetParams* p) {
  return set_in_exec(exec, node, [&](Runtime&) {
    require(p != nullptr);
    return fill_operation(*p);
  });
}
LOCKSTEP_CUDA_API cudaGraphExecHostNodeSetParams(void* exec, Node node, const HostNodeParams* p) {
  return set_in_exec(exec, node, [&](Runtime&) {
    require(p != nullptr);
    return host_operation(*p);
  });
}

}  // namespace lockstep::cuda
