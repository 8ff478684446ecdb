// Graphs by the driver API and by the runtime API, without a CUDA compiler: `graphs PTX FILE` loads the
// kernels of tests/cuda/data/driver.ptx, writes a graph to FILE, and prints PASS, or which check failed.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "driver_types.hpp"

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct RuntimeKernel {
  void* function = nullptr;
  Dim3 grid, block;
  unsigned shared = 0;
  void **arguments = nullptr, **extra = nullptr;
};
struct InstantiateParams {
  unsigned long long flags;
  void *stream, *error_node;
  int result;
};
struct UpdateResult {
  int result;
  void *error_node, *from;
};
extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuModuleLoadDataEx(void**, const void*, unsigned, const int*, void**);
int cuModuleGetFunction(void**, void*, const char*);
int cuMemAlloc_v2(unsigned long long*, std::size_t);
int cuMemcpyDtoH_v2(void*, unsigned long long, std::size_t);
int cuMemsetD32_v2(unsigned long long, unsigned, std::size_t);
int cuMemsetD32Async(unsigned long long, unsigned, std::size_t, void*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);
int cuStreamCreate(void**, unsigned);
int cuStreamSynchronize(void*);
int cuStreamIsCapturing(void*, int*);
int cuEventCreate(void**, unsigned);
int cuEventQuery(void*);
int cuGetProcAddress_v2(const char*, void**, int, unsigned long long, int*);
int cuGraphCreate(void**, unsigned);
int cuGraphDestroy(void*);
int cuGraphClone(void**, void*);
int cuGraphNodeFindInClone(void**, void*, void*);
int cuGraphDestroyNode(void*);
int cuGraphDebugDotPrint(void*, const char*, unsigned);
int cuGraphAddKernelNode_v2(void**, void*, void* const*, std::size_t, const Kernel*);
int cuGraphAddMemcpyNode(void**, void*, void* const*, std::size_t, const DriverCopy*, void*);
int cuGraphAddMemsetNode(void**, void*, void* const*, std::size_t, const Fill*, void*);
int cuGraphAddHostNode(void**, void*, void* const*, std::size_t, const HostNode*);
int cuGraphAddEmptyNode(void**, void*, void* const*, std::size_t);
int cuGraphAddEventRecordNode(void**, void*, void* const*, std::size_t, void*);
int cuGraphAddEventWaitNode(void**, void*, void* const*, std::size_t, void*);
int cuGraphAddChildGraphNode(void**, void*, void* const*, std::size_t, void*);
int cuGraphAddDependencies(void*, void* const*, void* const*, std::size_t);
int cuGraphAddDependencies_v2(void*, void* const*, void* const*, const void*, std::size_t);
int cuGraphRemoveDependencies_v2(void*, void* const*, void* const*, const void*, std::size_t);
int cuGraphGetNodes(void*, void**, std::size_t*);
int cuGraphGetRootNodes(void*, void**, std::size_t*);
int cuGraphGetEdges(void*, void**, void**, std::size_t*);
int cuGraphGetEdges_v2(void*, void**, void**, void*, std::size_t*);
int cuGraphNodeGetDependencies_v2(void*, void**, void*, std::size_t*);
int cuGraphNodeGetDependentNodes_v2(void*, void**, void*, std::size_t*);
int cuGraphNodeGetType(void*, int*);
int cuGraphKernelNodeGetParams_v2(void*, Kernel*);
int cuGraphKernelNodeSetParams_v2(void*, const Kernel*);
int cuGraphMemsetNodeGetParams(void*, Fill*);
int cuGraphHostNodeGetParams(void*, HostNode*);
int cuGraphInstantiateWithFlags(void**, void*, unsigned long long);
int cuGraphInstantiateWithParams(void**, void*, InstantiateParams*);
int cuGraphExecGetFlags(void*, unsigned long long*);
int cuGraphExecDestroy(void*);
int cuGraphUpload(void*, void*);
int cuGraphLaunch(void*, void*);
int cuGraphExecUpdate_v2(void*, void*, UpdateResult*);
int cuGraphNodeSetEnabled(void*, void*, unsigned);
int cuGraphNodeGetEnabled(void*, void*, unsigned*);
int cuGraphExecKernelNodeSetParams_v2(void*, void*, const Kernel*);
int cuGraphExecMemcpyNodeSetParams(void*, void*, const DriverCopy*, void*);
int cuGraphExecMemsetNodeSetParams(void*, void*, const Fill*, void*);
int cuStreamBeginCapture_v2(void*, int);
int cuStreamEndCapture(void*, void**);
int cuStreamGetCaptureInfo_v3(void*, int*, unsigned long long*, void**, void* const**, const void**,
                              std::size_t*);
