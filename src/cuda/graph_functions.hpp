// Functions of the runtime on graphs that functions of the driver API call, and what only they are given.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/graph_params.hpp"

namespace lockstep::cuda {

/// cudaGraphExecUpdateResultInfo.
struct UpdateResult {
  int result;  // 0: the graph was updated
  GraphNode *error_node, *error_from_node;
};

/// cudaGraphInstantiateParams.
struct InstantiateParams {
  unsigned long long flags;
  void* upload_stream;
  GraphNode* error_node;  // out, as `result`
  int result;             // 0: the graph was instantiated
};
static_assert(sizeof(InstantiateParams) == 32);

}  // namespace lockstep::cuda

extern "C" {
int cudaGraphCreate(void**, unsigned);
int cudaGraphDestroy(void*);
int cudaGraphClone(void**, void*);
int cudaGraphNodeFindInClone(lockstep::cuda::GraphNode**, lockstep::cuda::GraphNode*, void*);
int cudaGraphAddEmptyNode(lockstep::cuda::GraphNode**, void*, lockstep::cuda::GraphNode* const*, std::size_t);
int cudaGraphAddKernelNode(lockstep::cuda::GraphNode**, void*, lockstep::cuda::GraphNode* const*, std::size_t,
                           const lockstep::cuda::KernelNodeParams*);
int cudaGraphAddMemsetNode(lockstep::cuda::GraphNode**, void*, lockstep::cuda::GraphNode* const*, std::size_t,
                           const lockstep::cuda::MemsetParams*);
int cudaGraphAddHostNode(lockstep::cuda::GraphNode**, void*, lockstep::cuda::GraphNode* const*, std::size_t,
                         const lockstep::cuda::HostNodeParams*);
int cudaGraphAddEventRecordNode(lockstep::cuda::GraphNode**, void*, lockstep::cuda::GraphNode* const*,
                                std::size_t, lockstep::cuda::abi::Event);
int cudaGraphAddEventWaitNode(lockstep::cuda::GraphNode**, void*, lockstep::cuda::GraphNode* const*,
                              std::size_t, lockstep::cuda::abi::Event);
int cudaGraphAddChildGraphNode(lockstep::cuda::GraphNode**, void*, lockstep::cuda::GraphNode* const*,
                               std::size_t, void*);
int cudaGraphAddMemFreeNode(lockstep::cuda::GraphNode**, void*, lockstep::cuda::GraphNode* const*,
                            std::size_t, void*);
int cudaGraphDestroyNode(lockstep::cuda::GraphNode*);
int cudaGraphGetNodes(void*, lockstep::cuda::GraphNode**, std::size_t*);
int cudaGraphGetRootNodes(void*, lockstep::cuda::GraphNode**, std::size_t*);
int cudaGraphNodeGetType(lockstep::cuda::GraphNode*, int*);
int cudaGraphKernelNodeGetParams(lockstep::cuda::GraphNode*, lockstep::cuda::KernelNodeParams*);
int cudaGraphKernelNodeSetParams(lockstep::cuda::GraphNode*, const lockstep::cuda::KernelNodeParams*);
int cudaGraphNodeSetParams(lockstep::cuda::GraphNode*, lockstep::cuda::NodeParams*);
int cudaGraphExecNodeSetParams(void*, lockstep::cuda::GraphNode*, lockstep::cuda::NodeParams*);
int cudaGraphChildGraphNodeGetGraph(lockstep::cuda::GraphNode*, void**);
int cudaGraphExecChildGraphNodeSetParams(void*, lockstep::cuda::GraphNode*, void*);
int cudaGraphEventRecordNodeGetEvent(lockstep::cuda::GraphNode*, lockstep::cuda::abi::Event*);
int cudaGraphEventWaitNodeGetEvent(lockstep::cuda::GraphNode*, lockstep::cuda::abi::Event*);
int cudaGraphEventRecordNodeSetEvent(lockstep::cuda::GraphNode*, lockstep::cuda::abi::Event);
int cudaGraphEventWaitNodeSetEvent(lockstep::cuda::GraphNode*, lockstep::cuda::abi::Event);
int cudaGraphExecEventRecordNodeSetEvent(void*, lockstep::cuda::GraphNode*, lockstep::cuda::abi::Event);
int cudaGraphExecEventWaitNodeSetEvent(void*, lockstep::cuda::GraphNode*, lockstep::cuda::abi::Event);
int cudaGraphMemcpyNodeGetParams(lockstep::cuda::GraphNode*, lockstep::cuda::abi::Memcpy3DParms*);
int cudaGraphMemsetNodeSetParams(lockstep::cuda::GraphNode*, const lockstep::cuda::MemsetParams*);
int cudaGraphHostNodeSetParams(lockstep::cuda::GraphNode*, const lockstep::cuda::HostNodeParams*);
int cudaGraphMemAllocNodeGetParams(lockstep::cuda::GraphNode*, lockstep::cuda::MemAllocNodeParams*);
int cudaGraphMemFreeNodeGetParams(lockstep::cuda::GraphNode*, void**);
int cudaGraphAddMemAllocNode(lockstep::cuda::GraphNode**, void*, lockstep::cuda::GraphNode* const*,
                             std::size_t, lockstep::cuda::MemAllocNodeParams*);
int cudaGraphConditionalHandleCreate(unsigned long long*, void*, unsigned, unsigned);
int cudaGraphKernelNodeGetAttribute(lockstep::cuda::GraphNode*, int,
                                    lockstep::cuda::abi::LaunchAttribute::Value*);
int cudaGraphKernelNodeSetAttribute(lockstep::cuda::GraphNode*, int,
                                    const lockstep::cuda::abi::LaunchAttribute::Value*);
int cudaGraphKernelNodeCopyAttributes(lockstep::cuda::GraphNode*, lockstep::cuda::GraphNode*);
int cudaUserObjectCreate(lockstep::cuda::UserObject**, void*, lockstep::cuda::abi::HostFn, unsigned,
                         unsigned);
int cudaUserObjectRetain(lockstep::cuda::UserObject*, unsigned);
int cudaUserObjectRelease(lockstep::cuda::UserObject*, unsigned);
int cudaGraphRetainUserObject(void*, lockstep::cuda::UserObject*, unsigned, unsigned);
int cudaGraphReleaseUserObject(void*, lockstep::cuda::UserObject*, unsigned);
int cudaDeviceGetGraphMemAttribute(int, int, std::uint64_t*);
int cudaDeviceSetGraphMemAttribute(int, int, const std::uint64_t*);
int cudaDeviceGraphMemTrim(int);
int cudaGraphMemsetNodeGetParams(lockstep::cuda::GraphNode*, lockstep::cuda::MemsetParams*);
int cudaGraphHostNodeGetParams(lockstep::cuda::GraphNode*, lockstep::cuda::HostNodeParams*);
int cudaGraphDebugDotPrint(void*, const char*, unsigned);
int cudaGraphInstantiate(void**, void*, unsigned long long);
int cudaGraphInstantiateWithParams(void**, void*, lockstep::cuda::InstantiateParams*);
int cudaGraphExecGetFlags(void*, unsigned long long*);
int cudaGraphExecDestroy(void*);
int cudaGraphExecUpdate(void*, void*, lockstep::cuda::UpdateResult*);
int cudaGraphExecKernelNodeSetParams(void*, lockstep::cuda::GraphNode*,
                                     const lockstep::cuda::KernelNodeParams*);
int cudaGraphExecMemsetNodeSetParams(void*, lockstep::cuda::GraphNode*, const lockstep::cuda::MemsetParams*);
int cudaGraphExecHostNodeSetParams(void*, lockstep::cuda::GraphNode*, const lockstep::cuda::HostNodeParams*);
int cudaGraphNodeSetEnabled(void*, lockstep::cuda::GraphNode*, unsigned);
int cudaGraphNodeGetEnabled(void*, lockstep::cuda::GraphNode*, unsigned*);
int cudaGraphUpload(void*, lockstep::cuda::abi::Stream);
int cudaGraphLaunch(void*, lockstep::cuda::abi::Stream);
// With edges: see count_of() and count_at().
int cudaGraphGetEdges(void*, lockstep::cuda::GraphNode**, lockstep::cuda::GraphNode**, void*, std::size_t*);
int cudaGraphNodeGetDependencies(lockstep::cuda::GraphNode*, lockstep::cuda::GraphNode**, void*,
                                 std::size_t*);
int cudaGraphNodeGetDependentNodes(lockstep::cuda::GraphNode*, lockstep::cuda::GraphNode**, void*,
                                   std::size_t*);
int cudaGraphAddDependencies(void*, lockstep::cuda::GraphNode* const*, lockstep::cuda::GraphNode* const*,
                             const void*, std::size_t);
int cudaGraphRemoveDependencies(void*, lockstep::cuda::GraphNode* const*, lockstep::cuda::GraphNode* const*,
                                const void*, std::size_t);
int cudaStreamBeginCapture(lockstep::cuda::abi::Stream, int);
int cudaStreamBeginCaptureToGraph(lockstep::cuda::abi::Stream, void*, lockstep::cuda::GraphNode* const*,
                                  const void*, std::size_t, int);
int cudaStreamEndCapture(lockstep::cuda::abi::Stream, void**);
int cudaStreamGetCaptureInfo(lockstep::cuda::abi::Stream, int*, unsigned long long*, void**,
                             lockstep::cuda::GraphNode* const**, const void**, std::size_t*);
int cudaStreamUpdateCaptureDependencies(lockstep::cuda::abi::Stream, lockstep::cuda::GraphNode* const*,
                                        const void*, std::size_t, unsigned);
int cudaThreadExchangeStreamCaptureMode(int*);
}
