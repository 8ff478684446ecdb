// What programs describe graph nodes with, and the operations that come of it. Sizes and offsets were
// measured on CUDA 13.0.
#pragma once

#include <optional>
#include <vector>

#include "cuda/abi.hpp"
#include "cuda/runtime.hpp"

namespace lockstep::cuda {

struct KernelNodeParams {
  void* func;
  abi::dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};
static_assert(sizeof(KernelNodeParams) == 56);

struct MemsetParams {
  void* dst;
  std::size_t pitch;
  unsigned value, elementSize;
  std::size_t width, height;
};
static_assert(sizeof(MemsetParams) == 40);

struct HostNodeParams {
  abi::HostFn fn;
  void* userData;
};

struct MemAllocNodeParams {
  abi::MemPoolProps properties;
  const void* accessDescs;
  std::size_t accessDescCount, bytesize;
  void* dptr;  // out
};
static_assert(sizeof(MemAllocNodeParams) == 120 && offsetof(MemAllocNodeParams, bytesize) == 104);

/// CUDA_BATCH_MEM_OP_NODE_PARAMS.
struct BatchParams {
  static constexpr unsigned kMaxOperations = 256;  // operations (cuStreamBatchMemOp)
  void* context;
  unsigned count;
  const BatchOperation* operations;
  unsigned flags;
};
static_assert(sizeof(BatchParams) == 32 && offsetof(BatchParams, operations) == 16);

struct ConditionalNodeParams {
  unsigned long long handle;
  int type;
  unsigned size;
  Graph** phGraph_out;  // out: an array of `size` handles that the node owns
};
static_assert(sizeof(ConditionalNodeParams) == 24 && offsetof(ConditionalNodeParams, phGraph_out) == 16);

/// cudaGraphNodeParams.
struct NodeParams {
  int type;
  int reserved0[3];
  union {
    long long reserved1[29];
    KernelNodeParams kernel;
    struct {
      int flags, reserved[3];
      abi::Memcpy3DParms copyParams;
    } memcpy;
    MemsetParams memset;
    HostNodeParams host;
    struct {
      void* graph;
    } graph;
    struct {
      abi::Event event;
    } event;
    MemAllocNodeParams alloc;
    struct {
      void* dptr;
    } free;
    ConditionalNodeParams conditional;
    BatchParams memOp;  // of the driver API only
  };
  long long reserved2;
};
static_assert(sizeof(NodeParams) == 256 && offsetof(NodeParams, kernel) == 16);

/// enum cudaGraphNodeType.
enum NodeType {
  kKernelNode,
  kMemcpyNode,
  kMemsetNode,
  kHostNode,
  kGraphNode,
  kEmptyNode,
  kWaitEventNode,
  kEventRecordNode,
  kMemAllocNode = 10,
  kMemFreeNode,
  kBatchMemOpNode,
  kConditionalNode = 13
};
[[nodiscard]] NodeType type_of(const GraphNode& node);

/// Throws ApiError(InvalidValue) where there should be some.
[[nodiscard]] std::vector<GraphNode*> nodes_of(GraphNode* const* nodes, std::size_t count);

// From CUDA 13 on functions with edges take the edges' data, before the count: what is in the fourth and in
// the fifth register depends on which library this is. Edges have no data here.

/// The number of edges that a function is given.
[[nodiscard]] std::size_t count_of(const void* fourth, std::uintptr_t fifth);
/// Where the number of edges goes.
[[nodiscard]] std::size_t* count_at(void* fourth, std::size_t* fifth);

/// The node of an executable graph that was made of this one. Throws ApiError(InvalidValue).
[[nodiscard]] GraphNode& twin_of(Graph& graph, const GraphNode* original);

/// Each throws ApiError as the runtime function that takes the parameters does.
[[nodiscard]] Operation kernel_operation(Runtime& rt, const KernelNodeParams& p);
[[nodiscard]] Operation copy_of_line(void* to, const void* from, std::size_t bytes, int kind);
[[nodiscard]] Operation fill_operation(const MemsetParams& p);
[[nodiscard]] Operation host_operation(const HostNodeParams& p);
[[nodiscard]] Operation allocate_operation(Runtime& rt, MemAllocNodeParams& p);

[[nodiscard]] Operation batch_operation(Runtime& rt, const BatchParams& p);
/// Nothing where it has no effect here.
[[nodiscard]] std::optional<ValueOperation> value_operation(const BatchOperation& operation);
/// Of any type but child graphs and conditional nodes, which ApiError(NotSupported) names.
[[nodiscard]] Operation operation_of(Runtime& rt, NodeParams& p);

/// `bytes` of the variable that `symbol` names, from `offset` on.
[[nodiscard]] std::byte* inside_symbol(Runtime& rt, const void* symbol, std::size_t offset,
                                       std::size_t bytes);

/// An event can be recorded on its own device only, whichever was current when the node was added.
void place(Runtime& rt, GraphNode& node);

/// Adds a node that performs a copy of `child`.
GraphNode* add_child_node(Runtime& rt, Graph& graph, std::vector<GraphNode*> dependencies, void* child);
/// Adds a node of any type.
GraphNode* add_node(Runtime& rt, Graph& graph, std::vector<GraphNode*> after, NodeParams& p);

}  // namespace lockstep::cuda
