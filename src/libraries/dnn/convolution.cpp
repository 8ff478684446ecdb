// Convolutions.
#include <algorithm>

#include "libraries/dnn/context.hpp"

namespace lockstep::libraries::dnn {
namespace {

/// The output's length along rows (0) or columns (1).
int length_after(const Shape& in, const Shape& filter, const Window& window, int d) {
  const int covered = window.dilation[d] * (filter.size[2 + d] - 1) + 1;
  return (in.size[2 + d] + 2 * window.padding[d] - covered) / window.step[d] + 1;
}

/// Checks that all fit together.
Convolution convolution_of(const void* in, const void* filter, const void* setting, const void* out) {
  const Tensor &from = described<Tensor>(in), &to = described<Tensor>(out);
  const Filter& by = described<Filter>(filter);
  const auto& how = described<ConvolutionSetting>(setting);
  require(from.dimensions > 0 && to.dimensions > 0 && by.dimensions > 0 && how.set);
  if (from.type != by.type || from.type != to.type || from.type != how.compute_type)
    refuse("cudnnConvolutionForward: data and computation of different types");
  require(from.shape.size[1] == by.shape.size[1] * how.groups && by.shape.size[0] % how.groups == 0);
  require(to.shape.size[0] == from.shape.size[0] && to.shape.size[1] == by.shape.size[0]);
  for (int d = 0; d < 2; ++d)
    require(to.shape.size[2 + d] == length_after(from.shape, by.shape, how.window, d));
  return {from.shape, by.shape, to.shape, how.window, how.groups, how.mode == kConvolution ? 1 : 0};
}

void require_algorithm(int algorithm) { require(algorithm >= 0 && algorithm < kAlgorithms); }

void run(const Context& context, const Convolution& convolution, int type, const void* alpha,
         const void* beta, const void* in, const void* filter, void* out) {
  constexpr long long kTile = 64;
  const long long points = 1LL * convolution.out.size[0] * convolution.out.size[2] * convolution.out.size[3];
  const int channels = convolution.out.size[1] / convolution.groups;
  const Dim3 grid{static_cast<unsigned>((points + kTile - 1) / kTile),
                  static_cast<unsigned>((channels + kTile - 1) / kTile),
                  static_cast<unsigned>(convolution.groups)};
  with_type(type, "cudnnConvolutionForward", [&](auto number, const char* suffix) {
    using T = decltype(number);
    const std::string name = std::string("lockstep_dnn_convolution") + suffix;
    convolution_kernels().launch(name.c_str(), grid, {kThreads, 1, 1}, 0, context.stream, convolution,
                                 blend_of<T>(alpha, beta), in, filter, out);
  });
}

void put(int* to, int value) {
  if (to != nullptr) *to = value;
}

void fill(AlgorithmPerformance* results, int wanted, int* count) {
  require(results != nullptr && count != nullptr && wanted >= 1);
  results[0] = {kPrecomputedImplicitGemm, kSuccess, -1.0F, 0, 1, 0, {0, 0, 0}};
  *count = 1;
}

}  // namespace

LOCKSTEP_DNN_API cudnnSetConvolution2dDescriptor(void* descriptor, int pad_h, int pad_w, int step_h,
                                                 int step_w, int dilation_h, int dilation_w, int mode,
                                                 int type) {
  return entry([&] {
    auto& setting = described<ConvolutionSetting>(descriptor);
    require(pad_h >= 0 && pad_w >= 0 && step_h > 0 && step_w > 0 && dilation_h > 0 && dilation_w > 0);
    require(mode == kConvolution || mode == kCrossCorrelation);
    setting.window = {{pad_h, pad_w}, {step_h, step_w}, {dilation_h, dilation_w}, {0, 0}};
    setting.mode = mode;
    setting.compute_type = type;
    setting.set = true;
  });
}
LOCKSTEP_DNN_API cudnnSetConvolutionNdDescriptor(void* descriptor, int dimensions, const int* pad,
                                                 const int* step, const int* dilation, int mode, int type) {
  if (dimensions != 2 || pad == nullptr || step == nullptr || dilation == nullptr)
    return entry([&] {
      require(pad != nullptr && step != nullptr && dilation != nullptr);
      refuse("cudnnSetConvolutionNdDescriptor: other than 2 dimensions");
    });
  return cudnnSetConvolution2dDescriptor(descriptor, pad[0], pad[1], step[0], step[1], dilation[0],
                                         dilation[1], mode, type);
}
LOCKSTEP_DNN_API cudnnGetConvolution2dDescriptor(const void* descriptor, int* pad_h, int* pad_w, int* step_h,
                                                 int* step_w, int* dilation_h, int* dilation_w, int* mode,
                                                 int* type) {
  return entry([&] {
    const auto& setting = described<ConvolutionSetting>(descriptor);
    require(setting.set);
    put(pad_h, setting.window.padding[0]);
    put(pad_w, setting.window.padding[1]);
    put(step_h, setting.window.step[0]);
    put(step_w, setting.window.step[1]);
    put(dilation_h, setting.window.dilation[0]);
    put(dilation_w, setting.window.dilation[1]);
    put(mode, setting.mode);
    put(type, setting.compute_type);
  });
}
/// Products are in the data's own precision in all modes.
LOCKSTEP_DNN_API cudnnSetConvolutionMathType(void* descriptor, int type) {
  return entry([&] {
    require(type >= 0 && type <= 3);
    described<ConvolutionSetting>(descriptor).math_type = type;
  });
}
LOCKSTEP_DNN_API cudnnGetConvolutionMathType(void* descriptor, int* type) {
  return entry([&] { put(type, described<ConvolutionSetting>(descriptor).math_type); });
}
LOCKSTEP_DNN_API cudnnSetConvolutionGroupCount(void* descriptor, int count) {
  return entry([&] {
    require(count >= 1);
    described<ConvolutionSetting>(descriptor).groups = count;
  });
}
LOCKSTEP_DNN_API cudnnGetConvolutionGroupCount(void* descriptor, int* count) {
  return entry([&] { put(count, described<ConvolutionSetting>(descriptor).groups); });
}
LOCKSTEP_DNN_API cudnnGetConvolution2dForwardOutputDim(const void* descriptor, const void* in,
                                                       const void* filter, int* n, int* c, int* h, int* w) {
  return entry([&] {
    const auto& setting = described<ConvolutionSetting>(descriptor);
    const Tensor& from = described<Tensor>(in);
    const Filter& by = described<Filter>(filter);
    require(setting.set && from.dimensions > 0 && by.dimensions > 0);
    require(from.shape.size[1] == by.shape.size[1] * setting.groups);
    put(n, from.shape.size[0]);
    put(c, by.shape.size[0]);
    put(h, length_after(from.shape, by.shape, setting.window, 0));
    put(w, length_after(from.shape, by.shape, setting.window, 1));
  });
}

LOCKSTEP_DNN_API cudnnGetConvolutionForwardAlgorithmMaxCount(void* handle, int* count) {
  return with_context(handle, [&](Context&) {
    require(count != nullptr);
    *count = 1;
  });
}
LOCKSTEP_DNN_API cudnnGetConvolutionForwardAlgorithm_v7(void* handle, const void* in, const void* filter,
                                                        const void* setting, const void* out, int wanted,
                                                        int* count, AlgorithmPerformance* results) {
  return with_context(handle, [&](Context&) {
    (void)convolution_of(in, filter, setting, out);
    fill(results, wanted, count);
  });
}
LOCKSTEP_DNN_API cudnnGetConvolutionForwardWorkspaceSize(void* handle, const void* in, const void* filter,
                                                         const void* setting, const void* out, int algorithm,
                                                         std::size_t* bytes) {
  return with_context(handle, [&](Context&) {
    (void)convolution_of(in, filter, setting, out);
    require_algorithm(algorithm);
    require(bytes != nullptr);
    *bytes = 0;
  });
}
LOCKSTEP_DNN_API cudnnConvolutionForward(void* handle, const void* alpha, const void* in, const void* x,
                                         const void* filter, const void* w, const void* setting,
                                         int algorithm, void*, std::size_t, const void* beta, const void* out,
                                         void* y) {
  return with_context(handle, [&](Context& context) {
    const Convolution convolution = convolution_of(in, filter, setting, out);
    require_algorithm(algorithm);
    require(x != nullptr && w != nullptr && y != nullptr);
    run(context, convolution, described<Tensor>(in).type, alpha, beta, x, w, y);
  });
}

}  // namespace lockstep::libraries::dnn
