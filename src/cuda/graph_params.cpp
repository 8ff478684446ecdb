#include "cuda/graph_params.hpp"

#include <algorithm>

#include "cuda/api.hpp"

namespace lockstep::cuda {

NodeType type_of(const GraphNode& node) {
  if (node.child) return kGraphNode;
  if (node.choice) return kConditionalNode;
  struct Visitor {
    NodeType operator()(const Nothing&) const { return kEmptyNode; }
    NodeType operator()(const KernelLaunch&) const { return kKernelNode; }
    NodeType operator()(const Copy&) const { return kMemcpyNode; }
    NodeType operator()(const Fill&) const { return kMemsetNode; }
    NodeType operator()(const HostCall&) const { return kHostNode; }
    NodeType operator()(const RecordEvent&) const { return kEventRecordNode; }
    NodeType operator()(const WaitEvent&) const { return kWaitEventNode; }
    NodeType operator()(const AllocateMemory&) const { return kMemAllocNode; }
    NodeType operator()(const FreeMemory&) const { return kMemFreeNode; }
    NodeType operator()(const PrefetchMemory&) const { return kEmptyNode; }  // CUDA has no type for it
  };
  return std::visit(Visitor{}, node.operation);
}

std::vector<GraphNode*> nodes_of(GraphNode* const* nodes, std::size_t count) {
  require(count == 0 || nodes != nullptr);
  return {nodes, nodes + count};
}

std::size_t count_of(const void* fourth, std::uintptr_t fifth) {
  return is_cuda_12() ? reinterpret_cast<std::uintptr_t>(fourth) : fifth;
}
std::size_t* count_at(void* fourth, std::size_t* fifth) {
  return is_cuda_12() ? static_cast<std::size_t*>(fourth) : fifth;
}

GraphNode& twin_of(Graph& graph, const GraphNode* original) {
  for (const auto& node : graph.nodes)
    if (node->original == original) return *node;
  throw ApiError(Status::kErrorInvalidValue);
}

Operation kernel_operation(Runtime& rt, const KernelNodeParams& p) {
  KernelLaunch launch;
  launch.grid = p.gridDim;
  launch.block = p.blockDim;
  launch.dynamic_shared = p.sharedMemBytes;
  require(p.extra == nullptr);
  return rt.prepare(p.func, std::move(launch), p.kernelParams);
}

Operation copy_of_line(void* to, const void* from, std::size_t n, int kind) {
  return Copy{linear(to, n, n), linear(from, n, n), n, 1, 1, kind};
}

std::byte* inside_symbol(Runtime& rt, const void* symbol, std::size_t offset, std::size_t bytes) {
  const DeviceVariable variable = rt.modules.variable(symbol);
  require(offset <= variable.bytes && bytes <= variable.bytes - offset);
  return reinterpret_cast<std::byte*>(variable.address) + offset;
}

Operation fill_operation(const MemsetParams& p) {
  require(p.elementSize == 1 || p.elementSize == 2 || p.elementSize == 4);
  return Fill{
      static_cast<std::byte*>(p.dst),     p.pitch, p.pitch * p.height, p.value, p.elementSize, p.width,
      std::max<std::size_t>(p.height, 1), 1};
}

Operation host_operation(const HostNodeParams& p) {
  require(p.fn != nullptr);
  return HostCall{p.fn, p.userData};
}

Operation allocate_operation(Runtime& rt, MemAllocNodeParams& p) {
  require(p.bytesize > 0);
  auto memory = std::make_shared<const GraphAllocation>(rt.memory, p.bytesize, current_device());
  p.dptr = reinterpret_cast<void*>(memory->address());
  return AllocateMemory{std::move(memory)};
}

void place(Runtime& rt, GraphNode& node) {
  if (const auto* record = std::get_if<RecordEvent>(&node.operation))
    node.device = rt.streams.event(record->event).device;
}

GraphNode* add_child_node(Runtime& rt, Graph& graph, std::vector<GraphNode*> dependencies, void* child) {
  std::shared_ptr<const Graph> copy = rt.graphs.at(child).clone();
  GraphNode* node = graph.add(Nothing{}, std::move(dependencies));
  node->child = std::move(copy);
  return node;
}

}  // namespace lockstep::cuda
