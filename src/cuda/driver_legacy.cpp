// First forms of functions of the driver API whose parameters have changed since. Forms that only had fewer
// bytes of what they do not need are further names, see aliases.inc; those of CUDA 3 and before, with
// addresses of 32 bits, are refused.
#include <cstddef>
#include <cstring>

#include "cuda/driver.hpp"
#include "cuda/driver_graph.hpp"
#include "cuda/graph_functions.hpp"

extern "C" {
int cuGraphKernelNodeGetParams_v2(lockstep::cuda::GraphNode*, lockstep::cuda::DriverKernelNode*);
int cuMemcpyBatchAsync_v2(void**, void**, std::size_t*, std::size_t, void*, std::size_t*, std::size_t, void*);
int cuMemcpy3DBatchAsync_v2(std::size_t, const void*, unsigned long long, void*);
}

namespace lockstep::cuda {

namespace {

using Node = GraphNode*;

/// CUDA_KERNEL_NODE_PARAMS_v1, with which the current version begins.
constexpr std::size_t kKernelNodeBytes = 56;
static_assert(offsetof(DriverKernelNode, extra) + sizeof(void*) == kKernelNodeBytes);

constexpr std::size_t kNoIndex = ~std::size_t{0};

}  // namespace

LOCKSTEP_CUDA_API cuGraphKernelNodeGetParams(Node node, void* p) {
  DriverKernelNode now{};
  const int result = cuGraphKernelNodeGetParams_v2(node, p != nullptr ? &now : nullptr);
  if (result == 0) std::memcpy(p, &now, kKernelNodeBytes);
  return result;
}
LOCKSTEP_CUDA_API cuGraphExecUpdate(void* exec, void* graph, Node* error_node, int* outcome) {
  UpdateResult result{};
  const int status = driver([&] { return cudaGraphExecUpdate(exec, graph, &result); });
  if (error_node != nullptr) *error_node = result.error_node;
  if (outcome != nullptr) *outcome = result.result;
  return status;
}
LOCKSTEP_CUDA_API cuStreamGetCaptureInfo(abi::Stream s, int* status, unsigned long long* id) {
  return driver([&] { return cudaStreamGetCaptureInfo(s, status, id, nullptr, nullptr, nullptr, nullptr); });
}
/// Where it fails, which copy is at fault is not told.
LOCKSTEP_CUDA_API cuMemcpyBatchAsync(void** to, void** from, std::size_t* bytes, std::size_t count,
                                     void* attributes, std::size_t* begins, std::size_t attribute_count,
                                     std::size_t* failed, void* stream) {
  if (failed != nullptr) *failed = kNoIndex;
  return cuMemcpyBatchAsync_v2(to, from, bytes, count, attributes, begins, attribute_count, stream);
}
LOCKSTEP_CUDA_API cuMemcpy3DBatchAsync(std::size_t count, const void* copies, std::size_t* failed,
                                       unsigned long long flags, void* stream) {
  if (failed != nullptr) *failed = kNoIndex;
  return cuMemcpy3DBatchAsync_v2(count, copies, flags, stream);
}

}  // namespace lockstep::cuda
