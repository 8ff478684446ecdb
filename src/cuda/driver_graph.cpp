// Graphs of the driver API: the runtime's. Contexts that nodes name are not looked at: a node is carried out
// on the device that is current when it is added.
#include "cuda/driver_graph.hpp"

#include "cuda/driver.hpp"
#include "cuda/driver_copy.hpp"
#include "cuda/graph_functions.hpp"
#include "cuda/graph_params.hpp"

namespace lockstep::cuda {

namespace {

using Node = GraphNode*;

/// Calls use(parameters) with those of the runtime.
int with_kernel(const DriverKernelNode* p, const auto& use) {
  if (p == nullptr) return static_cast<int>(Status::kErrorInvalidValue);
  KernelNodeParams params{p->function != nullptr ? p->function : p->kernel,
                          {p->grid[0], p->grid[1], p->grid[2]},
                          {p->block[0], p->block[1], p->block[2]},
                          p->shared,
                          p->arguments,
                          p->extra};
  ArgumentBuffer in_buffer;
  if (p->arguments == nullptr && p->extra != nullptr) {
    const int result =
        driver_api([&](Runtime& rt) { in_buffer = arguments_in_buffer(rt, params.func, p->extra); });
    if (result != 0) return result;
    params.kernelParams = in_buffer.arguments.data();
    params.extra = nullptr;
  }
  return driver([&] { return use(params); });
}

}  // namespace

LOCKSTEP_CUDA_API cuGraphCreate(void** graph, unsigned flags) {
  return driver([&] { return cudaGraphCreate(graph, flags); });
}
LOCKSTEP_CUDA_API cuGraphDestroy(void* graph) {
  return driver([&] { return cudaGraphDestroy(graph); });
}
LOCKSTEP_CUDA_API cuGraphClone(void** clone, void* graph) {
  return driver([&] { return cudaGraphClone(clone, graph); });
}
LOCKSTEP_CUDA_API cuGraphNodeFindInClone(Node* twin, Node original, void* clone) {
  return driver([&] { return cudaGraphNodeFindInClone(twin, original, clone); });
}
LOCKSTEP_CUDA_API cuGraphDestroyNode(Node node) {
  return driver([&] { return cudaGraphDestroyNode(node); });
}
LOCKSTEP_CUDA_API cuGraphDebugDotPrint(void* graph, const char* path, unsigned flags) {
  return driver([&] { return cudaGraphDebugDotPrint(graph, path, flags); });
}

LOCKSTEP_CUDA_API cuGraphAddKernelNode_v2(Node* node, void* graph, const Node* deps, std::size_t count,
                                          const DriverKernelNode* p) {
  return with_kernel(
      p, [&](const KernelNodeParams& k) { return cudaGraphAddKernelNode(node, graph, deps, count, &k); });
}
LOCKSTEP_CUDA_API cuGraphAddMemcpyNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                       const Copy3D* p, void*) {
  return driver_api([&](Runtime& rt) {
    require(node != nullptr);
    require(p != nullptr);
    *node = rt.graphs.at(graph).add(copy_of(rt, *p), nodes_of(deps, count));
  });
}
LOCKSTEP_CUDA_API cuGraphAddMemsetNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                       const MemsetParams* p, void*) {
  return driver([&] { return cudaGraphAddMemsetNode(node, graph, deps, count, p); });
}
LOCKSTEP_CUDA_API cuGraphAddHostNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                     const HostNodeParams* p) {
  return driver([&] { return cudaGraphAddHostNode(node, graph, deps, count, p); });
}
LOCKSTEP_CUDA_API cuGraphAddEmptyNode(Node* node, void* graph, const Node* deps, std::size_t count) {
  return driver([&] { return cudaGraphAddEmptyNode(node, graph, deps, count); });
}
LOCKSTEP_CUDA_API cuGraphAddEventRecordNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                            abi::Event event) {
  return driver([&] { return cudaGraphAddEventRecordNode(node, graph, deps, count, event); });
}
LOCKSTEP_CUDA_API cuGraphAddEventWaitNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                          abi::Event event) {
  return driver([&] { return cudaGraphAddEventWaitNode(node, graph, deps, count, event); });
}
LOCKSTEP_CUDA_API cuGraphAddChildGraphNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                           void* child) {
  return driver([&] { return cudaGraphAddChildGraphNode(node, graph, deps, count, child); });
}
LOCKSTEP_CUDA_API cuGraphAddMemFreeNode(Node* node, void* graph, const Node* deps, std::size_t count,
                                        DevicePointer p) {
  return driver(
      [&] { return cudaGraphAddMemFreeNode(node, graph, deps, count, reinterpret_cast<void*>(p)); });
}

