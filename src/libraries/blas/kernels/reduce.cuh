// Reductions of vectors in a fixed order: each CTA one partial result, then one CTA the result.
#pragma once

#include "libraries/blas/kernels/vector.cuh"

namespace lockstep::libraries::blas {

/// What is reduced: the value of element i, how two values combine (the first from lower elements), what is
/// stored.
template <class Stored, class T>
struct Dot {
  using Value = T;
  __device__ static Value none() { return zero<T>(); }
  __device__ static Value take(const VectorArguments& v, long long i, Value before) {
    T x = Convert<T, Stored>::of(static_cast<const Stored*>(v.x)[i * v.inc_x]);
    if (v.conjugate) x = blas::conjugate(x);
    return multiply_add(x, Convert<T, Stored>::of(static_cast<const Stored*>(v.y)[i * v.inc_y]), before);
  }
  __device__ static Value combine(Value a, Value b) { return plus(a, b); }
  __device__ static void store(const VectorArguments& v, Value x) {
    *static_cast<Stored*>(v.result) = Convert<Stored, T>::of(x);
  }
};

template <class T>
struct Asum {
  using Value = typename RealOf<T>::Type;
  __device__ static Value none() { return 0; }
  __device__ static Value take(const VectorArguments& v, long long i, Value before) {
    return before + magnitude(static_cast<const T*>(v.x)[i * v.inc_x]);
  }
  __device__ static Value combine(Value a, Value b) { return a + b; }
  __device__ static void store(const VectorArguments& v, Value x) { *static_cast<Value*>(v.result) = x; }
};

/// The sum of squares of doubles as scale^2 * sum, which does not overflow.
struct Squares {
  double scale, sum;

  __device__ static Squares of(double x) {
    x = magnitude(x);
    return {x != x ? 1 : x, x != x ? x : x > 0 ? 1.0 : 0.0};
  }
  __device__ static Squares combine(Squares a, Squares b) {
    if (a.sum != a.sum || b.sum == 0) return a;
    if (b.sum != b.sum || a.sum == 0) return b;
    if (a.scale < b.scale) {
      const Squares kept = a;
      a = b, b = kept;
    }
    const double ratio = a.scale == b.scale ? 1 : b.scale / a.scale;  // infinities as well
    return {a.scale, a.sum + b.sum * ratio * ratio};
  }
  __device__ double norm() const { return scale * sqrt(sum); }
};
/// The same of floats, whose squares are far from a double's limits.
struct SquaresOfFloats {
  double sum;

  __device__ static SquaresOfFloats of(float x) { return {static_cast<double>(x) * x}; }
  __device__ static SquaresOfFloats combine(SquaresOfFloats a, SquaresOfFloats b) { return {a.sum + b.sum}; }
  __device__ double norm() const { return sqrt(sum); }
};
template <class Sum, class T>
__device__ inline Sum squares_of(T x) {
  return Sum::of(x);
}
template <class Sum, class T>
__device__ inline Sum squares_of(Complex<T> x) {
  return Sum::combine(Sum::of(x.re), Sum::of(x.im));
}

template <class Stored, class T, class Sum>
struct Norm {
  using Value = Sum;
  using Result = typename RealOf<Stored>::Type;
  using Real = typename RealOf<T>::Type;
  __device__ static Value none() { return {}; }
  __device__ static Value take(const VectorArguments& v, long long i, Value before) {
    const T x = Convert<T, Stored>::of(static_cast<const Stored*>(v.x)[i * v.inc_x]);
    return Sum::combine(before, squares_of<Sum>(x));
  }
  __device__ static Value combine(Value a, Value b) { return Sum::combine(a, b); }
  __device__ static void store(const VectorArguments& v, Value x) {
    *static_cast<Result*>(v.result) = Convert<Result, Real>::of(static_cast<Real>(x.norm()));
  }
};

/// The first of the elements with the largest (LEAST: the smallest) magnitude, counted from 1; 0: there is
/// none.
template <class T, bool LEAST>
struct Extreme {
  using Real = typename RealOf<T>::Type;
  struct Value {
    Real size;
    long long at;
  };
  __device__ static Value none() { return {0, 0}; }
  __device__ static Value take(const VectorArguments& v, long long i, Value before) {
    return combine(before, {magnitude(static_cast<const T*>(v.x)[i * v.inc_x]), i + 1});
  }
  __device__ static Value combine(Value a, Value b) {
    if (a.at == 0) return b;
    if (b.at == 0) return a;
    const bool better = LEAST ? b.size < a.size : b.size > a.size;
    return better || (b.size == a.size && b.at < a.at) ? b : a;
  }
  __device__ static void store(const VectorArguments& v, Value x) {
    if (v.result_is_64)
      *static_cast<long long*>(v.result) = x.at;
    else
      *static_cast<int*>(v.result) = static_cast<int>(x.at);
  }
};

template <class Op>
__device__ typename Op::Value reduce_cta(typename Op::Value value) {
  __shared__ typename Op::Value values[256];
  values[threadIdx.x] = value;
  __syncthreads();
#pragma unroll 1
  for (unsigned half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half)
      values[threadIdx.x] = Op::combine(values[threadIdx.x], values[threadIdx.x + half]);
    __syncthreads();
  }
  return values[0];
}

template <class Op>
__device__ void reduce(const VectorArguments& v) {
  typename Op::Value value = Op::none();
  for_each(v, [&](long long i) { value = Op::take(v, i, value); });
  value = reduce_cta<Op>(value);
  if (threadIdx.x != 0) return;
  if (v.partials == 1)
    Op::store(v, value);
  else
    static_cast<typename Op::Value*>(v.partial)[blockIdx.x] = value;
}
template <class Op>
__device__ void reduce_partials(const VectorArguments& v) {
  typename Op::Value value = Op::none();
#pragma unroll 1
  for (int i = threadIdx.x; i < v.partials; i += 256)
    value = Op::combine(value, static_cast<const typename Op::Value*>(v.partial)[i]);
  value = reduce_cta<Op>(value);
  if (threadIdx.x == 0) Op::store(v, value);
}

}  // namespace lockstep::libraries::blas

#define LOCKSTEP_REDUCTION(name, ...)        \
  LOCKSTEP_VECTOR(name, reduce<__VA_ARGS__>) \
  LOCKSTEP_VECTOR(name##_end, reduce_partials<__VA_ARGS__>)
