// Graphs as the runtime API describes them: edges, clones, parameters of nodes in graphs and in executable
// ones, objects that they keep. What is expected is what the documentation in cuda_runtime_api.h (CUDA 13.0)
// says. Prints PASS, or which check failed.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "driver_types.hpp"
#include "registration.hpp"
#include "runtime_types.hpp"

namespace {

using Node = void*;
constexpr int kInvalidValue = 1;

struct MemsetNode {
  void* to;
  std::size_t pitch;
  unsigned value, element;
  std::size_t width, height;
};
struct InstantiateParameters {
  unsigned long long flags = 0;
  void *stream = nullptr, *error_node = nullptr;
  int result = -1;
};

}  // namespace

extern "C" {
int cudaGraphCreate(void**, unsigned);
int cudaGraphDestroy(void*);
int cudaGraphClone(void**, void*);
int cudaGraphNodeFindInClone(Node*, Node, void*);
int cudaGraphAddEmptyNode(Node*, void*, const Node*, std::size_t);
int cudaGraphAddMemsetNode(Node*, void*, const Node*, std::size_t, const MemsetNode*);
int cudaGraphAddMemcpyNode1D(Node*, void*, const Node*, std::size_t, void*, const void*, std::size_t, int);
int cudaGraphAddHostNode(Node*, void*, const Node*, std::size_t, const HostNode*);
int cudaGraphAddEventRecordNode(Node*, void*, const Node*, std::size_t, void*);
int cudaGraphAddEventWaitNode(Node*, void*, const Node*, std::size_t, void*);
int cudaGraphAddChildGraphNode(Node*, void*, const Node*, std::size_t, void*);
int cudaGraphDestroyNode(Node);
int cudaGraphGetNodes(void*, Node*, std::size_t*);
int cudaGraphGetRootNodes(void*, Node*, std::size_t*);
int cudaGraphGetEdges(void*, Node*, Node*, void*, std::size_t*);
int cudaGraphNodeGetDependencies(Node, Node*, void*, std::size_t*);
int cudaGraphNodeGetDependentNodes(Node, Node*, void*, std::size_t*);
int cudaGraphAddDependencies(void*, const Node*, const Node*, const void*, std::size_t);
int cudaGraphRemoveDependencies(void*, const Node*, const Node*, const void*, std::size_t);
int cudaGraphNodeGetType(Node, int*);
int cudaGraphMemsetNodeGetParams(Node, MemsetNode*);
int cudaGraphMemsetNodeSetParams(Node, const MemsetNode*);
int cudaGraphHostNodeGetParams(Node, HostNode*);
int cudaGraphHostNodeSetParams(Node, const HostNode*);
int cudaGraphMemcpyNodeGetParams(Node, Copy3D*);
int cudaGraphMemcpyNodeSetParams(Node, const Copy3D*);
int cudaGraphEventRecordNodeGetEvent(Node, void**);
int cudaGraphEventRecordNodeSetEvent(Node, void*);
int cudaGraphEventWaitNodeGetEvent(Node, void**);
int cudaGraphEventWaitNodeSetEvent(Node, void*);
int cudaGraphChildGraphNodeGetGraph(Node, void**);
int cudaGraphInstantiateWithFlags(void**, void*, unsigned long long);
int cudaGraphInstantiateWithParams(void**, void*, InstantiateParameters*);
int cudaGraphExecGetFlags(void*, unsigned long long*);
int cudaGraphExecDestroy(void*);
int cudaGraphExecHostNodeSetParams(void*, Node, const HostNode*);
int cudaGraphExecMemsetNodeSetParams(void*, Node, const MemsetNode*);
int cudaGraphExecEventRecordNodeSetEvent(void*, Node, void*);
int cudaGraphUpload(void*, void*);
int cudaUserObjectCreate(void**, void*, void (*)(void*), unsigned, unsigned);
int cudaUserObjectRetain(void*, unsigned);
int cudaUserObjectRelease(void*, unsigned);
int cudaGraphRetainUserObject(void*, void*, unsigned, unsigned);
int cudaGraphReleaseUserObject(void*, void*, unsigned);
int cudaThreadExchangeStreamCaptureMode(int*);
int cudaStreamUpdateCaptureDependencies(void*, const Node*, const void*, std::size_t, unsigned);
int cudaEventDestroy(void*);
}

