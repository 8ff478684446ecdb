// Multicast objects by the driver API. `multicast PTX WHICH` prints results and error codes: 0 is
// CUDA_SUCCESS, 1 CUDA_ERROR_INVALID_VALUE, 101 CUDA_ERROR_INVALID_DEVICE, 401 CUDA_ERROR_ILLEGAL_STATE, 700
// CUDA_ERROR_ILLEGAL_ADDRESS, 801 CUDA_ERROR_NOT_SUPPORTED.
#include <chrono>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "../../../examples/driver/driver.hpp"

extern "C" {
CUresult cuCtxSynchronize();
CUresult cuMemAddressFree(CUdeviceptr pointer, std::size_t bytes);
CUresult cuMemGetAccess(unsigned long long* flags, const int* location, CUdeviceptr pointer);
CUresult cuMemRelease(CUhandle handle);
CUresult cuMemRetainAllocationHandle(CUhandle* handle, void* pointer);
CUresult cuMemUnmap(CUdeviceptr pointer, std::size_t bytes);
CUresult cuMulticastBindAddr(CUhandle object, std::size_t offset, CUdeviceptr memory, std::size_t bytes,
                             unsigned long long flags);
CUresult cuMulticastUnbind(CUhandle object, int device, std::size_t offset, std::size_t bytes);
CUresult cuStreamCreate(void** stream, unsigned flags);
}

namespace {

constexpr std::size_t kPage = std::size_t{2} << 20;
constexpr int kMulticastSupported = 132;

void say(std::initializer_list<long long> numbers) {
  for (const long long number : numbers) std::printf("%lld ", number);
  std::puts("");
}

std::string ptx;
std::vector<void*> contexts;
int count = 0;

CUdeviceptr reserve(std::size_t bytes = kPage) {
  CUdeviceptr at = 0;
  check(cuMemAddressReserve(&at, bytes, 0, 0, 0));
  return at;
}
CUhandle create(int device, std::size_t bytes = kPage) {
  CUmemAllocationProp properties;
  properties.location_id = device;
  CUhandle handle = 0;
  check(cuMemCreate(&handle, bytes, &properties, 0));
  return handle;
}
CUresult object(CUhandle& handle, unsigned devices, std::size_t bytes = kPage) {
  CUmulticastObjectProp properties;
  properties.devices = devices;
  properties.bytes = bytes;
  return cuMulticastCreate(&handle, &properties);
}
CUhandle team(std::size_t bytes = kPage) {
  CUhandle handle = 0;
  check(object(handle, static_cast<unsigned>(count), bytes));
  for (int d = 0; d < count; ++d) check(cuMulticastAddDevice(handle, d));
  return handle;
}
CUresult open(CUdeviceptr at, int device, std::size_t bytes = kPage) {
  CUmemAccessDesc access;
  access.location_id = device;
  return cuMemSetAccess(at, bytes, &access, 1);
}
CUdeviceptr map(CUhandle handle, std::size_t bytes = kPage) {
  const CUdeviceptr at = reserve(bytes);
  check(cuMemMap(at, bytes, 0, handle, 0));
  for (int d = 0; d < count; ++d) check(open(at, d, bytes));
  return at;
}
CUdeviceptr map_own(CUhandle handle, int device) {
  const CUdeviceptr at = reserve();
  check(cuMemMap(at, kPage, 0, handle, 0));
  check(open(at, device));
  return at;
}
unsigned value(CUdeviceptr at) {
  unsigned read = ~0u;
  check(cuMemcpyDtoH_v2(&read, at, sizeof read));
  return read;
}
void set(CUdeviceptr at, unsigned number) { check(cuMemcpyHtoD_v2(at, &number, sizeof number)); }

/// A kernel with two addresses and a number, in a device's context.
CUresult start(int device, const char* name, CUdeviceptr a, CUdeviceptr b = 0, unsigned number = 0,
               void* stream = nullptr, unsigned threads = 1) {
  check(cuCtxSetCurrent(contexts[static_cast<std::size_t>(device)]));
  void *module = nullptr, *function = nullptr;
  check(cuModuleLoadData(&module, ptx.c_str()));
  check(cuModuleGetFunction(&function, module, name));
  void* parameters[] = {&a, &b, &number};
  return cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr);
}
CUresult run(int device, const char* name, CUdeviceptr a, CUdeviceptr b = 0, unsigned number = 0) {
  const CUresult started = start(device, name, a, b, number);
  return started != 0 ? started : cuCtxSynchronize();
}