int cuStreamUpdateCaptureDependencies_v2(void*, void* const*, const void*, std::size_t, unsigned);
int cuThreadExchangeStreamCaptureMode(int*);
int cudaGraphKernelNodeGetParams(void*, RuntimeKernel*);
int cudaGraphGetRootNodes(void*, void**, std::size_t*);
int cudaGraphGetEdges(void*, void**, void**, void*, std::size_t*);
int cudaGraphAddDependencies(void*, void* const*, void* const*, const void*, std::size_t);
int cudaGraphNodeGetType(void*, int*);
}

namespace {

constexpr int kInvalid = 1, kHost = 1, kDevice = 2;
unsigned long long words(std::size_t count) {
  unsigned long long at = 0;
  check(cuMemAlloc_v2(&at, count * 4) == 0 && cuMemsetD32_v2(at, 0, count) == 0, "memory");
  return at;
}
unsigned value(unsigned long long at) {
  unsigned read = ~0u;
  check(cuMemcpyDtoH_v2(&read, at, 4) == 0, "read");
  return read;
}
int type_of(void* node) {
  int type = -1;
  check(cuGraphNodeGetType(node, &type) == 0, "type");
  return type;
}
void add_one(void* data) { ++*static_cast<int*>(data); }

/// Fills data[0] with 5, multiplies it by `factor`, copies it to `host` and counts in `calls`.
struct Chain {
  void *graph = nullptr, *fill = nullptr, *kernel = nullptr, *copy = nullptr, *call = nullptr;
  unsigned long long data = words(4);
  unsigned factor = 3, host = 0;
  int calls = 0;
  void* arguments[2] = {&data, &factor};
  Kernel scale;
  DriverCopy back;

  explicit Chain(void* function) {
    scale.function = function;
    scale.arguments = arguments;
    const Fill five{data, 4, 5, 4, 1, 1};
    back.from.type = kDevice, back.from.device = data;
    back.to.type = kHost, back.to.host = &host;
    back.width = 4;
    const HostNode counts{&add_one, &calls};
    check(cuGraphCreate(&graph, 0) == 0 &&
              cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &five, nullptr) == 0 &&
              cuGraphAddKernelNode_v2(&kernel, graph, &fill, 1, &scale) == 0 &&
              cuGraphAddMemcpyNode(&copy, graph, nullptr, 0, &back, nullptr) == 0 &&
              cuGraphAddHostNode(&call, graph, &copy, 1, &counts) == 0,
          "nodes");
    check(cuGraphAddDependencies_v2(graph, &kernel, &copy, nullptr, 1) == 0, "edge");
  }
};

