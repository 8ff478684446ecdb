// What a program sets and asks for: of devices, contexts, streams, functions, libraries. What is expected is
// what the documentation in cuda_runtime_api.h and cuda.h (CUDA 13.0) says. Prints PASS, or which check
// failed.
#include "settings.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>

#include "driver_types.hpp"
#include "registration.hpp"

namespace {

constexpr int kInvalidValue = 1, kInvalidContext = 201, kUnsupportedLimit = 215, kInvalidDevice = 101,
              kInvalidHandle = 400, kNotFound = 500, kNotSupported = 801, kCaptureUnsupported = 900;

void kernel() {}
void other_kernel() {}

/// A setting with the values that it may have; the first is what a new device has.
template <class T>
void round_trip(int (*set)(T), int (*get)(T*), std::initializer_list<T> values,
                std::initializer_list<T> wrong, const char* what) {
  T found{};
  check(get(&found) == 0 && found == *values.begin(), what);
  T last{};
  for (const T value : values) {
    check(set(value) == 0 && get(&found) == 0 && found == value, what);
    last = value;
  }
  for (const T value : wrong) check(set(value) == kInvalidValue, what);
  check(get(&found) == 0 && found == last, what);  // what was refused has changed nothing
  check(get(nullptr) == kInvalidValue, what);
}

/// To be called before anything else has used the device.
void primary_context() {
  unsigned flags = 99;
  int active = 99;
  const auto state = [&](bool expected, const char* what) {
    check(cuDevicePrimaryCtxGetState(0, &flags, &active) == 0 && active == (expected ? 1 : 0), what);
  };
  check(cuInit(0) == 0 && cuInit(1) == kInvalidValue, "flags of the driver");
  state(false, "a device that nothing has used");
  void *context = nullptr, *memory = nullptr;
  check(cuDevicePrimaryCtxRetain(&context, 0) == 0 && context != nullptr, "retain");
  state(true, "a context that is retained");
  check(cuDevicePrimaryCtxRelease_v2(0) == 0, "release");
  state(false, "a context that was released");
  check(cudaMalloc(&memory, 64) == 0, "memory");
  state(true, "a device that the runtime has used");
  check(cudaDeviceReset() == 0, "reset");
  state(false, "a device that was reset");
  check(cuDevicePrimaryCtxSetFlags_v2(0, 4) == 0, "flags of the primary context");
  state(false, "flags make no context");
  check(flags == 4, "they are kept");
  for (const unsigned wrong : {3u, 0x100u})
    check(cuDevicePrimaryCtxSetFlags_v2(0, wrong) == kInvalidValue, "one way to wait, flags that there are");
  check(cuDevicePrimaryCtxSetFlags_v2(0, 0) == 0, "no flags");
  check(cuDevicePrimaryCtxRetain(&context, 9) == kInvalidDevice, "a device that is not there");
  check(cuDevicePrimaryCtxGetState(0, nullptr, &active) == kInvalidValue, "nowhere to put the flags");
}

void devices() {
  round_trip<int>(cudaDeviceSetCacheConfig, cudaDeviceGetCacheConfig, {0, 1, 2, 3}, {-1, 4}, "cache");
  check(cudaDeviceSetCacheConfig(0) == 0, "no preference");
  round_trip<int>(cuCtxSetCacheConfig, cuCtxGetCacheConfig, {0, 3, 2}, {-1, 4}, "cache of the context");
  int banks = 0;
  for (const int wanted : {0, 1, 2})  // since compute capability 5.0 they are of four bytes
    check(
        cudaDeviceSetSharedMemConfig(wanted) == 0 && cudaDeviceGetSharedMemConfig(&banks) == 0 && banks == 1,
        "banks of shared memory");
  check(cudaDeviceSetSharedMemConfig(3) == kInvalidValue, "banks that there are not");
  std::size_t value = 0;
  for (int limit = 0; limit < 7; ++limit) {
    const std::size_t wanted = 4096 + 128 * static_cast<std::size_t>(limit);
    check(cudaDeviceSetLimit(limit, wanted) == 0 && cudaDeviceGetLimit(&value, limit) == 0 &&
              value == wanted && cuCtxGetLimit(&value, limit) == 0 && value == wanted,
          "limits");
  }
  for (const int limit : {-1, 7, 100}) {
    check(cudaDeviceSetLimit(limit, 1) == kUnsupportedLimit, "a limit that there is not");
    check(cuCtxGetLimit(&value, limit) == kUnsupportedLimit, "nor in the driver");
  }
  int least = 9, greatest = 9, version = 0, driver = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest) == 0 && least == 0 && greatest < 0, "priorities");
  check(cudaDeviceGetStreamPriorityRange(nullptr, nullptr) == 0, "either may be left out");
  check(cudaRuntimeGetVersion(&version) == 0 && cudaDriverGetVersion(&driver) == 0 && version == 13000 &&
            driver >= version,
        "versions");
  check(cudaInitDevice(0, 0, 0) == 0 && cudaInitDevice(1, 0, 0) == kInvalidDevice, "initialised devices");
  int none = 5;
  check(cudaSetValidDevices(&none, 1) == kInvalidDevice && cudaSetValidDevices(nullptr, 0) == 0,
        "devices to choose from");
}

