// A CUDA program for several GPUs. `multi_gpu PTX WHICH` prints results and error codes: 0 is cudaSuccess,
// 101 cudaErrorInvalidDevice, 400 cudaErrorInvalidResourceHandle, 700 cudaErrorIllegalAddress, 704
// cudaErrorPeerAccessAlreadyEnabled, 705 cudaErrorPeerAccessNotEnabled.
#include <initializer_list>
#include <string>
#include <thread>

#include "registration.hpp"

struct PointerAttributes {
  int type, device;
  void *device_pointer, *host_pointer;
  long reserved[8];
};
struct AccessDescription {
  MemLocation location;
  int flags;
};
struct Peer3D {
  void* from_array;
  std::size_t from_at[3];
  void* from;
  std::size_t from_pitch, from_width, from_height;
  int from_device;
  void* to_array;
  std::size_t to_at[3];
  void* to;
  std::size_t to_pitch, to_width, to_height;
  int to_device;
  std::size_t extent[3];
};
struct KernelNode {
  void* function;
  Dim3 grid, block;
  unsigned shared;
  void **arguments, **extra;
};
struct AllocationProperties {
  int type = 1, handle_types = 0, location_type = 1, location = 0;
  void* win32 = nullptr;
  unsigned char rest[8] = {};
};
extern "C" {
int __cudaRegisterManagedVar(void**, void**, char*, const char*, int, std::size_t, int, int);
int cudaGetDeviceCount(int*);
int cudaGetDevice(int*);
int cudaSetDevice(int);
int cudaDeviceReset();
int cudaDeviceCanAccessPeer(int*, int, int);
int cudaDeviceEnablePeerAccess(int, unsigned);
int cudaDeviceDisablePeerAccess(int);
int cudaDeviceGetP2PAttribute(int*, int, int, int);
int cudaDeviceGetPCIBusId(char*, int, int);
int cudaDeviceGetAttribute(int*, int, int);
int cudaMemcpyPeer(void*, int, const void*, int, std::size_t);
int cudaMemcpyPeerAsync(void*, int, const void*, int, std::size_t, void*);
int cudaMemcpy3DPeer(const Peer3D*);
int cuMemcpyPeerAsync(unsigned long long, void*, unsigned long long, void*, std::size_t, void*);
int cudaMemcpyFromSymbol(void*, const void*, std::size_t, std::size_t, int);
int cudaGetSymbolAddress(void**, const void*);
int cudaPointerGetAttributes(PointerAttributes*, const void*);
int cudaMemGetInfo(std::size_t*, std::size_t*);
int cudaStreamGetDevice(void*, int*);
int cudaStreamQuery(void*);
int cudaMallocAsync(void**, std::size_t, void*);
int cudaFreeAsync(void*, void*);
int cudaDeviceGetDefaultMemPool(void**, int);
int cudaMemPoolSetAccess(void*, const AccessDescription*, std::size_t);
int cudaMemPoolGetAccess(int*, void*, const MemLocation*);
int cudaStreamBeginCapture(void*, int);
int cudaStreamEndCapture(void*, void**);
int cudaGraphCreate(void**, unsigned);
int cudaGraphGetNodes(void*, void**, std::size_t*);
int cudaGraphAddKernelNode(void**, void*, void* const*, std::size_t, const KernelNode*);
int cudaGraphAddMemcpyNode1D(void**, void*, void* const*, std::size_t, void*, const void*, std::size_t, int);
int cudaGraphAddChildGraphNode(void**, void*, void* const*, std::size_t, void*);
int cudaGraphInstantiate(void**, void*, unsigned long long);
int cudaGraphLaunch(void*, void*);
int cudaGraphExecDestroy(void*);
int cuCtxGetDevice(int*);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxPushCurrent_v2(void*);
int cuCtxPopCurrent_v2(void**);
int cuCtxEnablePeerAccess(void*, unsigned);
int cuMemAddressReserve(unsigned long long*, std::size_t, std::size_t, unsigned long long,
                        unsigned long long);
int cuMemCreate(unsigned long long*, std::size_t, const AllocationProperties*, unsigned long long);
int cuMemMap(unsigned long long, std::size_t, std::size_t, unsigned long long, unsigned long long);
int cuMemSetAccess(unsigned long long, std::size_t, const AccessDescription*, std::size_t);
}

