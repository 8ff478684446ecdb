// cuBLAS as programs see it, without its headers; and matrices by definition.
#pragma once

#include <complex>

#include "support.hpp"

using Handle = void*;
using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;
constexpr int kNotInitialized = 1, kInvalid = 7, kNotSupported = 15;
constexpr int kN = 0, kT = 1, kC = 2;
constexpr int kLower = 0, kUpper = 1, kLeft = 0, kRight = 1, kUnit = 1;

extern "C" {
int cublasCreate_v2(Handle*);
int cublasDestroy_v2(Handle);
int cublasSetStream_v2(Handle, void*);
int cublasSetPointerMode_v2(Handle, int);
}

template <class T>
struct Exact {
  using Type = double;
};
template <class T>
struct Exact<std::complex<T>> {
  using Type = std::complex<double>;
};
/// What results of T are computed with here.
template <class T>
using Wide = typename Exact<T>::Type;
template <class T>
Wide<T> wide(T x) {
  return Wide<T>(x);
}
inline double conjugate(double x) { return x; }
inline Complex128 conjugate(Complex128 x) { return std::conj(x); }
template <class T>
constexpr double kEpsilon = std::is_same_v<T, float> || std::is_same_v<T, Complex64> ? 1.2e-7 : 2.3e-16;

/// Column-major, with rows that belong to nothing between the columns.
template <class T>
struct Matrix {
  int rows, columns, ld;
  std::vector<T> values;

  Matrix(int r, int c, int extra = 0) : rows(r), columns(c), ld(std::max(1, r) + extra) {
    values = random_values<T>(static_cast<std::size_t>(ld) * static_cast<std::size_t>(std::max(0, c)) + 1);
  }
  T& at(int i, int j) { return values[static_cast<std::size_t>(i + j * ld)]; }
  const T& at(int i, int j) const { return values[static_cast<std::size_t>(i + j * ld)]; }
  /// Of op(this).
  Wide<T> op(int kind, int i, int j) const {
    return kind == kN ? wide(at(i, j)) : kind == kT ? wide(at(j, i)) : conjugate(wide(at(j, i)));
  }
};

template <class T>
bool close(const std::vector<T>& found, const std::vector<T>& expected, double tolerance) {
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference =
        std::abs(wide(found[i]) - wide(expected[i])) / (1 + std::abs(wide(expected[i])));
    if (!(difference <= worst)) worst = difference;  // also where it is NaN
    if (std::isnan(worst)) return false;
  }
  return worst <= tolerance;
}

/// A handle with a stream of its own.
class Blas {
 public:
  Blas() {
    check(cublasCreate_v2(&handle_) == 0, "cublasCreate");
    check(cudaStreamCreateWithFlags(&stream_, 1) == 0 && cublasSetStream_v2(handle_, stream_) == 0,
          "a stream");
  }
  ~Blas() { check(cublasDestroy_v2(handle_) == 0, "cublasDestroy"); }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;
  operator Handle() const { return handle_; }

 private:
  Handle handle_ = nullptr;
  void* stream_ = nullptr;
};

/// alpha or beta, on the host or (`device`) in the device's memory.
template <class T>
class Factor {
 public:
  Factor(T value, bool on_device) : host_(value), device_(std::vector<T>{value}), on_device_(on_device) {}
  operator const T*() const { return on_device_ ? static_cast<T*>(device_) : &host_; }
  [[nodiscard]] Wide<T> exact() const { return wide(host_); }

 private:
  T host_;
  Device<T> device_;
  bool on_device_;
};
