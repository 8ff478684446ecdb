// Numbers of the kernels: half and bfloat16 by their bits, complex numbers, and their arithmetic.
#pragma once

#include "libraries/blas/gemm_arguments.hpp"

namespace lockstep::libraries::blas {

struct Half {
  unsigned short bits;
};
struct Bfloat {
  unsigned short bits;
};
template <class T>
struct alignas(2 * sizeof(T)) Complex {
  T re, im;
};
using Complex64 = Complex<float>;
using Complex128 = Complex<double>;

__device__ inline float to_float(Half h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits));
  return f;
}
__device__ inline float to_float(Bfloat b) { return __uint_as_float(static_cast<unsigned>(b.bits) << 16); }
__device__ inline float to_float(float f) { return f; }
__device__ inline Half to_half(float f) {
  Half h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(f));
  return h;
}
__device__ inline Bfloat to_bfloat(float f) {  // to nearest, ties to even
  const unsigned bits = __float_as_uint(f);
  if (f != f) return {0x7fff};
  return {static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

/// From what is stored to what is computed with, and back.
template <class To, class From>
struct Convert {
  __device__ static To of(From x) { return static_cast<To>(x); }
};
template <>
struct Convert<float, Half> {
  __device__ static float of(Half x) { return to_float(x); }
};
template <>
struct Convert<float, Bfloat> {
  __device__ static float of(Bfloat x) { return to_float(x); }
};
template <>
struct Convert<Half, float> {
  __device__ static Half of(float x) { return to_half(x); }
};
template <>
struct Convert<Bfloat, float> {
  __device__ static Bfloat of(float x) { return to_bfloat(x); }
};

/// A number of T without an imaginary part. (nvcc 13 leaves that of T{x} undefined in conditional
/// expressions.)
template <class T>
struct FromReal {
  __device__ static T of(T x) { return x; }
};
template <class T>
struct FromReal<Complex<T>> {
  __device__ static Complex<T> of(T x) { return {x, 0}; }
};

template <class T>
__device__ inline T multiply(T a, T b) {
  return a * b;
}
template <class T>
__device__ inline Complex<T> multiply(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
__device__ inline T plus(T a, T b) {
  return a + b;
}
template <class T>
__device__ inline Complex<T> plus(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
__device__ inline T negative(T a) {
  return -a;
}
template <class T>
__device__ inline Complex<T> negative(Complex<T> a) {
  return {-a.re, -a.im};
}
/// a * b + c
template <class T>
__device__ inline T multiply_add(T a, T b, T c) {
  return a * b + c;
}
template <class T>
__device__ inline Complex<T> multiply_add(Complex<T> a, Complex<T> b, Complex<T> c) {
  return {a.re * b.re - a.im * b.im + c.re, a.re * b.im + a.im * b.re + c.im};
}
template <class T>
__device__ inline T divide(T a, T b) {
  return a / b;
}
/// By Smith's method: without the square of b, which might overflow.
template <class T>
__device__ inline Complex<T> divide(Complex<T> a, Complex<T> b) {
  const bool wide = (b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im);
  const T ratio = wide ? b.im / b.re : b.re / b.im, whole = wide ? b.re + b.im * ratio : b.im + b.re * ratio;
  if (wide) return {(a.re + a.im * ratio) / whole, (a.im - a.re * ratio) / whole};
  return {(a.re * ratio + a.im) / whole, (a.im * ratio - a.re) / whole};
}
template <class T>
__device__ inline T conjugate(T a) {
  return a;
}
template <class T>
__device__ inline Complex<T> conjugate(Complex<T> a) {
  return {a.re, -a.im};
}
template <class T>
__device__ inline T zero() {
  return T{};
}
template <class T>
__device__ inline bool is_zero(T a) {
  return a == T{};
}
template <class T>
__device__ inline bool is_zero(Complex<T> a) {
  return a.re == 0 && a.im == 0;
}
template <class T>
__device__ inline void drop_imaginary(T&) {}
template <class T>
__device__ inline void drop_imaginary(Complex<T>& a) {
  a.im = 0;
}

template <class T>
struct ScalarOf {
  __device__ static T read(const Scalar& s) {
    return s.pointer != nullptr ? *static_cast<const T*>(s.pointer) : static_cast<T>(s.real);
  }
};
template <>
struct ScalarOf<float> {
  __device__ static float read(const Scalar& s) {
    if (s.pointer == nullptr) return static_cast<float>(s.real);
    return s.kind == kScalarHalf ? to_float(*static_cast<const Half*>(s.pointer))
                                 : *static_cast<const float*>(s.pointer);
  }
};
template <class T>
struct ScalarOf<Complex<T>> {
  __device__ static Complex<T> read(const Scalar& s) {
    if (s.pointer == nullptr) return {static_cast<T>(s.real), static_cast<T>(s.imaginary)};
    if (s.kind == kScalarReal) return {*static_cast<const T*>(s.pointer), 0};
    const Complex<T> value = *static_cast<const Complex<T>*>(s.pointer);
    return s.kind == kScalarConjugate ? conjugate(value) : value;
  }
};

template <class T>
struct RealOf {
  using Type = T;
};
template <class T>
struct RealOf<Complex<T>> {
  using Type = T;
};
template <class T>
__device__ inline T magnitude(T x) {
  return x < 0 ? -x : x;
}
template <class T>
__device__ inline T magnitude(Complex<T> x) {
  return magnitude(x.re) + magnitude(x.im);
}

}  // namespace lockstep::libraries::blas
