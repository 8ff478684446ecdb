// What a cuDNN handle and its descriptors are.
#pragma once

#include <string>
#include <string_view>

#include "libraries/common/driver.hpp"
#include "libraries/common/handles.hpp"
#include "libraries/common/kernels.hpp"
#include "libraries/dnn/abi.hpp"
#include "libraries/dnn/views.hpp"

namespace lockstep::libraries::dnn {

struct Context {
  Context();
  int device = 0;
  Stream stream = nullptr;
};

/// A tensor, or a filter (whose sizes are of output and input channels, rows and columns).
struct Tensor {
  int type = kFloat;
  int format = kNchw;
  int dimensions = 0;  // 0: not set
  Shape shape;
};
struct Filter : Tensor {};

struct ConvolutionSetting {
  bool set = false;
  Window window{{0, 0}, {1, 1}, {1, 1}, {0, 0}};
  int mode = kCrossCorrelation, compute_type = kFloat, groups = 1, math_type = 0;
};
struct ActivationSetting {
  bool set = false;
  int mode = kRelu, nan_mode = 0;
  double coefficient = 0, swish_beta = 1;
};
struct PoolingSetting {
  bool set = false;
  Window window{{0, 0}, {1, 1}, {1, 1}, {1, 1}};
  int mode = kMaximum, nan_mode = 0;
};

/// What `descriptor` is; throws kInvalidValue where it is none.
template <class T>
[[nodiscard]] T& described(const void* descriptor) {
  try {
    return handles<T>().get(descriptor);
  } catch (const Error&) {
    throw Error(Failure::kInvalidValue);
  }
}

template <class Body>
Status entry(Body&& body) {
  return guarded(&status_of, body);
}

/// Calls `body` with what `handle` is, on its device.
template <class Body>
Status with_context(const void* handle, Body&& body) {
  return entry([&] {
    Context& context = handles<Context>().get(handle);
    const OnDevice on(context.device);
    body(context);
  });
}

[[nodiscard]] std::string_view embedded_ptx(std::string_view file);
[[nodiscard]] Kernels& convolution_kernels();
[[nodiscard]] Kernels& pointwise_kernels();

constexpr unsigned kThreads = 256;
[[nodiscard]] unsigned blocks_for(long long threads);
[[nodiscard]] long long elements_of(const Shape& shape);

/// Calls `body(T{}, "_f")` with the type of numbers that `type` is.
template <class Body>
void with_type(int type, const char* what, Body&& body) {
  switch (type) {
    case kFloat:
      return body(float{}, "_f");
    case kDouble:
      return body(double{}, "_d");
    default:
      refuse(std::string(what) + ": data of type " + std::to_string(type));
  }
}

template <class T>
[[nodiscard]] Blend<T> blend_of(const void* alpha, const void* beta) {
  require(alpha != nullptr && beta != nullptr);
  return {*static_cast<const T*>(alpha), *static_cast<const T*>(beta)};
}

}  // namespace lockstep::libraries::dnn
