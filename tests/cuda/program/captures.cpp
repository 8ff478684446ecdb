// Captures that fork and join, and graphs that are exchanged for others of the same shape: a program without
// a CUDA compiler. What is expected is what the documentation in cuda_runtime_api.h (CUDA 13.0) says. Prints
// PASS, or which check failed.
#include <cstdint>
#include <vector>

#include "driver_types.hpp"

namespace {
struct UpdateResult {
  int result;
  void *node, *from;
};
enum Result {
  kInvalidValue = 1,
  kIllegalState = 401,
  kUnsupported = 900,
  kInvalidated = 901,
  kUnmatched = 903,
  kUnjoined = 904,
  kUpdateFailure = 910
};
enum Update { kTopologyChanged = 2, kTypeChanged = 3 };
enum NodeType { kMemset = 2, kHost = 3, kEmpty = 5, kWaitEvent = 6, kRecordEvent = 7 };
}  // namespace

extern "C" {
int cudaMalloc(void**, std::size_t);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemset(void*, int, std::size_t);
int cudaMemsetAsync(void*, int, std::size_t, void*);
int cudaDeviceSynchronize();
int cudaStreamCreateWithFlags(void**, unsigned);
int cudaStreamBeginCapture(void*, int);
int cudaStreamEndCapture(void*, void**);
int cudaStreamIsCapturing(void*, int*);
int cudaStreamBeginCaptureToGraph(void*, void*, void* const*, const void*, std::size_t, int);
int cudaStreamGetCaptureInfo(void*, int*, unsigned long long*, void**, void***, void**, std::size_t*);
int cudaUserObjectCreate(void**, void*, void (*)(void*), unsigned, unsigned);
int cudaGraphRetainUserObject(void*, void*, unsigned, unsigned);
int cuCtxGetCurrent(void**);
int cuCtxRecordEvent(void*, void*);
int cudaStreamWaitEvent(void*, void*, unsigned);
int cudaEventCreate(void**);
int cudaEventRecord(void*, void*);
int cudaEventRecordWithFlags(void*, void*, unsigned);
int cudaGraphCreate(void**, unsigned);
int cudaGraphGetNodes(void*, void**, std::size_t*);
int cudaGraphGetEdges(void*, void**, void**, void*, std::size_t*);
int cudaGraphNodeGetType(void*, int*);
int cudaGraphAddEmptyNode(void**, void*, void* const*, std::size_t);
int cudaGraphAddMemsetNode(void**, void*, void* const*, std::size_t, const Fill*);
int cudaGraphAddHostNode(void**, void*, void* const*, std::size_t, const HostNode*);
int cudaGraphAddChildGraphNode(void**, void*, void* const*, std::size_t, void*);
int cudaGraphInstantiate(void**, void*, unsigned long long);
int cudaGraphExecUpdate(void*, void*, UpdateResult*);
int cudaGraphExecMemsetNodeSetParams(void*, void*, const Fill*);
int cudaGraphNodeSetEnabled(void*, void*, unsigned);
int cudaGraphNodeGetEnabled(void*, void*, unsigned*);
int cudaGraphLaunch(void*, void*);
}

namespace {

char* data;  // of the device

void* stream() {
  void* made = nullptr;
  check(cudaStreamCreateWithFlags(&made, 1) == 0, "stream");
  return made;
}
void* event() {
  void* made = nullptr;
  check(cudaEventCreate(&made) == 0, "event");
  return made;
}
bool captures(void* stream) {
  int status = -1;
  check(cudaStreamIsCapturing(stream, &status) == 0, "status");
  return status == 1;
}
std::size_t nodes_of(void* graph) {
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count) == 0, "nodes");
  return count;
}
std::size_t edges_of(void* graph) {
  std::size_t count = 0;
  check(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count) == 0, "edges");
  return count;
}
std::vector<int> types_of(void* graph) {
  std::vector<void*> nodes(nodes_of(graph));
  std::size_t count = nodes.size();
  check(cudaGraphGetNodes(graph, nodes.data(), &count) == 0, "nodes");
  std::vector<int> types(count);
  for (std::size_t i = 0; i < count; ++i) check(cudaGraphNodeGetType(nodes[i], &types[i]) == 0, "type");
  return types;
}

