// Random graphs of fills, copies, copies to and from a variable, and host functions, in two independent
// chains with further edges: launched, changed in the graph and in its instance, disabled, updated and
// cloned, against lists of operations on bytes. Prints PASS, or which check failed.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "driver_types.hpp"
#include "registration.hpp"

namespace {
struct MemsetParams {
  void* to;
  std::size_t pitch;
  unsigned value, element;
  std::size_t width, height;
};
struct UpdateInfo {
  int result;
  void *node, *from;
};
}  // namespace

extern "C" {
int cudaGetSymbolAddress(void**, const void*);
int cudaGraphCreate(void**, unsigned);
int cudaGraphDestroy(void*);
int cudaGraphExecDestroy(void*);
int cudaGraphClone(void**, void*);
int cudaGraphNodeFindInClone(void**, void*, void*);
int cudaGraphAddMemsetNode(void**, void*, void* const*, std::size_t, const MemsetParams*);
int cudaGraphAddMemcpyNode1D(void**, void*, void* const*, std::size_t, void*, const void*, std::size_t, int);
int cudaGraphAddMemcpyNodeToSymbol(void**, void*, void* const*, std::size_t, const void*, const void*,
                                   std::size_t, std::size_t, int);
int cudaGraphAddMemcpyNodeFromSymbol(void**, void*, void* const*, std::size_t, void*, const void*,
                                     std::size_t, std::size_t, int);
int cudaGraphAddHostNode(void**, void*, void* const*, std::size_t, const HostNode*);
int cudaGraphMemsetNodeSetParams(void*, const MemsetParams*);
int cudaGraphMemcpyNodeSetParams1D(void*, void*, const void*, std::size_t, int);
int cudaGraphMemcpyNodeSetParamsToSymbol(void*, const void*, const void*, std::size_t, std::size_t, int);
int cudaGraphMemcpyNodeSetParamsFromSymbol(void*, void*, const void*, std::size_t, std::size_t, int);
int cudaGraphHostNodeSetParams(void*, const HostNode*);
int cudaGraphExecMemsetNodeSetParams(void*, void*, const MemsetParams*);
int cudaGraphExecMemcpyNodeSetParams1D(void*, void*, void*, const void*, std::size_t, int);
int cudaGraphExecMemcpyNodeSetParamsToSymbol(void*, void*, const void*, const void*, std::size_t, std::size_t,
                                             int);
int cudaGraphExecMemcpyNodeSetParamsFromSymbol(void*, void*, void*, const void*, std::size_t, std::size_t,
                                               int);
int cudaGraphExecHostNodeSetParams(void*, void*, const HostNode*);
int cudaGraphExecUpdate(void*, void*, UpdateInfo*);
int cudaGraphNodeSetEnabled(void*, void*, unsigned);
int cudaGraphNodeGetEnabled(void*, void*, unsigned*);
}

namespace {

constexpr int kWithin = 3, kInvalidValue = 1, kUpdateFailure = 910;
constexpr std::size_t kLane = 256, kLanes = 2, kBytes = kLane * kLanes;

std::mt19937 numbers(17);
std::size_t below(std::size_t n) { return numbers() % n; }
char variable;
char* memory = nullptr;
void* stream = nullptr;

enum class Kind { kFill, kCopy, kToVariable, kFromVariable, kHost };

/// Offsets in the memory and the variable, which both have a part for each lane.
struct Step {
  Kind kind;
  std::size_t lane, to, from, bytes;
  unsigned value;
  bool enabled = true;
};

struct State {
  std::array<unsigned char, kBytes> memory{}, variable{};
  std::array<unsigned, kLanes> calls{};