/// The same facts by attributes, properties and functions.
void facts() {
  int major = 0, minor = 0, found = 0;
  const auto attribute = [](int number) {
    int value = -1;
    check(cuDeviceGetAttribute(&value, number, 0) == 0, "attributes");
    return value;
  };
  check(cuDeviceComputeCapability(&major, &minor, 0) == 0 && attribute(75) == major && attribute(76) == minor,
        "compute capability");
  Properties p{};
  check(cuDeviceGetProperties(&p, 0) == 0 && p.threads_per_cta == attribute(1) && p.cta[0] == attribute(2) &&
            p.cta[2] == attribute(4) && p.grid[0] == attribute(5) && p.grid[1] == attribute(6) &&
            p.shared == attribute(8) && p.constant == attribute(9) && p.warp == 32 &&
            p.registers == attribute(12) && p.clock == attribute(13) && p.alignment == attribute(14),
        "properties");
  std::size_t total = 0, free = 0, all = 0;
  check(
      cuDeviceTotalMem_v2(&total, 0) == 0 && cuMemGetInfo_v2(&free, &all) == 0 && total == all && free <= all,
      "memory");
  char name[4] = {}, uuid[16] = {}, nothing[16] = {};
  check(cuDeviceGetName(name, sizeof name, 0) == 0 && std::strlen(name) == 3, "a name is cut to its place");
  check(cuDeviceGetUuid_v2(uuid, 0) == 0 && std::memcmp(uuid, nothing, 16) != 0, "a device has a number");
  check(cuDeviceGetAttribute(&found, 0, 0) == kInvalidValue, "an attribute that there is not");
  check(cuDeviceGetAttribute(&found, 1, 1) == kInvalidDevice &&
            cuDeviceTotalMem_v2(&total, -1) == kInvalidDevice,
        "devices that there are not");
  check(cuDeviceGetCount(&found) == 0 && found == 1 && cuDeviceGetCount(nullptr) == kInvalidValue, "count");
  unsigned atomics = 9;
  const int operation = 0;
  check(cuDeviceGetHostAtomicCapabilities(&atomics, &operation, 0, 0) == kInvalidValue, "no operation");
}