// --- Captures ---

/// Two fills side by side and one behind both.
void joined() {
  void *a = stream(), *b = stream(), *fork = event(), *join = event(), *graph = nullptr;
  check(cudaStreamBeginCapture(a, 0) == 0 && cudaEventRecord(fork, a) == 0, "begins");
  check(cudaStreamWaitEvent(b, fork, 0) == 0 && captures(b), "the fork captures, too");
  check(cudaMemsetAsync(data, 1, 1, a) == 0 && cudaMemsetAsync(data + 1, 1, 1, b) == 0, "side by side");
  check(cudaStreamEndCapture(b, &graph) == kUnmatched && captures(a), "ends where it began only");
  check(cudaEventRecord(join, b) == 0 && cudaStreamWaitEvent(a, join, 0) == 0, "joins");
  check(cudaMemsetAsync(data + 2, 1, 1, a) == 0, "behind both");
  check(cudaStreamEndCapture(a, &graph) == 0 && !captures(a) && !captures(b), "ends");
  check(nodes_of(graph) == 3 && edges_of(graph) == 2, "three nodes, the last behind two");
  check(cudaStreamEndCapture(a, &graph) == kIllegalState, "nothing is captured any more");
}

void unjoined() {
  void *a = stream(), *b = stream(), *fork = event(), *graph = a;
  check(cudaStreamBeginCapture(a, 0) == 0 && cudaMemsetAsync(data, 1, 1, a) == 0, "begins");
  check(cudaEventRecord(fork, a) == 0 && cudaStreamWaitEvent(b, fork, 0) == 0, "forks");
  check(cudaMemsetAsync(data + 1, 1, 1, b) == 0, "work that nothing waits for");
  check(cudaStreamEndCapture(a, &graph) == kUnjoined && graph == nullptr,
        "is an error, and there is no graph");
  check(!captures(a) && !captures(b), "the capture has ended all the same");
}

unsigned gone = 0;  // graphs to which watch() was applied
void count(void*) { ++gone; }

/// The graph that the stream captures into owns an object, whose destructor counts.
void watch(void* capturing) {
  void *object = nullptr, *graph = nullptr;
  int status = 0;
  check(cudaStreamGetCaptureInfo(capturing, &status, nullptr, &graph, nullptr, nullptr, nullptr) == 0,
        "graph");
  check(cudaUserObjectCreate(&object, nullptr, count, 1, 1) == 0 &&
            cudaGraphRetainUserObject(graph, object, 1, 1) == 0,
        "the graph's object");
}

/// What a failed capture has made is gone; a graph of the program's stays. Both streams and the event can be
/// used again.
void failed_captures() {
  void *a = stream(), *b = stream(), *fork = event(), *graph = nullptr, *own = nullptr;
  const auto leave_open = [&] {
    check(cudaEventRecord(fork, a) == 0 && cudaStreamWaitEvent(b, fork, 0) == 0, "forks");
    check(cudaMemsetAsync(data + 1, 1, 1, b) == 0, "work that nothing waits for");
    watch(a);
    check(gone == 0 && cudaStreamEndCapture(a, &graph) == kUnjoined && graph == nullptr, "unjoined");
    check(!captures(a) && !captures(b), "both have ended");
  };
  check(cudaStreamBeginCapture(a, 0) == 0, "begins");
  leave_open();
  check(gone == 1, "the graph is freed, with its object");
  check(cudaStreamEndCapture(a, &graph) == kIllegalState && cudaStreamEndCapture(b, &graph) == kIllegalState,
        "nothing is left to end");
  check(cudaEventRecord(fork, b) == 0 && cudaStreamWaitEvent(a, fork, 0) == 0 && !captures(a),
        "the streams work as before");
  gone = 0;
  check(cudaGraphCreate(&own, 0) == 0 && cudaStreamBeginCaptureToGraph(a, own, nullptr, nullptr, 0, 0) == 0,
        "into a graph of the program's");
  leave_open();
  check(gone == 0 && nodes_of(own) == 1, "which stays");
  check(cudaStreamBeginCapture(b, 0) == 0, "begins where another one was left open");
  watch(b);
  void* context = nullptr;
  check(cuCtxGetCurrent(&context) == 0 && cuCtxRecordEvent(context, fork) == kUnsupported,
        "a call that makes the capture useless");
  check(cudaStreamEndCapture(b, &graph) == kInvalidated && graph == nullptr && gone == 1 && !captures(b),
        "a capture that is invalidated frees its graph, too");
}