namespace {

void add_one(void* data) { ++*static_cast<int*>(data); }
void add_ten(void* data) { *static_cast<int*>(data) += 10; }

void* new_graph() {
  void* graph = nullptr;
  check(cudaGraphCreate(&graph, 0) == 0, "graph");
  return graph;
}
Node empty_node(void* graph, std::initializer_list<Node> after) {
  Node node = nullptr;
  check(cudaGraphAddEmptyNode(&node, graph, after.begin(), after.size()) == 0, "node");
  return node;
}
void* executable(void* graph) {
  void* exec = nullptr;
  check(cudaGraphInstantiateWithFlags(&exec, graph, 0) == 0, "executable graph");
  return exec;
}
void launch_and_wait(void* exec) {
  check(cudaGraphLaunch(exec, nullptr) == 0 && cudaDeviceSynchronize() == 0, "launch");
}

/// a before b and c, both before d.
void edges() {
  void* const graph = new_graph();
  const Node a = empty_node(graph, {}), b = empty_node(graph, {a}), c = empty_node(graph, {a}),
             d = empty_node(graph, {b, c});
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count) == 0 && count == 4, "number of nodes");
  check(cudaGraphGetRootNodes(graph, nullptr, &count) == 0 && count == 1, "number of roots");
  Node found[6] = {};
  check(cudaGraphGetRootNodes(graph, found, &count) == 0 && found[0] == a, "the root");
  check(cudaGraphNodeGetDependencies(d, nullptr, nullptr, &count) == 0 && count == 2, "before d");
  count = 1;
  check(cudaGraphNodeGetDependencies(d, found, nullptr, &count) == 0 && count == 1 &&
            (found[0] == b || found[0] == c),
        "no more than there is room for");
  count = 6;
  std::fill(std::begin(found), std::end(found), a);
  check(cudaGraphNodeGetDependentNodes(a, found, nullptr, &count) == 0 && count == 2 &&
            std::count(found, found + 2, b) == 1 && std::count(found, found + 2, c) == 1 &&
            found[2] == nullptr && found[5] == nullptr,
        "what is left of the room is null");
  check(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count) == 0 && count == 4, "number of edges");
  check(cudaGraphRemoveDependencies(graph, &b, &d, nullptr, 1) == 0 &&
            cudaGraphNodeGetDependencies(d, nullptr, nullptr, &count) == 0 && count == 1,
        "one edge less");
  check(cudaGraphRemoveDependencies(graph, &b, &d, nullptr, 1) == kInvalidValue, "which cannot go twice");
  check(cudaGraphAddDependencies(graph, &b, &d, nullptr, 1) == 0, "again");
  check(cudaGraphAddDependencies(graph, &b, &d, nullptr, 1) == kInvalidValue, "not twice either");
  void* exec = nullptr;
  InstantiateParameters parameters;
  check(cudaGraphInstantiateWithParams(&exec, graph, &parameters) == 0 && parameters.result == 0, "no cycle");
  check(cudaGraphAddDependencies(graph, &d, &a, nullptr, 1) == 0 &&
            cudaGraphInstantiateWithParams(&exec, graph, &parameters) == kInvalidValue &&
            parameters.result == 1,
        "a cycle");
  check(cudaGraphDestroyNode(c) == 0 && cudaGraphGetNodes(graph, nullptr, &count) == 0 && count == 3 &&
            cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count) == 0 && count == 3,
        "a node goes with its edges");
  int type = 0;
  check(cudaGraphNodeGetType(a, &type) == 0 && type == 5, "an empty node");
  check(cudaGraphDestroy(graph) == 0, "the end");
}