namespace {

constexpr int kToHost = 2, kDefault = 4;
constexpr unsigned kNonBlocking = 1;

void put() {}
void bump() {}
void meet() {}
void all_reduce() {}
int own_symbol = 0;
void* common_pointer = nullptr;

/// Numbers in one line, in whose order they are found.
void say(std::initializer_list<long long> numbers, bool ends = true) {
  for (const long long number : numbers) std::printf("%lld ", number);
  if (ends) std::puts("");
}
int devices() {
  int count = 0;
  cudaGetDeviceCount(&count);
  return count;
}
unsigned* words(int device, std::size_t count = 64) {
  void* at = nullptr;
  if (cudaSetDevice(device) != 0 || cudaMalloc(&at, count * 4) != 0 || cudaMemset(at, 0, count * 4) != 0)
    std::abort();
  return static_cast<unsigned*>(at);
}
unsigned value(const unsigned* at) {
  unsigned read = ~0u;
  cudaMemcpy(&read, at, sizeof read, kDefault);
  return read;
}
int start(void (*kernel)(), unsigned* at, unsigned what, void* stream = nullptr) {
  void* args[] = {&at, &what};
  return launch(kernel, 1, 1, args, stream);
}
int on(int device, void (*kernel)(), unsigned* at, unsigned what) {
  cudaSetDevice(device);
  const int started = start(kernel, at, what);
  return started != 0 ? started : cudaDeviceSynchronize();
}

/// The error codes that CUDA documents.
int errors() {
  int can = -1, same = -1, attribute = -1, current = -1;
  cudaDeviceCanAccessPeer(&can, 0, 1);
  cudaDeviceCanAccessPeer(&same, 1, 1);
  say({devices(), can, same});
  say({cudaSetDevice(devices()), cudaSetDevice(-1)});
  cudaGetLastError();
  cudaSetDevice(1);
  say({cudaDeviceEnablePeerAccess(0, 0), cudaDeviceEnablePeerAccess(0, 0), cudaDeviceEnablePeerAccess(1, 0),
       cudaDeviceEnablePeerAccess(devices(), 0)});
  say({cudaDeviceDisablePeerAccess(0), cudaDeviceDisablePeerAccess(0)});
  void *stream = nullptr, *event = nullptr;
  cudaStreamCreateWithFlags(&stream, 0);
  cudaEventCreate(&event);
  unsigned* at = words(0);
  say({start(&put, at, 1, stream), cudaEventRecord(event, nullptr), cudaEventRecord(event, stream)});
  cudaStreamGetDevice(stream, &current);
  say({current, cudaDeviceGetP2PAttribute(&attribute, 2, 0, 1), attribute});
  char first[20], second[20];
  cudaDeviceGetPCIBusId(first, sizeof first, 0);
  cudaDeviceGetPCIBusId(second, sizeof second, 1);
  say({std::strcmp(first, second) != 0});
  return 0;
}

/// A kernel reaches another device's memory as a peer only; its error is its own device's.
int access() {
  unsigned *here = words(0), *there = words(1);
  cudaSetDevice(0);
  cudaDeviceEnablePeerAccess(1, 0);
  say({on(0, &put, there, 11), value(there)});
  cudaDeviceDisablePeerAccess(1);
  say({on(0, &put, there, 12), cudaDeviceSynchronize()});
  say({on(1, &put, there, 13), value(there)});
  say({on(1, &put, here, 14)});
  return 0;
}

/// Variables, memory and what a pointer is, by device.
int state() {
  unsigned* at[] = {words(0), words(1)};
  for (const int device : {0, 1, 1}) on(device, &bump, at[device], 1u + static_cast<unsigned>(device));
  say({value(at[0]), value(at[1]), *static_cast<volatile unsigned*>(common_pointer)});
  void* symbols[2];
  for (const int device : {0, 1}) {
    unsigned own = 0;
    cudaSetDevice(device);
    cudaGetSymbolAddress(&symbols[device], &own_symbol);
    cudaMemcpyFromSymbol(&own, &own_symbol, sizeof own, 0, kToHost);
    PointerAttributes what{};
    cudaPointerGetAttributes(&what, at[device]);
    say({own, what.type, what.device});
  }
  std::size_t before[2], after[2], total = 0;
  for (const int device : {0, 1}) cudaSetDevice(device), cudaMemGetInfo(&before[device], &total);
  (void)words(1, std::size_t{16} << 20);
  for (const int device : {0, 1}) cudaSetDevice(device), cudaMemGetInfo(&after[device], &total);
  say({symbols[0] != symbols[1], static_cast<long long>(before[0] - after[0]),
       static_cast<long long>(before[1] - after[1])});
  cudaDeviceReset();  // of device 1
  unsigned own[2];
  for (const int device : {0, 1}) {
    cudaSetDevice(device);
    cudaMemcpyFromSymbol(&own[device], &own_symbol, sizeof own[device], 0, kToHost);
  }
  say({own[0], own[1], value(at[0])});
  return 0;
}

/// Around the ring and back in order, by the streams of several devices.
int copies() {
  const int all = devices();
  std::vector<unsigned*> at;
  for (int d = 0; d < all; ++d) at.push_back(words(d));
  on(0, &put, at[0], 77);
  void* before = nullptr;
  for (int d = 0; d < all; ++d) {
    void *stream = nullptr, *done = nullptr;
    cudaSetDevice(d);
    cudaStreamCreateWithFlags(&stream, kNonBlocking);
    cudaEventCreate(&done);
    if (before != nullptr) cudaStreamWaitEvent(stream, before, 0);
    cudaMemcpyPeerAsync(at[static_cast<std::size_t>((d + 1) % all)] + 1, (d + 1) % all,
                        at[static_cast<std::size_t>(d)] + (d == 0 ? 0 : 1), d, 4, stream);
    cudaEventRecord(done, stream);
    before = done;
  }
  cudaEventSynchronize(before);
  say({value(at[0] + 1)}, false);
  cudaSetDevice(0);
  say({cudaMemcpyPeer(at[1], 1, at[0], 0, 4)}, false);
  say({value(at[1])}, false);
  say({cudaMemcpyPeer(at[1], all, at[0], 0, 4)});
  return 0;
}

int meet_on(int device, unsigned* mine, unsigned* next, unsigned rounds) {
  cudaSetDevice(device);
  void* args[] = {&mine, &next, &rounds};
  return launch(&meet, 1, 1, args);
}

/// Kernels of all devices that wait for each other.
int barrier(bool threads) {
  const int all = devices();
  constexpr unsigned kRounds = 20;
  std::vector<unsigned*> at;
  for (int d = 0; d < all; ++d) {
    at.push_back(words(d));
    cudaDeviceEnablePeerAccess((d + 1) % all, 0);
  }
  const auto next = [&](int d) { return at[static_cast<std::size_t>((d + 1) % all)]; };
  const auto mine = [&](int d) { return at[static_cast<std::size_t>(d)]; };
  std::vector<int> codes(static_cast<std::size_t>(all), -1);
  std::vector<std::thread> workers;
  for (int d = 0; d < all; ++d) {
    if (!threads) {
      codes[static_cast<std::size_t>(d)] = meet_on(d, mine(d), next(d), kRounds);
      continue;
    }
    workers.emplace_back([&, d] {
      const int started = meet_on(d, mine(d), next(d), kRounds);
      codes[static_cast<std::size_t>(d)] = started != 0 ? started : cudaDeviceSynchronize();
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (int d = 0; d < all; ++d) {
    cudaSetDevice(d);
    codes[static_cast<std::size_t>(d)] += cudaDeviceSynchronize();
  }
  for (int d = 0; d < all; ++d) say({codes[static_cast<std::size_t>(d)], value(mine(d))});
  return 0;
}

/// Device 1's kernel waits for device 0's, which comes later, needs what the first has written, and is done
/// at once. Then the host asks something on device 0, where an event is behind the kernel; waits for that
/// kernel alone, then for the other one.
template <class Ask>
void run_in_order(Ask ask) {
  unsigned* const at[] = {words(0), words(1)};
  void* end = nullptr;
  const int second = meet_on(1, at[1], at[0], 1);
  cudaSetDevice(0);
  cudaEventCreate(&end);
  const int first = meet_on(0, at[0], at[1], 1);
  cudaEventRecord(end, nullptr);
  const int asked = ask(end);
  const int waited = cudaDeviceSynchronize();
  cudaSetDevice(1);
  say({second, first, asked, waited, cudaDeviceSynchronize()});
}

int order() {
  cudaSetDevice(1);
  cudaDeviceEnablePeerAccess(0, 0);
  cudaSetDevice(0);
  cudaDeviceEnablePeerAccess(1, 0);
  constexpr int kNotReady = 600;
  run_in_order([](void*) { return 0; });
  run_in_order([](void*) {
    void* stream = nullptr;
    return cudaStreamCreateWithFlags(&stream, kNonBlocking);
  });
  run_in_order([](void* end) {
    int code = kNotReady;
    while (code == kNotReady) code = cudaEventQuery(end);
    return code;
  });
  run_in_order([](void*) {
    int code = kNotReady;
    while (code == kNotReady) code = cudaStreamQuery(nullptr);
    return code;
  });
  return 0;
}

/// The kernel of examples/multi_gpu/allreduce_peer.cu, one on each device: element i of device r is r + i.
int ring() {
  const int all = devices(), chunk = 64, ctas = 4, n = all * chunk;
  struct Rank {
    unsigned *data, *inbox, *flags;
  };
  std::vector<Rank> ranks;
  std::vector<float> values(static_cast<std::size_t>(n));
  const auto bytes = values.size() * sizeof(float);
  for (int d = 0; d < all; ++d) {
    ranks.push_back({words(d, values.size()), words(d, 2 * values.size()), words(d)});
    for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(d + i);
    cudaMemcpy(ranks.back().data, values.data(), bytes, kDefault);
    cudaDeviceEnablePeerAccess((d + 1) % all, 0);
  }
  int failed = 0, wrong = 0;
  for (int d = 0; d < all; ++d) {
    Rank &own = ranks[static_cast<std::size_t>(d)], &next = ranks[static_cast<std::size_t>((d + 1) % all)];
    void* args[] = {&own.data,
                    &own.inbox,
                    &next.inbox,
                    &own.flags,
                    &next.flags,
                    &d,
                    const_cast<int*>(&all),
                    const_cast<int*>(&chunk)};
    cudaSetDevice(d);
    failed += launch(&all_reduce, static_cast<unsigned>(ctas), 32, args);
  }
  for (int d = 0; d < all; ++d) {
    cudaSetDevice(d);
    failed += cudaDeviceSynchronize();
    cudaMemcpy(values.data(), ranks[static_cast<std::size_t>(d)].data, bytes, kDefault);
    for (int i = 0; i < n; ++i)  // the sum of r + i over all r
      wrong += values[static_cast<std::size_t>(i)] != static_cast<float>(all * (all - 1) / 2 + all * i);
  }
  say({failed, wrong});
  return 0;
}

/// Memory of pools follows what is set for the pool, not peer access.
int pools() {
  void *memory = nullptr, *pool = nullptr;
  cudaSetDevice(1);
  cudaMallocAsync(&memory, std::size_t{4} << 20, nullptr);
  cudaDeviceGetDefaultMemPool(&pool, 1);
  auto* const at = static_cast<unsigned*>(memory);
  const AccessDescription first{{1, 0}, 3};
  int flags = -1, after = -1;
  const MemLocation place{1, 0};
  cudaMemPoolGetAccess(&flags, pool, &place);
  say({flags, cudaMemPoolSetAccess(pool, &first, 1)}, false);
  cudaMemPoolGetAccess(&after, pool, &place);
  say({after, on(0, &put, at, 21), value(at)});
  const AccessDescription none{{1, 0}, 0};
  cudaSetDevice(0);
  cudaDeviceEnablePeerAccess(1, 0);
  say({cudaMemPoolSetAccess(pool, &none, 1), on(0, &put, at, 22)});
  return 0;
}

/// Memory without addresses of device 1, which device 0 reaches once it may.
int mapped() {
  constexpr std::size_t kBytes = std::size_t{2} << 20;
  unsigned long long address = 0, handle = 0;
  AllocationProperties properties;
  properties.location = 1;
  cudaSetDevice(0);
  const int made = cuMemAddressReserve(&address, kBytes, 0, 0, 0) +
                   cuMemCreate(&handle, kBytes, &properties, 0) + cuMemMap(address, kBytes, 0, handle, 0);
  const AccessDescription both[] = {{{1, 0}, 3}, {{1, 1}, 3}};
  auto* const at = reinterpret_cast<unsigned*>(address);
  say({made, cuMemSetAccess(address, kBytes, both, 2)}, false);
  say({on(0, &put, at, 31), value(at)}, false);
  say({on(1, &put, at, 32), value(at)});
  PointerAttributes what{};
  cudaPointerGetAttributes(&what, at);
  const AccessDescription none{{1, 0}, 0};
  say({what.device, cuMemSetAccess(address, kBytes, &none, 1)}, false);
  say({on(1, &put, at, 33), on(0, &put, at, 34)});
  return 0;
}

/// A corner of 2 x 2 words, from rows of 4 to rows of 3, and one word by the driver API.
int corners() {
  unsigned *from = words(0), *to = words(1);
  for (unsigned i = 0; i < 8; ++i) on(0, &put, from + i, 10 + i);
  Peer3D corner{};
  corner.from = from + 2, corner.from_pitch = 16, corner.from_width = 16, corner.from_height = 2;
  corner.to = to, corner.to_pitch = 12, corner.to_width = 12, corner.to_height = 2, corner.to_device = 1;
  corner.extent[0] = 8, corner.extent[1] = 2, corner.extent[2] = 1;
  say({cudaMemcpy3DPeer(&corner)}, false);
  say({value(to), value(to + 1), value(to + 2), value(to + 3), value(to + 4), value(to + 5)});
  void *first = nullptr, *second = nullptr;
  cuDevicePrimaryCtxRetain(&first, 0);
  cuDevicePrimaryCtxRetain(&second, 1);
  const auto number = [](const void* at) { return reinterpret_cast<unsigned long long>(at); };
  say({cuMemcpyPeerAsync(number(to + 5), second, number(from), first, 4, nullptr), value(to + 5)});
  return 0;
}

/// Managed memory may be wished to each device that is there, in CUDA 13's form.
int advice() {
  void* memory = nullptr;
  cudaSetDevice(0);
  cudaMallocManaged(&memory, 4096, 1);
  auto* const at = static_cast<unsigned*>(memory);
  constexpr int kPreferred = 3;
  for (const int device : {0, 1, devices()})
    say({cudaMemPrefetchAsync(memory, 4096, {1, device}, 0, nullptr),
         cudaMemAdvise(memory, 4096, kPreferred, {1, device})});
  cudaGetLastError();
  say({on(0, &put, at, 41), *static_cast<volatile unsigned*>(at), on(1, &put, at, 42),
       *static_cast<volatile unsigned*>(at)});
  return 0;
}

/// A node that runs `put` on the current device.
int add_put(void** node, void* graph, void* before, unsigned* at, unsigned what) {
  void* arguments[] = {&at, &what};
  const KernelNode kernel{reinterpret_cast<void*>(&put), {}, {}, 0, arguments, nullptr};
  return cudaGraphAddKernelNode(node, graph, &before, before == nullptr ? 0 : 1, &kernel);
}

/// A graph captured from streams of two devices, launched in either's, and one built by hand that has it as a
/// child.
int graphs() {
  unsigned *a = words(0), *b = words(1);
  void *streams[2], *events[2], *graph = nullptr, *exec = nullptr;
  for (const int d : {0, 1}) {
    cudaSetDevice(d);
    cudaStreamCreateWithFlags(&streams[d], kNonBlocking);
    cudaEventCreate(&events[d]);
  }
  cudaSetDevice(0);
  int codes = cudaStreamBeginCapture(streams[0], 0) + start(&put, a, 5, streams[0]) +
              cudaEventRecord(events[0], streams[0]);
  cudaSetDevice(1);
  codes += cudaStreamWaitEvent(streams[1], events[0], 0) + cudaMemcpyPeerAsync(b, 1, a, 0, 4, streams[1]) +
           start(&put, b + 1, 21, streams[1]) + cudaEventRecord(events[1], streams[1]);
  cudaSetDevice(0);
  codes += start(&put, a + 2, 6, streams[0]) + cudaStreamWaitEvent(streams[0], events[1], 0) +
           cudaMemcpyPeerAsync(a + 1, 0, b + 1, 1, 4, streams[0]) + cudaStreamEndCapture(streams[0], &graph);
  std::size_t nodes = 0;
  codes += cudaGraphGetNodes(graph, nullptr, &nodes) + cudaGraphInstantiate(&exec, graph, 0);
  say({codes, static_cast<long long>(nodes), value(a)});
  for (const int d : {0, 1}) {
    cudaMemset(a, 0, 12), cudaMemset(b, 0, 8);
    codes += cudaGraphLaunch(exec, streams[d]) + cudaStreamSynchronize(streams[d]);
    say({codes, value(a), value(a + 1), value(a + 2), value(b), value(b + 1)});
  }
  void *all = nullptr, *first = nullptr, *copy = nullptr, *last = nullptr, *child = nullptr;
  cudaSetDevice(1);
  codes += cudaGraphCreate(&all, 0) + add_put(&first, all, nullptr, b + 3, 9);
  cudaSetDevice(0);
  codes += cudaGraphAddMemcpyNode1D(&copy, all, &first, 1, a + 3, b + 3, 4, kDefault) +
           cudaGraphAddChildGraphNode(&child, all, &copy, 1, graph);
  cudaSetDevice(1);
  codes += add_put(&last, all, child, b + 3, 10) + cudaGraphExecDestroy(exec);
  cudaMemset(a, 0, 12), cudaMemset(b, 0, 8);
  codes += cudaGraphInstantiate(&exec, all, 0) + cudaGraphLaunch(exec, streams[0]) +
           cudaStreamSynchronize(streams[0]);
  say({codes, value(a + 3), value(b + 3), value(a + 1), value(b)});
  return 0;
}

/// Contexts of the driver API and devices of the runtime are the same.
int contexts() {
  void *first = nullptr, *second = nullptr, *popped = nullptr;
  int device = -1, seen = -1;
  cuDevicePrimaryCtxRetain(&first, 0);
  cuDevicePrimaryCtxRetain(&second, 1);
  cudaSetDevice(0);
  cuCtxPushCurrent_v2(second);
  cudaGetDevice(&seen);
  say({seen, cuCtxEnablePeerAccess(first, 0), cuCtxEnablePeerAccess(first, 0)}, false);
  cuCtxPopCurrent_v2(&popped);
  cuCtxGetDevice(&device);
  say({popped == second, device});
  std::thread([&] { cudaGetDevice(&seen); }).join();
  say({seen});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 3;
  void** const handle = register_ptx(argv[1]);
  if (handle == nullptr) return 3;
  register_kernel(handle, &put, "put");
  register_kernel(handle, &bump, "bump");
  register_kernel(handle, &meet, "meet");
  register_kernel(handle, &all_reduce, "_Z10all_reducePfPKfS_PVKiPViiii");
  __cudaRegisterVar(handle, reinterpret_cast<char*>(&own_symbol), nullptr, "own", 0, 4, 0, 0);
  __cudaRegisterManagedVar(handle, &common_pointer, nullptr, "common", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
  const std::string which = argv[2];
  if (which == "errors") return errors();
  if (which == "access") return access();
  if (which == "state") return state();
  if (which == "copies") return copies();
  if (which == "barrier") return barrier(false);
  if (which == "threads") return barrier(true);
  if (which == "order") return order();
  if (which == "corners") return corners();
  if (which == "advice") return advice();
  if (which == "ring") return ring();
  if (which == "pools") return pools();
  if (which == "mapped") return mapped();
  if (which == "contexts") return contexts();
  if (which == "graphs") return graphs();
  return 3;
}
