#include "libraries/dnn/context.hpp"

#include <algorithm>

namespace lockstep::libraries::dnn {

Context::Context() {
  check(runtime().cudaFree(nullptr), "the device's first call");
  check(runtime().cudaGetDevice(&device), "cudaGetDevice");
}

Kernels& convolution_kernels() {
  static auto& all = *new Kernels(embedded_ptx("convolution"));
  return all;
}
Kernels& pointwise_kernels() {
  static auto& all = *new Kernels(embedded_ptx("pointwise"));
  return all;
}

unsigned blocks_for(long long threads) {
  constexpr long long kLargestGrid = 2147483647;
  const long long blocks = (threads + kThreads - 1) / kThreads;
  if (blocks > kLargestGrid) refuse("cudnn: a grid of more than 2^31 CTAs");
  return static_cast<unsigned>(blocks);
}

long long elements_of(const Shape& shape) {
  long long count = 1;
  for (const int size : shape.size) count *= size;
  return count;
}

LOCKSTEP_DNN_API cudnnCreate(void** handle) {
  return entry([&] {
    require(handle != nullptr);
    *handle = handles<Context>().create();
  });
}
LOCKSTEP_DNN_API cudnnDestroy(void* handle) {
  return entry([&] { handles<Context>().destroy(handle); });
}
LOCKSTEP_DNN_API cudnnSetStream(void* handle, Stream stream) {
  return with_context(handle, [&](Context& context) { context.stream = stream; });
}
LOCKSTEP_DNN_API cudnnGetStream(void* handle, Stream* stream) {
  return with_context(handle, [&](Context& context) {
    require(stream != nullptr);
    *stream = context.stream;
  });
}
LOCKSTEP_DNN_API cudnnGetProperty(int property, int* value) {
  return entry([&] {
    require(value != nullptr && property >= 0 && property <= 2);
    *value = kVersion[property];
  });
}
extern "C" __attribute__((visibility("default"))) std::size_t cudnnGetVersion() {
  return static_cast<std::size_t>(10000 * kVersion[0] + 100 * kVersion[1] + kVersion[2]);
}
extern "C" __attribute__((visibility("default"))) const char* cudnnGetErrorString(int status) {
  switch (status) {
    case kSuccess:
      return "CUDNN_STATUS_SUCCESS";
    case kNotInitialized:
      return "CUDNN_STATUS_NOT_INITIALIZED";
    case kBadParameter:
      return "CUDNN_STATUS_BAD_PARAM";
    case kNotSupported:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    case kAllocationFailed:
      return "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED";
    case kExecutionFailed:
      return "CUDNN_STATUS_EXECUTION_FAILED";
    default:
      return "CUDNN_UNKNOWN_STATUS";
  }
}

}  // namespace lockstep::libraries::dnn