void contexts() {
  void *made = nullptr, *found = nullptr, *second = nullptr;
  for (const unsigned wrong : {3u, 6u, 0x100u, 0x80000000u})
    check(cuCtxCreate_v2(&made, wrong, 0) == kInvalidValue, "one way to wait, and flags that there are");
  check(cuCtxCreate_v2(&made, 4 | 0x10, 0) == 0, "blocking, and keeping local memory");
  unsigned flags = 0;
  check(cuCtxGetFlags(&flags) == 0 && flags == (4 | 0x10), "flags of the current context");
  check(cuCtxSetFlags(2) == 0 && cuCtxGetFlags(&flags) == 0 && flags == 2, "changed flags");
  check(cuCtxSetFlags(3) == kInvalidValue && cuCtxGetFlags(&flags) == 0 && flags == 2, "refused flags");
  check(cuCtxCreate_v2(&second, 0, 0) == 0 && cuCtxGetCurrent(&found) == 0 && found == second, "the new one");
  unsigned long long first_id = 0, second_id = 0;
  check(cuCtxGetId(made, &first_id) == 0 && cuCtxGetId(nullptr, &second_id) == 0 && first_id != second_id,
        "no two have one number");
  check(cuCtxPopCurrent_v2(&found) == 0 && found == second && cuCtxGetCurrent(&found) == 0 && found == made,
        "the one below");
  check(cuCtxPushCurrent_v2(second) == 0 && cuCtxSetCurrent(made) == 0 && cuCtxDestroy_v2(second) == 0,
        "in place of the uppermost one");
  check(cuCtxDestroy_v2(second) == kInvalidContext, "a context that is no more");
  check(cuCtxPushCurrent_v2(nullptr) == kInvalidValue, "no context");
  check(cuCtxDestroy_v2(made) == 0, "the first");
  while (cuCtxPopCurrent_v2(nullptr) == 0) {
  }
  check(cuCtxPopCurrent_v2(nullptr) == kInvalidContext, "an empty stack");
  int device = 0;
  check(cuCtxGetDevice(&device) == kInvalidContext, "no current context");
  check(cuCtxGetCurrent(&found) == 0 && found == nullptr, "which is no error to ask for");
  check(cudaSetDevice(0) == 0 && cuCtxGetDevice(&device) == 0 && device == 0, "the runtime's");
}

struct Called {
  void* stream = nullptr;
  int status = -1, times = 0;
};
void call_back(void* stream, int status, void* data) {
  auto& called = *static_cast<Called*>(data);
  called = {stream, status, called.times + 1};
}

void streams() {
  void *plain = nullptr, *other = nullptr, *graph = nullptr;
  check(cudaStreamCreateWithPriority(&plain, 1, -2) == 0 && cuStreamCreate(&other, 0) == 0, "streams");
  unsigned flags = 9;
  check(cudaStreamGetFlags(plain, &flags) == 0 && flags == 1 && cuStreamGetFlags(other, &flags) == 0 &&
            flags == 0 && cudaStreamGetFlags(nullptr, &flags) == 0 && flags == 0,
        "flags of streams");
  std::set<unsigned long long> ids;
  for (void* stream : {plain, other, static_cast<void*>(nullptr)}) {
    unsigned long long id = 0;
    check(cudaStreamGetId(stream, &id) == 0, "numbers of streams");
    ids.insert(id);
  }
  check(ids.size() == 3, "no two have one number");
  AttributeValue value{}, found{};
  value.number = 3;  // blocking
  check(cudaStreamSetAttribute(plain, 3, &value) == 0 && cudaStreamGetAttribute(plain, 3, &found) == 0 &&
            found.number == 3,
        "the way to wait");
  check(cudaStreamGetAttribute(other, 3, &found) == 0 && found.number == 0, "the default way");
  check(cudaStreamGetAttribute(plain, 8, &found) == 0 && found.number == -2, "a priority as it was given");
  value.number = -100;
  check(cudaStreamSetAttribute(plain, 8, &value) == 0 && cudaStreamGetAttribute(plain, 8, &found) == 0 &&
            found.number == -5,
        "a priority is brought into its range");
  for (const int wrong : {0, 2, 4, 7, 100})
    check(cudaStreamSetAttribute(plain, wrong, &value) == kInvalidValue, "attributes of launches only");
  check(cudaStreamCopyAttributes(other, plain) == 0 && cudaStreamGetAttribute(other, 3, &found) == 0 &&
            found.number == 3 && cudaStreamGetAttribute(other, 8, &found) == 0 && found.number == -5,
        "copied attributes");
  int priority = 9;
  check(cuStreamGetPriority(other, &priority) == 0 && priority == -5, "also in what is reported");
  Called called;
  check(cudaStreamAddCallback(plain, &call_back, &called, 0) == 0 && cudaStreamSynchronize(plain) == 0 &&
            called.times == 1 && called.stream == plain && called.status == 0,
        "a callback");
  check(cudaStreamAddCallback(plain, &call_back, &called, 1) == kInvalidValue &&
            cudaStreamAddCallback(plain, nullptr, &called, 0) == kInvalidValue,
        "callbacks have no flags, and a function");
  check(cudaStreamBeginCapture(plain, 0) == 0 &&
            cudaStreamAddCallback(plain, &call_back, &called, 0) == kCaptureUnsupported,
        "callbacks cannot be captured");
  check(cudaStreamEndCapture(plain, &graph) == 0 && called.times == 1, "nor called");
  check(cudaStreamDestroy(plain) == 0 && cuStreamDestroy_v2(other) == 0, "streams");
}