  void run(const Step& s) {
    if (!s.enabled) return;
    if (s.kind == Kind::kFill) std::memset(memory.data() + s.to, static_cast<int>(s.value), s.bytes);
    if (s.kind == Kind::kCopy) std::memmove(memory.data() + s.to, memory.data() + s.from, s.bytes);
    if (s.kind == Kind::kToVariable) std::memcpy(variable.data() + s.to, memory.data() + s.from, s.bytes);
    if (s.kind == Kind::kFromVariable) std::memcpy(memory.data() + s.to, variable.data() + s.from, s.bytes);
    if (s.kind == Kind::kHost) calls[s.lane] = calls[s.lane] * 31 + s.value;
  }
};
State expected;

/// What host functions do: a chain for each lane, as its order matters.
struct Call {
  std::size_t lane;
  unsigned value;
};
std::array<unsigned, kLanes> calls{};
std::vector<std::unique_ptr<Call>> all_calls;
void call(void* data) {
  const Call& one = *static_cast<Call*>(data);
  calls[one.lane] = calls[one.lane] * 31 + one.value;
}
HostNode host_of(const Step& s) {
  all_calls.push_back(std::make_unique<Call>(Call{s.lane, s.value}));
  return {call, all_calls.back().get()};
}

Step random_step(Kind kind, std::size_t lane) {
  Step s{kind, lane, 0, 0, 1 + below(kLane / 2), static_cast<unsigned>(below(256)), true};
  s.to = lane * kLane + below(kLane / 2 - s.bytes + 1);
  s.from = lane * kLane + kLane / 2 + below(kLane / 2 - s.bytes + 1);
  if (kind == Kind::kCopy && below(2)) std::swap(s.to, s.from);
  return s;
}
MemsetParams fill_of(const Step& s) { return {memory + s.to, s.bytes, s.value, 1, s.bytes, 1}; }

struct Graph {
  void* handle = nullptr;
  std::vector<void*> nodes;
  std::vector<Step> steps;

  void add(const Step& s) {
    std::vector<void*> before;
    for (std::size_t i = steps.size(); i-- > 0 && before.empty();)
      if (steps[i].lane == s.lane) before.push_back(nodes[i]);
    if (!nodes.empty() && below(2)) {
      void* const other = nodes[below(nodes.size())];
      if (std::ranges::find(before, other) == before.end()) before.push_back(other);
    }
    void* node = nullptr;
    const std::size_t n = before.size();
    const MemsetParams fill = fill_of(s);
    int result = -1;
    if (s.kind == Kind::kFill) result = cudaGraphAddMemsetNode(&node, handle, before.data(), n, &fill);
    if (s.kind == Kind::kCopy)
      result = cudaGraphAddMemcpyNode1D(&node, handle, before.data(), n, memory + s.to, memory + s.from,
                                        s.bytes, kWithin);
    if (s.kind == Kind::kToVariable)
      result = cudaGraphAddMemcpyNodeToSymbol(&node, handle, before.data(), n, &variable, memory + s.from,
                                              s.bytes, s.to, kWithin);
    if (s.kind == Kind::kFromVariable)
      result = cudaGraphAddMemcpyNodeFromSymbol(&node, handle, before.data(), n, memory + s.to, &variable,
                                                s.bytes, s.from, kWithin);
    if (s.kind == Kind::kHost) {
      const HostNode host = host_of(s);
      result = cudaGraphAddHostNode(&node, handle, before.data(), n, &host);
    }
    check(result == 0, "a node");
    nodes.push_back(node), steps.push_back(s);
  }
};

int change_in_graph(void* node, const Step& s) {
  const MemsetParams fill = fill_of(s);
  switch (s.kind) {
    case Kind::kFill:
      return cudaGraphMemsetNodeSetParams(node, &fill);
    case Kind::kCopy:
      return cudaGraphMemcpyNodeSetParams1D(node, memory + s.to, memory + s.from, s.bytes, kWithin);
    case Kind::kToVariable:
      return cudaGraphMemcpyNodeSetParamsToSymbol(node, &variable, memory + s.from, s.bytes, s.to, kWithin);
    case Kind::kFromVariable:
      return cudaGraphMemcpyNodeSetParamsFromSymbol(node, memory + s.to, &variable, s.bytes, s.from, kWithin);
    default: {
      const HostNode host = host_of(s);
      return cudaGraphHostNodeSetParams(node, &host);
    }
  }
}
int change_in_exec(void* exec, void* node, const Step& s) {
  const MemsetParams fill = fill_of(s);
  switch (s.kind) {
    case Kind::kFill:
      return cudaGraphExecMemsetNodeSetParams(exec, node, &fill);
    case Kind::kCopy:
      return cudaGraphExecMemcpyNodeSetParams1D(exec, node, memory + s.to, memory + s.from, s.bytes, kWithin);
    case Kind::kToVariable:
      return cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, node, &variable, memory + s.from, s.bytes, s.to,
                                                      kWithin);
    case Kind::kFromVariable:
      return cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, node, memory + s.to, &variable, s.bytes, s.from,
                                                        kWithin);
    default: {
      const HostNode host = host_of(s);
      return cudaGraphExecHostNodeSetParams(exec, node, &host);
    }
  }
}

