// Parameters and attributes of graph nodes by both APIs, batches of memory operations, objects that graphs
// keep alive: `graph_nodes PTX` loads the kernels of tests/cuda/data/driver.ptx and prints PASS, or which
// check failed.
#include "graph_nodes.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace {

constexpr int kInvalid = 1, kWrite32 = 2, kWait32 = 1, kWrite64 = 5;

struct Test {
  void *function = nullptr, *stream = nullptr;

  void* instance(void* graph) const {
    void* exec = nullptr;
    check(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0, "instance");
    return exec;
  }
  void launch(void* exec) const {
    check(cuGraphLaunch(exec, stream) == 0 && cuStreamSynchronize(stream) == 0, "launch");
  }
};

Word words(std::size_t count) {
  Word at = 0;
  check(cuMemAlloc_v2(&at, count * 4) == 0 && cuMemsetD32_v2(at, 0, count) == 0, "memory");
  return at;
}
unsigned value(Word at) {
  unsigned read = ~0U;
  check(cuMemcpyDtoH_v2(&read, at, 4) == 0, "read");
  return read;
}
void* graph() {
  void* made = nullptr;
  check(cuGraphCreate(&made, 0) == 0, "graph");
  return made;
}
int type_of(void* node) {
  int type = -1;
  check(cuGraphNodeGetType(node, &type) == 0, "type");
  return type;
}
void add_one(void* data) { ++*static_cast<int*>(data); }
void add_ten(void* data) { *static_cast<int*>(data) += 10; }

/// A rectangle of an array and back: what the parameters say afterwards.
void copies(const Test& t) {
  const int format[] = {32, 0, 0, 0, 1};
  void *array = nullptr, *node = nullptr, *made = graph();
  unsigned host[12], back[12] = {};
  for (unsigned i = 0; i < 12; ++i) host[i] = 100 + i;
  check(cudaMallocArray(&array, format, 4, 3, 0) == 0, "array");
  Copy3D copy{};
  copy.from = {host, 16, 4, 3};
  copy.to_array = array;
  copy.to_at[0] = 1, copy.to_at[1] = 2;
  copy.extent[0] = 3, copy.extent[1] = 1, copy.extent[2] = 1;
  copy.kind = 1;
  check(cudaGraphAddMemcpyNode(&node, made, nullptr, 0, &copy) == 0, "a copy into an array");
  Copy3D told{};
  check(cudaGraphMemcpyNodeGetParams(node, &told) == 0 && told.to_array == array && told.to_at[0] == 1 &&
            told.to_at[1] == 2 && told.from.pointer == host && told.from_array == nullptr &&
            told.extent[0] == 3 && told.extent[1] == 1 && told.extent[2] == 1 && told.kind == 1,
        "the parameters of a copy");
  DriverCopy driver;
  check(cuGraphMemcpyNodeGetParams(node, &driver) == 0 && driver.to.array == array && driver.to.x == 4 &&
            driver.to.y == 2 && driver.width == 12 && driver.height == 1 &&
            driver.from.device == reinterpret_cast<Word>(host),
        "the same by the driver API");
  driver.to.y = 1;
  driver.from.device = reinterpret_cast<Word>(host + 4);
  check(cuGraphMemcpyNodeSetParams(node, &driver) == 0, "another row");
  t.launch(t.instance(made));
  check(cudaMemcpy2DFromArray(back, 16, array, 0, 0, 16, 3, 2) == 0 && back[5] == 104 && back[6] == 105 &&
            back[7] == 106 && back[9] == 0,
        "what was copied");
  const Word line = words(2);
  unsigned five = 5;
  check(cudaGraphMemcpyNodeSetParams1D(node, reinterpret_cast<void*>(line), &five, 4, 1) == 0, "one word");
  t.launch(t.instance(made));
  check(value(line) == 5 && cudaGraphMemcpyNodeGetParams(nullptr, &told) == kInvalid, "a copied word");
}