void functions() {
  const auto* const host = reinterpret_cast<const void*>(&kernel);
  void *function = nullptr, *same = nullptr;
  const char *name = nullptr, *again = nullptr;
  check(cudaGetFuncBySymbol(&function, host) == 0 && cudaGetKernel(&same, host) == 0,
        "the function of a host symbol");
  check(cudaFuncGetName(&name, host) == 0 && std::strcmp(name, "first") == 0 &&
            cuFuncGetName(&again, function) == 0 && std::strcmp(again, "first") == 0,
        "its name");
  // (u8, u64, .align 16 .b8[24], f32)
  const std::size_t expected[][2] = {{0, 1}, {8, 8}, {16, 24}, {40, 4}};
  std::size_t offset = 0, size = 0;
  for (std::size_t i = 0; i < 4; ++i)
    check(cudaFuncGetParamInfo(host, i, &offset, &size) == 0 && offset == expected[i][0] &&
              size == expected[i][1],
          "parameters");
  check(cudaFuncGetParamInfo(host, 1, &offset, nullptr) == 0 && offset == 8, "the size may be left out");
  check(cudaFuncGetParamInfo(host, 4, &offset, &size) == kInvalidValue, "a parameter too many");
  int found = 0;
  const struct { int attribute, good, wrong; } rows[] = {{8, 40000, 1 << 30}, {9, 50, 101}, {14, 1, 2}};
  for (const auto& [attribute, good, wrong] : rows) {
    check(cudaFuncSetAttribute(host, attribute, good) == 0 &&
              cuFuncGetAttribute(&found, attribute, function) == 0 && found == good,
          "attributes of functions");
    check(cuFuncSetAttribute(function, attribute, wrong) == kInvalidValue &&
              cuFuncGetAttribute(&found, attribute, function) == 0 && found == good,
          "values that they cannot have");
  }
  check(cuFuncSetAttribute(function, 0, 64) == kInvalidValue, "most attributes are only read");
  check(cudaFuncSetCacheConfig(host, 2) == 0 && cudaFuncSetCacheConfig(host, 4) == kInvalidValue, "cache");
  check(cuFuncSetCacheConfig(function, -1) == kInvalidValue, "a cache preference that there is not");
  check(cudaFuncSetSharedMemConfig(host, 1) == 0 && cudaFuncSetSharedMemConfig(host, 3) == kInvalidValue,
        "banks");
  int unknown = 0;
  check(cudaFuncSetCacheConfig(&unknown, 0) == 98 && cudaFuncGetName(&name, &unknown) == 98,
        "what is no kernel");  // cudaErrorInvalidDeviceFunction
}

