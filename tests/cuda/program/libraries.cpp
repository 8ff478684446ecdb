// Libraries, kernels by name, launches with attributes and parameters in one buffer, entry points, handles
// for other processes: results and errors as cuda_runtime_api.h and cuda.h (CUDA 13.0) document them.
// `libraries FOLDER` writes its images there. Prints PASS, or which check failed.
#include <cstdint>
#include <fstream>
#include <string>

#include "driver_types.hpp"
#include "registration.hpp"

namespace {
struct LaunchConfig {
  unsigned grid[3], block[3], dynamic;
  void* stream;
  void* attributes;
  unsigned count;
};
struct IpcHandle {
  char bytes[64];
};
}  // namespace

extern "C" {
int cudaLibraryLoadData(void**, const void*, const int*, void**, unsigned, const int*, void**, unsigned);
int cudaLibraryLoadFromFile(void**, const char*, const int*, void**, unsigned, const int*, void**, unsigned);
int cudaLibraryUnload(void*);
int cudaLibraryGetKernel(void**, void*, const char*);
int cudaLibraryGetGlobal(void**, std::size_t*, void*, const char*);
int cudaLibraryGetUnifiedFunction(void**, void*, const char*);
int cudaKernelSetAttributeForDevice(void*, int, int, int);
int cudaLaunchCooperativeKernel(const void*, Dim3, Dim3, void**, std::size_t, void*);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, std::size_t);
int cudaDeviceGetAttribute(int*, int, int);
int cudaGetDriverEntryPoint(const char*, void**, unsigned long long, int*);
int cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, unsigned long long, int*);
int cuInit(unsigned);
int cuGetProcAddress(const char*, void**, int, unsigned long long);
int cuModuleLoad(void**, const char*);
int cuModuleLoadFatBinary(void**, const void*);
int cuModuleUnload(void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuModuleEnumerateFunctions(void**, unsigned, void*);
int cuFuncIsLoaded(int*, void*);
int cuFuncLoad(void*);
int cuFuncSetSharedMemConfig(void*, int);
int cuKernelSetCacheConfig(void*, int, int);
int cuLaunchKernelEx(const LaunchConfig*, void*, void**, void**);
int cuLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              void*, void**);
int cudaIpcGetMemHandle(IpcHandle*, void*);
int cudaIpcOpenMemHandle(void**, IpcHandle, unsigned);
int cudaIpcCloseMemHandle(void*);
int cudaIpcGetEventHandle(IpcHandle*, void*);
int cudaIpcOpenEventHandle(void**, IpcHandle);
int cudaEventCreateWithFlags(void**, unsigned);
}

namespace {

constexpr int kInvalidValue = 1, kInvalidImage = 200, kInvalidContext = 201, kInvalidPtx = 218, kNoFile = 301,
              kInvalidHandle = 400, kNotFound = 500, kTooLarge = 720, kInvalidDevice = 101;

const std::string kText = R"(.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 total = 40;
.func (.param .b32 r) helper(.param .b32 x) {
  .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, 1; st.param.b32 [r], %r; ret;
}
.visible .entry mark(.param .u64 data, .param .u32 factor, .param .u8 more) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .u16 %h;
  ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [factor]; ld.param.u8 %h, [more];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r2, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2; cvt.u32.u16 %r5, %h; mad.lo.u32 %r1, %r1, %r2, %r5;
  st.global.u32 [%rd3], %r1; ret;
}
.visible .entry second() { ret; }
)";

unsigned value(void* data, std::size_t i) {
  unsigned found = ~0u;
  check(cudaMemcpy(&found, static_cast<unsigned*>(data) + i, 4, 2) == 0, "fetch");
  return found;
}

