// Nodes of any type by one function, memory nodes, conditional nodes.
#include "cuda/api.hpp"
#include "cuda/graph_params.hpp"

namespace lockstep::cuda {

namespace {

using Node = GraphNode*;

/// enum cudaGraphMemAttributeType.
enum MemoryAttribute { kUsed, kUsedHigh, kReserved, kReservedHigh };

}  // namespace

LOCKSTEP_CUDA_API cudaGraphAddNode(Node* node, void* graph, const Node* deps, void* fourth,
                                   std::uintptr_t fifth, NodeParams* sixth) {
  const std::size_t count = count_of(fourth, fifth);
  NodeParams* const p = is_cuda_12() ? reinterpret_cast<NodeParams*>(fifth) : sixth;
  return api([&](Runtime& rt) {
    require(node != nullptr && p != nullptr);
    *node = add_node(rt, rt.graphs.at(graph), nodes_of(deps, count), *p);
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
