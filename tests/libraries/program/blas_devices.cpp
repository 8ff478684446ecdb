// cuBLAS: handles of two devices, one of which is not the current one; several host threads; a product in a
// graph.
#include <thread>

#include "blas.hpp"

extern "C" {
int cublasSgemm_v2(Handle, int, int, int, int, int, const float*, const float*, int, const float*, int,
                   const float*, float*, int);
int cublasSsymm_v2(Handle, int, int, int, int, const float*, const float*, int, const float*, int,
                   const float*, float*, int);
int cudaGetDevice(int*);
int cudaStreamBeginCapture(void*, int);
int cudaStreamEndCapture(void*, void**);
int cudaGraphInstantiate(void**, void*, unsigned long long);
int cudaGraphLaunch(void*, void*);
}

namespace {

constexpr int kSize = 40;

/// The square of a matrix of `value`s, by `handle`, in memory of its device.
bool squares(Handle handle, int device, float value) {
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(device);
  const Device<float> a(std::vector<float>(kSize * kSize, value)), c(kSize * kSize);
  cudaSetDevice(before);
  const float one = 1, zero = 0;
  const int status =
      cublasSgemm_v2(handle, kN, kN, kSize, kSize, kSize, &one, a, kSize, a, kSize, &zero, c, kSize);
  int after = -1;
  cudaGetDevice(&after);
  cudaSetDevice(device);
  const bool right = c.get() == std::vector<float>(kSize * kSize, kSize * value * value);
  cudaSetDevice(before);
  return status == 0 && before == after && right;
}

void devices() {
  int count = 0;
  check(cudaGetDeviceCount(&count) == 0 && count == 2, "two devices");
  Handle handles[2] = {};
  for (int i = 0; i < 2; ++i) check(cudaSetDevice(i) == 0 && cublasCreate_v2(&handles[i]) == 0, "a handle");
  cudaSetDevice(0);
  for (const int i : {0, 1, 0, 1})
    check(squares(handles[i], i, static_cast<float>(i + 2)), "device " + std::to_string(i));
  for (Handle handle : handles) check(cublasDestroy_v2(handle) == 0, "the end of a handle");
}

void threads() {
  bool right[4] = {};
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i)
    all.emplace_back([&right, i] {
      Handle handle = nullptr;
      right[i] = cublasCreate_v2(&handle) == 0 && squares(handle, 0, static_cast<float>(i)) &&
                 cublasDestroy_v2(handle) == 0;
    });
  for (std::thread& thread : all) thread.join();
  for (const bool one : right) check(one, "a thread");
}

/// symm has scratch memory, which becomes part of the graph.
void graph() {
  Handle handle = nullptr;
  void *stream = nullptr, *captured = nullptr, *executable = nullptr;
  check(cublasCreate_v2(&handle) == 0 && cudaStreamCreateWithFlags(&stream, 1) == 0 &&
            cublasSetStream_v2(handle, stream) == 0,
        "a handle");
  const Device<float> a(std::vector<float>(kSize * kSize, 1)), c(std::vector<float>(kSize * kSize, 0));
  const float one = 1;
  check(cudaStreamBeginCapture(stream, 0) == 0, "a capture");
  check(cublasSsymm_v2(handle, kLeft, kLower, kSize, kSize, &one, a, kSize, a, kSize, &one, c, kSize) == 0,
        "symm");
  check(cudaStreamEndCapture(stream, &captured) == 0 && cudaGraphInstantiate(&executable, captured, 0) == 0,
        "a graph");
  check(c.get() == std::vector<float>(kSize * kSize, 0), "nothing has run");
  for (int i = 1; i <= 2; ++i) {
    check(cudaGraphLaunch(executable, stream) == 0 &&
              c.get() == std::vector<float>(kSize * kSize, static_cast<float>(i * kSize)),
          "a launch");
  }
  check(cublasDestroy_v2(handle) == 0, "the end of the handle");
}

}  // namespace

int main() {
  devices();
  threads();
  graph();
  return result();
}