void any_nodes(const Test& t) {
  const Word data = words(2);
  unsigned factor = 6, host = 0;
  int calls = 0;
  void *made = graph(), *fill = nullptr, *kernel = nullptr, *copy = nullptr, *call = nullptr;
  void* arguments[] = {const_cast<Word*>(&data), &factor};
  AnyNode node;
  node.type = 2, node.fill = {data, 4, 7, 4, 1, 1};
  check(cuGraphAddNode_v2(&fill, made, nullptr, nullptr, 0, &node) == 0, "a fill as any node");
  AnyNode launch;
  launch.type = 0, launch.kernel = Kernel{};
  launch.kernel.kernel = t.function, launch.kernel.arguments = arguments;
  check(cuGraphAddNode_v2(&kernel, made, &fill, nullptr, 1, &launch) == 0, "a kernel as any node");
  AnyNode move;
  move.type = 1, move.copy.copy = DriverCopy{};
  move.copy.copy.from.type = 2, move.copy.copy.from.device = data;
  move.copy.copy.to.type = 1, move.copy.copy.to.host = &host;
  move.copy.copy.width = 4;
  check(cuGraphAddNode_v2(&copy, made, &kernel, nullptr, 1, &move) == 0, "a copy as any node");
  const HostNode one{&add_one, &calls}, ten{&add_ten, &calls};
  check(cuGraphAddHostNode(&call, made, &copy, 1, &one) == 0 && cuGraphHostNodeSetParams(call, &ten) == 0,
        "another host function");
  void* const exec = t.instance(made);
  t.launch(exec);
  check(host == 42 && calls == 10, "7 times 6");
  factor = 5;
  check(cuGraphExecNodeSetParams(exec, kernel, &launch) == 0, "any node of an instance");
  t.launch(exec);
  check(host == 35, "7 times 5");
  node.fill.value = 8;
  check(cuGraphNodeSetParams(fill, &node) == 0 && cuGraphNodeSetParams(kernel, &node) == kInvalid &&
            cuGraphNodeSetParams(kernel, &launch) == 0,
        "any node of a graph, which keeps its type");
  void* bad = made;
  int outcome = -1;
  check(cuGraphExecUpdate(exec, made, &bad, &outcome) == 0 && outcome == 0, "the first form of an update");
  t.launch(exec);
  check(host == 40, "8 times 5");
  struct {
    Kernel first;
  } old;
  std::memset(static_cast<void*>(&old), 0xee, sizeof old);
  check(cuGraphKernelNodeGetParams(kernel, &old) == 0 && old.first.function == t.function &&
            reinterpret_cast<std::uintptr_t>(old.first.kernel) == 0xeeeeeeeeeeeeeeee,
        "the first form of a kernel's parameters, which is shorter");
}

void attributes(const Test& t) {
  const Word data = words(1);
  unsigned factor = 1;
  void *made = graph(), *first = nullptr, *second = nullptr;
  void* arguments[] = {const_cast<Word*>(&data), &factor};
  Kernel launch;
  launch.function = t.function, launch.arguments = arguments;
  check(cuGraphAddKernelNode_v2(&first, made, nullptr, 0, &launch) == 0 &&
            cuGraphAddKernelNode_v2(&second, made, nullptr, 0, &launch) == 0,
        "two kernels");
  constexpr int kCooperative = 2, kPriority = 8, kSynchronisation = 3;
  Attribute set{}, got{};
  check(cuGraphKernelNodeGetAttribute(first, kPriority, &got) == 0 && got.number == 0, "no priority");
  set.number = -3;
  check(cuGraphKernelNodeSetAttribute(first, kPriority, &set) == 0, "a priority");
  set.number = 1;
  check(cuGraphKernelNodeSetAttribute(first, kCooperative, &set) == 0 &&
            cuGraphKernelNodeSetAttribute(first, kSynchronisation, &set) == kInvalid,
        "a cooperative launch; what only streams have");
  check(cuGraphKernelNodeCopyAttributes(second, first) == 0 &&
            cuGraphKernelNodeGetAttribute(second, kPriority, &got) == 0 && got.number == -3 &&
            cuGraphKernelNodeGetAttribute(second, kCooperative, &got) == 0 && got.number == 1,
        "attributes that are copied");
}

/// What is changed inside a child is what its instances do.
void children(const Test& t) {
  const Word data = words(1);
  void *inner = graph(), *outer = graph(), *node = nullptr, *fill = nullptr, *inside = nullptr,
       *own = nullptr;
  const Fill two{data, 4, 2, 4, 1, 1}, three{data, 4, 3, 4, 1, 1}, four{data, 4, 4, 4, 1, 1};
  std::size_t count = 1;
  check(cuGraphAddMemsetNode(&fill, inner, nullptr, 0, &two, nullptr) == 0 &&
            cuGraphAddChildGraphNode(&node, outer, nullptr, 0, inner) == 0,
        "a child");
  check(cuGraphChildGraphNodeGetGraph(node, &own) == 0 && own != inner &&
            cuGraphGetNodes(own, &inside, &count) == 0 && count == 1 && inside != fill &&
            cuGraphChildGraphNodeGetGraph(fill, &own) == kInvalid,
        "the graph of a child");
  check(cuGraphMemsetNodeSetParams(inside, &three) == 0, "a node of a child");
  void* const exec = t.instance(outer);
  t.launch(exec);
  check(value(data) == 3, "a changed child");
  check(cuGraphExecMemsetNodeSetParams(exec, inside, &four, nullptr) == 0, "a child's node in an instance");
  t.launch(exec);
  check(value(data) == 4, "which is changed there");
  check(cuGraphExecChildGraphNodeSetParams(exec, node, inner) == 0, "another child");
  t.launch(exec);
  check(value(data) == 2, "the other child");
  check(cuGraphExecMemsetNodeSetParams(exec, inside, &four, nullptr) == 0, "its node, by the graph's");
  t.launch(exec);
  check(value(data) == 4, "its node");
  check(cuGraphAddMemsetNode(&fill, inner, nullptr, 0, &two, nullptr) == 0 &&
            cuGraphExecChildGraphNodeSetParams(exec, node, inner) == kInvalid,
        "a child of another form");
}

