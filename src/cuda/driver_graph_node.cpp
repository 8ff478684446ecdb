// The driver API: nodes of any type by one function, their parameters and attributes, batches of memory
// operations, objects that graphs keep alive.
#include <cstring>

#include "cuda/driver_copy.hpp"
#include "cuda/driver_graph.hpp"
#include "cuda/graph_change.hpp"
#include "cuda/graph_functions.hpp"

namespace lockstep::cuda {

namespace {

using Node = GraphNode*;
using Value = abi::LaunchAttribute::Value;

/// CUDA_MEMCPY_NODE_PARAMS.
struct CopyNode {
  int flags, reserved;
  void* context;
  Copy3D copy;
};
static_assert(sizeof(CopyNode) == 216 && sizeof(CopyNode) <= sizeof(NodeParams::reserved1));

Operation kernel_of(Runtime& rt, const DriverKernelNode& p) {
  KernelNodeParams params{p.function != nullptr ? p.function : p.kernel,
                          {p.grid[0], p.grid[1], p.grid[2]},
                          {p.block[0], p.block[1], p.block[2]},
                          p.shared,
                          p.arguments,
                          nullptr};
  ArgumentBuffer in_buffer;
  if (p.arguments == nullptr && p.extra != nullptr) {
    in_buffer = arguments_in_buffer(rt, params.func, p.extra);
    params.kernelParams = in_buffer.arguments.data();
  }
  return kernel_operation(rt, params);
}

/// Where CUgraphNodeParams differ from the runtime's.
bool is_own(const NodeParams& p) { return p.type == kKernelNode || p.type == kMemcpyNode; }

Operation operation_of_driver(Runtime& rt, NodeParams& p) {
  if (p.type == kKernelNode) {
    DriverKernelNode kernel;
    std::memcpy(&kernel, &p.reserved1, sizeof kernel);
    return kernel_of(rt, kernel);
  }
  if (p.type == kMemcpyNode) {
    CopyNode copy;
    std::memcpy(&copy, &p.reserved1, sizeof copy);
    return copy_of(rt, copy.copy);
  }
  return operation_of(rt, p);
}

int add(Node* node, void* graph, const Node* deps, std::size_t count, NodeParams* p) {
  return driver_api([&](Runtime& rt) {
    require(node != nullptr && p != nullptr);
    Graph& target = rt.graphs.at(graph);
    auto after = nodes_of(deps, count);
    *node = is_own(*p) ? target.add(operation_of_driver(rt, *p), after)
                       : add_node(rt, target, std::move(after), *p);
  });
}

int add_batch(Node* node, void* graph, const Node* deps, std::size_t count, const BatchParams* p) {
  return driver_api([&](Runtime& rt) {
    require(node != nullptr && p != nullptr);
    *node = rt.graphs.at(graph).add(batch_operation(rt, *p), nodes_of(deps, count));
    (*node)->batch.assign(p->operations, p->operations + p->count);
  });
}
Operation batch_of(Runtime& rt, const BatchParams* p) {
  require(p != nullptr);
  return batch_operation(rt, *p);
}

}  // namespace

LOCKSTEP_CUDA_API cuGraphAddNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                 NodeParams* p) {
  return add(node, graph, deps, count, p);
}
LOCKSTEP_CUDA_API cuGraphAddNode_v2(Node* node, void* graph, const Node* deps, const void*, std::size_t count,
                                    NodeParams* p) {
  return add(node, graph, deps, count, p);
}
LOCKSTEP_CUDA_API cuGraphNodeSetParams(Node node, NodeParams* p) {
  if (p == nullptr || !is_own(*p)) return driver([&] { return cudaGraphNodeSetParams(node, p); });
  return driver([&] { return set_in_graph(node, [&](Runtime& rt) { return operation_of_driver(rt, *p); }); });
}
LOCKSTEP_CUDA_API cuGraphExecNodeSetParams(void* exec, Node node, NodeParams* p) {
  if (p == nullptr || !is_own(*p)) return driver([&] { return cudaGraphExecNodeSetParams(exec, node, p); });
  return driver(
      [&] { return set_in_exec(exec, node, [&](Runtime& rt) { return operation_of_driver(rt, *p); }); });
}
LOCKSTEP_CUDA_API cuGraphConditionalHandleCreate(unsigned long long* handle, void* graph, void*,
                                                 unsigned initial, unsigned flags) {
  return driver([&] { return cudaGraphConditionalHandleCreate(handle, graph, initial, flags); });
}

