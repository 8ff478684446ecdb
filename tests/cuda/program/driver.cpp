// A program of the driver API, without a CUDA compiler: loads PTX (argv[1]: a file of kernels), launches, and
// builds graphs by the runtime API in the same process. Prints PASS, or which check failed.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct KernelNode {
  void* function;
  Dim3 grid, block;
  unsigned shared = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
};
struct ConditionalNode {
  unsigned long long handle;
  int type;
  unsigned size;
  void** bodies;
};
struct AnyNode {
  int type;
  int reserved0[3] = {};
  union {
    long long reserved1[29] = {};
    KernelNode kernel;
    ConditionalNode conditional;
  };
  long long reserved2 = 0;
};
struct AllocNode {
  std::byte pool[88] = {};
  const void* access = nullptr;
  std::size_t accesses = 0, bytes = 0;
  void* pointer = nullptr;
};
struct AllocationProperties {
  int type = 1, handle_types = 0;  // pinned
  int location_type = 1, location = 0;
  void* win32 = nullptr;
  unsigned long long flags = 0;
};
struct AccessDescription {
  int location_type, location, flags;
};

extern "C" {
int cuInit(unsigned);
int cuDeviceGet(int*, int);
int cuDeviceGetAttribute(int*, int, int);
int cuDeviceGetName(char*, int, int);
int cuCtxCreate_v2(void**, unsigned, int);
int cuCtxGetDevice(int*);
int cuCtxDestroy_v2(void*);
int cuModuleLoadDataEx(void**, const void*, unsigned, const int*, void**);
int cuModuleGetFunction(void**, void*, const char*);
int cuModuleGetGlobal_v2(unsigned long long*, std::size_t*, void*, const char*);
int cuModuleUnload(void*);
int cuLinkCreate_v2(unsigned, const int*, void**, void**);
int cuLinkAddData_v2(void*, int, const void*, std::size_t, const char*, unsigned, const int*, void**);
int cuLinkComplete(void*, void**, std::size_t*);
int cuLinkDestroy(void*);
int cuMemAddressReserve(unsigned long long*, std::size_t, std::size_t, unsigned long long,
                        unsigned long long);
int cuMemAddressFree(unsigned long long, std::size_t);
int cuMemCreate(unsigned long long*, std::size_t, const AllocationProperties*, unsigned long long);
int cuMemRelease(unsigned long long);
int cuMemMap(unsigned long long, std::size_t, std::size_t, unsigned long long, unsigned long long);
int cuMemUnmap(unsigned long long, std::size_t);
int cuMemSetAccess(unsigned long long, std::size_t, const AccessDescription*, std::size_t);
int cuMemGetAllocationGranularity(std::size_t*, const AllocationProperties*, int);
int cuMemGetInfo_v2(std::size_t*, std::size_t*);
int cuMemAlloc_v2(unsigned long long*, std::size_t);
int cuMemFree_v2(unsigned long long);
int cuMemcpyHtoD_v2(unsigned long long, const void*, std::size_t);
int cuMemcpyDtoH_v2(void*, unsigned long long, std::size_t);
int cuMemsetD32_v2(unsigned long long, unsigned, std::size_t);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);
int cuOccupancyMaxPotentialBlockSize(int*, int*, void*, std::size_t (*)(int), std::size_t, int);
int cuFuncGetAttribute(int*, int, void*);
int cuGetErrorName(int, const char**);
int cuGetProcAddress_v2(const char*, void**, int, unsigned long long, int*);
int cuGreenCtxCreate();  // one that is not there
int cudaGetLastError();
int cudaGraphCreate(void**, unsigned);
int cudaGraphAddNode(void**, void*, void* const*, const void*, std::size_t, AnyNode*);
int cudaGraphAddMemAllocNode(void**, void*, void* const*, std::size_t, AllocNode*);
int cudaGraphAddMemFreeNode(void**, void*, void* const*, std::size_t, void*);
int cudaGraphConditionalHandleCreate(unsigned long long*, void*, unsigned, unsigned);
int cudaGraphInstantiate(void**, void*, unsigned long long);
int cudaGraphLaunch(void*, void*);
int cudaGraphExecDestroy(void*);
int cudaGraphDestroy(void*);
int cudaDeviceGetGraphMemAttribute(int, int, std::uint64_t*);
int cudaDeviceGraphMemTrim(int);
int cudaFree(void*);
}

