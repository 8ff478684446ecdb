// Nodes of any type by one function, memory nodes, conditional nodes.
#include <fmt/format.h>

#include "cuda/api.hpp"
#include "cuda/graph_params.hpp"

namespace lockstep::cuda {

namespace {

using Node = GraphNode*;

Node add_conditional(Runtime& rt, Graph& graph, std::vector<Node> after, ConditionalNodeParams& p) {
  require(p.type >= GraphChoice::kIf && p.type <= GraphChoice::kSwitch && p.size > 0);
  require(p.size == 1 || p.type == GraphChoice::kSwitch || (p.type == GraphChoice::kIf && p.size == 2));
  auto choice = std::make_shared<GraphChoice>();
  choice->type = static_cast<GraphChoice::Type>(p.type);
  choice->condition = rt.graphs.condition(p.handle);
  for (unsigned i = 0; i < p.size; ++i) {
    choice->bodies.push_back(std::make_shared<Graph>());
    choice->handles.push_back(choice->bodies.back().get());
  }
  p.phGraph_out = choice->handles.data();
  Node node = graph.add(Nothing{}, std::move(after));
  node->choice = std::move(choice);
  return node;
}

Operation operation_of(Runtime& rt, NodeParams& p) {
  switch (p.type) {
    case kKernelNode:
      return kernel_operation(rt, p.kernel);
    case kMemcpyNode:
      return rt.arrays.copy_3d(p.memcpy.copyParams);
    case kMemsetNode:
      return fill_operation(p.memset);
    case kHostNode:
      return host_operation(p.host);
    case kEmptyNode:
      return Nothing{};
    case kWaitEventNode:
      (void)rt.streams.event(p.event.event);
      return WaitEvent{p.event.event};
    case kEventRecordNode:
      (void)rt.streams.event(p.event.event);
      return RecordEvent{p.event.event};
    case kMemAllocNode:
      return allocate_operation(rt, p.alloc);
    case kMemFreeNode:
      return FreeMemory{p.free.dptr};
    default:
      throw ApiError(Status::kErrorNotSupported,
                     fmt::format("graph nodes of type {} are not supported", p.type));
  }
}

/// enum cudaGraphMemAttributeType.
enum MemoryAttribute { kUsed, kUsedHigh, kReserved, kReservedHigh };

}  // namespace

LOCKSTEP_CUDA_API cudaGraphAddNode(Node* node, void* graph, const Node* deps, void* fourth,
                                   std::uintptr_t fifth, NodeParams* sixth) {
  const std::size_t count = count_of(fourth, fifth);
  NodeParams* const p = is_cuda_12() ? reinterpret_cast<NodeParams*>(fifth) : sixth;
  return api([&](Runtime& rt) {
    require(node != nullptr && p != nullptr);
    Graph& target = rt.graphs.at(graph);
    auto after = nodes_of(deps, count);
    if (p->type == kGraphNode)
      *node = add_child_node(rt, target, std::move(after), p->graph.graph);
    else if (p->type == kConditionalNode)
      *node = add_conditional(rt, target, std::move(after), p->conditional);
    else
      *node = target.add(operation_of(rt, *p), std::move(after));
    place(rt, **node);
  });
}

LOCKSTEP_CUDA_API cudaGraphConditionalHandleCreate(unsigned long long* handle, void* graph, unsigned initial,
                                                   unsigned flags) {
  return api([&](Runtime& rt) {
    constexpr unsigned kAssignDefault = 1;
    require(handle != nullptr && flags <= kAssignDefault);
    auto made = std::make_shared<const GraphCondition>(rt.memory, initial, flags == kAssignDefault);
    made->set(0);
    rt.graphs.at(graph).conditions.push_back(made);
    *handle = made->memory.address();
  });
}

LOCKSTEP_CUDA_API cudaGraphAddMemAllocNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                           MemAllocNodeParams* p) {
  return api([&](Runtime& rt) {
    require(node != nullptr && p != nullptr);
    Graph& target = rt.graphs.at(graph);
    *node = target.add(allocate_operation(rt, *p), nodes_of(deps, count));
  });
}
LOCKSTEP_CUDA_API cudaGraphAddMemFreeNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                          void* pointer) {
  return api([&](Runtime& rt) {
    require(node != nullptr && pointer != nullptr);
    *node = rt.graphs.at(graph).add(FreeMemory{pointer}, nodes_of(deps, count));
  });
}
LOCKSTEP_CUDA_API cudaGraphMemFreeNodeGetParams(Node node, void** pointer) {
  return api([&](Runtime&) {
    require(node != nullptr && pointer != nullptr);
    const auto* free = std::get_if<FreeMemory>(&node->operation);
    require(free != nullptr);
    *pointer = free->address;
  });
}

LOCKSTEP_CUDA_API cudaDeviceGetGraphMemAttribute(int device, int attribute, std::uint64_t* value) {
  return api([&](Runtime& rt) {
    GraphMemory& memory = rt.devices.at(device).graph_memory;
    require(value != nullptr && attribute >= kUsed && attribute <= kReservedHigh);
    const auto& f = memory.footprint();
    const std::uint64_t values[] = {f.used, f.used_high, f.reserved, f.reserved_high};
    *value = values[attribute];
  });
}
LOCKSTEP_CUDA_API cudaDeviceSetGraphMemAttribute(int device, int attribute, const std::uint64_t* value) {
  return api([&](Runtime& rt) {
    GraphMemory& memory = rt.devices.at(device).graph_memory;
    require(value != nullptr && *value == 0 && (attribute == kUsedHigh || attribute == kReservedHigh));
    memory.reset_high(attribute == kUsedHigh);
  });
}
LOCKSTEP_CUDA_API cudaDeviceGraphMemTrim(int device) {
  return api([&](Runtime& rt) { rt.devices.at(device).graph_memory.trim(); });
}

}  // namespace lockstep::cuda
