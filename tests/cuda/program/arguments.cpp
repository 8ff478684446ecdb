// What CUDA's runtime says of arguments: flags, limits, forms of names, directions, extents. A program
// without a CUDA compiler; what is expected is what the documentation in cuda_runtime_api.h and cuda.h
// (CUDA 13.0) says. Prints PASS, or which check failed.
#include <cstdint>

#include "driver_types.hpp"
#include "registration.hpp"
#include "runtime_types.hpp"

namespace {
/// cudaFuncAttributes, as far as it is looked at.
struct FunctionAttributes {
  std::size_t shared, constant, local;
  int max_threads;
  char rest[256];
};

enum Result {
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidPitch = 12,
  kInvalidDirection = 21,
  kInvalidDevice = 101,
  kInvalidHandle = 400,
  kNotSupported = 801
};
enum Direction { kToDevice = 1, kToHost = 2, kWithin = 3, kDefault = 4 };
constexpr std::size_t kHuge = ~std::size_t{0};
}  // namespace

extern "C" {
int cudaGetDeviceFlags(unsigned*);
int cudaSetDeviceFlags(unsigned);
int cudaDeviceGetByPCIBusId(int*, const char*);
int cudaEventCreateWithFlags(void**, unsigned);
int cudaEventRecordWithFlags(void*, void*, unsigned);
int cudaStreamCreateWithPriority(void**, unsigned, int);
int cudaStreamGetPriority(void*, int*);
int cudaHostRegister(void*, std::size_t, unsigned);
int cudaHostUnregister(void*);
int cudaHostAlloc(void**, std::size_t, unsigned);
int cudaMallocHost(void**, std::size_t);
int cudaFreeHost(void*);
int cudaHostGetFlags(unsigned*, void*);
int cudaDeviceReset();
int cuMemAllocHost_v2(void**, std::size_t);
int cuMemHostAlloc(void**, std::size_t, unsigned);
int cuMemHostGetFlags(unsigned*, void*);
int cudaMallocPitch(void**, std::size_t*, std::size_t, std::size_t);
int cudaMalloc3D(Pitched*, Extent);
int cudaMallocArray(void**, const Format*, std::size_t, std::size_t, unsigned);
int cudaMemcpy2D(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int);
int cudaMemset2D(void*, std::size_t, int, std::size_t, std::size_t);
int cudaMemcpy2DToArray(void*, std::size_t, std::size_t, const void*, std::size_t, std::size_t, std::size_t,
                        int);
int cudaMemcpy2DFromArray(void*, std::size_t, void*, std::size_t, std::size_t, std::size_t, std::size_t, int);
int cudaMemcpy2DArrayToArray(void*, std::size_t, std::size_t, void*, std::size_t, std::size_t, std::size_t,
                             std::size_t, int);
int cudaMemcpyToArray(void*, std::size_t, std::size_t, const void*, std::size_t, int);
int cudaMemcpy3D(const Copy3D*);
int cudaMemcpyToSymbol(const void*, const void*, std::size_t, std::size_t, int);
int cudaMemcpyFromSymbol(void*, const void*, std::size_t, std::size_t, int);
int cudaFuncGetAttributes(FunctionAttributes*, const void*);
int cuMemsetD2D32_v2(Word, std::size_t, unsigned, std::size_t, std::size_t);
}