LOCKSTEP_CUDA_API cuGraphKernelNodeGetParams_v2(Node node, DriverKernelNode* p) {
  return driver([&] {
    KernelNodeParams k{};
    const int result = cudaGraphKernelNodeGetParams(node, p != nullptr ? &k : nullptr);
    if (result == 0)
      *p = {k.func,
            {k.gridDim.x, k.gridDim.y, k.gridDim.z},
            {k.blockDim.x, k.blockDim.y, k.blockDim.z},
            k.sharedMemBytes,
            k.kernelParams,
            nullptr,
            nullptr,
            nullptr};
    return result;
  });
}
LOCKSTEP_CUDA_API cuGraphKernelNodeSetParams_v2(Node node, const DriverKernelNode* p) {
  return with_kernel(p, [&](const KernelNodeParams& k) { return cudaGraphKernelNodeSetParams(node, &k); });
}
LOCKSTEP_CUDA_API cuGraphMemsetNodeGetParams(Node node, MemsetParams* p) {
  return driver([&] { return cudaGraphMemsetNodeGetParams(node, p); });
}
LOCKSTEP_CUDA_API cuGraphHostNodeGetParams(Node node, HostNodeParams* p) {
  return driver([&] { return cudaGraphHostNodeGetParams(node, p); });
}

// Executable graphs.

LOCKSTEP_CUDA_API cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags) {
  return driver([&] { return cudaGraphInstantiate(exec, graph, flags); });
}
/// The form before CUDA 12, with a place for a node at fault and for a text.
LOCKSTEP_CUDA_API cuGraphInstantiate_v2(void** exec, void* graph, Node* error_node, char* log,
                                        std::size_t bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && bytes > 0) *log = '\0';
  return driver([&] { return cudaGraphInstantiate(exec, graph, 0); });
}
LOCKSTEP_CUDA_API cuGraphInstantiateWithParams(void** exec, void* graph, InstantiateParams* p) {
  return driver([&] { return cudaGraphInstantiateWithParams(exec, graph, p); });
}
LOCKSTEP_CUDA_API cuGraphExecGetFlags(void* exec, unsigned long long* flags) {
  return driver([&] { return cudaGraphExecGetFlags(exec, flags); });
}
LOCKSTEP_CUDA_API cuGraphExecDestroy(void* exec) {
  return driver([&] { return cudaGraphExecDestroy(exec); });
}
LOCKSTEP_CUDA_API cuGraphUpload(void* exec, abi::Stream stream) {
  return driver([&] { return cudaGraphUpload(exec, stream); });
}
LOCKSTEP_CUDA_API cuGraphLaunch(void* exec, abi::Stream stream) {
  return driver([&] { return cudaGraphLaunch(exec, stream); });
}
LOCKSTEP_CUDA_API cuGraphExecUpdate_v2(void* exec, void* graph, UpdateResult* result) {
  return driver([&] { return cudaGraphExecUpdate(exec, graph, result); });
}
LOCKSTEP_CUDA_API cuGraphNodeSetEnabled(void* exec, Node node, unsigned enabled) {
  return driver([&] { return cudaGraphNodeSetEnabled(exec, node, enabled); });
}
LOCKSTEP_CUDA_API cuGraphNodeGetEnabled(void* exec, Node node, unsigned* enabled) {
  return driver([&] { return cudaGraphNodeGetEnabled(exec, node, enabled); });
}
LOCKSTEP_CUDA_API cuGraphExecKernelNodeSetParams_v2(void* exec, Node node, const DriverKernelNode* p) {
  return with_kernel(
      p, [&](const KernelNodeParams& k) { return cudaGraphExecKernelNodeSetParams(exec, node, &k); });
}
LOCKSTEP_CUDA_API cuGraphExecMemcpyNodeSetParams(void* exec, Node node, const Copy3D* p, void*) {
  return driver_api([&](Runtime& rt) {
    GraphNode& twin = twin_of(*rt.graphs.exec(exec).graph, node);
    require(p != nullptr && type_of(twin) == kMemcpyNode);
    twin.operation = copy_of(rt, *p);
  });
}
LOCKSTEP_CUDA_API cuGraphExecMemsetNodeSetParams(void* exec, Node node, const MemsetParams* p, void*) {
  return driver([&] { return cudaGraphExecMemsetNodeSetParams(exec, node, p); });
}
LOCKSTEP_CUDA_API cuGraphExecHostNodeSetParams(void* exec, Node node, const HostNodeParams* p) {
  return driver([&] { return cudaGraphExecHostNodeSetParams(exec, node, p); });
}

}  // namespace lockstep::cuda
