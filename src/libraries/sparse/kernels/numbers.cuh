#pragma once

// Real and complex numbers, and how kernels read what they are given.
#include "libraries/sparse/views.hpp"

namespace lockstep::libraries::sparse {

template <class T>
struct Complex {
  T x, y;
};

template <class T>
__device__ Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.x + b.x, a.y + b.y};
}
template <class T>
__device__ Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.x - b.x, a.y - b.y};
}
template <class T>
__device__ Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
/// By Smith's method, which overflows no earlier than the result.
template <class T>
__device__ Complex<T> operator/(Complex<T> a, Complex<T> b) {
  if (fabs(b.x) >= fabs(b.y)) {
    const T ratio = b.y / b.x, scale = b.x + b.y * ratio;
    return {(a.x + a.y * ratio) / scale, (a.y - a.x * ratio) / scale};
  }
  const T ratio = b.x / b.y, scale = b.x * ratio + b.y;
  return {(a.x * ratio + a.y) / scale, (a.y * ratio - a.x) / scale};
}

__device__ inline bool is_zero(float value) { return value == 0; }
__device__ inline bool is_zero(double value) { return value == 0; }
template <class T>
__device__ bool is_zero(Complex<T> value) {
  return value.x == 0 && value.y == 0;
}

__device__ inline float conjugated(float value, int) { return value; }
__device__ inline double conjugated(double value, int) { return value; }
template <class T>
__device__ Complex<T> conjugated(Complex<T> value, int conjugate) {
  if (conjugate) value.y = -value.y;
  return value;
}

template <class T>
__device__ T zero() {
  return T{};
}

__device__ inline float shuffled_down(float value, int lanes, int width) {
  return __shfl_down_sync(0xffffffffU, value, lanes, width);
}
__device__ inline double shuffled_down(double value, int lanes, int width) {
  return __shfl_down_sync(0xffffffffU, value, lanes, width);
}
__device__ inline int shuffled_down(int value, int lanes, int width) {
  return __shfl_down_sync(0xffffffffU, value, lanes, width);
}
template <class T>
__device__ Complex<T> shuffled_down(Complex<T> value, int lanes, int width) {
  return {shuffled_down(value.x, lanes, width), shuffled_down(value.y, lanes, width)};
}
/// The sum over groups of `width` lanes, in the first of each; all lanes of the warp take part.
template <class T>
__device__ T summed(T value, int width) {
  for (int lanes = width / 2; lanes > 0; lanes /= 2) value = value + shuffled_down(value, lanes, width);
  return value;
}

__device__ inline long long at(const Indices& indices, long long k) {
  return (indices.wide ? static_cast<const long long*>(indices.data)[k]
                       : static_cast<const int*>(indices.data)[k]) -
         indices.base;
}

__device__ inline void put(const Indices& indices, long long k, long long index) {
  if (indices.wide) {
    static_cast<long long*>(const_cast<void*>(indices.data))[k] = index + indices.base;
  } else {
    static_cast<int*>(const_cast<void*>(indices.data))[k] = static_cast<int>(index) + indices.base;
  }
}

/// Where the first of the sorted indices that is at least `value` is.
__device__ inline int lower_bound(const Indices& sorted, long long count, long long value) {
  long long low = 0, high = count;
  while (low < high) {
    const long long middle = low + (high - low) / 2;
    if (at(sorted, middle) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return static_cast<int>(low);
}

template <class T>
__device__ T value_of(const Scalar<T>& scalar) {
  return scalar.pointer ? *scalar.pointer : scalar.value;
}

struct Entry {
  long long column;
  long long place;
};
__device__ inline Entry entry_of(const Rows& rows, long long k) {
  const long long place = rows.order ? rows.order[k] : k;
  return {at(rows.columns, place), place};
}
template <class T>
__device__ T entry_value(const Rows& rows, long long place) {
  return conjugated(static_cast<const T*>(rows.values)[place], rows.conjugate);
}

template <class T>
__device__ T& element(const Dense& dense, long long i, long long j) {
  return static_cast<T*>(dense.data)[i * dense.row + j * dense.column];
}

/// alpha * sum + beta * before; `before` is not read where beta is 0.
template <class T>
__device__ void store(T& place, T alpha, T sum, T beta) {
  T result = alpha * sum;
  if (!is_zero(beta)) result = result + beta * place;
  place = result;
}

/// X(suffix, type) for all types of values.
#define LOCKSTEP_SPARSE_TYPES(X) X(s, float) X(d, double) X(c, Complex<float>) X(z, Complex<double>)

}  // namespace lockstep::libraries::sparse
