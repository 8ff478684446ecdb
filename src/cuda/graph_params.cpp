#include "cuda/graph_params.hpp"

#include <algorithm>

#include "cuda/api.hpp"

namespace lockstep::cuda {

Operation kernel_operation(Runtime& rt, const KernelNodeParams& p) {
  KernelLaunch launch;
  launch.grid = p.gridDim;
  launch.block = p.blockDim;
  launch.dynamic_shared = p.sharedMemBytes;
  require(p.extra == nullptr);
  return rt.prepare(p.func, std::move(launch), p.kernelParams);
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
