// Convolutions as matrix products: of the filters, a row for each output channel, with the input's patches, a
// column for each point of the output. Patches are gathered as they are needed.
#include "libraries/dnn/views.hpp"

namespace lockstep::libraries::dnn {
namespace {

constexpr int kTile = 64;   // output channels and points of a CTA
constexpr int kDepth = 16;  // products of a step
constexpr int kThreads = 256;
constexpr int kOwn = 4;  // a thread's rows and columns

struct Point {
  long long in;  // where the image begins in the input; -1: no point
  int row, column;
};

/// The top left corner of the patch for an output point.
__device__ Point point_of(const Convolution& c, long long index) {
  const int width = c.out.size[3], height = c.out.size[2];
  if (index >= static_cast<long long>(c.out.size[0]) * height * width) return {-1, 0, 0};
  const int column = index % width, row = index / width % height;
  const long long image = index / width / height;
  return {image * c.in.stride[0], row * c.window.step[0] - c.window.padding[0],
          column * c.window.step[1] - c.window.padding[1]};
}

template <class T>
__device__ T patch_element(const Convolution& c, const T* in, const Point& point, int group, int k) {
  const int width = c.filter.size[3], height = c.filter.size[2];
  const int column = k % width, row = k / width % height, channel = k / width / height;
  if (point.in < 0 || channel >= c.filter.size[1]) return 0;
  const int y = point.row + row * c.window.dilation[0], x = point.column + column * c.window.dilation[1];
  if (y < 0 || y >= c.in.size[2] || x < 0 || x >= c.in.size[3]) return 0;
  const long long in_channel = group * c.filter.size[1] + channel;
  return in[point.in + in_channel * c.in.stride[1] + static_cast<long long>(y) * c.in.stride[2] +
            static_cast<long long>(x) * c.in.stride[3]];
}

template <class T>
__device__ T filter_element(const Convolution& c, const T* filter, int channel_out, int end, int k) {
  int column = k % c.filter.size[3], row = k / c.filter.size[3] % c.filter.size[2];
  const int channel = k / c.filter.size[3] / c.filter.size[2];
  if (channel_out >= end || channel >= c.filter.size[1]) return 0;
  if (c.flipped) {
    column = c.filter.size[3] - 1 - column;
    row = c.filter.size[2] - 1 - row;
  }
  return filter[static_cast<long long>(channel_out) * c.filter.stride[0] + channel * c.filter.stride[1] +
                row * c.filter.stride[2] + column * c.filter.stride[3]];
}

template <class T>
struct Tiles {
  T filters[kDepth][kTile + 1];
  T patches[kDepth][kTile];
  Point points[kTile];
};

template <class T>
__device__ void multiply(const Convolution& c, const T* in, const T* filter, int first, int end,
                         Tiles<T>& tiles, T (&sums)[kOwn][kOwn]) {
  const int thread = threadIdx.x, group = blockIdx.z;
  const int depth = c.filter.size[1] * c.filter.size[2] * c.filter.size[3];
  for (int k = 0; k < depth; k += kDepth) {
    for (int i = thread; i < kTile * kDepth; i += kThreads)
      tiles.filters[i % kDepth][i / kDepth] =
          filter_element(c, filter, first + i / kDepth, end, k + i % kDepth);
    for (int i = thread; i < kTile * kDepth; i += kThreads)
      tiles.patches[i / kTile][i % kTile] =
          patch_element(c, in, tiles.points[i % kTile], group, k + i / kTile);
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      T rows[kOwn], columns[kOwn];
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        rows[i] = tiles.filters[d][thread / 16 + 16 * i];
        columns[i] = tiles.patches[d][thread % 16 + 16 * i];
      }
#pragma unroll
      for (int i = 0; i < kOwn; ++i)
#pragma unroll
        for (int j = 0; j < kOwn; ++j) sums[i][j] += rows[i] * columns[j];
    }
    __syncthreads();
  }
}

template <class T>
__device__ void convolve(const Convolution& c, Blend<T> blend, const T* in, const T* filter, T* out) {
  __shared__ Tiles<T> tiles;
  const int channels = c.out.size[1] / c.groups;
  const int first = blockIdx.z * channels + blockIdx.y * kTile, end = (blockIdx.z + 1) * channels;
  const long long first_point = blockIdx.x * static_cast<long long>(kTile);
  if (threadIdx.x < kTile) tiles.points[threadIdx.x] = point_of(c, first_point + threadIdx.x);
  __syncthreads();
  T sums[kOwn][kOwn] = {};
  multiply(c, in, filter, first, end, tiles, sums);
  const int width = c.out.size[3], height = c.out.size[2];
  for (int j = 0; j < kOwn; ++j) {
    const long long point = first_point + threadIdx.x % 16 + 16 * j;
    if (tiles.points[point - first_point].in < 0) continue;
    T* const place = out + point / width / height * c.out.stride[0] +
                     point / width % height * c.out.stride[2] + point % width * c.out.stride[3];
    for (int i = 0; i < kOwn; ++i) {
      const int channel = first + static_cast<int>(threadIdx.x) / 16 + 16 * i;
      if (channel >= end) continue;
      T& element = place[static_cast<long long>(channel) * c.out.stride[1]];
      element = blend.beta == 0 ? blend.alpha * sums[i][j] : blend.alpha * sums[i][j] + blend.beta * element;
    }
  }
}

}  // namespace

extern "C" __global__ __launch_bounds__(kThreads) void lockstep_dnn_convolution_f(
    Convolution c, Blend<float> blend, const float* in, const float* filter, float* out) {
  convolve(c, blend, in, filter, out);
}
extern "C" __global__ __launch_bounds__(kThreads) void lockstep_dnn_convolution_d(
    Convolution c, Blend<double> blend, const double* in, const double* filter, double* out) {
  convolve(c, blend, in, filter, out);
}

}  // namespace lockstep::libraries::dnn