int load(void** library, const char* path) {
  return cudaLibraryLoadFromFile(library, path, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

void files(const std::string& folder) {
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder + "/" + name, std::ios::binary) << text;
    return folder + "/" + name;
  };
  void *library = nullptr, *module = nullptr, *kernel = nullptr;
  check(load(&library, write("good.ptx", kText).c_str()) == 0 &&
            cudaLibraryGetKernel(&kernel, library, "second") == 0 && kernel != nullptr,
        "a file of PTX");
  check(load(&module, (folder + "/none").c_str()) == kNoFile &&
            cuModuleLoad(&module, (folder + "/none").c_str()) == kNoFile,
        "a file that is not there");
  check(load(&module, write("empty", "").c_str()) == kInvalidImage, "an empty file");
  check(load(&module, write("bad.ptx", kText + ".visible .entry broken() { add.u32 %x, 1; }").c_str()) ==
                kInvalidPtx &&
            cuModuleLoad(&module, (folder + "/bad.ptx").c_str()) == kInvalidPtx,
        "PTX that is none");
  check(load(&module, nullptr) == kInvalidValue &&
            cuModuleLoad(nullptr, (folder + "/good.ptx").c_str()) == kInvalidValue,
        "no file, no place");
  const std::vector<char> fat = fatbin_of(kText);
  check(cuModuleLoadFatBinary(&module, fat.data()) == 0 && cuModuleGetFunction(&kernel, module, "mark") == 0,
        "a fatbin");
  void* functions[4] = {};
  int loaded = -1;
  check(cuModuleEnumerateFunctions(functions, 1, module) == 0 && functions[0] == kernel &&
            functions[1] == nullptr && cuModuleEnumerateFunctions(functions, 4, module) == 0 &&
            functions[1] != nullptr && functions[2] == nullptr,
        "its kernels, as many as are asked for");
  check(cuFuncIsLoaded(&loaded, kernel) == 0 && loaded == 1 && cuFuncLoad(kernel) == 0 &&
            cuFuncSetSharedMemConfig(kernel, 1) == 0 &&
            cuFuncSetSharedMemConfig(kernel, 3) == kInvalidValue &&
            cuFuncIsLoaded(nullptr, kernel) == kInvalidValue,
        "a loaded function");
  check(cuModuleUnload(module) == 0 && cuModuleUnload(module) != 0 && cudaLibraryUnload(library) == 0 &&
            cudaLibraryUnload(library) != 0 && cudaLibraryGetKernel(&kernel, library, "mark") != 0,
        "what is unloaded is gone");
}

void* names() {
  void *library = nullptr, *kernel = nullptr, *found = nullptr;
  std::size_t bytes = 0;
  check(cudaLibraryLoadData(&library, kText.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0) == 0,
        "a library");
  check(cudaLibraryGetKernel(&kernel, library, "mark") == 0, "a kernel");
  for (const char* name : {"helper", "total", "none", ""})
    check(cudaLibraryGetKernel(&found, library, name) == kNotFound, name);
  check(cudaLibraryGetKernel(&found, library, nullptr) == kInvalidValue &&
            cudaLibraryGetKernel(nullptr, library, "mark") == kInvalidValue,
        "no name, no place");
  check(cudaLibraryGetGlobal(&found, &bytes, library, "total") == 0 && bytes == 4 && value(found, 0) == 40 &&
            cudaLibraryGetGlobal(&found, &bytes, library, "mark") == kNotFound &&
            cudaLibraryGetUnifiedFunction(&found, library, "mark") == kNotFound,
        "variables");
  check(cuKernelSetCacheConfig(kernel, 2, 0) == 0 && cuKernelSetCacheConfig(kernel, 4, 0) == kInvalidValue &&
            cudaKernelSetAttributeForDevice(kernel, 8, 1024, 0) == 0 &&
            cudaKernelSetAttributeForDevice(kernel, 8, 1 << 30, 0) == kInvalidValue &&
            cudaKernelSetAttributeForDevice(kernel, 99, 1, 0) == kInvalidValue &&
            cudaKernelSetAttributeForDevice(kernel, 8, 1024, 9) == kInvalidDevice,
        "attributes of kernels");
  return kernel;
}

constexpr LaunchConfig config{{1, 1, 1}, {32, 1, 1}, 0, nullptr, nullptr, 0};

/// Parameters in one buffer, and one by one.
void buffers(void* kernel, void* data) {
  struct {
    void* data;
    unsigned factor;
    unsigned char more, rest[3];
  } buffer{data, 11, 1, {}};
  std::size_t bytes = sizeof buffer;
  void* extra[] = {reinterpret_cast<void*>(1), &buffer, reinterpret_cast<void*>(2), &bytes, nullptr};
  check(cuLaunchKernelEx(&config, kernel, nullptr, extra) == 0 && value(data, 9) == 100,
        "parameters in a buffer");
  bytes = 12;
  check(cuLaunchKernelEx(&config, kernel, nullptr, extra) == kInvalidValue, "that ends before the last one");
  unsigned factor = 2;
  unsigned char more = 7;
  void* arguments[] = {&data, &factor, &more};
  void* unknown[] = {reinterpret_cast<void*>(3), &buffer, nullptr};
  check(cuLaunchKernelEx(&config, kernel, nullptr, unknown) == kInvalidValue &&
            cuLaunchKernelEx(nullptr, kernel, arguments, nullptr) == kInvalidValue,
        "a key that there is not, no launch");
  check(cuLaunchKernelEx(&config, kernel, arguments, nullptr) == 0 && value(data, 9) == 25,
        "parameters one by one");
}