void edges(Chain& c) {
  void *from[8] = {}, *to[8] = {}, *nodes[8] = {};
  std::size_t count = 0;
  check(cuGraphGetNodes(c.graph, nullptr, &count) == 0 && count == 4, "number of nodes");
  check(cuGraphGetEdges_v2(c.graph, nullptr, nullptr, nullptr, &count) == 0 && count == 3, "number of edges");
  count = 8;
  check(cuGraphGetEdges(c.graph, from, to, &count) == 0 && count == 3 && from[0] == c.fill &&
            to[0] == c.kernel && from[1] == c.kernel && to[1] == c.copy && from[2] == c.copy &&
            to[2] == c.call && from[3] == nullptr,
        "edges");
  count = 8;
  check(cudaGraphGetEdges(c.graph, from, to, nullptr, &count) == 0 && count == 3, "the runtime's edges");
  count = 8;
  check(cuGraphGetRootNodes(c.graph, nodes, &count) == 0 && count == 1 && nodes[0] == c.fill, "roots");
  check(cudaGraphGetRootNodes(c.graph, nullptr, &count) == 0 && count == 1, "the runtime's roots");
  count = 8;
  check(cuGraphNodeGetDependencies_v2(c.copy, nodes, nullptr, &count) == 0 && count == 1 &&
            nodes[0] == c.kernel,
        "dependencies");
  count = 8;
  check(cuGraphNodeGetDependentNodes_v2(c.copy, nodes, nullptr, &count) == 0 && count == 1 &&
            nodes[0] == c.call,
        "dependents");
  check(cuGraphAddDependencies(c.graph, &c.kernel, &c.copy, 1) == kInvalid, "an edge twice");
  check(cudaGraphAddDependencies(c.graph, &c.call, &c.call, nullptr, 1) == kInvalid, "a node behind itself");
  check(cuGraphRemoveDependencies_v2(c.graph, &c.fill, &c.call, nullptr, 1) == kInvalid, "no such edge");
  void *pair_from[] = {c.fill, c.fill}, *pair_to[] = {c.call, c.kernel};  // the second is there
  check(cuGraphAddDependencies(c.graph, pair_from, pair_to, 2) == kInvalid &&
            cuGraphGetEdges(c.graph, nullptr, nullptr, &count) == 0 && count == 3,
        "all edges or none");
  check(type_of(c.fill) == 2 && type_of(c.kernel) == 0 && type_of(c.copy) == 1 && type_of(c.call) == 3,
        "types");
  int type = 0;
  check(cudaGraphNodeGetType(c.graph, &type) == kInvalid, "no node");
}

void parameters(Chain& c) {
  Kernel kernel;
  check(cuGraphKernelNodeGetParams_v2(c.kernel, &kernel) == 0 && kernel.function == c.scale.function &&
            kernel.block[0] == 1 && kernel.extra == nullptr,
        "a kernel's parameters");
  unsigned factor = 0;
  std::memcpy(&factor, kernel.arguments[1], 4);
  check(factor == 3, "a kernel's argument");
  RuntimeKernel same;
  check(cudaGraphKernelNodeGetParams(c.kernel, &same) == 0 && same.function == kernel.function,
        "the runtime's");
  check(cudaGraphKernelNodeGetParams(c.copy, &same) == kInvalid, "no kernel");
  Fill fill{};
  HostNode host{};
  check(cuGraphMemsetNodeGetParams(c.fill, &fill) == 0 && fill.to == c.data && fill.value == 5 &&
            fill.element == 4 && fill.width == 1,
        "a fill's parameters");
  check(cuGraphHostNodeGetParams(c.call, &host) == 0 && host.call == &add_one && host.data == &c.calls,
        "a host node's parameters");
  struct {
    unsigned long long data;
    unsigned factor;
  } buffer{c.data, 7};
  std::size_t bytes = 12;
  void* extra[] = {reinterpret_cast<void*>(1), &buffer, reinterpret_cast<void*>(2), &bytes, nullptr};
  Kernel by_buffer;
  by_buffer.kernel = c.scale.function;
  by_buffer.extra = extra;
  check(cuGraphKernelNodeSetParams_v2(c.kernel, &by_buffer) == 0 &&
            cuGraphKernelNodeGetParams_v2(c.kernel, &kernel) == 0,
        "parameters in a buffer");
  std::memcpy(&factor, kernel.arguments[1], 4);
  check(factor == 7, "an argument of a buffer");
  check(cuGraphKernelNodeSetParams_v2(c.kernel, &c.scale) == 0, "parameters");
}

