// What the libraries call: functions of the runtime that this process has, by the runtime's own names.
#pragma once

#include <cstddef>

namespace lockstep::libraries {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};
using Stream = void*;
using Event = void*;

inline constexpr int kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3, kCopyDefault = 4;
inline constexpr int kAttributeMultiprocessors = 16, kAttributeMajor = 75, kAttributeMinor = 76;
inline constexpr int kFunctionMaxDynamicShared = 8;

/// X(name, parameters): all of them return an error code, 0 for success.
#define LOCKSTEP_RUNTIME_FUNCTIONS(X)                                                                       \
  X(cudaMalloc, (void**, std::size_t))                                                                      \
  X(cudaFree, (void*))                                                                                      \
  X(cudaMallocHost, (void**, std::size_t))                                                                  \
  X(cudaFreeHost, (void*))                                                                                  \
  X(cudaMallocAsync, (void**, std::size_t, Stream))                                                         \
  X(cudaFreeAsync, (void*, Stream))                                                                         \
  X(cudaMemcpy, (void*, const void*, std::size_t, int))                                                     \
  X(cudaMemcpyAsync, (void*, const void*, std::size_t, int, Stream))                                        \
  X(cudaMemcpy2D, (void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int))            \
  X(cudaMemcpy2DAsync,                                                                                      \
    (void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int, Stream))                  \
  X(cudaMemset, (void*, int, std::size_t))                                                                  \
  X(cudaMemsetAsync, (void*, int, std::size_t, Stream))                                                     \
  X(cudaGetLastError, ())                                                                                   \
  X(cudaGetDevice, (int*))                                                                                  \
  X(cudaSetDevice, (int))                                                                                   \
  X(cudaGetDeviceCount, (int*))                                                                             \
  X(cudaDeviceGetAttribute, (int*, int, int))                                                               \
  X(cudaDeviceSynchronize, ())                                                                              \
  X(cudaStreamSynchronize, (Stream))                                                                        \
  X(cudaStreamCreateWithFlags, (Stream*, unsigned))                                                         \
  X(cudaStreamDestroy, (Stream))                                                                            \
  X(cudaStreamWaitEvent, (Stream, Event, unsigned))                                                         \
  X(cudaStreamIsCapturing, (Stream, int*))                                                                  \
  X(cudaEventCreateWithFlags, (Event*, unsigned))                                                           \
  X(cudaEventRecord, (Event, Stream))                                                                       \
  X(cudaEventDestroy, (Event))                                                                              \
  X(cudaDeviceEnablePeerAccess, (int, unsigned))                                                            \
  X(cudaLibraryLoadData, (void**, const void*, const int*, void**, unsigned, const int*, void**, unsigned)) \
  X(cudaLibraryGetKernel, (void**, void*, const char*))                                                     \
  X(cudaFuncSetAttribute, (const void*, int, int))                                                          \
  X(cudaLaunchKernel, (const void*, Dim3, Dim3, void**, std::size_t, Stream))

struct Runtime {
#define X(name, parameters) int(*name) parameters = nullptr;
  LOCKSTEP_RUNTIME_FUNCTIONS(X)
#undef X
};

/// Found at the first call: the runtime for CUDA 12 where the process has loaded one, or that for CUDA 13. So
/// a process has one runtime, whichever name it has asked for this library by.
[[nodiscard]] const Runtime& runtime();

/// Throws Error where `code` is an error: kAllocation where memory was short, or kExecution.
void check(int code, const char* what);

/// The current device is `device` until the end of the scope.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int device_, before_ = 0;
};

/// Memory of the current device that is there for what is enqueued in `stream` between this object's
/// constructor and its destructor.
class Scratch {
 public:
  Scratch(std::size_t bytes, Stream stream);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] void* data() const { return data_; }
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  Stream stream_;
  void* data_ = nullptr;
};

}  // namespace lockstep::libraries