namespace {

int failures = 0;

void check(bool holds, const char* what) {
  if (holds) return;
  std::printf("FAIL: %s\n", what);
  ++failures;
}

void* function(void* module, const char* name) {
  void* found = nullptr;
  check(cuModuleGetFunction(&found, module, name) == 0, name);
  return found;
}

void launches(void* module) {
  void* scale = function(module, "scale");
  unsigned long long data = 0;
  const std::vector<unsigned> values{1, 2, 3, 4};
  check(cuMemAlloc_v2(&data, 16) == 0 && cuMemcpyHtoD_v2(data, values.data(), 16) == 0, "memory");
  unsigned factor = 3;
  void* args[] = {&data, &factor};
  check(cuLaunchKernel(scale, 1, 1, 1, 4, 1, 1, 0, nullptr, args, nullptr) == 0, "launch");
  struct {
    unsigned long long data;
    unsigned factor;
  } buffer{data, 5};
  std::size_t bytes = 12;
  void* extra[] = {reinterpret_cast<void*>(1), &buffer, reinterpret_cast<void*>(2), &bytes, nullptr};
  check(cuLaunchKernel(scale, 1, 1, 1, 4, 1, 1, 0, nullptr, nullptr, extra) == 0, "launch with a buffer");
  std::vector<unsigned> result(4);
  check(cuMemcpyDtoH_v2(result.data(), data, 16) == 0, "copy");
  check(result == std::vector<unsigned>{15, 30, 45, 60}, "results");
  bytes = 10;  // with half of the factor, the rest of which is zero
  check(cuLaunchKernel(scale, 1, 1, 1, 4, 1, 1, 0, nullptr, nullptr, extra) == 0, "short buffer");
  check(cuMemcpyDtoH_v2(result.data(), data, 16) == 0 && result[0] == 75, "results of a short buffer");
  bytes = 8;
  check(cuLaunchKernel(scale, 1, 1, 1, 4, 1, 1, 0, nullptr, nullptr, extra) == 1, "no factor");
  check(cuMemsetD32_v2(data, 7, 4) == 0 && cuMemcpyDtoH_v2(result.data(), data, 16) == 0, "fill");
  check(result == std::vector<unsigned>(4, 7), "filled values");
  check(cuLaunchKernel(scale, 0, 1, 1, 4, 1, 1, 0, nullptr, args, nullptr) == 1, "bad geometry");
  int grid = 0, block = 0;
  check(cuOccupancyMaxPotentialBlockSize(&grid, &block, scale, nullptr, 0, 0) == 0 && block == 1024,
        "occupancy");
  int most_threads = 0, architecture = 0;
  check(cuFuncGetAttribute(&most_threads, 0, scale) == 0 && most_threads == 1024, "threads of a CTA");
  check(cuFuncGetAttribute(&architecture, 5, scale) == 0 && architecture == 70, "architecture of the PTX");
  check(cuMemFree_v2(data) == 0, "free");
}

/// An array that grows in place: two pieces of memory at addresses that follow each other; then one of them
/// elsewhere, with what it held.
void virtual_memory(void* module) {
  const AllocationProperties properties;
  const AccessDescription access{1, 0, 3};
  std::size_t page = 0, before = 0, after = 0, total = 0;
  check(cuMemGetAllocationGranularity(&page, &properties, 0) == 0 && page > 0 &&
            cuMemGetInfo_v2(&before, &total) == 0,
        "granularity");
  unsigned long long at = 0, first = 0, second = 0, all = 0;
  check(cuMemAddressReserve(&at, 4 * page, 0, 0, 0) == 0 && at % page == 0, "addresses");
  check(cuMemCreate(&first, page, &properties, 0) == 0 && cuMemCreate(&second, page, &properties, 0) == 0,
        "create");
  check(cuMemCreate(&all, total / page * page, &properties, 0) == 2, "more than the device has");
  check(cuMemCreate(&all, page + 1, &properties, 0) == 1, "a part of a page");
  check(cuMemGetInfo_v2(&after, &total) == 0 && before - after == 2 * page, "memory that is left");
  check(cuMemMap(at, page, 0, first, 0) == 0 && cuMemMap(at + page, page, 0, second, 0) == 0, "map");
  check(cuMemMap(at + page, page, 0, second, 0) == 1 && cuMemMap(at + 8 * page, page, 0, first, 0) == 1,
        "what is mapped or not reserved");
  const unsigned long long data = at + page - 8;  // across both
  const std::vector<unsigned> values{1, 2, 3, 4};
  std::vector<unsigned> result(4);
  check(cuMemcpyHtoD_v2(data, values.data(), 16) != 0, "no access yet");
  check(cuMemSetAccess(at, 2 * page, &access, 1) == 0 && cuMemSetAccess(at, 3 * page, &access, 1) == 1,
        "access");
  check(cuMemcpyHtoD_v2(data, values.data(), 16) == 0, "copy to it");
  unsigned factor = 3;
  void* args[] = {const_cast<unsigned long long*>(&data), &factor};
  check(cuLaunchKernel(function(module, "scale"), 1, 1, 1, 4, 1, 1, 0, nullptr, args, nullptr) == 0,
        "kernel");
  check(cuMemcpyDtoH_v2(result.data(), data, 16) == 0 && result == std::vector<unsigned>{3, 6, 9, 12},
        "result");
  check(cuMemUnmap(at + page, page) == 0 && cuMemMap(at + 2 * page, page, 0, second, 0) == 0 &&
            cuMemSetAccess(at + 2 * page, page, &access, 1) == 0,
        "elsewhere");
  check(cuMemcpyDtoH_v2(result.data(), at + 2 * page, 8) == 0 && result[0] == 9 && result[1] == 12,
        "what it held");
  check(cuMemAddressFree(at, 4 * page) == 1, "addresses in use");
  check(cuMemRelease(first) == 0 && cuMemRelease(first) == 1 && cuMemRelease(second) == 0, "release");
  check(cuMemGetInfo_v2(&after, &total) == 0 && before - after == 2 * page, "mapped memory lives");
  check(cuMemUnmap(at, page) == 0 && cuMemUnmap(at + 2 * page, page) == 0 &&
            cuMemAddressFree(at, 4 * page) == 0,
        "unmap");
  check(cuMemGetInfo_v2(&after, &total) == 0 && before == after, "memory that is back");
}

/// A kernel with more values at once than 1024 threads have registers for is launched all the same: how many
/// it has is an estimate here.
void many_registers() {
  constexpr unsigned kValues = 100, kThreads = 1024;
  std::string text =
      ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry wide(.param .u64 data) {\n"
      ".reg .b32 %r<101>; .reg .b64 %rd<4>;\nld.param.u64 %rd1, [data]; mov.u32 %r100, %tid.x;\n"
      "mul.wide.u32 %rd2, %r100, 4; add.u64 %rd3, %rd1, %rd2;\n";
  const auto each = [&](const char* before, const char* after) {
    for (unsigned i = 0; i < kValues; ++i) text += before + std::to_string(i) + after;
  };
  each("ld.volatile.global.u32 %r", ", [%rd3];\n");
  text += "mov.u32 %r100, 0;\n";
  each("add.u32 %r100, %r100, %r", ";\n");
  text += "st.global.u32 [%rd3], %r100; ret; }\n";
  void* module = nullptr;
  unsigned long long data = 0;
  check(cuModuleLoadDataEx(&module, text.c_str(), 0, nullptr, nullptr) == 0, "wide module");
  check(cuMemAlloc_v2(&data, 4 * kThreads) == 0 && cuMemsetD32_v2(data, 3, kThreads) == 0, "wide memory");
  void* args[] = {&data};
  check(cuLaunchKernel(function(module, "wide"), 1, 1, 1, kThreads, 1, 1, 0, nullptr, args, nullptr) == 0,
        "wide launch");
  std::vector<unsigned> result(kThreads);
  check(cuMemcpyDtoH_v2(result.data(), data, 4 * kThreads) == 0, "wide copy");
  check(result == std::vector<unsigned>(kThreads, 3 * kValues), "wide sums");
  check(cuMemFree_v2(data) == 0 && cuModuleUnload(module) == 0, "wide end");
}

/// A fatbin (one PTX image, not packed) whose memory is used for something else once it is loaded.
void passing_image(const std::string& text) {
  constexpr std::size_t kHeader = 16, kEntry = 64;
  const std::size_t payload = (text.size() + 8) / 8 * 8;
  std::vector<std::byte> fatbin(kHeader + kEntry + payload);
  const auto put = [&](std::size_t at, auto value) { std::memcpy(fatbin.data() + at, &value, sizeof value); };
  put(0, std::uint32_t{0xBA55ED50});
  put(4, std::uint16_t{1});
  put(6, std::uint16_t{kHeader});
  put(8, std::uint64_t{kEntry + payload});
  put(kHeader, std::uint16_t{1});  // PTX
  put(kHeader + 2, std::uint16_t{0x0101});
  put(kHeader + 4, std::uint32_t{kEntry});
  put(kHeader + 8, std::uint64_t{payload});
  put(kHeader + 0x1a, std::uint16_t{9});
  put(kHeader + 0x1c, std::uint32_t{70});
  std::memcpy(fatbin.data() + kHeader + kEntry, text.data(), text.size());
  void* module = nullptr;
  check(cuModuleLoadDataEx(&module, fatbin.data(), 0, nullptr, nullptr) == 0, "fatbin");
  std::fill(fatbin.begin(), fatbin.end(), std::byte{0xff});
  launches(module);
  check(cuModuleUnload(module) == 0, "unload the fatbin's");
}

void linking(const std::string& text) {
  const std::string more =
      ".version 8.0\n.target sm_70\n.address_size 64\n.extern .global .align 4 .u32 total;\n"
      ".visible .entry raise() { .reg .b32 %r<2>; ld.global.u32 %r1, [total]; add.u32 %r1, %r1, 2; "
      "st.global.u32 [total], %r1; ret; }";
  void *state = nullptr, *image = nullptr, *module = nullptr;
  check(cuLinkCreate_v2(0, nullptr, nullptr, &state) == 0, "linker");
  for (const std::string& part : {text, more})
    check(cuLinkAddData_v2(state, 1, part.c_str(), part.size() + 1, "part", 0, nullptr, nullptr) == 0,
          "part");
  check(cuLinkComplete(state, &image, nullptr) == 0, "linked");
  check(cuModuleLoadDataEx(&module, image, 0, nullptr, nullptr) == 0, "linked module");
  check(cuLinkDestroy(state) == 0, "linker's end");
  check(cuLaunchKernel(function(module, "raise"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) == 0,
        "linked launch");
  unsigned long long total = 0;
  std::size_t bytes = 0;
  unsigned value = 0;
  check(cuModuleGetGlobal_v2(&total, &bytes, module, "total") == 0 && bytes == 4, "variable");
  check(cuMemcpyDtoH_v2(&value, total, 4) == 0 && value == 42, "variable's value");
  check(cuModuleUnload(module) == 0, "unload");
}

/// A loop whose body counts down, and says itself whether there is another round.
void conditions(void* module) {
  unsigned long long counter = 0, handle = 0;
  check(cuMemAlloc_v2(&counter, 8) == 0 && cuMemsetD32_v2(counter, 0, 2) == 0, "counter");
  void *graph = nullptr, *loop = nullptr, *body = nullptr, *exec = nullptr;
  check(cudaGraphCreate(&graph, 0) == 0, "graph");
  check(cudaGraphConditionalHandleCreate(&handle, graph, 1, 1) == 0, "condition");
  AnyNode node{};
  node.type = 13;
  node.conditional = {handle, 1, 1, nullptr};
  check(cudaGraphAddNode(&loop, graph, nullptr, nullptr, 0, &node) == 0, "conditional node");
  void* inner = node.conditional.bodies[0];
  void* args[] = {&counter, &handle};
  AnyNode work{};
  work.type = 0;
  work.kernel = {function(module, "round"), {}, {}, 0, args, nullptr};
  check(cudaGraphAddNode(&body, inner, nullptr, nullptr, 0, &work) == 0, "body");
  check(cudaGraphInstantiate(&exec, graph, 0) == 0, "instance");
  for (unsigned i = 1; i <= 2; ++i) {
    check(cudaGraphLaunch(exec, nullptr) == 0, "graph launch");
    unsigned rounds[2] = {};
    check(cuMemcpyDtoH_v2(rounds, counter, 8) == 0 && rounds[0] == 5 * i, "rounds of the loop");
  }
  check(cudaGraphExecDestroy(exec) == 0 && cudaGraphDestroy(graph) == 0 && cuMemFree_v2(counter) == 0, "end");
}

std::uint64_t memory_of_graphs(int attribute) {
  std::uint64_t bytes = 0;
  check(cudaDeviceGetGraphMemAttribute(0, attribute, &bytes) == 0, "footprint");
  return bytes;
}

void memory_nodes() {
  void *graph = nullptr, *node = nullptr, *exec = nullptr, *again = nullptr;
  AllocNode alloc;
  alloc.bytes = 1 << 20;
  check(cudaGraphCreate(&graph, 0) == 0 && cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &alloc) == 0,
        "allocation node");
  check(cudaGraphInstantiate(&exec, graph, 0) == 0 && cudaGraphInstantiate(&again, graph, 1) == 0,
        "instances");
  check(memory_of_graphs(0) == 0, "nothing in use before the launch");
  check(cudaGraphLaunch(exec, nullptr) == 0 && memory_of_graphs(0) == 1 << 20, "in use");
  check(cudaGraphLaunch(exec, nullptr) == 1, "a second launch without a release");
  check(cudaGraphLaunch(again, nullptr) == 0, "a launch that frees first");
  check(cudaFree(alloc.pointer) == 0 && memory_of_graphs(0) == 0, "released");
  check(memory_of_graphs(2) == 1 << 20 && cudaDeviceGraphMemTrim(0) == 0 && memory_of_graphs(2) == 0, "trim");
  check(cudaGraphExecDestroy(exec) == 0 && cudaGraphExecDestroy(again) == 0 && cudaGraphDestroy(graph) == 0,
        "end of memory nodes");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 3;
  std::ifstream file(argv[1]);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  int device = -1;
  char name[32] = {};
  void *context = nullptr, *module = nullptr, *entry = nullptr;
  check(cuInit(0) == 0 && cuDeviceGet(&device, 0) == 0 && cuDeviceGet(&device, 1) == 101, "device");
  check(cuDeviceGetName(name, sizeof name, 0) == 0 && std::strlen(name) > 0, "name");
  int value = -1;
  check(cuDeviceGetAttribute(&value, 102, 0) == 0 && value == 1, "virtual memory management");
  check(cuDeviceGetAttribute(&value, 104, 0) == 0 && value == 0, "no handles of Windows");
  check(cuDeviceGetAttribute(&value, 10, 0) == 0 && value == 32, "warp size");
  check(cuDeviceGetAttribute(&value, 5000, 0) == 1, "an attribute that there is not");
  check(cuCtxGetDevice(&device) == 201, "no context");
  check(cuCtxCreate_v2(&context, 0, 0) == 0 && cuCtxGetDevice(&device) == 0 && device == 0, "context");
  check(cuModuleLoadDataEx(&module, "no PTX at all", 0, nullptr, nullptr) == 218, "text that is no PTX");
  check(cuModuleLoadDataEx(&module, "\177ELF", 0, nullptr, nullptr) == 209, "machine code");
  check(cuModuleLoadDataEx(&module, text.c_str(), 0, nullptr, nullptr) == 0, "module");
  check(cuModuleGetFunction(&entry, module, "nowhere") == 500, "a kernel that is not there");
  const char* word = nullptr;
  check(cuGetErrorName(500, &word) == 0 && std::strcmp(word, "CUDA_ERROR_NOT_FOUND") == 0, "error's name");
  // The form with a context came with CUDA 13: who asks for an older one gets that of the current context.
  void *older = nullptr, *newer = nullptr;
  check(cuGetProcAddress_v2("cuCtxGetDevice", &older, 2000, 0, nullptr) == 0 &&
            cuGetProcAddress_v2("cuCtxGetDevice", &newer, 13000, 0, nullptr) == 0 && older != newer,
        "forms of cuCtxGetDevice");
  check(cuGetProcAddress_v2("cuMemAlloc", &entry, 13000, 0, nullptr) == 0 &&
            entry == reinterpret_cast<void*>(&cuMemAlloc_v2),
        "entry point");
  check(cuGreenCtxCreate() == 801, "what is not supported");
  launches(module);
  virtual_memory(module);
  many_registers();
  passing_image(text);
  linking(text);
  conditions(module);
  memory_nodes();
  check(cudaGetLastError() == 1, "the runtime's own last error");
  check(cuCtxDestroy_v2(context) == 0 && cuCtxGetDevice(&device) == 201, "end of the context");
  check(cudaFree(nullptr) == 0 && cuCtxGetDevice(&device) == 0 && device == 0, "the runtime's context");
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