void launch(void* exec, const std::vector<Step>& steps) {
  check(cudaGraphLaunch(exec, stream) == 0 && cudaStreamSynchronize(stream) == 0, "launch");
  for (const Step& s : steps) expected.run(s);
  State found;
  void* symbol = nullptr;
  check(cudaGetSymbolAddress(&symbol, &variable) == 0 &&
            cudaMemcpy(found.memory.data(), memory, kBytes, 2) == 0 &&
            cudaMemcpy(found.variable.data(), symbol, kBytes, 2) == 0,
        "fetch");
  check(found.memory == expected.memory && found.variable == expected.variable, "bytes after a launch");
  check(calls == expected.calls, "host functions of a launch");
}

/// A launch with one node disabled, where its kind can be.
void without(void* exec, void* node, std::vector<Step> steps, std::size_t i) {
  unsigned enabled = 7;
  const bool can = steps[i].kind != Kind::kHost;
  check((cudaGraphNodeSetEnabled(exec, node, 0) == 0) == can, "disabled");
  check((cudaGraphNodeGetEnabled(exec, node, &enabled) == 0) == can && enabled == (can ? 0u : 7u),
        "whether it is");
  steps[i].enabled = !can;
  launch(exec, steps);
  if (can) check(cudaGraphNodeSetEnabled(exec, node, 1) == 0, "enabled again");
}

/// Graph and instance have their own parameters until the instance is updated.
void random_graph() {
  Graph graph;
  check(cudaGraphCreate(&graph.handle, 0) == 0, "graph");
  for (std::size_t i = 4 + below(14); i > 0; --i)
    graph.add(random_step(static_cast<Kind>(below(5)), below(kLanes)));
  void* exec = nullptr;
  check(cudaGraphInstantiate(&exec, graph.handle, 0) == 0, "instance");
  std::vector<Step> own = graph.steps;
  for (int turn = 0; turn < 10 && failures == 0; ++turn) {
    const std::size_t i = below(own.size());
    const Step changed = random_step(own[i].kind, own[i].lane);
    switch (below(5)) {
      case 0:
        check(change_in_graph(graph.nodes[i], changed) == 0, "a change of the graph");
        graph.steps[i] = changed;
        break;
      case 1:
        check(change_in_exec(exec, graph.nodes[i], changed) == 0, "a change of the instance");
        own[i] = changed;
        break;
      case 2: {
        UpdateInfo info{};
        check(cudaGraphExecUpdate(exec, graph.handle, &info) == 0 && info.result == 0, "an update");
        own = graph.steps;
        break;
      }
      case 3:
        without(exec, graph.nodes[i], own, i);
        break;
      default:
        break;
    }
    launch(exec, own);
  }
  check(cudaGraphExecDestroy(exec) == 0 && cudaGraphDestroy(graph.handle) == 0, "the end");
}