void launches(Chain& c, void* stream) {
  void *exec = nullptr, *other = nullptr;
  InstantiateParams how{1, nullptr, &exec, -1};
  unsigned long long flags = 0;
  unsigned enabled = 0;
  const auto run = [&](unsigned expected, const char* what) {
    check(cuGraphLaunch(exec, stream) == 0 && cuStreamSynchronize(stream) == 0 && c.host == expected, what);
  };
  check(
      cuGraphInstantiateWithParams(&exec, c.graph, &how) == 0 && how.result == 0 && how.error_node == nullptr,
      "instance");
  check(cuGraphExecGetFlags(exec, &flags) == 0 && flags == 1 && cuGraphUpload(exec, stream) == 0, "flags");
  run(15, "5 times 3");
  c.factor = 4;  // was copied when the node was added
  run(15, "5 times 3 again");
  check(cuGraphExecKernelNodeSetParams_v2(exec, c.kernel, &c.scale) == 0, "a kernel in an instance");
  run(20, "5 times 4");
  const Fill six{c.data, 4, 6, 4, 1, 1};
  check(cuGraphExecMemsetNodeSetParams(exec, c.fill, &six, nullptr) == 0, "a fill in an instance");
  run(24, "6 times 4");
  check(cuGraphNodeSetEnabled(exec, c.kernel, 0) == 0 &&
            cuGraphNodeGetEnabled(exec, c.kernel, &enabled) == 0 && enabled == 0 &&
            cuGraphNodeSetEnabled(exec, c.call, 0) == kInvalid,
        "a node that is not carried out");
  run(6, "6 as it is");
  check(cuGraphNodeSetEnabled(exec, c.kernel, 1) == 0, "a node that is carried out");
  unsigned elsewhere = 0;
  DriverCopy there = c.back;
  there.to.host = &elsewhere;
  check(cuGraphExecMemcpyNodeSetParams(exec, c.copy, &there, nullptr) == 0, "a copy in an instance");
  run(6, "what another copy leaves");
  check(elsewhere == 24 && c.calls == 6, "what it copies, and calls");
  UpdateResult updated{-1, nullptr, nullptr};
  check(cuGraphExecUpdate_v2(exec, c.graph, &updated) == 0 && updated.result == 0, "update");
  run(15, "as the graph is");
  void *clone = nullptr, *twin = nullptr, *more = nullptr;
  check(cuGraphClone(&clone, c.graph) == 0 && cuGraphNodeFindInClone(&twin, c.copy, clone) == 0 &&
            type_of(twin) == 1 && cuGraphDestroyNode(twin) == 0,
        "clone");
  check(cuGraphExecUpdate_v2(exec, clone, &updated) == 910 && updated.result != 0, "another topology");
  check(cuGraphAddChildGraphNode(&more, clone, nullptr, 0, c.graph) == 0 && type_of(more) == 4, "child");
  check(cuGraphAddDependencies(c.graph, &c.call, &c.fill, 1) == 0 &&
            cuGraphInstantiateWithFlags(&other, c.graph, 0) == kInvalid &&
            cuGraphRemoveDependencies_v2(c.graph, &c.call, &c.fill, nullptr, 1) == 0,
        "a cycle");
  check(cuGraphExecDestroy(exec) == 0 && cuGraphDestroy(clone) == 0, "end");
}

void events(void* stream) {
  void *graph = nullptr, *record = nullptr, *wait = nullptr, *empty = nullptr, *event = nullptr,
       *exec = nullptr;
  check(cuEventCreate(&event, 0) == 0 && cuGraphCreate(&graph, 0) == 0 &&
            cuGraphAddEventRecordNode(&record, graph, nullptr, 0, event) == 0 &&
            cuGraphAddEventWaitNode(&wait, graph, &record, 1, event) == 0 &&
            cuGraphAddEmptyNode(&empty, graph, &wait, 1) == 0,
        "nodes of events");
  check(type_of(record) == 7 && type_of(wait) == 6 && type_of(empty) == 5, "their types");
  check(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0 && cuGraphLaunch(exec, stream) == 0 &&
            cuStreamSynchronize(stream) == 0 && cuEventQuery(event) == 0,
        "an event that a graph records");
  check(cuGraphExecDestroy(exec) == 0 && cuGraphDestroy(graph) == 0, "end of events");
}