void clones() {
  void *const graph = new_graph(), *clone = nullptr, *inner = nullptr;
  int value = 0;
  const HostNode call{&add_one, &value};
  Node host = nullptr, twin = nullptr, child = nullptr;
  check(cudaGraphAddHostNode(&host, graph, nullptr, 0, &call) == 0 && cudaGraphClone(&clone, graph) == 0,
        "clone");
  check(cudaGraphNodeFindInClone(&twin, host, clone) == 0 && twin != host, "the node's twin");
  const Node later = empty_node(graph, {host});
  check(cudaGraphNodeFindInClone(&twin, later, clone) == kInvalidValue, "a node that came later");
  const HostNode other{&add_ten, &value};
  check(cudaGraphNodeFindInClone(&twin, host, clone) == 0 && cudaGraphHostNodeSetParams(twin, &other) == 0,
        "another call");
  HostNode found{};
  check(cudaGraphHostNodeGetParams(host, &found) == 0 && found.call == &add_one && found.data == &value &&
            cudaGraphHostNodeGetParams(twin, &found) == 0 && found.call == &add_ten,
        "of the twin only");
  void *const first = executable(graph), *const second = executable(clone);
  launch_and_wait(first);
  check(value == 1, "the graph's call");
  launch_and_wait(second);
  check(value == 11, "the clone's call");
  check(cudaGraphAddChildGraphNode(&child, graph, nullptr, 0, clone) == 0 &&
            cudaGraphChildGraphNodeGetGraph(child, &inner) == 0 && inner != nullptr && inner != clone,
        "a child is a copy");
  check(cudaGraphChildGraphNodeGetGraph(host, &inner) == kInvalidValue, "which only child nodes have");
  check(cudaGraphDestroy(clone) == 0, "the clone's end");
  launch_and_wait(executable(graph));
  check(value == 22, "the child lives on");  // the graph's call and the child's
}

void parameters() {
  void *const graph = new_graph(), *memory = nullptr;
  check(cudaMalloc(&memory, 256) == 0, "memory");
  const MemsetNode fill{memory, 32, 7, 1, 10, 3}, wider{memory, 0, 0x01020304, 4, 8, 1};
  MemsetNode found{};
  Node node = nullptr, copy = nullptr, record = nullptr, wait = nullptr;
  check(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &fill) == 0 &&
            cudaGraphMemsetNodeGetParams(node, &found) == 0 && std::memcmp(&found, &fill, sizeof fill) == 0,
        "a fill as it was given");
  MemsetNode wrong = fill;
  wrong.element = 3;
  check(cudaGraphMemsetNodeSetParams(node, &wrong) == kInvalidValue, "elements of 1, 2 or 4 bytes");
  check(cudaGraphMemsetNodeGetParams(node, &found) == 0 && found.element == 1, "are what they were");
  char host[64] = {};
  check(cudaGraphAddMemcpyNode1D(&copy, graph, &node, 1, host, memory, 64, 2) == 0, "a copy");
  Copy3D line{};
  check(cudaGraphMemcpyNodeGetParams(copy, &line) == 0 && line.from.pointer == memory &&
            line.to.pointer == host && line.extent.width == 64 && line.extent.height == 1 &&
            line.extent.depth == 1 && line.kind == 2,
        "a copy as it was given");
  line.extent = {10, 2, 1}, line.from = {memory, 32, 32, 2}, line.to = {host, 16, 16, 2};
  check(cudaGraphMemcpyNodeSetParams(copy, &line) == 0, "two rows");
  void* exec = executable(graph);
  launch_and_wait(exec);
  check(host[0] == 7 && host[9] == 7 && host[10] == 0 && host[16] == 7 && host[25] == 7, "what was copied");
  check(cudaGraphExecMemsetNodeSetParams(exec, node, &wider) == 0, "another fill");
  launch_and_wait(exec);
  check(host[0] == 4 && host[1] == 3 && host[9] == 3 && host[16] == 7, "of the executable graph");
  check(cudaGraphMemsetNodeGetParams(node, &found) == 0 && found.value == 7, "not of the graph");
  void *first = nullptr, *second = nullptr, *of_node = nullptr;
  check(cudaEventCreate(&first) == 0 && cudaEventCreate(&second) == 0, "events");
  check(cudaGraphAddEventRecordNode(&record, graph, nullptr, 0, first) == 0 &&
            cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, second) == 0 &&
            cudaGraphEventRecordNodeGetEvent(record, &of_node) == 0 && of_node == first &&
            cudaGraphEventWaitNodeGetEvent(wait, &of_node) == 0 && of_node == second,
        "events of nodes");
  check(cudaGraphEventRecordNodeSetEvent(record, second) == 0 &&
            cudaGraphEventWaitNodeSetEvent(wait, first) == 0 &&
            cudaGraphEventRecordNodeGetEvent(record, &of_node) == 0 && of_node == second &&
            cudaGraphEventWaitNodeGetEvent(wait, &of_node) == 0 && of_node == first,
        "exchanged");
  check(cudaGraphEventRecordNodeGetEvent(wait, &of_node) == kInvalidValue &&
            cudaGraphEventWaitNodeSetEvent(record, first) == kInvalidValue,
        "each of its own type");
  exec = executable(graph);
  check(cudaGraphExecEventRecordNodeSetEvent(exec, record, first) == 0, "in the executable graph");
  launch_and_wait(exec);
  float milliseconds = -1;
  check(cudaEventElapsedTime(&milliseconds, first, first) == 0, "which records the one");
  check(cudaEventElapsedTime(&milliseconds, second, second) == 400, "and not the other");
}

