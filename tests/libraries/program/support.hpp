// What the programs of this folder share: the runtime's functions, memory on the device, random numbers, and
// checks that say which one failed.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

extern "C" {
int cudaMalloc(void**, std::size_t);
int cudaFree(void*);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemcpyAsync(void*, const void*, std::size_t, int, void*);
int cudaStreamCreateWithFlags(void**, unsigned);
int cudaStreamSynchronize(void*);
int cudaStreamDestroy(void*);
int cudaDeviceSynchronize();
int cudaGetDeviceCount(int*);
int cudaSetDevice(int);
}

inline int failures = 0;

inline void check(bool right, const std::string& what) {
  if (right) return;
  ++failures;
  std::printf("FAIL: %s\n", what.c_str());
}

/// The end of main().
inline int result() {
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}

/// An array on the device.
template <class T>
class Device {
 public:
  explicit Device(std::size_t count) : count_(count) {
    if (cudaMalloc(&data_, std::max<std::size_t>(1, count) * sizeof(T)) != 0) std::abort();
  }
  explicit Device(const std::vector<T>& values) : Device(values.size()) { set(values); }
  ~Device() { cudaFree(data_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  void set(const std::vector<T>& values) const {
    cudaMemcpy(data_, values.data(), values.size() * sizeof(T), 1);
  }
  /// After all that was enqueued.
  [[nodiscard]] std::vector<T> get() const {
    std::vector<T> values(count_);
    cudaDeviceSynchronize();
    cudaMemcpy(values.data(), data_, count_ * sizeof(T), 2);
    return values;
  }
  operator T*() const { return static_cast<T*>(data_); }

 private:
  void* data_ = nullptr;
  std::size_t count_;
};

inline std::mt19937& engine() {
  static std::mt19937 random(20260801);
  return random;
}
/// From `low` to `high`, both included.
inline int random_int(int low, int high) {
  return low + static_cast<int>(engine()() % static_cast<unsigned>(high - low + 1));
}
/// From -1 to 1.
inline double random_real() {
  return static_cast<double>(static_cast<int>(engine()() % 2001) - 1000) / 1000.0;
}

template <class T>
struct RandomOf {
  static T make() { return static_cast<T>(random_real()); }
};
template <class T>
struct RandomOf<std::complex<T>> {
  static std::complex<T> make() { return {static_cast<T>(random_real()), static_cast<T>(random_real())}; }
};
template <class T>
std::vector<T> random_values(std::size_t count) {
  std::vector<T> values(count);
  for (T& value : values) value = RandomOf<T>::make();
  return values;
}