void where_captures_begin() {
  void* const legacy = reinterpret_cast<void*>(std::uintptr_t{1});
  check(cudaStreamBeginCapture(nullptr, 0) == kUnsupported, "not in the default stream");
  check(cudaStreamBeginCapture(legacy, 0) == kUnsupported, "not by its other name either");
}

/// "Subsequent records overwrite what was captured before."
void recorded_again() {
  void *a = stream(), *b = stream(), *c = stream(), *mark = event(), *graph = nullptr;
  check(cudaStreamBeginCapture(a, 0) == 0 && cudaMemsetAsync(data, 1, 1, a) == 0, "begins");
  check(cudaEventRecord(mark, a) == 0 && cudaEventRecord(mark, b) == 0, "first in a capture, then in none");
  check(cudaStreamWaitEvent(c, mark, 0) == 0 && !captures(c), "so who waits for it joins no capture");
  check(cudaStreamEndCapture(a, &graph) == 0 && nodes_of(graph) == 1, "ends");
}

void external_events() {
  void *a = stream(), *mark = event(), *graph = nullptr;
  check(cudaEventRecord(mark, nullptr) == 0 && cudaStreamBeginCapture(a, 0) == 0, "begins");
  check(cudaStreamWaitEvent(a, mark, 1) == 0 && cudaEventRecordWithFlags(mark, a, 1) == 0, "external");
  check(cudaStreamEndCapture(a, &graph) == 0, "ends");
  check(types_of(graph) == std::vector<int>{kWaitEvent, kRecordEvent} && edges_of(graph) == 1, "are nodes");
}

// --- Exchanged graphs ---

Fill fill_of(unsigned offset, unsigned value) {
  return {reinterpret_cast<Word>(data + offset), 1, value, 1, 1, 1};
}

/// A fill of data[0] and behind it one of data[1].
struct Pair {
  void *graph = nullptr, *first = nullptr, *second = nullptr;
  explicit Pair(unsigned value) {
    const Fill a = fill_of(0, value), b = fill_of(1, value + 1);
    check(cudaGraphCreate(&graph, 0) == 0 && cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &a) == 0 &&
              cudaGraphAddMemsetNode(&second, graph, &first, 1, &b) == 0,
          "graph");
  }
};

/// What a launch leaves: ten times the first byte plus the second.
int result_of(void* exec) {
  char bytes[2] = {};
  check(cudaMemset(data, 0, 2) == 0 && cudaGraphLaunch(exec, nullptr) == 0 &&
            cudaMemcpy(bytes, data, 2, 2) == 0,
        "launch");
  return 10 * bytes[0] + bytes[1];
}

void exchanged() {
  const Pair one(1), other(3);
  void* exec = nullptr;
  UpdateResult info{9, nullptr, nullptr};
  check(cudaGraphInstantiate(&exec, one.graph, 0) == 0 && result_of(exec) == 12, "as it was made");
  check(cudaGraphNodeSetEnabled(exec, one.first, 0) == 0 && result_of(exec) == 2,
        "its first node is disabled");
  check(cudaGraphExecUpdate(exec, other.graph, &info) == 0 && info.result == 0, "takes other parameters");
  unsigned enabled = 9;
  check(cudaGraphNodeGetEnabled(exec, one.first, &enabled) == 0 && enabled == 0, "and is disabled still");
  check(result_of(exec) == 4 && cudaGraphNodeSetEnabled(exec, one.first, 1) == 0 && result_of(exec) == 34,
        "the other graph's values");
  const Fill seven = fill_of(0, 7);
  check(cudaGraphExecMemsetNodeSetParams(exec, one.first, &seven) == 0 && result_of(exec) == 74,
        "its nodes are those of the graph that it was made of");
  check(cudaGraphExecMemsetNodeSetParams(exec, other.first, &seven) == kInvalidValue, "not of the other");
}