LOCKSTEP_CUDA_API cuGraphMemcpyNodeGetParams(Node node, Copy3D* p) {
  return driver_api([&](Runtime& rt) {
    (void)rt.graphs.owner(node);
    const auto* copy = std::get_if<Copy>(&node->operation);
    require(p != nullptr && copy != nullptr);
    *p = parameters_of(rt.arrays, *copy);
  });
}
LOCKSTEP_CUDA_API cuGraphMemcpyNodeSetParams(Node node, const Copy3D* p) {
  return driver([&] {
    return set_in_graph(node, [&](Runtime& rt) {
      require(p != nullptr);
      return Operation{copy_of(rt, *p)};
    });
  });
}
LOCKSTEP_CUDA_API cuGraphMemsetNodeSetParams(Node node, const MemsetParams* p) {
  return driver([&] { return cudaGraphMemsetNodeSetParams(node, p); });
}
LOCKSTEP_CUDA_API cuGraphHostNodeSetParams(Node node, const HostNodeParams* p) {
  return driver([&] { return cudaGraphHostNodeSetParams(node, p); });
}
LOCKSTEP_CUDA_API cuGraphChildGraphNodeGetGraph(Node node, void** graph) {
  return driver([&] { return cudaGraphChildGraphNodeGetGraph(node, graph); });
}
LOCKSTEP_CUDA_API cuGraphExecChildGraphNodeSetParams(void* exec, Node node, void* graph) {
  return driver([&] { return cudaGraphExecChildGraphNodeSetParams(exec, node, graph); });
}
LOCKSTEP_CUDA_API cuGraphEventRecordNodeGetEvent(Node node, abi::Event* event) {
  return driver([&] { return cudaGraphEventRecordNodeGetEvent(node, event); });
}
LOCKSTEP_CUDA_API cuGraphEventRecordNodeSetEvent(Node node, abi::Event event) {
  return driver([&] { return cudaGraphEventRecordNodeSetEvent(node, event); });
}
LOCKSTEP_CUDA_API cuGraphEventWaitNodeGetEvent(Node node, abi::Event* event) {
  return driver([&] { return cudaGraphEventWaitNodeGetEvent(node, event); });
}
LOCKSTEP_CUDA_API cuGraphEventWaitNodeSetEvent(Node node, abi::Event event) {
  return driver([&] { return cudaGraphEventWaitNodeSetEvent(node, event); });
}
LOCKSTEP_CUDA_API cuGraphExecEventRecordNodeSetEvent(void* exec, Node node, abi::Event event) {
  return driver([&] { return cudaGraphExecEventRecordNodeSetEvent(exec, node, event); });
}
LOCKSTEP_CUDA_API cuGraphExecEventWaitNodeSetEvent(void* exec, Node node, abi::Event event) {
  return driver([&] { return cudaGraphExecEventWaitNodeSetEvent(exec, node, event); });
}
LOCKSTEP_CUDA_API cuGraphAddMemAllocNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                         MemAllocNodeParams* p) {
  return driver([&] { return cudaGraphAddMemAllocNode(node, graph, deps, count, p); });
}
LOCKSTEP_CUDA_API cuGraphMemAllocNodeGetParams(Node node, MemAllocNodeParams* p) {
  return driver([&] { return cudaGraphMemAllocNodeGetParams(node, p); });
}
LOCKSTEP_CUDA_API cuGraphMemFreeNodeGetParams(Node node, DevicePointer* pointer) {
  return driver([&] { return cudaGraphMemFreeNodeGetParams(node, reinterpret_cast<void**>(pointer)); });
}
LOCKSTEP_CUDA_API cuDeviceGetGraphMemAttribute(int device, int attribute, std::uint64_t* value) {
  return driver([&] { return cudaDeviceGetGraphMemAttribute(device, attribute, value); });
}
LOCKSTEP_CUDA_API cuDeviceSetGraphMemAttribute(int device, int attribute, const std::uint64_t* value) {
  return driver([&] { return cudaDeviceSetGraphMemAttribute(device, attribute, value); });
}
LOCKSTEP_CUDA_API cuDeviceGraphMemTrim(int device) {
  return driver([&] { return cudaDeviceGraphMemTrim(device); });
}