void launches(void* kernel) {
  void* data = nullptr;
  int fit = 0, sms = 0;
  check(cudaMalloc(&data, 1 << 20) == 0 && cudaMemset(data, 0xff, 1 << 20) == 0 &&
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, 64, 0) == 0 &&
            cudaDeviceGetAttribute(&sms, 16, 0) == 0,
        "begin");
  unsigned factor = 3;
  unsigned char more = 7;
  void* arguments[] = {&data, &factor, &more};
  const auto all = static_cast<unsigned>(fit * sms);
  check(cudaLaunchCooperativeKernel(kernel, {all}, {64}, arguments, 0, nullptr) == 0 &&
            cudaDeviceSynchronize() == 0 && value(data, 0) == 7 &&
            value(data, 64 * all - 1) == 3 * (64 * all - 1) + 7,
        "as many CTAs as fit");
  check(cudaLaunchCooperativeKernel(kernel, {all + 1}, {64}, arguments, 0, nullptr) == kTooLarge &&
            cuLaunchCooperativeKernel(kernel, all + 1, 1, 1, 64, 1, 1, 0, nullptr, arguments) == kTooLarge &&
            cuLaunchCooperativeKernel(kernel, 1, 1, all + 1, 64, 1, 1, 0, nullptr, arguments) == kTooLarge,
        "one more");
  factor = 5;
  check(cuLaunchCooperativeKernel(kernel, 2, 1, 1, 32, 1, 1, 0, nullptr, arguments) == 0 &&
            value(data, 33) == 172,
        "by the driver");
  buffers(kernel, data);
  void* missing[] = {&data, nullptr, &more};
  check(cuLaunchKernelEx(&config, kernel, missing, nullptr) == kInvalidValue &&
            cuLaunchKernelEx(&config, kernel, nullptr, nullptr) == kInvalidValue,
        "parameters that are missing");
}

void entry_points() {
  void* found = nullptr;
  int status = -1;
  check(cudaGetDriverEntryPoint("cuInit", &found, 0, &status) == 0 && status == 0 &&
            found == reinterpret_cast<void*>(&cuInit),
        "an entry point");
  check(cudaGetDriverEntryPoint("cuNone", &found, 0, &status) == 0 && status == 1 && found == nullptr &&
            cudaGetDriverEntryPoint("cuNone", &found, 0, nullptr) == kNotFound,
        "one that there is not");
  check(cudaGetDriverEntryPoint("cudaMalloc", &found, 0, &status) == 0 && status == 1, "of the runtime");
  check(cudaGetDriverEntryPoint(nullptr, &found, 0, &status) == kInvalidValue &&
            cudaGetDriverEntryPoint("cuInit", nullptr, 0, &status) == kInvalidValue,
        "no name, no place");
  void *old = nullptr, *now = nullptr;
  check(cudaGetDriverEntryPointByVersion("cuMemcpyBatchAsync", &old, 12080, 0, &status) == 0 && status == 0 &&
            cudaGetDriverEntryPointByVersion("cuMemcpyBatchAsync", &now, 13000, 0, &status) == 0 &&
            status == 0 && old != now && cuGetProcAddress("cuMemcpyBatchAsync", &found, 13000, 0) == 0 &&
            found == now,
        "forms by version");
}

/// In one process: what the documentation says of handles that come back to where they were made.
void handles() {
  void *memory = nullptr, *opened = nullptr, *event = nullptr, *plain = nullptr;
  IpcHandle handle{}, none{};
  check(cudaMalloc(&memory, 4096) == 0 && cudaIpcGetMemHandle(&handle, memory) == 0, "a handle of memory");
  check(cudaIpcGetMemHandle(&handle, static_cast<char*>(memory) + 4) == kInvalidValue &&
            cudaIpcGetMemHandle(nullptr, memory) == kInvalidValue &&
            cudaIpcGetMemHandle(&handle, &handle) == kInvalidValue,
        "what has no handle");
  check(cudaIpcOpenMemHandle(&opened, handle, 1) == kInvalidContext && opened == nullptr,
        "in the same process");
  check(cudaIpcOpenMemHandle(&opened, handle, 0) == kInvalidValue &&
            cudaIpcOpenMemHandle(nullptr, handle, 1) == kInvalidValue,
        "flags, no place");
  check(cudaIpcOpenMemHandle(&opened, none, 1) == kInvalidHandle &&
            cudaIpcCloseMemHandle(memory) == kInvalidValue,
        "what is no handle, what was not opened");
  check(cudaEventCreateWithFlags(&event, 6) == 0 && cudaEventCreateWithFlags(&plain, 2) == 0 &&
            cudaIpcGetEventHandle(&handle, event) == 0 &&
            cudaIpcGetEventHandle(&handle, plain) == kInvalidHandle,
        "handles of events");
  check(cudaIpcOpenEventHandle(&plain, handle) == 0 &&
            cudaIpcOpenEventHandle(&plain, none) == kInvalidHandle &&
            cudaIpcOpenEventHandle(nullptr, handle) == kInvalidValue &&
            cudaIpcGetEventHandle(nullptr, event) == kInvalidValue,
        "events that are opened");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  check(cuInit(0) == 0, "begin");
  files(argv[1]);
  launches(names());
  entry_points();
  handles();
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