/// Two fills that, by a change of what the second depends on, are independent.
void capture(void* stream) {
  const unsigned long long data = words(2);
  void *graph = nullptr, *captured = nullptr, *exec = nullptr;
  void* const* last = nullptr;
  int status = -1, mode = 2;
  unsigned long long id = 0;
  std::size_t count = 9;
  check(cuThreadExchangeStreamCaptureMode(&mode) == 0 && mode == 0 &&
            cuThreadExchangeStreamCaptureMode(&mode) == 0 && mode == 2,
        "capture mode");
  check(cuStreamBeginCapture_v2(stream, 0) == 0 && cuMemsetD32Async(data, 8, 1, stream) == 0, "capture");
  check(cuStreamIsCapturing(stream, &status) == 0 && status == 1, "is capturing");
  check(cuStreamGetCaptureInfo_v3(stream, &status, &id, &captured, &last, nullptr, &count) == 0 &&
            status == 1 && count == 1 && type_of(last[0]) == 2,
        "capture info");
  check(cuStreamUpdateCaptureDependencies_v2(stream, nullptr, nullptr, 0, 1) == 0 &&
            cuMemsetD32Async(data + 4, 9, 1, stream) == 0 && cuStreamEndCapture(stream, &graph) == 0 &&
            graph == captured,
        "end of capture");
  check(value(data) == 0, "nothing is done yet");
  check(cuGraphGetRootNodes(graph, nullptr, &count) == 0 && count == 2, "two independent nodes");
  check(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0 && cuGraphLaunch(exec, stream) == 0 &&
            cuStreamSynchronize(stream) == 0 && value(data) == 8 && value(data + 4) == 9,
        "what was captured");
}

/// What a program finds in its buffers after it has loaded a module.
void compile_logs(const std::string& text) {
  char info[16], error[16];
  const int options[] = {3, 4, 5, 6};  // information and its size, errors and their size
  void* values[] = {info, reinterpret_cast<void*>(sizeof info), error, reinterpret_cast<void*>(sizeof error)};
  void* module = nullptr;
  std::memset(info, 'x', sizeof info), std::memset(error, 'x', sizeof error);
  check(cuModuleLoadDataEx(&module, text.c_str(), 4, options, values) == 0, "module with logs");
  check(info[0] == '\0' && error[0] == '\0' && values[1] == nullptr && values[3] == nullptr, "empty logs");
  values[1] = reinterpret_cast<void*>(sizeof info), values[3] = reinterpret_cast<void*>(sizeof error);
  check(cuModuleLoadDataEx(&module, "no PTX at all", 4, options, values) == 218, "an error in PTX");
  const auto length = reinterpret_cast<std::size_t>(values[3]);
  check(info[0] == '\0' && length > 0 && length < sizeof error && error[length] == '\0' &&
            std::strlen(error) == length,
        "the error's text");
}

void entry_points() {
  void* found = nullptr;
  check(cuGetProcAddress_v2("cuGraphAddDependencies", &found, 12020, 0, nullptr) == 0 &&
            found == reinterpret_cast<void*>(&cuGraphAddDependencies),
        "the form of CUDA 12.2");
  check(cuGetProcAddress_v2("cuGraphAddDependencies", &found, 12030, 0, nullptr) == 0 &&
            found == reinterpret_cast<void*>(&cuGraphAddDependencies_v2),
        "the form of CUDA 12.3");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 3;
  std::ifstream file(argv[1]);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  void *context = nullptr, *module = nullptr, *function = nullptr, *stream = nullptr;
  check(cuInit(0) == 0 && cuDevicePrimaryCtxRetain(&context, 0) == 0 && cuCtxSetCurrent(context) == 0 &&
            cuModuleLoadDataEx(&module, text.c_str(), 0, nullptr, nullptr) == 0 &&
            cuModuleGetFunction(&function, module, "scale") == 0 && cuStreamCreate(&stream, 1) == 0,
        "begin");
  Chain chain(function);
  edges(chain);
  parameters(chain);
  launches(chain, stream);
  check(cuGraphDebugDotPrint(chain.graph, argv[2], 0) == 0, "text of the graph");
  check(cuGraphDebugDotPrint(chain.graph, "/no/such/folder/file", 0) != 0, "a file that cannot be written");
  events(stream);
  capture(stream);
  compile_logs(text);
  entry_points();
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
