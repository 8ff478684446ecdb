// The sliding window of the CUDA C++ Best Practices Guide ("L2 Cache Access Window"): argv[1] is
// persistence.ptx, argv[2] says how the window is given, then persisting KiB, streamed KiB, KiB set aside,
// KiB of the window, its ratio in thousandths and the property of its misses.
#include <cstdlib>

#include "registration.hpp"

extern "C" {
int cudaDeviceSetLimit(int, std::size_t);
int cudaDeviceGetLimit(std::size_t*, int);
int cudaCtxResetPersistingL2Cache();
union Attribute {
  char bytes[64];
  struct {
    void* base;
    std::size_t size;
    float ratio;
    int hit, miss;
  } window;
};
int cudaStreamSetAttribute(void*, int, const Attribute*);
int cudaStreamGetAttribute(void*, int, Attribute*);
int cudaStreamBeginCapture(void*, int);
int cudaStreamEndCapture(void*, void**);
int cudaGraphGetNodes(void*, void**, std::size_t*);
int cudaGraphKernelNodeSetAttribute(void*, int, const Attribute*);
struct KernelNode {
  const void* function;
  Dim3 grid, block;
  unsigned shared;
  void** arguments;
  void** extra;
};
int cudaGraphExecKernelNodeSetParams(void*, void*, const KernelNode*);
int cudaGraphInstantiate(void**, void*, unsigned long long);
int cudaGraphLaunch(void*, void*);
struct LaunchAttribute {
  int id;
  char pad[4];
  Attribute value;
};
struct LaunchConfig {
  Dim3 grid, block;
  std::size_t shared;
  void* stream;
  LaunchAttribute* attributes;
  unsigned count;
};
int cudaLaunchKernelExC(const LaunchConfig*, const void*, void**);
}

namespace {

// Stands for the kernel on the host.
int called = 0;
void window() { called = 1; }

constexpr int kWindow = 1, kPersistingLimit = 6, kNormal = 0, kPersisting = 2, kInvalid = 1;
constexpr unsigned kThreads = 256;

Attribute attribute_of(void* base, std::size_t bytes, int thousandths, int miss, int hit = kPersisting) {
  Attribute all{};
  all.window.base = base;
  all.window.size = bytes;
  all.window.ratio = static_cast<float>(thousandths) / 1000;
  all.window.hit = hit;
  all.window.miss = miss;
  return all;
}

/// What has to fail, and what is kept.
bool checks(void* stream, void* data) {
  Attribute got{}, all = attribute_of(data, 4096, 500, 1);
  bool good = cudaStreamSetAttribute(stream, kWindow, &all) == 0 &&
              cudaStreamGetAttribute(stream, kWindow, &got) == 0 && got.window.ratio == 0.5f &&
              got.window.size == 4096;
  for (const Attribute& bad :
       {attribute_of(data, 4096, 1100, 1), attribute_of(data, 4096, -1, 1), attribute_of(data, 4096, 500, 2),
        attribute_of(data, std::size_t{1} << 30, 500, 1)})
    good = good && cudaStreamSetAttribute(stream, kWindow, &bad) == kInvalid;
  all = attribute_of(nullptr, 0, 0, 0, 0);
  std::size_t limit = 0;
  return good && cudaStreamSetAttribute(stream, kWindow, &all) == 0 &&
         cudaDeviceGetLimit(&limit, kPersistingLimit) == 0 && limit == 0;
}

/// `again`: the executable graph's kernel gets its parameters once more, which is no attribute.
int by_graph(void* stream, const Attribute& how, unsigned ctas, void** args, bool again) {
  void *graph = nullptr, *node = nullptr, *exec = nullptr;
  std::size_t one = 1;
  int failed = cudaStreamBeginCapture(stream, 0) | launch(&window, ctas, kThreads, args, stream) |
               cudaStreamEndCapture(stream, &graph) | cudaGraphGetNodes(graph, &node, &one) |
               cudaGraphKernelNodeSetAttribute(node, kWindow, &how);
  failed |= cudaGraphInstantiate(&exec, graph, 0);
  const KernelNode kernel{reinterpret_cast<const void*>(&window), {ctas}, {kThreads}, 0, args, nullptr};
  if (again) failed |= cudaGraphExecKernelNodeSetParams(exec, node, &kernel);
  return failed | cudaGraphLaunch(exec, stream) | cudaStreamSynchronize(stream);
}

int by_launch(void* stream, const Attribute& how, unsigned ctas, void** args) {
  LaunchAttribute one{kWindow, {}, how};
  const LaunchConfig config{{ctas}, {kThreads}, 0, stream, &one, 1};
  return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(&window), args);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 9) return 3;
  void** const handle = register_ptx(argv[1]);
  if (handle == nullptr) return 3;
  register_kernel(handle, &window, "window");
  __cudaRegisterFatBinaryEnd(handle);
  const std::string which = argv[2];
  const std::size_t persisting = std::strtoul(argv[3], nullptr, 10) << 10,
                    streamed = std::strtoul(argv[4], nullptr, 10) << 10,
                    aside = std::strtoul(argv[5], nullptr, 10) << 10,
                    size = std::strtoul(argv[6], nullptr, 10) << 10;
  void *data = nullptr, *stream = nullptr;
  if (cudaMalloc(&data, streamed + persisting) != 0 || cudaStreamCreate(&stream) != 0) return 4;
  if (!checks(stream, data)) return 5;
  if (aside > 0 && cudaDeviceSetLimit(kPersistingLimit, aside) != 0) return 4;
  void* stream_data = static_cast<char*>(data) + persisting;
  unsigned persisting_words = static_cast<unsigned>(persisting / 4);
  void* args[] = {&data, &stream_data, &persisting_words};
  const auto ctas = static_cast<unsigned>(streamed / 4 / kThreads);
  const Attribute how = attribute_of(data, size, std::atoi(argv[7]), std::atoi(argv[8]));
  const Attribute none = attribute_of(nullptr, 0, 0, kNormal, kNormal);
  const auto failed = [&](const std::string& way) {
    if (way == "graph" || way == "node") return by_graph(stream, how, ctas, args, way == "node");
    if (way == "launch") return by_launch(stream, how, ctas, args);
    if (way == "stream" && cudaStreamSetAttribute(stream, kWindow, &how) != 0) return 1;
    return launch(&window, ctas, kThreads, args, stream);
  };
  if (failed(which == "reset" || which == "again" ? "stream" : which) != 0) return 6;
  if (which == "reset" || which == "again") {  // once more, without the window
    cudaStreamSetAttribute(stream, kWindow, &none);
    if (which == "reset" && cudaCtxResetPersistingL2Cache() != 0) return 6;
    if (failed("none") != 0) return 6;
  }
  return cudaDeviceSynchronize() == 0 ? 0 : 6;
}
