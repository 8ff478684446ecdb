// What graph_nodes.cpp calls, without the headers of CUDA: structures of CUDA 13, x86-64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "driver_types.hpp"

struct Pitched {
  void* pointer;
  std::size_t pitch, width, height;
};
struct Copy3D {  // cudaMemcpy3DParms
  void* from_array;
  std::size_t from_at[3];
  Pitched from;
  void* to_array;
  std::size_t to_at[3];
  Pitched to;
  std::size_t extent[3];
  int kind;
};
struct Value {  // CUstreamBatchMemOpParams
  int operation;
  Word address;
  std::uint64_t value;
  unsigned flags;
  Word alias, rest;
};
struct Batch {
  void* context;
  unsigned count;
  Value* operations;
  unsigned flags;
};
struct Allocation {
  int kind, handles, place, device;
  std::byte more[72];
  const void* access;
  std::size_t accesses, bytes;
  Word pointer;
};
struct AnyNode {
  int type, reserved[3];
  union {
    long long pad[29];
    struct {
      int flags, reserved;
      void* context;
      DriverCopy copy;
    } copy;
    Kernel kernel;
    Fill fill;
    HostNode host;
    Batch batch;
    void* graph;
  };
  long long last;
  AnyNode() { std::memset(static_cast<void*>(this), 0, sizeof *this); }
};
static_assert(sizeof(AnyNode) == 256 && sizeof(Allocation) == 120 && sizeof(Copy3D) == 160);
union Attribute {
  char bytes[64];
  int number;
  struct {
    unsigned x, y, z;
  } size;
};

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuMemAlloc_v2(Word*, std::size_t);
int cuMemcpyDtoH_v2(void*, Word, std::size_t);
int cuMemsetD32_v2(Word, unsigned, std::size_t);
int cuStreamCreate(void**, unsigned);
int cuStreamSynchronize(void*);
int cuEventCreate(void**, unsigned);
int cuEventRecord(void*, void*);
int cuEventSynchronize(void*);
int cuEventElapsedTime(float*, void*, void*);
int cuGraphCreate(void**, unsigned);
int cuGraphDestroy(void*);
int cuGraphGetNodes(void*, void**, std::size_t*);
int cuGraphAddKernelNode_v2(void**, void*, void* const*, std::size_t, const Kernel*);
int cuGraphAddMemsetNode(void**, void*, void* const*, std::size_t, const Fill*, void*);
int cuGraphAddHostNode(void**, void*, void* const*, std::size_t, const HostNode*);
int cuGraphAddChildGraphNode(void**, void*, void* const*, std::size_t, void*);
int cuGraphAddEventRecordNode(void**, void*, void* const*, std::size_t, void*);
int cuGraphAddNode_v2(void**, void*, void* const*, const void*, std::size_t, AnyNode*);
int cuGraphNodeSetParams(void*, AnyNode*);
int cuGraphExecNodeSetParams(void*, void*, AnyNode*);
int cuGraphNodeGetType(void*, int*);
int cuGraphInstantiateWithFlags(void**, void*, unsigned long long);
int cuGraphLaunch(void*, void*);
int cuGraphExecDestroy(void*);
int cuGraphExecMemsetNodeSetParams(void*, void*, const Fill*, void*);
int cuGraphMemsetNodeSetParams(void*, const Fill*);
int cuGraphMemsetNodeGetParams(void*, Fill*);
int cuGraphHostNodeSetParams(void*, const HostNode*);
int cuGraphMemcpyNodeGetParams(void*, DriverCopy*);
int cuGraphMemcpyNodeSetParams(void*, const DriverCopy*);
int cuGraphChildGraphNodeGetGraph(void*, void**);
int cuGraphExecChildGraphNodeSetParams(void*, void*, void*);
int cuGraphEventRecordNodeGetEvent(void*, void**);
int cuGraphExecEventRecordNodeSetEvent(void*, void*, void*);
int cuGraphEventWaitNodeGetEvent(void*, void**);
int cuGraphAddBatchMemOpNode(void**, void*, void* const*, std::size_t, const Batch*);
int cuGraphBatchMemOpNodeGetParams(void*, Batch*);
int cuGraphExecBatchMemOpNodeSetParams(void*, void*, const Batch*);
int cuGraphAddMemAllocNode(void**, void*, void* const*, std::size_t, Allocation*);
int cuGraphMemAllocNodeGetParams(void*, Allocation*);
int cuGraphKernelNodeSetAttribute(void*, int, const Attribute*);
int cuGraphKernelNodeGetAttribute(void*, int, Attribute*);
int cuGraphKernelNodeCopyAttributes(void*, void*);
int cuGraphKernelNodeGetParams(void*, void*);
int cuGraphExecUpdate(void*, void*, void**, int*);
int cuUserObjectCreate(void**, void*, void (*)(void*), unsigned, unsigned);
int cuUserObjectRetain(void*, unsigned);
int cuUserObjectRelease(void*, unsigned);
int cuGraphRetainUserObject(void*, void*, unsigned, unsigned);
int cuGraphReleaseUserObject(void*, void*, unsigned);
int cudaGraphAddMemcpyNode(void**, void*, void* const*, std::size_t, const Copy3D*);
int cudaGraphMemcpyNodeGetParams(void*, Copy3D*);
int cudaGraphMemcpyNodeSetParams1D(void*, void*, const void*, std::size_t, int);
int cudaMallocArray(void**, const int*, std::size_t, std::size_t, unsigned);
int cudaMemcpy2DFromArray(void*, std::size_t, void*, std::size_t, std::size_t, std::size_t, std::size_t, int);
}