void libraries(const char* ptx) {
  void *library = nullptr, *module = nullptr, *found = nullptr, *kernels[3] = {}, *function = nullptr;
  check(cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0) == 0, "a library");
  unsigned count = 0;
  check(cuLibraryGetKernelCount(&count, library) == 0 && count == 2, "its kernels");
  check(cuLibraryEnumerateKernels(kernels, 3, library) == 0 && kernels[0] != nullptr &&
            kernels[1] != nullptr && kernels[0] != kernels[1] && kernels[2] == nullptr,
        "each of them");
  check(cuLibraryGetKernel(&found, library, "second") == 0 && std::count(kernels, kernels + 2, found) == 1,
        "by name");
  check(cuLibraryGetKernel(&found, library, "third") == kNotFound, "a name that there is not");
  check(cuKernelGetLibrary(&module, kernels[0]) == 0 && module == library, "whose a kernel is");
  const char* name = nullptr;
  check(cuKernelGetFunction(&function, found) == 0 && cuKernelGetName(&name, found) == 0 &&
            std::strcmp(name, "second") == 0,
        "its function and name");
  check(cuKernelSetAttribute(9, 25, found, 0) == 0, "an attribute");
  int value = 0;
  check(cuKernelGetAttribute(&value, 9, found, 0) == 0 && value == 25, "which is the kernel's");
  std::size_t offset = 0, size = 0, bytes = 0;
  check(cuKernelGetParamInfo(found, 0, &offset, &size) == 0 && offset == 0 && size == 4, "its parameter");
  Word variable = 0, again = 0;
  check(cuLibraryGetGlobal(&variable, &bytes, library, "variable") == 0 && bytes == 12, "a variable");
  check(cuLibraryGetGlobal(&again, nullptr, library, "variable") == 0 && again == variable, "where it was");
  check(cuLibraryGetGlobal(&again, &bytes, library, "fixed") == kNotFound, "a name that there is not");
  check(cuLibraryGetManaged(&again, &bytes, library, "shared") == 0 && bytes == 8 && again != 0,
        "managed memory");
  check(cuLibraryGetManaged(&again, &bytes, library, "variable") == kNotFound, "which not all is");
  check(cuLibraryGetModule(&module, library) == 0 && cuModuleGetFunction(&function, module, "first") == 0,
        "its module");
  check(cuFuncGetModule(&found, function) == 0 && found == module, "and back");
  check(cuModuleGetSurfRef(&found, module, "reference") == kNotFound, "references are not of CUDA 13");
  check(cuLibraryUnload(library) == 0, "the end");
  check(cuLibraryGetKernelCount(&count, library) == kInvalidHandle, "of everything");
  check(cuLibraryLoadFromFile(&library, "/no/such/file", nullptr, nullptr, 0, nullptr, nullptr, 0) == 301,
        "a file that there is not");  // CUDA_ERROR_FILE_NOT_FOUND
}

}  // namespace

int main() {
  static const std::string ptx =
      ".version 8.0\n.target sm_70\n.address_size 64\n.visible .global .align 4 .b8 variable[12];\n"
      ".visible .global .attribute(.managed) .align 8 .b64 shared;\n"
      ".visible .entry first(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[24], .param .f32 d) { ret; "
      "}\n"
      ".visible .entry second(.param .u32 a) { ret; }\n";
  static const std::vector<char> fatbin = fatbin_of(ptx);
  static struct {
    std::uint32_t magic = 0x466243B1, version = 1;
    const void *data = fatbin.data(), *prelinked = nullptr;
  } wrapper;
  void** const handle = __cudaRegisterFatBinary(&wrapper);
  register_kernel(handle, &kernel, "first");
  register_kernel(handle, &other_kernel, "second");
  __cudaRegisterFatBinaryEnd(handle);
  primary_context();
  devices();
  facts();
  contexts();
  streams();
  functions();
  libraries(ptx.c_str());
  std::puts(failures == 0 ? "PASS" : "FAILED");
  return failures == 0 ? 0 : 1;
}