/// A clone is changed by itself; an instance takes parameters of the clone, whose nodes are its twins.
void clones() {
  Graph graph, clone;
  check(cudaGraphCreate(&graph.handle, 0) == 0, "graph");
  for (const Kind kind :
       {Kind::kFill, Kind::kCopy, Kind::kToVariable, Kind::kFromVariable, Kind::kHost, Kind::kFill})
    graph.add(random_step(kind, 0));
  check(cudaGraphClone(&clone.handle, graph.handle) == 0, "clone");
  clone.steps = graph.steps;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    clone.nodes.push_back(nullptr);
    check(cudaGraphNodeFindInClone(&clone.nodes[i], graph.nodes[i], clone.handle) == 0 &&
              clone.nodes[i] != graph.nodes[i],
          "a node's twin");
    clone.steps[i] = random_step(clone.steps[i].kind, 0);
    check(change_in_graph(clone.nodes[i], clone.steps[i]) == 0, "a change of the clone");
  }
  void *exec = nullptr, *other = nullptr;
  check(
      cudaGraphInstantiate(&exec, graph.handle, 0) == 0 && cudaGraphInstantiate(&other, clone.handle, 0) == 0,
      "instances");
  launch(exec, graph.steps);
  launch(other, clone.steps);
  UpdateInfo info{};
  check(cudaGraphExecUpdate(exec, clone.handle, &info) == 0, "an update by the clone");
  launch(exec, clone.steps);
  graph.add(random_step(Kind::kFill, 0));
  check(cudaGraphExecUpdate(exec, graph.handle, &info) == kUpdateFailure && info.result == 2,
        "one node more");
  launch(exec, clone.steps);  // as before
  Graph wrong;
  check(cudaGraphCreate(&wrong.handle, 0) == 0, "graph");
  for (const Kind kind :
       {Kind::kFill, Kind::kCopy, Kind::kHost, Kind::kFromVariable, Kind::kHost, Kind::kFill})
    wrong.add(random_step(kind, 0));
  check(cudaGraphExecUpdate(exec, wrong.handle, &info) == kUpdateFailure && info.result == 3 &&
            info.node == wrong.nodes[2],
        "a node of another kind");
}

void wrong() {
  Graph graph;
  check(cudaGraphCreate(&graph.handle, 0) == 0, "graph");
  graph.add(random_step(Kind::kFill, 0));
  graph.add(random_step(Kind::kToVariable, 0));
  graph.add(random_step(Kind::kFromVariable, 0));
  void *exec = nullptr, *node = nullptr;
  check(cudaGraphInstantiate(&exec, graph.handle, 0) == 0, "instance");
  MemsetParams odd{memory, 16, 1, 3, 4, 1};
  check(cudaGraphMemsetNodeSetParams(graph.nodes[0], &odd) == kInvalidValue, "elements of three bytes");
  check(cudaGraphMemsetNodeSetParams(graph.nodes[1], &odd) == kInvalidValue, "what is no fill");
  check(cudaGraphExecMemsetNodeSetParams(exec, graph.nodes[0], nullptr) == kInvalidValue, "no parameters");
  check(cudaGraphMemcpyNodeSetParamsToSymbol(graph.nodes[1], &variable, memory, 8, kBytes - 7, kWithin) ==
                kInvalidValue &&
            cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, graph.nodes[2], memory, &variable, kBytes, 1,
                                                       kWithin) == kInvalidValue &&
            cudaGraphAddMemcpyNodeFromSymbol(&node, graph.handle, nullptr, 0, memory, &variable,
                                             ~std::size_t{0}, 2, kWithin) == kInvalidValue,
        "bytes behind a variable");
  Graph other;
  check(cudaGraphCreate(&other.handle, 0) == 0, "graph");
  other.add(random_step(Kind::kFill, 1));
  const MemsetParams fill = fill_of(graph.steps[0]);
  check(cudaGraphExecMemsetNodeSetParams(exec, other.nodes[0], &fill) == kInvalidValue,
        "another graph's node");
  check(cudaGraphAddMemsetNode(&node, graph.handle, other.nodes.data(), 1, &fill) == kInvalidValue,
        "an edge from another graph");
  check(cudaGraphNodeSetEnabled(exec, other.nodes[0], 0) == kInvalidValue, "another graph's node");
  check(cudaGraphAddMemsetNode(&node, graph.handle, nullptr, 1, &fill) == kInvalidValue,
        "edges from nowhere");
  launch(exec, graph.steps);
}

}  // namespace

int main() {
  register_variable(&variable, kBytes);
  void* made = nullptr;
  check(cudaMalloc(&made, kBytes) == 0 && cudaMemset(made, 0, kBytes) == 0 && cudaStreamCreate(&stream) == 0,
        "begin");
  memory = static_cast<char*>(made);
  for (int round = 0; round < 40 && failures == 0; ++round) random_graph();
  clones();
  wrong();
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