LOCKSTEP_CUDA_API cuGraphKernelNodeGetAttribute(Node node, int id, Value* value) {
  return driver([&] { return cudaGraphKernelNodeGetAttribute(node, id, value); });
}
LOCKSTEP_CUDA_API cuGraphKernelNodeSetAttribute(Node node, int id, const Value* value) {
  return driver([&] { return cudaGraphKernelNodeSetAttribute(node, id, value); });
}
LOCKSTEP_CUDA_API cuGraphKernelNodeCopyAttributes(Node to, Node from) {
  return driver([&] { return cudaGraphKernelNodeCopyAttributes(to, from); });
}

LOCKSTEP_CUDA_API cuGraphAddBatchMemOpNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                           const BatchParams* p) {
  return add_batch(node, graph, deps, count, p);
}
LOCKSTEP_CUDA_API cuGraphBatchMemOpNodeGetParams(Node node, BatchParams* p) {
  return driver_api([&](Runtime& rt) {
    (void)rt.graphs.owner(node);
    require(p != nullptr && type_of(*node) == kBatchMemOpNode);
    *p = {nullptr, static_cast<unsigned>(node->batch.size()), node->batch.data(), 0};
  });
}
LOCKSTEP_CUDA_API cuGraphBatchMemOpNodeSetParams(Node node, const BatchParams* p) {
  return driver([&] {
    const int result = set_in_graph(node, [&](Runtime& rt) { return batch_of(rt, p); });
    if (result == 0) node->batch.assign(p->operations, p->operations + p->count);
    return result;
  });
}
LOCKSTEP_CUDA_API cuGraphExecBatchMemOpNodeSetParams(void* exec, Node node, const BatchParams* p) {
  return driver([&] { return set_in_exec(exec, node, [&](Runtime& rt) { return batch_of(rt, p); }); });
}

LOCKSTEP_CUDA_API cuUserObjectCreate(UserObject** object, void* data, abi::HostFn destructor, unsigned count,
                                     unsigned flags) {
  return driver([&] { return cudaUserObjectCreate(object, data, destructor, count, flags); });
}
LOCKSTEP_CUDA_API cuUserObjectRetain(UserObject* object, unsigned count) {
  return driver([&] { return cudaUserObjectRetain(object, count); });
}
LOCKSTEP_CUDA_API cuUserObjectRelease(UserObject* object, unsigned count) {
  return driver([&] { return cudaUserObjectRelease(object, count); });
}
LOCKSTEP_CUDA_API cuGraphRetainUserObject(void* graph, UserObject* object, unsigned count, unsigned flags) {
  return driver([&] { return cudaGraphRetainUserObject(graph, object, count, flags); });
}
LOCKSTEP_CUDA_API cuGraphReleaseUserObject(void* graph, UserObject* object, unsigned count) {
  return driver([&] { return cudaGraphReleaseUserObject(graph, object, count); });
}

}  // namespace lockstep::cuda
