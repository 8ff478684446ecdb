#include "libraries/sparse/context.hpp"

#include <map>
#include <mutex>

namespace lockstep::libraries::sparse {

Context::Context() {
  check(runtime().cudaFree(nullptr), "the device's first call");
  check(runtime().cudaGetDevice(&device), "cudaGetDevice");
}

Kernels& kernels_of(const std::string& file) {
  static std::mutex mutex;
  static auto& all = *new std::map<std::string, Kernels*>;
  const std::lock_guard lock(mutex);
  Kernels*& kernels = all[file];
  if (kernels == nullptr) kernels = new Kernels(embedded_ptx(file));
  return *kernels;
}

Dim3 blocks_for(long long threads) {
  constexpr long long kLargestGrid = 2147483647;
  const long long blocks = (threads + kThreads - 1) / kThreads;
  if (blocks > kLargestGrid) refuse("cusparse: a grid of more than 2^31 CTAs");
  return {static_cast<unsigned>(blocks), 1, 1};
}

void require_same_types(const char* what, std::initializer_list<int> types) {
  const int first = *types.begin();
  std::string all;
  bool same = true;
  for (const int type : types) {
    same = same && type == first;
    all += " " + std::to_string(type);
  }
  if (!same) refuse(std::string(what) + ": values and computation of different types:" + all);
}

std::size_t bytes_of(int value_type) {
  switch (value_type) {
    case kFloat:
      return 4;
    case kComplexDouble:
      return 16;
    default:
      return 8;
  }
}

LOCKSTEP_SPARSE_API cusparseCreate(void** handle) {
  return guarded(&status_of, [&] {
    require(handle != nullptr);
    *handle = handles<Context>().create();
  });
}
LOCKSTEP_SPARSE_API cusparseDestroy(void* handle) {
  return guarded(&status_of, [&] { handles<Context>().destroy(handle); });
}
LOCKSTEP_SPARSE_API cusparseSetStream(void* handle, Stream stream) {
  return with_context(handle, [&](Context& context) { context.stream = stream; });
}
LOCKSTEP_SPARSE_API cusparseGetStream(void* handle, Stream* stream) {
  return with_context(handle, [&](Context& context) {
    require(stream != nullptr);
    *stream = context.stream;
  });
}
LOCKSTEP_SPARSE_API cusparseSetPointerMode(void* handle, int mode) {
  return with_context(handle, [&](Context& context) {
    require(mode == kOnHost || mode == kOnDevice);
    context.pointer_mode = mode;
  });
}
LOCKSTEP_SPARSE_API cusparseGetPointerMode(void* handle, int* mode) {
  return with_context(handle, [&](Context& context) {
    require(mode != nullptr);
    *mode = context.pointer_mode;
  });
}
LOCKSTEP_SPARSE_API cusparseGetVersion(void* handle, int* version) {
  return with_context(handle, [&](Context&) {
    require(version != nullptr);
    *version = 1000 * kVersion[0] + 100 * kVersion[1] + kVersion[2];
  });
}
LOCKSTEP_SPARSE_API cusparseGetProperty(int property, int* value) {
  return guarded(&status_of, [&] {
    require(value != nullptr && property >= 0 && property <= 2);
    *value = kVersion[property];
  });
}

namespace {
struct Name {
  const char* name;
  const char* text;
};
Name name_of(int status) {
  static constexpr Name names[] = {
      {"CUSPARSE_STATUS_SUCCESS", "success"},
      {"CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
      {"CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
      {"CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
      {"CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"},
      {"CUSPARSE_STATUS_MAPPING_ERROR", "mapping error"},
      {"CUSPARSE_STATUS_EXECUTION_FAILED", "execution failed"},
      {"CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
      {"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported"},
      {"CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
      {"CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
      {"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"},
  };
  return status >= 0 && status < static_cast<int>(std::size(names))
             ? names[status]
             : Name{"unrecognized error code", "unknown error"};
}
}  // namespace

extern "C" __attribute__((visibility("default"))) const char* cusparseGetErrorName(int status) {
  return name_of(status).name;
}
extern "C" __attribute__((visibility("default"))) const char* cusparseGetErrorString(int status) {
  return name_of(status).text;
}

}  // namespace lockstep::libraries::sparse
