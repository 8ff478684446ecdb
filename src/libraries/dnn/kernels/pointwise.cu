// Activations, pooling, softmax and sums of tensors.
#include "libraries/dnn/views.hpp"

namespace lockstep::libraries::dnn {
namespace {

constexpr int kThreads = 256;

struct Place {
  int at[4];
};

__device__ long long own_thread() { return blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; }
__device__ long long elements(const Shape& shape) {
  return static_cast<long long>(shape.size[0]) * shape.size[1] * shape.size[2] * shape.size[3];
}
__device__ Place place_of(const Shape& shape, long long index) {
  Place place;
  for (int d = 3; d >= 0; --d) {
    place.at[d] = index % shape.size[d];
    index /= shape.size[d];
  }
  return place;
}
__device__ long long offset_of(const Shape& shape, const Place& place) {
  long long offset = 0;
  for (int d = 0; d < 4; ++d) offset += static_cast<long long>(place.at[d]) * shape.stride[d];
  return offset;
}
template <class T>
__device__ void store(T& place, Blend<T> blend, T value) {
  place = blend.beta == 0 ? blend.alpha * value : blend.alpha * value + blend.beta * place;
}

/// As cudnnActivationMode_t numbers them.
template <class T>
__device__ T activated(int mode, T x, T coefficient) {
  switch (mode) {
    case 0:
      return 1 / (1 + exp(-x));
    case 1:
      return x > 0 || x != x ? x : 0;
    case 2:
      return tanh(x);
    case 3:
      return x > 0 || x != x ? (x > coefficient ? coefficient : x) : 0;
    case 4:
      return x > 0 ? x : coefficient * expm1(x);
    case 5:
      return x;
    default:
      return x / (1 + exp(-coefficient * x));
  }
}
template <class T>
__device__ void activate(Shape in_shape, Shape out_shape, Blend<T> blend, int mode, T coefficient,
                         const T* in, T* out) {
  const long long index = own_thread();
  if (index >= elements(out_shape)) return;
  const Place place = place_of(out_shape, index);
  store(out[offset_of(out_shape, place)], blend,
        activated(mode, in[offset_of(in_shape, place)], coefficient));
}

/// Sizes of 1 in what is added stand for all places.
template <class T>
__device__ void add(Shape added, Shape shape, Blend<T> blend, const T* in, T* out) {
  const long long index = own_thread();
  if (index >= elements(shape)) return;
  const Place place = place_of(shape, index);
  Place from = place;
  for (int d = 0; d < 4; ++d)
    if (added.size[d] == 1) from.at[d] = 0;
  store(out[offset_of(shape, place)], blend, in[offset_of(added, from)]);
}

template <class T>
__device__ void pool(Shape in_shape, Shape out_shape, Window window, Blend<T> blend, int mode, const T* in,
                     T* out) {
  const long long index = own_thread();
  if (index >= elements(out_shape)) return;
  const Place place = place_of(out_shape, index);
  const bool maximum = mode == 0 || mode == 3;
  T result = 0;
  int count = 0;
  for (int i = 0; i < window.size[0]; ++i)
    for (int j = 0; j < window.size[1]; ++j) {
      const Place from{place.at[0], place.at[1], place.at[2] * window.step[0] - window.padding[0] + i,
                       place.at[3] * window.step[1] - window.padding[1] + j};
      if (from.at[2] < 0 || from.at[2] >= in_shape.size[2] || from.at[3] < 0 ||
          from.at[3] >= in_shape.size[3])
        continue;
      const T value = in[offset_of(in_shape, from)];
      result = !maximum ? result + value : count == 0 || value > result || value != value ? value : result;
      ++count;
    }
  if (mode == 1) count = window.size[0] * window.size[1];
  if (!maximum && count > 0) result /= count;
  store(out[offset_of(out_shape, place)], blend, result);
}

/// Over all of a CTA's values.
template <class T, class Combine>
__device__ T combined(T value, T* shared, Combine combine) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  const T result = shared[0];
  __syncthreads();
  return result;
}

/// A CTA for each softmax: over channels at one point, or over an image. As cudnnSoftmaxAlgorithm_t numbers
/// algorithms.
template <class T>
__device__ void softmax(Shape in_shape, Shape out_shape, Blend<T> blend, int algorithm, int by_channel,
                        const T* in, T* out) {
  __shared__ T shared[kThreads];
  const int points = in_shape.size[2] * in_shape.size[3];
  const long long count = static_cast<long long>(in_shape.size[1]) * (by_channel ? 1 : points);
  const auto place_at = [&](long long k) {
    const long long image = by_channel ? blockIdx.x / points : blockIdx.x;
    const int point = by_channel ? blockIdx.x % points : k % points;
    const int channel = by_channel ? k : k / points;
    return Place{static_cast<int>(image), channel, point / in_shape.size[3], point % in_shape.size[3]};
  };
  T largest = 0;
  if (algorithm != 0) {
    largest = in[offset_of(in_shape, place_at(0))];
    for (long long k = threadIdx.x; k < count; k += kThreads)
      largest = max(largest, in[offset_of(in_shape, place_at(k))]);
    largest = combined(largest, shared, [](T a, T b) { return max(a, b); });
  }
  T sum = 0;
  for (long long k = threadIdx.x; k < count; k += kThreads)
    sum += exp(in[offset_of(in_shape, place_at(k))] - largest);
  sum = combined(sum, shared, [](T a, T b) { return a + b; });
  for (long long k = threadIdx.x; k < count; k += kThreads) {
    const Place place = place_at(k);
    const T x = in[offset_of(in_shape, place)] - largest;
    store(out[offset_of(out_shape, place)], blend, algorithm == 2 ? x - log(sum) : exp(x) / sum);
  }
}

}  // namespace

#define LOCKSTEP_DNN_KERNELS(suffix, T)                                                                      \
  extern "C" __global__ void lockstep_dnn_activation_##suffix(                                               \
      Shape in_shape, Shape out_shape, Blend<T> blend, int mode, T coefficient, const T* in, T* out) {       \
    activate<T>(in_shape, out_shape, blend, mode, coefficient, in, out);                                     \
  }                                                                                                          \
  extern "C" __global__ void lockstep_dnn_add_##suffix(Shape added, Shape shape, Blend<T> blend,             \
                                                       const T* in, T* out) {                                \
    add<T>(added, shape, blend, in, out);                                                                    \
  }                                                                                                          \
  extern "C" __global__ void lockstep_dnn_pool_##suffix(Shape in_shape, Shape out_shape, Window window,      \
                                                        Blend<T> blend, int mode, const T* in, T* out) {     \
    pool<T>(in_shape, out_shape, window, blend, mode, in, out);                                              \
  }                                                                                                          \
  extern "C" __global__ __launch_bounds__(kThreads) void lockstep_dnn_softmax_##suffix(                      \
      Shape in_shape, Shape out_shape, Blend<T> blend, int algorithm, int by_channel, const T* in, T* out) { \
    softmax<T>(in_shape, out_shape, blend, algorithm, by_channel, in, out);                                  \
  }
LOCKSTEP_DNN_KERNELS(f, float)
LOCKSTEP_DNN_KERNELS(d, double)

}  // namespace lockstep::libraries::dnn
