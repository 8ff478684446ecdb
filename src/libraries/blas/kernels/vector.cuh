// Element by element: axpy, scal, copy, swap, rot.
#pragma once

#include "libraries/blas/kernels/numbers.cuh"
#include "libraries/blas/vector_arguments.hpp"

namespace lockstep::libraries::blas {

template <class T, class S>
__device__ inline Complex<T> scaled(S s, Complex<T> x) {
  return {s * x.re, s * x.im};
}
template <class T>
__device__ inline Complex<T> scaled(Complex<T> s, Complex<T> x) {
  return multiply(s, x);
}
template <class T>
__device__ inline T scaled(T s, T x) {
  return s * x;
}

template <class Body>
__device__ void for_each(const VectorArguments& v, Body body) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
#pragma unroll 1
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < v.n; i += step)
    body(i);
}

/// Stored: of the vectors' elements; T: what is computed with; S: alpha's type.
template <class Stored, class T>
__device__ void axpy(const VectorArguments& v) {
  const T alpha = ScalarOf<T>::read(v.alpha);
  const auto* x = static_cast<const Stored*>(v.x);
  auto* y = static_cast<Stored*>(v.y);
  if (is_zero(alpha)) return;
  for_each(v, [&](long long i) {
    const T sum =
        multiply_add(alpha, Convert<T, Stored>::of(x[i * v.inc_x]), Convert<T, Stored>::of(y[i * v.inc_y]));
    y[i * v.inc_y] = Convert<Stored, T>::of(sum);
  });
}
template <class Stored, class T, class S>
__device__ void scal(const VectorArguments& v) {
  const S alpha = ScalarOf<S>::read(v.alpha);
  auto* x = static_cast<Stored*>(v.x);
  for_each(v, [&](long long i) {
    const T value = scaled(alpha, Convert<T, Stored>::of(x[i * v.inc_x]));
    x[i * v.inc_x] = Convert<Stored, T>::of(value);
  });
}
template <class T>
__device__ void copy(const VectorArguments& v) {
  const auto* x = static_cast<const T*>(v.x);
  auto* y = static_cast<T*>(v.y);
  for_each(v, [&](long long i) { y[i * v.inc_y] = x[i * v.inc_x]; });
}
template <class T>
__device__ void exchange(const VectorArguments& v) {
  auto *x = static_cast<T*>(v.x), *y = static_cast<T*>(v.y);
  for_each(v, [&](long long i) {
    const T kept = x[i * v.inc_x];
    x[i * v.inc_x] = y[i * v.inc_y];
    y[i * v.inc_y] = kept;
  });
}
/// x := c x + s y, y := c y - conj(s) x
template <class T, class C, class S>
__device__ void rot(const VectorArguments& v) {
  const C c = ScalarOf<C>::read(v.alpha);
  const S s = ScalarOf<S>::read(v.beta);
  auto *x = static_cast<T*>(v.x), *y = static_cast<T*>(v.y);
  for_each(v, [&](long long i) {
    const T a = x[i * v.inc_x], b = y[i * v.inc_y];
    x[i * v.inc_x] = plus(scaled(c, a), scaled(s, b));
    y[i * v.inc_y] = plus(scaled(c, b), negative(scaled(conjugate(s), a)));
  });
}

}  // namespace lockstep::libraries::blas

#define LOCKSTEP_VECTOR(name, ...)                                                                 \
  extern "C" __global__ void __launch_bounds__(256)                                                \
      lockstep_blas_##name(const __grid_constant__ lockstep::libraries::blas::VectorArguments v) { \
    using namespace lockstep::libraries::blas;                                                     \
    __VA_ARGS__(v);                                                                                \
  }