/// What each function refuses, on two devices.
void errors() {
  int can = 0;
  check(cuDeviceGetAttribute(&can, kMulticastSupported, 0));
  CUhandle made = 0, other = 0;
  if (!can) return say({can, object(made, 2)});
  const CUmulticastObjectProp odd{2, kPage + 1, 0, 0}, flagged{2, kPage, 0, 1}, shared{2, kPage, 1, 0};
  std::size_t granularity = 0;
  check(cuMulticastGetGranularity(&granularity, &flagged, 1));
  say({can, kPage % granularity == 0, object(made, 0), object(made, 3), cuMulticastCreate(&made, &odd),
       cuMulticastCreate(&made, &flagged), cuMulticastCreate(&made, &shared)});
  check(object(made, 2));
  check(object(other, 1));
  const CUhandle own = create(0), far = create(1);
  say({cuMulticastAddDevice(made, 2), cuMulticastAddDevice(made, 0), cuMulticastAddDevice(made, 0),
       cuMulticastBindMem(made, 0, own, 0, kPage, 0), cuMemMap(reserve(), kPage, 0, made, 0),
       cuMulticastAddDevice(made, 1), cuMulticastAddDevice(made, 1)});
  check(cuMulticastAddDevice(other, 0));
  say({cuMulticastBindMem(made, 0, own, 0, kPage, 1), cuMulticastBindMem(made, kPage, own, 0, kPage, 0),
       cuMulticastBindMem(made, 0, own, kPage, kPage, 0), cuMulticastBindMem(made, 4096, own, 0, kPage, 0),
       cuMulticastBindMem(other, 0, far, 0, kPage, 0), cuMulticastBindMem(99, 0, own, 0, kPage, 0),
       cuMulticastBindMem(made, 0, own, 0, kPage, 0), cuMulticastBindMem(made, 0, own, 0, kPage, 0)});
  const CUdeviceptr at = reserve(2 * kPage);
  say({cuMemMap(at, 2 * kPage, 0, made, 0), cuMemMap(at, kPage, 0, made, 0), cuMemMap(at, kPage, 0, far, 0),
       open(at, 0), open(at, 5), open(at + kPage, 0), cuMemAddressFree(at, 2 * kPage),
       cuMulticastUnbind(made, 1, 0, kPage), cuMulticastUnbind(made, 0, 0, kPage), cuMemUnmap(at, kPage),
       cuMemUnmap(at, kPage), cuMemRelease(made), cuMemRelease(made), cuMemAddressFree(at, 2 * kPage)});
}

/// Memory that is bound: mapped before, after, elsewhere and nowhere; by its address; a part of a large
/// object.
void places() {
  const CUhandle object = team(2 * kPage), first = create(0), second = create(1);
  const CUdeviceptr before = map_own(first, 0);
  set(before, 30);
  check(cuMulticastBindMem(object, kPage, first, 0, kPage, 0));
  check(cuMulticastBindMem(object, kPage, second, 0, kPage, 0));
  const CUdeviceptr window = map(object, 2 * kPage), at = window + kPage;
  check(run(1, "store", at + 4, 0, 5));
  say({value(before), value(before + 4)});
  const CUdeviceptr after = map_own(second, 1);  // it keeps what it has got
  say({value(after), value(after + 4)});
  check(cuMemUnmap(before, kPage));
  check(run(0, "add", at, 0, 7));
  const CUdeviceptr again = map_own(first, 0);
  say({value(again), value(again + 4), value(after)});
  check(run(0, "sum", at, again + 8));
  say({value(again + 8)});
  check(cuMulticastUnbind(object, 1, kPage, kPage));
  CUdeviceptr plain = 0;
  check(cuCtxSetCurrent(contexts[1]));
  check(cuMemAlloc_v2(&plain, 4 * kPage));
  plain = (plain + kPage - 1) / kPage * kPage;
  check(cuMulticastBindAddr(object, kPage, plain, kPage, 0));
  check(run(1, "store", at, 0, 11));
  CUhandle same = 0;
  check(cuMemRetainAllocationHandle(&same, reinterpret_cast<void*>(window)));
  const int location[] = {1, 1};
  unsigned long long flags = 0;
  check(cuMemGetAccess(&flags, location, window));
  say({value(again), value(plain), value(after), same == object, static_cast<long long>(flags)});
}

