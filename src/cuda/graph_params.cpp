#include "cuda/graph_params.hpp"

#include <fmt/format.h>

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
    NodeType operator()(const ValueOperations&) const { return kBatchMemOpNode; }
    NodeType operator()(const ProcessTask&) const { return kHostNode; }  // is never captured
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
  GraphNode* const twin = graph.twin(original);
  require(twin != nullptr);
  return *twin;
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
  return Fill{static_cast<std::byte*>(p.dst),
              p.pitch,
              slice_of(p.pitch, p.height),
              p.value,
              p.elementSize,
              p.width,
              std::max<std::size_t>(p.height, 1),
              1};
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

/// The trace has no such command, so it does not contain their time.
Operation batch_operation(Runtime& rt, const BatchParams& p) {
  require(p.count > 0 && p.count <= BatchParams::kMaxOperations && p.operations != nullptr && p.flags == 0);
  ValueOperations all;
  for (unsigned i = 0; i < p.count; ++i)
    if (const auto one = value_operation(p.operations[i])) all.list.push_back(*one);
  if (!all.list.empty() && !rt.settings.functional)
    rt.warnings.once("waits for values in memory order work as the program needs it, not its time");
  return all;
}

std::optional<ValueOperation> value_operation(const BatchOperation& o) {
  using Kind = ValueOperation::Kind;
  constexpr unsigned kConditions = 3, kFlush = 1U << 30, kNoBarrier = 1;
  using enum BatchOperation::Type;
  constexpr Kind kKinds[] = {Kind::kWaitGreaterOrEqual, Kind::kWaitEqual, Kind::kWaitAnd, Kind::kWaitNor};
  const bool wide = o.operation == kWait64 || o.operation == kWrite64;
  ValueOperation one{o.address, o.value, Kind::kWrite, static_cast<std::uint8_t>(wide ? 8 : 4)};
  switch (o.operation) {
    case kWait32:
    case kWait64:
      require((o.flags & ~(kConditions | kFlush)) == 0);
      one.kind = kKinds[o.flags & kConditions];
      break;
    case kWrite32:
    case kWrite64:
      require((o.flags & ~kNoBarrier) == 0);
      break;
    case kFlushRemote:
    case kBarrier:
      return std::nullopt;  // a stream's operations come one after the other here
    default:
      throw ApiError(Status::kErrorInvalidValue);
  }
  require(one.address != 0 && one.address % one.bytes == 0);
  return one;
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
    case kBatchMemOpNode:
      return batch_operation(rt, p.memOp);
    default:
      throw ApiError(Status::kErrorNotSupported,
                     fmt::format("graph nodes of type {} are not supported", p.type));
  }
}

void place(Runtime& rt, GraphNode& node) {
  if (const auto* record = std::get_if<RecordEvent>(&node.operation))
    node.device = rt.streams.event(record->event).device;
}

GraphNode* add_child_node(Runtime& rt, Graph& graph, std::vector<GraphNode*> dependencies, void* child) {
  std::shared_ptr<Graph> copy = rt.graphs.at(child).clone();
  GraphNode* node = graph.add(Nothing{}, std::move(dependencies));
  node->child = std::move(copy);
  return node;
}

namespace {

GraphNode* add_conditional(Runtime& rt, Graph& graph, std::vector<GraphNode*> after,
                           ConditionalNodeParams& p) {
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
  GraphNode* node = graph.add(Nothing{}, std::move(after));
  node->choice = std::move(choice);
  return node;
}

}  // namespace

GraphNode* add_node(Runtime& rt, Graph& graph, std::vector<GraphNode*> after, NodeParams& p) {
  if (p.type == kConditionalNode) return add_conditional(rt, graph, std::move(after), p.conditional);
  if (p.type == kGraphNode) return add_child_node(rt, graph, std::move(after), p.graph.graph);
  GraphNode* const node = graph.add(operation_of(rt, p), after);
  if (p.type == kBatchMemOpNode) node->batch.assign(p.memOp.operations, p.memOp.operations + p.memOp.count);
  place(rt, *node);
  return node;
}

}  // namespace lockstep::cuda
