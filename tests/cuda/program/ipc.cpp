// Processes of a program that share memory and events. `ipc PTX [timed]` starts itself once more and prints
// results and error codes: 0 is CUDA_SUCCESS, 1 CUDA_ERROR_INVALID_VALUE, 201 CUDA_ERROR_INVALID_CONTEXT, 400
// CUDA_ERROR_INVALID_HANDLE, 801 CUDA_ERROR_NOT_SUPPORTED.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>

#include "../../../examples/driver/driver.hpp"

struct IpcHandle {
  char bytes[64];
};
extern "C" {
CUresult cuCtxSynchronize();
CUresult cuIpcCloseMemHandle(CUdeviceptr pointer);
CUresult cuIpcGetEventHandle(IpcHandle* handle, void* event);
CUresult cuIpcGetMemHandle(IpcHandle* handle, CUdeviceptr pointer);
CUresult cuIpcOpenEventHandle(void** event, IpcHandle handle);
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* pointer, IpcHandle handle, unsigned flags);
CUresult cuMemExportToShareableHandle(void* shared, CUhandle handle, int type, unsigned long long flags);
CUresult cuMemImportFromShareableHandle(CUhandle* handle, void* shared, int type);
CUresult cuMemUnmap(CUdeviceptr pointer, std::size_t bytes);
CUresult cuStreamWaitEvent(void* stream, void* event, unsigned flags);
}
extern char** environ;

namespace {

constexpr std::size_t kPage = std::size_t{2} << 20;
constexpr unsigned kLazyPeers = 1, kDisableTiming = 2, kInterprocess = 4;
constexpr int kFileDescriptor = 1, kIpcEvents = 125, kFileDescriptors = 103;

/// What the parent tells its child.
struct Letter {
  IpcHandle memory, event;
  int shared;
};

void say(std::initializer_list<long long> numbers) {
  for (const long long number : numbers) std::printf("%lld ", number);
  std::puts("");
  std::fflush(stdout);
}

std::string ptx;
void* contexts[2];

void use(int device) { check(cuCtxSetCurrent(contexts[device])); }
unsigned value(CUdeviceptr at) {
  unsigned read = ~0u;
  check(cuMemcpyDtoH_v2(&read, at, sizeof read));
  return read;
}
void set(CUdeviceptr at, unsigned number) { check(cuMemcpyHtoD_v2(at, &number, sizeof number)); }
CUresult start(const char* name, CUdeviceptr a, CUdeviceptr b, unsigned number) {
  void *module = nullptr, *function = nullptr;
  check(cuModuleLoadData(&module, ptx.c_str()));
  check(cuModuleGetFunction(&function, module, name));
  void* three[] = {&a, &b, &number};
  void* two[] = {&a, &number};
  return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, b == 0 ? two : three, nullptr);
}
CUdeviceptr map(CUhandle handle, int device) {
  CUdeviceptr at = 0;
  check(cuMemAddressReserve(&at, kPage, 0, 0, 0));
  check(cuMemMap(at, kPage, 0, handle, 0));
  CUmemAccessDesc access;
  access.location_id = device;
  check(cuMemSetAccess(at, kPage, &access, 1));
  return at;
}

int child(int from) {
  Letter letter{};
  if (read(from, &letter, sizeof letter) != sizeof letter) return 2;
  use(1);
  CUdeviceptr at = 0, again = 0, own = 0;
  check(cuMemAlloc_v2(&own, 4096));
  set(own, 33);
  check(cuIpcOpenMemHandle_v2(&at, letter.memory, kLazyPeers));
  check(cuIpcOpenMemHandle_v2(&again, letter.memory, kLazyPeers));
  void* event = nullptr;
  check(cuIpcOpenEventHandle(&event, letter.event));
  check(cuStreamWaitEvent(nullptr, event, 0));
  say({at == again, value(at), value(at + 4), value(own)});
  check(start("put", at + 8, 0, 77));
  CUhandle handle = 0;
  check(cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(static_cast<long>(letter.shared)),
                                       kFileDescriptor));
  const CUdeviceptr shared = map(handle, 1);
  say({value(shared)});
  check(start("put", shared + 4, 0, 60));
  check(cuMemUnmap(shared, kPage));
  check(start("put", at + 32, 0, 1));  // for which a kernel of the parent waits
  check(cuEventRecord(event, nullptr));
  check(cuIpcCloseMemHandle(at));
  say({value(again), cuIpcCloseMemHandle(again), cuIpcCloseMemHandle(again)});
  return 0;
}