/// An access that CUDA leaves undefined, and one where nothing is bound.
void faults() {
  const CUhandle object = team();
  const CUdeviceptr window = map(object);
  check(cuMulticastBindMem(object, 0, create(0), 0, kPage, 0));
  say({run(0, "sum", window, map_own(create(0), 0))});
}
void plain_store() {
  const CUdeviceptr window = map(team());
  say({run(0, "plain", window)});
}

/// Devices added by another thread, while this one waits for them.
void threads() {
  CUhandle handle = 0;
  check(object(handle, 2));
  check(cuMulticastAddDevice(handle, 0));
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    check(cuMulticastAddDevice(handle, 1));
  });
  const CUresult bound = cuMulticastBindMem(handle, 0, create(0), 0, kPage, 0);
  other.join();
  say({bound});
}

/// All devices at once: each meets the others at a barrier of multimem.red, sums its part of the window,
/// stores the sums to all, and meets them again.
void all_reduce() {
  constexpr unsigned kThreads = 64, kRounds = 3;
  const CUhandle object = team();
  std::vector<CUdeviceptr> own;
  for (int d = 0; d < count; ++d) {
    const CUhandle memory = create(d);
    own.push_back(map_own(memory, d));
    check(cuMulticastBindMem(object, 0, memory, 0, kPage, 0));
    for (unsigned i = 0; i < kThreads; ++i) set(own.back() + 4096 + 4 * i, i + static_cast<unsigned>(d));
  }
  const CUdeviceptr window = map(object);
  for (int d = 0; d < count; ++d) {
    void* stream = nullptr;
    check(cuCtxSetCurrent(contexts[static_cast<std::size_t>(d)]));
    check(cuStreamCreate(&stream, 1));
    check(start(d, "all_reduce", window, own[static_cast<std::size_t>(d)],
                static_cast<unsigned>(count) | static_cast<unsigned>(d) << 8 | kRounds << 16, stream,
                kThreads));
  }
  long long wrong = 0;
  unsigned factor = 1;  // each round makes n times the numbers' sum of it
  for (unsigned r = 1; r < kRounds; ++r) factor *= static_cast<unsigned>(count);
  const auto n = static_cast<unsigned>(count);
  for (int d = 0; d < count; ++d) {
    check(cuCtxSetCurrent(contexts[static_cast<std::size_t>(d)]));
    check(cuCtxSynchronize());
    for (unsigned i = 0; i < kThreads; ++i)
      wrong += value(own[static_cast<std::size_t>(d)] + 4096 + 4 * i) != factor * (n * i + n * (n - 1) / 2);
  }
  say({wrong});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ifstream file(argv[1]);
  ptx.assign(std::istreambuf_iterator<char>(file), {});
  const std::string which = argv[2];
  check(cuInit(0));
  check(cuDeviceGetCount(&count));
  for (int d = 0; d < count; ++d) check(cuCtxCreate_v2(&contexts.emplace_back(), 0, d));
  if (which == "errors") errors();
  if (which == "places") places();
  if (which == "faults") faults();
  if (which == "plain_store") plain_store();
  if (which == "threads") threads();
  if (which == "all_reduce") all_reduce();
}
