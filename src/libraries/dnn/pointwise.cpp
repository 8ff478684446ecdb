// Activations, pooling, softmax and sums of tensors.
#include <algorithm>

#include "libraries/dnn/context.hpp"

namespace lockstep::libraries::dnn {
namespace {

/// The tensors of y = alpha * f(x) + beta * y.
struct Pair {
  const Tensor &in, &out;
  const void *alpha, *beta, *x;
  void* y;

  Pair(const void* from, const void* to, const void* alpha_at, const void* beta_at, const void* in_data,
       void* out_data)
      : in(described<Tensor>(from)),
        out(described<Tensor>(to)),
        alpha(alpha_at),
        beta(beta_at),
        x(in_data),
        y(out_data) {
    require(in.dimensions > 0 && out.dimensions > 0 && x != nullptr && y != nullptr);
  }
  void require_same(const char* what) const {
    if (in.type != out.type) refuse(std::string(what) + ": tensors of different types");
    require(std::equal(in.shape.size, in.shape.size + 4, out.shape.size));
  }
};

int length_after(const Shape& in, const Window& window, int d) {
  return (in.size[2 + d] + 2 * window.padding[d] - window.size[d]) / window.step[d] + 1;
}

void put(int* to, int value) {
  if (to != nullptr) *to = value;
}

}  // namespace

LOCKSTEP_DNN_API cudnnSetActivationDescriptor(void* descriptor, int mode, int nan_mode, double coefficient) {
  return entry([&] {
    auto& setting = described<ActivationSetting>(descriptor);
    require(mode >= 0 && mode < kActivations);
    setting.mode = mode;
    setting.nan_mode = nan_mode;
    setting.coefficient = coefficient;
    setting.set = true;
  });
}
LOCKSTEP_DNN_API cudnnGetActivationDescriptor(const void* descriptor, int* mode, int* nan_mode,
                                              double* coefficient) {
  return entry([&] {
    const auto& setting = described<ActivationSetting>(descriptor);
    require(setting.set);
    put(mode, setting.mode);
    put(nan_mode, setting.nan_mode);
    if (coefficient != nullptr) *coefficient = setting.coefficient;
  });
}
LOCKSTEP_DNN_API cudnnSetActivationDescriptorSwishBeta(void* descriptor, double beta) {
  return entry([&] { described<ActivationSetting>(descriptor).swish_beta = beta; });
}
LOCKSTEP_DNN_API cudnnGetActivationDescriptorSwishBeta(void* descriptor, double* beta) {
  return entry([&] {
    require(beta != nullptr);
    *beta = described<ActivationSetting>(descriptor).swish_beta;
  });
}
LOCKSTEP_DNN_API cudnnActivationForward(void* handle, void* descriptor, const void* alpha, const void* in,
                                        const void* x, const void* beta, const void* out, void* y) {
  return with_context(handle, [&](Context& context) {
    const auto& setting = described<ActivationSetting>(descriptor);
    require(setting.set);
    const Pair pair(in, out, alpha, beta, x, y);
    pair.require_same("cudnnActivationForward");
    with_type(pair.in.type, "cudnnActivationForward", [&](auto number, const char* suffix) {
      using T = decltype(number);
      const auto coefficient =
          static_cast<T>(setting.mode == kSwish ? setting.swish_beta : setting.coefficient);
      const std::string name = std::string("lockstep_dnn_activation") + suffix;
      pointwise_kernels().launch(name.c_str(), {blocks_for(elements_of(pair.out.shape)), 1, 1},
                                 {kThreads, 1, 1}, 0, context.stream, pair.in.shape, pair.out.shape,
                                 blend_of<T>(alpha, beta), setting.mode, coefficient, x, y);
    });
  });
}

LOCKSTEP_DNN_API cudnnAddTensor(void* handle, const void* alpha, const void* in, const void* x,
                                const void* beta, const void* out, void* y) {
  return with_context(handle, [&](Context& context) {
    const Pair pair(in, out, alpha, beta, x, y);
    if (pair.in.type != pair.out.type) refuse("cudnnAddTensor: tensors of different types");
    for (int d = 0; d < 4; ++d)
      require(pair.in.shape.size[d] == 1 || pair.in.shape.size[d] == pair.out.shape.size[d]);
    with_type(pair.in.type, "cudnnAddTensor", [&](auto number, const char* suffix) {
      using T = decltype(number);
      const std::string name = std::string("lockstep_dnn_add") + suffix;
      pointwise_kernels().launch(name.c_str(), {blocks_for(elements_of(pair.out.shape)), 1, 1},
                                 {kThreads, 1, 1}, 0, context.stream, pair.in.shape, pair.out.shape,
                                 blend_of<T>(alpha, beta), x, y);
    });
  });
}

LOCKSTEP_DNN_API cudnnSetPooling2dDescriptor(void* descriptor, int mode, int nan_mode, int height, int width,
                                             int pad_h, int pad_w, int step_h, int step_w) {
  return entry([&] {
    auto& setting = described<PoolingSetting>(descriptor);
    require(mode >= 0 && mode < kPoolings && height > 0 && width > 0 && step_h > 0 && step_w > 0);
    require(pad_h >= 0 && pad_w >= 0 && pad_h < height && pad_w < width);
    setting.window = {{pad_h, pad_w}, {step_h, step_w}, {1, 1}, {height, width}};
    setting.mode = mode;
    setting.nan_mode = nan_mode;
    setting.set = true;
  });
}
LOCKSTEP_DNN_API cudnnGetPooling2dForwardOutputDim(const void* descriptor, const void* in, int* n, int* c,
                                                   int* h, int* w) {
  return entry([&] {
    const auto& setting = described<PoolingSetting>(descriptor);
    const Tensor& from = described<Tensor>(in);
    require(setting.set && from.dimensions > 0);
    put(n, from.shape.size[0]);
    put(c, from.shape.size[1]);
    put(h, length_after(from.shape, setting.window, 0));
    put(w, length_after(from.shape, setting.window, 1));
  });
}
LOCKSTEP_DNN_API cudnnPoolingForward(void* handle, const void* descriptor, const void* alpha, const void* in,
                                     const void* x, const void* beta, const void* out, void* y) {
  return with_context(handle, [&](Context& context) {
    const auto& setting = described<PoolingSetting>(descriptor);
    require(setting.set);
    const Pair pair(in, out, alpha, beta, x, y);
    if (pair.in.type != pair.out.type) refuse("cudnnPoolingForward: tensors of different types");
    for (int d = 0; d < 2; ++d) {
      require(pair.in.shape.size[d] == pair.out.shape.size[d]);
      require(pair.out.shape.size[2 + d] == length_after(pair.in.shape, setting.window, d));
    }
    with_type(pair.in.type, "cudnnPoolingForward", [&](auto number, const char* suffix) {
      using T = decltype(number);
      const std::string name = std::string("lockstep_dnn_pool") + suffix;
      pointwise_kernels().launch(name.c_str(), {blocks_for(elements_of(pair.out.shape)), 1, 1},
                                 {kThreads, 1, 1}, 0, context.stream, pair.in.shape, pair.out.shape,
                                 setting.window, blend_of<T>(alpha, beta), setting.mode, x, y);
    });
  });
}

LOCKSTEP_DNN_API cudnnSoftmaxForward(void* handle, int algorithm, int mode, const void* alpha, const void* in,
                                     const void* x, const void* beta, const void* out, void* y) {
  return with_context(handle, [&](Context& context) {
    require(algorithm >= 0 && algorithm < kSoftmaxes && (mode == kOverInstance || mode == kOverChannels));
    const Pair pair(in, out, alpha, beta, x, y);
    pair.require_same("cudnnSoftmaxForward");
    const int* const size = pair.in.shape.size;
    const long long count = mode == kOverChannels ? 1LL * size[0] * size[2] * size[3] : size[0];
    with_type(pair.in.type, "cudnnSoftmaxForward", [&](auto number, const char* suffix) {
      using T = decltype(number);
      const std::string name = std::string("lockstep_dnn_softmax") + suffix;
      pointwise_kernels().launch(name.c_str(), {static_cast<unsigned>(count), 1, 1}, {kThreads, 1, 1}, 0,
                                 context.stream, pair.in.shape, pair.out.shape, blend_of<T>(alpha, beta),
                                 algorithm, mode, x, y);
    });
  });
}

}  // namespace lockstep::libraries::dnn