int parent(char* program, char* file) {
  use(0);
  CUdeviceptr before = 0, at = 0, own = 0;
  check(cuMemAlloc_v2(&before, 512));
  check(cuMemAlloc_v2(&at, kPage));  // of two pages
  set(at, 11), set(at + 4, 12), set(before, 5);
  Letter letter{};
  void *event = nullptr, *plain = nullptr;
  check(cuEventCreate(&event, kDisableTiming | kInterprocess));
  check(cuEventCreate(&plain, 0));
  say({cuIpcGetMemHandle(&letter.memory, at + 4), cuIpcGetMemHandle(&letter.memory, at),
       cuIpcGetEventHandle(&letter.event, plain), cuIpcGetEventHandle(&letter.event, event),
       cuIpcOpenMemHandle_v2(&own, letter.memory, kLazyPeers), cuIpcOpenMemHandle_v2(&own, letter.memory, 0),
       cuIpcOpenMemHandle_v2(&own, letter.event, kLazyPeers), cuIpcOpenEventHandle(&plain, letter.memory),
       cuIpcCloseMemHandle(at)});
  CUmemAllocationProp properties;
  properties.location_id = 1;
  properties.handle_types = kFileDescriptor;
  CUhandle handle = 0, alone = 0;
  check(cuMemCreate(&handle, kPage, &properties, 0));
  properties.handle_types = 0;
  check(cuMemCreate(&alone, kPage, &properties, 0));
  use(1);
  const CUdeviceptr shared = map(handle, 1);
  set(shared, 50);
  int unused = -1;
  say({cuMemExportToShareableHandle(&letter.shared, handle, kFileDescriptor, 0),
       cuMemExportToShareableHandle(&unused, alone, kFileDescriptor, 0),
       cuMemImportFromShareableHandle(&alone, reinterpret_cast<void*>(0L), kFileDescriptor)});
  use(0);
  check(cuEventRecord(event, nullptr));
  check(start("meet", at + 32, at + 36, 1));  // tells at + 36, waits for at + 32
  int pipes[2];
  if (pipe(pipes) != 0) return 2;
  const std::string number = std::to_string(pipes[0]);
  char* arguments[] = {program, file, const_cast<char*>("child"), const_cast<char*>(number.c_str()), nullptr};
  pid_t other = 0;
  if (posix_spawn(&other, "/proc/self/exe", nullptr, nullptr, arguments, environ) != 0) return 2;
  if (write(pipes[1], &letter, sizeof letter) != sizeof letter) return 2;
  check(cuCtxSynchronize());
  int status = -1;
  waitpid(other, &status, 0);
  say({status, value(at), value(at + 8), value(at + 36), value(before)});
  use(1);
  say({value(shared), value(shared + 4)});
  use(0);
  check(cuMemFree_v2(at));
  check(cuMemAlloc_v2(&at, kPage));  // the same pages again
  set(at, 1);
  say({value(at), value(at + 4), value(before)});
  return 0;
}

/// Where something is simulated or recorded.
int timed() {
  use(0);
  CUdeviceptr at = 0;
  IpcHandle handle{};
  int events = -1, files = -1;
  CUdeviceptr again = 0;
  check(cuMemAlloc_v2(&at, 512));
  check(cuDeviceGetAttribute(&events, kIpcEvents, 0));
  check(cuDeviceGetAttribute(&files, kFileDescriptors, 0));
  CUmemAllocationProp properties;
  properties.handle_types = kFileDescriptor;
  CUhandle memory = 0;
  say({events, files, cuIpcGetMemHandle(&handle, at), cuIpcOpenMemHandle_v2(&again, handle, 1),
       cuMemCreate(&memory, kPage, &properties, 0)});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::ifstream file(argv[1]);
  ptx.assign(std::istreambuf_iterator<char>(file), {});
  check(cuInit(0));
  for (int d = 0; d < 2; ++d) check(cuCtxCreate_v2(&contexts[d], 0, d));
  const std::string which = argc > 2 ? argv[2] : "";
  if (which == "timed") return timed();
  return which == "child" ? child(std::atoi(argv[3])) : parent(argv[0], argv[1]);
}
