// What nvcc makes of a CUDA program's kernels, written by hand so that no CUDA compiler is needed.
#pragma once

#include <cmath>
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
extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
int __cudaRegisterFatBinaryEnd(void** handle);
int __cudaRegisterFunction(void**, const void*, char*, const char*, int, void*, void*, void*, void*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int);
int __cudaPushCallConfiguration(Dim3, Dim3, std::size_t, void*);
int __cudaPopCallConfiguration(Dim3*, Dim3*, std::size_t*, void*);
int __cudaGetKernel(void** kernel, const void* host);
int __cudaLaunchKernel(void* kernel, Dim3, Dim3, void** args, std::size_t, void*);
int cudaMalloc(void**, std::size_t);
int cudaFree(void*);
int cudaMallocManaged(void**, std::size_t, unsigned);
struct MemLocation {
  int type, id;  // 1: a device
};
int cudaMemPrefetchAsync(const void*, std::size_t, MemLocation, unsigned, void*);
int cudaMemAdvise(const void*, std::size_t, int, MemLocation);
int cudaMallocHost(void**, std::size_t);
int cudaMemset(void*, int, std::size_t);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemcpyAsync(void*, const void*, std::size_t, int, void*);
int cudaDeviceSynchronize();
int cudaGetLastError();
const char* cudaGetErrorName(int);
int cudaStreamCreate(void**);
int cudaStreamCreateWithFlags(void**, unsigned);
int cudaStreamSynchronize(void*);
int cudaStreamWaitEvent(void*, void*, unsigned);
int cudaEventCreate(void**);
int cudaEventRecord(void*, void*);
int cudaEventSynchronize(void*);
int cudaEventQuery(void*);
int cudaEventElapsedTime(float*, void*, void*);
int cudaStreamBeginCapture(void*, int);
int cudaStreamEndCapture(void*, void**);
int cudaGraphInstantiate(void**, void*, unsigned long long);
int cudaGraphLaunch(void*, void*);
int cudaGraphicsMapResources();  // one that is not there
}

/// A new event, recorded in the stream.
inline void* event_in(void* stream) {
  void* event = nullptr;
  cudaEventCreate(&event);
  cudaEventRecord(event, stream);
  return event;
}

/// Between two events; an error as its negative number.
inline long nanoseconds(void* from, void* to) {
  float milliseconds = -1;
  const int status = cudaEventElapsedTime(&milliseconds, from, to);
  return status == 0 ? std::lround(static_cast<double>(milliseconds) * 1e6) : -status;
}

inline std::vector<char> fatbin_of(const std::string& ptx) {
  const std::size_t payload = (ptx.size() + 8) / 8 * 8;
  std::vector<char> bytes(16 + 64 + payload);
  const auto put = [&](std::size_t at, auto value) { std::memcpy(bytes.data() + at, &value, sizeof value); };
  put(0, std::uint32_t{0xBA55ED50});
  put(4, std::uint16_t{1});
  put(6, std::uint16_t{16});
  put(8, std::uint64_t{64 + payload});
  put(16, std::uint16_t{1});
  put(18, std::uint16_t{0x0101});
  put(20, std::uint32_t{64});
  put(24, std::uint64_t{payload});
  put(16 + 0x1c, std::uint32_t{75});
  std::memcpy(bytes.data() + 80, ptx.data(), ptx.size());
  return bytes;
}

/// The PTX file at `path` as a registered fatbin, for the life of the process; nullptr where there is none.
inline void** register_ptx(const char* path) {
  std::ifstream file(path);
  if (!file) return nullptr;
  static std::vector<char> fatbin;
  fatbin = fatbin_of(std::string((std::istreambuf_iterator<char>(file)), {}));
  static struct {
    std::uint32_t magic = 0x466243B1, version = 1;
    const void* data = nullptr;
    const void* prelinked = nullptr;
  } wrapper;
  wrapper.data = fatbin.data();
  return __cudaRegisterFatBinary(&wrapper);
}

/// A device variable of `bytes` bytes, for which `variable` stands on the host. Once in a process.
inline void register_variable(char* variable, std::size_t bytes) {
  static const std::vector<char> image =
      fatbin_of(".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .align 8 .b8 table[" +
                std::to_string(bytes) + "];\n");
  static struct {
    std::uint32_t magic = 0x466243B1, version = 1;
    const void* data = image.data();
    const void* prelinked = nullptr;
  } wrapper;
  void** const module = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterVar(module, variable, nullptr, "table", 0, bytes, 0, 0);
  __cudaRegisterFatBinaryEnd(module);
}

/// `stub` stands for the kernel on the host.
inline void register_kernel(void** handle, void (*stub)(), const char* name) {
  __cudaRegisterFunction(handle, reinterpret_cast<const void*>(stub), nullptr, name, -1, nullptr, nullptr,
                         nullptr, nullptr, nullptr);
}

inline int launch_grid(void (*stub)(), Dim3 grid, Dim3 block, void** args, void* on = nullptr) {
  __cudaPushCallConfiguration(grid, block, 0, on);
  std::size_t shared = 0;
  void* stream = nullptr;
  __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
  void* kernel = nullptr;
  if (const int error = __cudaGetKernel(&kernel, reinterpret_cast<const void*>(stub))) return error;
  return __cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}
inline int launch(void (*stub)(), unsigned ctas, unsigned threads, void** args, void* on = nullptr) {
  return launch_grid(stub, {ctas}, {threads}, args, on);
}