void not_exchanged() {
  const Pair made(1);
  void *exec = nullptr, *graph = nullptr, *a = nullptr, *b = nullptr, *c = nullptr;
  const Fill first = fill_of(0, 5), second = fill_of(1, 5);
  check(cudaGraphInstantiate(&exec, made.graph, 0) == 0, "executable");
  const auto fails = [&](int why, void* node, void* from) {
    UpdateResult info{9, graph, graph};
    return cudaGraphExecUpdate(exec, graph, &info) == kUpdateFailure && info.result == why &&
           info.node == node && info.from == from && result_of(exec) == 12;
  };
  check(cudaGraphCreate(&graph, 0) == 0 && cudaGraphAddMemsetNode(&a, graph, nullptr, 0, &first) == 0, "one");
  check(fails(kTopologyChanged, nullptr, nullptr), "fewer nodes");
  check(cudaGraphAddMemsetNode(&b, graph, nullptr, 0, &second) == 0, "two");
  check(fails(kTopologyChanged, b, nullptr), "a dependence less");
  check(cudaGraphCreate(&graph, 0) == 0 && cudaGraphAddMemsetNode(&a, graph, nullptr, 0, &first) == 0 &&
            cudaGraphAddEmptyNode(&b, graph, &a, 1) == 0,
        "an empty node");
  check(fails(kTypeChanged, b, nullptr), "another type");

  void *three = nullptr, *x = nullptr, *y = nullptr, *z = nullptr;
  check(cudaGraphCreate(&three, 0) == 0 && cudaGraphAddEmptyNode(&x, three, nullptr, 0) == 0 &&
            cudaGraphAddEmptyNode(&y, three, nullptr, 0) == 0 &&
            cudaGraphAddEmptyNode(&z, three, &x, 1) == 0 && cudaGraphInstantiate(&exec, three, 0) == 0,
        "the third behind the first");
  check(cudaGraphCreate(&graph, 0) == 0 && cudaGraphAddEmptyNode(&a, graph, nullptr, 0) == 0 &&
            cudaGraphAddEmptyNode(&b, graph, nullptr, 0) == 0 && cudaGraphAddEmptyNode(&c, graph, &b, 1) == 0,
        "behind the second");
  UpdateResult info{};
  check(cudaGraphExecUpdate(exec, graph, &info) == kUpdateFailure && info.result == kTopologyChanged &&
            info.node == c && info.from == b,
        "another dependence");
}

/// A child graph's nodes are compared and named likewise.
void exchanged_children() {
  const Pair one(1), other(3);
  void *outer = nullptr, *exec = nullptr, *node = nullptr, *changed = nullptr;
  check(cudaGraphCreate(&outer, 0) == 0 &&
            cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, one.graph) == 0 &&
            cudaGraphInstantiate(&exec, outer, 0) == 0 && result_of(exec) == 12,
        "with a child");
  check(cudaGraphCreate(&changed, 0) == 0 &&
            cudaGraphAddChildGraphNode(&node, changed, nullptr, 0, other.graph) == 0 &&
            cudaGraphExecUpdate(exec, changed, nullptr) == 0 && result_of(exec) == 34,
        "with another child");
  void *wrong = nullptr, *inner = nullptr, *a = nullptr, *b = nullptr;
  check(cudaGraphCreate(&inner, 0) == 0 && cudaGraphAddEmptyNode(&a, inner, nullptr, 0) == 0 &&
            cudaGraphAddEmptyNode(&b, inner, &a, 1) == 0 && cudaGraphCreate(&wrong, 0) == 0 &&
            cudaGraphAddChildGraphNode(&node, wrong, nullptr, 0, inner) == 0,
        "with a child of other nodes");
  check(cudaGraphExecUpdate(exec, wrong, nullptr) == kUpdateFailure && result_of(exec) == 34, "is refused");
}

}  // namespace

int main() {
  check(cudaMalloc(reinterpret_cast<void**>(&data), 16) == 0, "memory");
  joined();
  unjoined();
  failed_captures();
  where_captures_begin();
  recorded_again();
  external_events();
  exchanged();
  not_exchanged();
  exchanged_children();
  check(cudaDeviceSynchronize() == 0, "all is done");
  std::puts(failures == 0 ? "PASS" : "FAILED");
  return failures == 0 ? 0 : 1;
}