namespace {

char symbol;  // stands for the device's variable on the host
void kernel() {}

void devices() {
  unsigned flags = 0;
  check(cudaGetDeviceFlags(&flags) == 0 && flags == 8, "memory of the host is mapped in any case");
  check(cudaSetDeviceFlags(4) == 0 && cudaGetDeviceFlags(&flags) == 0 && flags == 12, "flags are kept");
  for (const unsigned wrong : {3u, 5u, 6u, 7u, 0x20u, 0x40u, 0x100u})
    check(cudaSetDeviceFlags(wrong) == kInvalidValue, "one way to wait, and flags that there are");
  check(cudaGetDeviceFlags(&flags) == 0 && flags == 12, "refused flags change nothing");
  check(cudaSetDeviceFlags(0x90) == 0 && cudaGetDeviceFlags(&flags) == 0 && flags == 0x98, "further flags");
  check(cudaSetDeviceFlags(0) == 0, "no flag");
  for (const char* name : {"0000:01:00.0", "0:1:0.0", "0000:01:00", "01:00.0", "1:0.0"}) {
    int device = -1;
    check(cudaDeviceGetByPCIBusId(&device, name) == 0 && device == 0, name);
  }
  int device = -1;
  for (const char* name : {"0000:02:00.0", "0000:00:00.0", "0001:01:00.0", "01:01.0", "0000:01:00.1"})
    check(cudaDeviceGetByPCIBusId(&device, name) == kInvalidDevice, name);
  for (const char* name : {"", "01", "01:00", "0000:01:00.0x", "bus 1", "0000:01:00.0.0"})
    check(cudaDeviceGetByPCIBusId(&device, name) == kInvalidValue, name);
}

void streams_and_events() {
  void *event = nullptr, *stream = nullptr;
  for (const unsigned flags : {0u, 1u, 2u, 3u, 6u, 7u})
    check(cudaEventCreateWithFlags(&event, flags) == 0, "flags of events");
  for (const unsigned flags : {4u, 5u, 8u})
    check(cudaEventCreateWithFlags(&event, flags) == kInvalidValue, "other processes' events have no time");
  check(cudaEventRecordWithFlags(event, nullptr, 1) == 0, "external");
  check(cudaEventRecordWithFlags(event, nullptr, 2) == kInvalidValue, "flags of records");
  check(cudaStreamWaitEvent(nullptr, event, 1) == 0, "external");
  check(cudaStreamWaitEvent(nullptr, event, 2) == kInvalidValue, "flags of waits");
  const struct { int given, kept; } priorities[] = {{-100, -5}, {-5, -5}, {-3, -3}, {0, 0}, {1, 0}, {100, 0}};
  for (const auto [given, kept] : priorities) {
    int priority = 99;
    check(cudaStreamCreateWithPriority(&stream, 1, given) == 0 &&
              cudaStreamGetPriority(stream, &priority) == 0 && priority == kept,
          "priorities are brought into their range");
  }
  check(cudaStreamCreateWithPriority(&stream, 2, 0) == kInvalidValue, "flags of streams");
}

void memory() {
  Pitched pitched{};
  std::size_t pitch = 0;
  void* pointer = nullptr;
  const std::size_t half = std::size_t{1} << 33;
  check(cudaMalloc3D(&pitched, {1, half, half}) == kOutOfMemory, "2^66 rows");
  check(cudaMalloc3D(&pitched, {kHuge, 1, 1}) == kOutOfMemory, "a row of all addresses");
  check(cudaMallocPitch(&pointer, &pitch, kHuge, 1) == kOutOfMemory, "a row of all addresses");
  check(cudaMallocPitch(&pointer, &pitch, half, half) == kOutOfMemory, "2^66 bytes");
  static char page[4096];
  check(cudaHostRegister(page, sizeof page, 16) == kInvalidValue, "flags of host memory");
  check(cudaHostRegister(page, sizeof page, 8) == kNotSupported, "read-only needs the device's support");
  check(cudaHostRegister(page, sizeof page, 3) == 0, "portable and mapped");
  check(cudaHostUnregister(page) == 0, "registered memory");
}

/// Does all of the memory have these flags, by both interfaces?
bool has_flags(void* memory, std::size_t bytes, unsigned expected) {
  for (const std::size_t offset : {std::size_t{0}, bytes - 1}) {
    void* const at = static_cast<char*>(memory) + offset;
    unsigned runtime = 99, driver = 99;
    if (cudaHostGetFlags(&runtime, at) != 0 || cuMemHostGetFlags(&driver, at) != 0) return false;
    if (runtime != expected || driver != expected) return false;
  }
  return true;
}

bool is_not_pinned(void* memory) {
  unsigned flags = 99;
  return cudaHostGetFlags(&flags, memory) == kInvalidValue &&
         cuMemHostGetFlags(&flags, memory) == kInvalidValue;
}

/// Flags of page-locked memory: those of the call, and that it is mapped, as all is with unified addressing.
void pinned() {
  constexpr std::size_t kBytes = 5000;
  constexpr unsigned kPortable = 1, kMapped = 2, kAll = 7;
  void* memory = nullptr;
  for (unsigned flags = 0; flags <= kAll; ++flags) {
    check(cudaHostAlloc(&memory, kBytes, flags) == 0 && has_flags(memory, kBytes, flags | kMapped),
          "flags of cudaHostAlloc");
    check(cudaFreeHost(memory) == 0 && is_not_pinned(memory), "freed host memory has no flags");
    check(cuMemHostAlloc(&memory, kBytes, flags) == 0 && has_flags(memory, kBytes, flags | kMapped),
          "flags of cuMemHostAlloc");
  }
  check(cudaMallocHost(&memory, kBytes) == 0 && has_flags(memory, kBytes, kMapped), "cudaMallocHost");
  check(cuMemAllocHost_v2(&memory, kBytes) == 0 && has_flags(memory, kBytes, kMapped), "cuMemAllocHost");
  static char page[2 * kBytes];
  check(is_not_pinned(page), "memory of the program's own");
  check(cudaHostRegister(page, kBytes, kPortable) == 0 && has_flags(page, kBytes, kPortable | kMapped),
        "flags of cudaHostRegister");
  check(is_not_pinned(page + kBytes), "what is behind registered memory");
  check(cudaHostUnregister(page) == 0 && is_not_pinned(page), "memory that is registered no more");
  void* device = nullptr;
  check(cudaMalloc(&device, kBytes) == 0 && is_not_pinned(device), "device memory");
  check(is_not_pinned(nullptr), "no memory");
  check(cudaHostGetFlags(nullptr, memory) == kInvalidValue, "nowhere to put the flags");
  check(cudaDeviceReset() == 0 && is_not_pinned(memory), "what a reset has freed");
}

void rows() {
  char host[64] = {};
  void* device = nullptr;
  check(cudaMalloc(&device, 4096) == 0, "memory");
  check(cudaMemcpy2D(device, 64, host, 8, 16, 2, kToDevice) == kInvalidPitch,
        "rows longer than the source's");
  check(cudaMemcpy2D(device, 8, host, 16, 16, 2, kToDevice) == kInvalidPitch, "than the target's");
  host[15] = 7;
  check(cudaMemcpy2D(device, 8, host, 8, 16, 1, kToDevice) == 0, "one row, of which the pitch says nothing");
  host[15] = 0;
  check(cudaMemcpy2D(host, 1, device, 1, 16, 1, kToHost) == 0 && host[15] == 7, "all of it");
  check(cudaMemcpy2D(device, 64, host, 16, 16, 2, 5) == kInvalidDirection, "a direction that there is not");
  check(cudaMemcpy2D(device, 64, host, 16, 16, 2, -1) == kInvalidDirection, "a direction below all");
  check(cudaMemcpy2D(device, 64, host, 16, 16, 0, kToDevice) == 0, "no row");
  check(cudaMemset2D(device, 8, 1, 9, 2) == kInvalidPitch, "filled rows longer than the pitch");
  const auto word = reinterpret_cast<Word>(device);
  check(cuMemsetD2D32_v2(word, 8, 1, 3, 2) == kInvalidValue, "three words in rows of eight bytes");
  check(cuMemsetD2D32_v2(word, 12, 1, 3, 2) == 0, "in rows of twelve");
}

void arrays() {
  char host[256] = {};
  void *array = nullptr, *wide = nullptr;
  const Format word{32, 0, 0, 0, 2}, pair{32, 32, 0, 0, 2};
  check(cudaMallocArray(&array, &word, 8, 4, 0) == 0 && cudaMallocArray(&wide, &pair, 8, 4, 0) == 0,
        "arrays");
  for (const std::size_t width : {std::size_t{131073}, std::size_t{1} << 62, kHuge})
    check(cudaMallocArray(&array, &word, width, 1, 0) == kInvalidValue, "wider than any array");
  const auto to = [&](std::size_t x, std::size_t y, std::size_t pitch, std::size_t w, std::size_t h,
                      int kind) { return cudaMemcpy2DToArray(array, x, y, host, pitch, w, h, kind); };
  check(to(0, 0, 32, 32, 4, kToDevice) == 0 && to(28, 3, 4, 4, 1, kToDevice) == 0, "all, and the last texel");
  check(to(4, 0, 32, 32, 1, kToDevice) == kInvalidValue && to(0, 1, 32, 32, 4, kToDevice) == kInvalidValue,
        "beyond a row, beyond the last row");
  check(to(8, 0, 32, kHuge - 7, 1, kToDevice) == kInvalidValue, "a width that wraps around");
  check(to(0, 2, 32, 32, kHuge - 1, kToDevice) == kInvalidValue, "a height that wraps around");
  check(to(0, 0, 16, 32, 2, kToDevice) == kInvalidPitch, "rows longer than the pitch");
  check(to(0, 0, 32, 32, 2, 7) == kInvalidDirection, "a direction that there is not");
  check(cudaMemcpy2DFromArray(host, 16, array, 0, 0, 32, 2, kToHost) == kInvalidPitch, "back, likewise");
  check(cudaMemcpy2DFromArray(host, 32, array, 0, 2, 32, kHuge, kToHost) == kInvalidValue, "wraps around");
  check(cudaMemcpyToArray(array, 0, kHuge / 32 + 1, host, 4, kToDevice) == kInvalidValue, "a row that wraps");
  check(cudaMemcpy2DArrayToArray(array, 0, 0, wide, 8, 0, kHuge - 7, 1, kWithin) == kInvalidValue, "a row");
}

void boxes() {
  char host[256] = {};
  void *array = nullptr, *wide = nullptr;
  const Format word{32, 0, 0, 0, 2}, pair{32, 32, 0, 0, 2};
  check(cudaMallocArray(&array, &word, 8, 4, 0) == 0 && cudaMallocArray(&wide, &pair, 8, 4, 0) == 0,
        "arrays");
  const Pitched packed{host, 32, 32, 4};
  Copy3D copy{nullptr, {}, packed, array, {}, {}, {8, 4, 1}, kToDevice};
  check(cudaMemcpy3D(&copy) == 0, "a whole array");
  copy.extent = {kHuge, 1, 1}, copy.to_at = {2, 0, 0};
  check(cudaMemcpy3D(&copy) == kInvalidValue, "a width that wraps around");
  copy.extent = {4, 4, 1}, copy.to_at = {}, copy.from = {host, 12, 12, 4};
  check(cudaMemcpy3D(&copy) == kInvalidPitch, "rows longer than the pitch");
  copy = {array, {}, {}, wide, {}, {}, {4, 1, 1}, kWithin};
  check(cudaMemcpy3D(&copy) == kInvalidValue, "texels of different sizes");
  void* device = nullptr;
  check(cudaMalloc(&device, 4096) == 0, "memory");
  copy = {nullptr, {}, {host, 8, 8, 2}, nullptr, {}, {device, 8, 8, 4}, {8, 4, 2}, kToDevice};
  check(cudaMemcpy3D(&copy) == kInvalidValue, "more rows than lie between two slices");
}

void variables() {
  int value = 5, read = 0;
  check(cudaMemcpyToSymbol(&symbol, &value, 4, 0, kToDevice) == 0, "to a variable");
  check(cudaMemcpyFromSymbol(&read, &symbol, 4, 0, kToHost) == 0 && read == 5, "and back");
  check(cudaMemcpyToSymbol(&symbol, &value, 4, 0, kDefault) == 0,
        "a direction that follows from the pointers");
  for (const int kind : {0, kToHost + 0, 5, -1})
    check(cudaMemcpyToSymbol(&symbol, &value, 4, 0, kind) == kInvalidDirection, "a variable is the device's");
  for (const int kind : {0, kToDevice + 0, 5, -1})
    check(cudaMemcpyFromSymbol(&read, &symbol, 4, 0, kind) == kInvalidDirection, "so it is when it is read");
  check(cudaMemcpyToSymbol(&symbol, &value, 4, 1, kToDevice) == kInvalidValue, "beyond its end");
}

/// .reqntid 8, 4: "a different CTA dimension specified at launch results in a launch failure" (PTX ISA 9.0).
void required_block() {
  FunctionAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&kernel)) == 0 &&
            attributes.max_threads == 32,
        "the most threads");
  check(launch_grid(&kernel, {1}, {8, 4, 1}, nullptr) == 0, "the required block");
  for (const Dim3 block : {Dim3{32, 1, 1}, Dim3{4, 8, 1}, Dim3{8, 2, 2}, Dim3{8, 4, 2}, Dim3{8, 3, 1}})
    check(launch_grid(&kernel, {1}, block, nullptr) == kInvalidValue, "another block");
}

}  // namespace

int main() {
  static const std::vector<char> fatbin = fatbin_of(
      ".version 8.0\n.target sm_70\n.address_size 64\n.visible .global .align 4 .u32 variable;\n"
      ".visible .entry required() .reqntid 8, 4 { ret; }\n");
  static struct {
    std::uint32_t magic = 0x466243B1, version = 1;
    const void *data = fatbin.data(), *prelinked = nullptr;
  } wrapper;
  void** const handle = __cudaRegisterFatBinary(&wrapper);
  register_kernel(handle, &kernel, "required");
  __cudaRegisterVar(handle, &symbol, nullptr, "variable", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
  devices();
  streams_and_events();
  memory();
  rows();
  arrays();
  boxes();
  variables();
  required_block();
  pinned();
  std::puts(failures == 0 ? "PASS" : "FAILED");
  return failures == 0 ? 0 : 1;
}