void events(const Test& t) {
  void *made = graph(), *node = nullptr, *first = nullptr, *second = nullptr, *told = nullptr;
  check(cuEventCreate(&first, 0) == 0 && cuEventCreate(&second, 0) == 0 &&
            cuGraphAddEventRecordNode(&node, made, nullptr, 0, first) == 0,
        "an event");
  check(cuGraphEventRecordNodeGetEvent(node, &told) == 0 && told == first &&
            cuGraphEventWaitNodeGetEvent(node, &told) == kInvalid,
        "an event's node");
  void* const exec = t.instance(made);
  check(cuGraphExecEventRecordNodeSetEvent(exec, node, second) == 0, "another event");
  float between = -1;
  check(cuEventRecord(first, t.stream) == 0, "the first, by the stream");
  t.launch(exec);
  check(cuEventSynchronize(second) == 0 && cuEventElapsedTime(&between, first, second) == 0 && between >= 0,
        "the second, by the graph");
}

void batches(const Test& t) {
  const Word data = words(4);
  void *made = graph(), *node = nullptr;
  Value all[] = {{kWrite32, data, 9, 0, 0, 0},
                 {kWait32, data, 7, 0, 0, 0},
                 {kWrite64, data + 8, (7ULL << 32) + 5, 0, 0, 0}};
  const Batch batch{nullptr, 3, all, 0}, none{nullptr, 0, all, 0};
  check(cuGraphAddBatchMemOpNode(&node, made, nullptr, 0, &batch) == 0 && type_of(node) == 12 &&
            cuGraphAddBatchMemOpNode(&node, made, nullptr, 0, &none) == kInvalid,
        "memory operations");
  Batch told{};
  check(cuGraphBatchMemOpNodeGetParams(node, &told) == 0 && told.count == 3 &&
            told.operations[2].value == all[2].value,
        "their parameters");
  void* const exec = t.instance(made);
  check(value(data) == 0, "not yet");
  t.launch(exec);
  check(value(data) == 9 && value(data + 8) == 5 && value(data + 12) == 7, "32 and 64 bits");
  all[0].value = 11;
  const Batch one{nullptr, 1, all, 0};
  check(cuGraphExecBatchMemOpNodeSetParams(exec, node, &one) == 0, "others");
  t.launch(exec);
  check(value(data) == 11, "the others");
}

void allocations() {
  void *made = graph(), *node = nullptr;
  Allocation memory{}, told{};
  memory.kind = 1, memory.place = 1, memory.bytes = 4096;
  check(cuGraphAddMemAllocNode(&node, made, nullptr, 0, &memory) == 0 && memory.pointer != 0 &&
            cuGraphMemAllocNodeGetParams(node, &told) == 0 && told.bytes == 4096 &&
            told.pointer == memory.pointer && told.place == 1 && told.device == 0,
        "memory of a graph");
}

/// An object lives until the program, the graph and the graph's instances have no reference any more.
void objects(const Test& t) {
  int ends = 0;
  void *object = nullptr, *made = graph(), *node = nullptr;
  const Fill fill{words(1), 4, 1, 4, 1, 1};
  check(cuGraphAddMemsetNode(&node, made, nullptr, 0, &fill, nullptr) == 0, "a node");
  check(cuUserObjectCreate(&object, &ends, &add_one, 1, 0) == kInvalid &&
            cuUserObjectCreate(&object, &ends, &add_one, 1, 1) == 0 && cuUserObjectRetain(object, 2) == 0,
        "an object with three references");
  check(cuGraphRetainUserObject(made, object, 2, 1) == 0 && cuUserObjectRelease(object, 2) == kInvalid &&
            cuUserObjectRelease(object, 1) == 0 && ends == 0,
        "two of which become the graph's");
  check(cuGraphReleaseUserObject(made, object, 1) == 0 && ends == 0, "one of them goes");
  void* const exec = t.instance(made);
  check(cuGraphDestroy(made) == 0 && ends == 0 && cuGraphExecDestroy(exec) == 0 && ends == 1, "its end");
  check(cuUserObjectRetain(object, 1) == kInvalid, "there is no object");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 3;
  std::ifstream file(argv[1]);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  void *context = nullptr, *module = nullptr;
  Test t;
  check(cuInit(0) == 0 && cuDevicePrimaryCtxRetain(&context, 0) == 0 && cuCtxSetCurrent(context) == 0 &&
            cuModuleLoadData(&module, text.c_str()) == 0 &&
            cuModuleGetFunction(&t.function, module, "scale") == 0 && cuStreamCreate(&t.stream, 1) == 0,
        "begin");
  copies(t);
  any_nodes(t);
  attributes(t);
  children(t);
  events(t);
  batches(t);
  allocations();
  objects(t);
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