void executables() {
  void *const graph = new_graph(), *exec = nullptr;
  int value = 0;
  const HostNode call{&add_one, &value}, other{&add_ten, &value};
  Node node = nullptr;
  check(cudaGraphAddHostNode(&node, graph, nullptr, 0, &call) == 0, "a call");
  for (const unsigned long long flags : {0ull, 1ull, 8ull}) {
    unsigned long long found = 99;
    check(cudaGraphInstantiateWithFlags(&exec, graph, flags) == 0 &&
              cudaGraphExecGetFlags(exec, &found) == 0 && found == flags,
          "flags of executable graphs");
  }
  check(cudaGraphInstantiateWithFlags(&exec, graph, 16) == kInvalidValue, "flags that there are not");
  check(cudaGraphUpload(exec, nullptr) == 0, "upload");
  check(cudaGraphExecHostNodeSetParams(exec, node, &other) == 0, "another call");
  launch_and_wait(exec);
  check(value == 10, "is made");
  launch_and_wait(executable(graph));
  check(value == 11, "by this executable graph only");
  check(cudaGraphExecHostNodeSetParams(exec, empty_node(graph, {}), &other) == kInvalidValue,
        "a node that came later");
  check(cudaGraphExecDestroy(exec) == 0 && cudaGraphExecDestroy(exec) != 0, "the end, once");
}

void objects() {
  int ended = 0;
  void *object = nullptr, *const graph = new_graph();
  check(cudaUserObjectCreate(&object, &ended, &add_one, 1, 0) == kInvalidValue, "the flag has to be given");
  check(cudaUserObjectCreate(&object, &ended, &add_one, 2, 1) == 0, "an object with two references");
  check(cudaUserObjectRelease(object, 1) == 0 && ended == 0 && cudaUserObjectRetain(object, 2) == 0, "three");
  check(cudaGraphRetainUserObject(graph, object, 2, 1) == 0, "two of which are the graph's now");
  check(cudaUserObjectRelease(object, 1) == 0 && ended == 0, "none is the program's");
  check(cudaGraphReleaseUserObject(graph, object, 1) == 0 && ended == 0, "one is left");
  void* const exec = executable(graph);
  check(cudaGraphDestroy(graph) == 0 && ended == 0, "the executable graph has it");
  check(cudaGraphExecDestroy(exec) == 0 && cudaDeviceSynchronize() == 0 && ended == 1, "no more");
}

void captures() {
  int mode = 2;
  check(cudaThreadExchangeStreamCaptureMode(&mode) == 0 && mode == 0, "global at first");
  mode = 1;
  check(cudaThreadExchangeStreamCaptureMode(&mode) == 0 && mode == 2, "what was set");
  mode = 3;
  check(cudaThreadExchangeStreamCaptureMode(&mode) == kInvalidValue && mode == 3, "a mode that there is not");
  check(cudaThreadExchangeStreamCaptureMode(nullptr) == kInvalidValue, "none");
  // Two copies that nothing orders, since the capture begins again.
  void *stream = nullptr, *memory = nullptr, *graph = nullptr;
  check(cudaStreamCreate(&stream) == 0 && cudaMalloc(&memory, 64) == 0, "stream");
  check(cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, 1) != 0, "nothing is captured");
  check(cudaStreamBeginCapture(stream, 0) == 0 && cudaMemcpyAsync(memory, memory, 16, 3, stream) == 0 &&
            cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, 1) == 0 &&
            cudaMemcpyAsync(memory, memory, 16, 3, stream) == 0,
        "two copies");
  std::size_t nodes = 0, edges = 9;
  check(cudaStreamEndCapture(stream, &graph) == 0 && cudaGraphGetNodes(graph, nullptr, &nodes) == 0 &&
            cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges) == 0 && nodes == 2 && edges == 0,
        "what was removed from the dependences need not be joined");
}

}  // namespace

int main() {
  edges();
  clones();
  parameters();
  executables();
  objects();
  captures();
  std::puts(failures == 0 ? "PASS" : "FAILED");
  return failures == 0 ? 0 : 1;
}
