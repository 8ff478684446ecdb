// cuDNN's forward operations on random tensors, compared with their definitions. Arguments: a seed and the
// number of rounds.
#include "dnn_tensor.hpp"

namespace {

/// A convolution at random, described.
template <class T>
struct Convolution {
  int groups, pad[2], step[2], dilation[2], mode;
  bool by_points;
  Four size;  // of the filter: output channels, channels of a group, rows, columns
  std::vector<T> weights;
  T* device = nullptr;
  cudnnFilterDescriptor_t filter = nullptr;
  cudnnConvolutionDescriptor_t descriptor = nullptr;

  explicit Convolution(Random& random)
      : groups(1 + random.below(3)),
        pad{random.below(3), random.below(3)},
        step{1 + random.below(2), 1 + random.below(2)},
        dilation{1 + random.below(2), 1 + random.below(2)},
        mode(random.below(2)),
        by_points(random.below(2) == 0),
        size{groups * (1 + random.below(random.below(2) == 0 ? 40 : 4)), 1 + random.below(5),
             1 + random.below(3), 1 + random.below(3)},
        weights(static_cast<std::size_t>(size[0] * size[1] * size[2] * size[3])) {
    for (T& weight : weights) weight = static_cast<T>(random.unit());
    cudaMalloc(reinterpret_cast<void**>(&device), weights.size() * sizeof(T));
    cudaMemcpy(device, weights.data(), weights.size() * sizeof(T), cudaMemcpyHostToDevice);
    describe();
  }
  ~Convolution() {
    cudaFree(device);
    expect_success(cudnnDestroyFilterDescriptor(filter), "cudnnDestroyFilterDescriptor");
    expect_success(cudnnDestroyConvolutionDescriptor(descriptor), "cudnnDestroyConvolutionDescriptor");
  }
  Convolution(const Convolution&) = delete;
  Convolution& operator=(const Convolution&) = delete;

  [[nodiscard]] Four out_size(const Tensor<T>& in) const {
    Four out{};
    expect_success(cudnnGetConvolution2dForwardOutputDim(descriptor, in.descriptor, filter, &out[0], &out[1],
                                                         &out[2], &out[3]),
                   "cudnnGetConvolution2dForwardOutputDim");
    return out;
  }
  /// By the definition.
  [[nodiscard]] double result(const Tensor<T>& in, const Four& at) const {
    const int group = at[1] / (size[0] / groups);
    double sum = 0;
    for_each_place({1, size[1], size[2], size[3]}, [&](const Four& k) {
      const int y = at[2] * step[0] - pad[0] + k[2] * dilation[0],
                x = at[3] * step[1] - pad[1] + k[3] * dilation[1];
      if (y < 0 || y >= in.size[2] || x < 0 || x >= in.size[3]) return;
      const int r = mode == 0 ? size[2] - 1 - k[2] : k[2], s = mode == 0 ? size[3] - 1 - k[3] : k[3];
      sum += weight_at(at[1], k[1], r, s) * in.at({at[0], group * size[1] + k[1], y, x});
    });
    return sum;
  }

 private:
  void describe() {
    expect_success(cudnnCreateFilterDescriptor(&filter), "cudnnCreateFilterDescriptor");
    expect_success(
        cudnnSetFilter4dDescriptor(filter, Tensor<T>::type, by_points ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
                                   size[0], size[1], size[2], size[3]),
        "cudnnSetFilter4dDescriptor");
    expect_success(cudnnCreateConvolutionDescriptor(&descriptor), "cudnnCreateConvolutionDescriptor");
    expect_success(cudnnSetConvolution2dDescriptor(descriptor, pad[0], pad[1], step[0], step[1], dilation[0],
                                                   dilation[1], static_cast<cudnnConvolutionMode_t>(mode),
                                                   Tensor<T>::type),
                   "cudnnSetConvolution2dDescriptor");
    expect_success(cudnnSetConvolutionGroupCount(descriptor, groups), "cudnnSetConvolutionGroupCount");
  }
  [[nodiscard]] double weight_at(int k, int c, int r, int s) const {
    const int index = by_points ? ((k * size[2] + r) * size[3] + s) * size[1] + c
                                : ((k * size[1] + c) * size[2] + r) * size[3] + s;
    return static_cast<double>(weights[static_cast<std::size_t>(index)]);
  }
};

template <class T>
void check_convolution(cudnnHandle_t handle, Random& random) {
  const Convolution<T> c(random);
  const Tensor<T> in({1 + random.below(3), c.groups * c.size[1], 5 + random.below(9), 5 + random.below(9)},
                     random);
  Tensor<T> out(c.out_size(in), random);
  cudnnConvolutionFwdAlgoPerf_t found{};
  int count = 0;
  expect_success(cudnnGetConvolutionForwardAlgorithm_v7(handle, in.descriptor, c.filter, c.descriptor,
                                                        out.descriptor, 1, &count, &found),
                 "cudnnGetConvolutionForwardAlgorithm_v7");
  expect(count == 1 && found.status == CUDNN_STATUS_SUCCESS, "an algorithm");
  std::size_t bytes = 1;
  expect_success(cudnnGetConvolutionForwardWorkspaceSize(handle, in.descriptor, c.filter, c.descriptor,
                                                         out.descriptor, found.algo, &bytes),
                 "cudnnGetConvolutionForwardWorkspaceSize");
  const Blend<T> blend(random);
  check<T>(
      out, blend, [&](const Four& at) { return c.result(in, at); },
      [&] {
        return cudnnConvolutionForward(handle, &blend.alpha, in.descriptor, in.device, c.filter, c.device,
                                       c.descriptor, found.algo, nullptr, 0, &blend.beta, out.descriptor,
                                       out.device);
      },
      "cudnnConvolutionForward");
}

Four random_size(Random& random) {
  return {1 + random.below(3), 1 + random.below(9), 1 + random.below(9), 1 + random.below(9)};
}

double activated(int mode, double x, double coefficient) {
  switch (mode) {
    case 0:
      return 1 / (1 + std::exp(-x));
    case 1:
      return std::max(x, 0.0);
    case 2:
      return std::tanh(x);
    case 3:
      return std::min(std::max(x, 0.0), coefficient);
    case 4:
      return x > 0 ? x : coefficient * (std::exp(x) - 1);
    case 5:
      return x;
    default:
      return x / (1 + std::exp(-coefficient * x));
  }
}

template <class T>
void check_activation(cudnnHandle_t handle, Random& random) {
  const Tensor<T> in(random_size(random), random);
  Tensor<T> out(in.size, random);
  const int mode = random.below(7);
  const double coefficient = 0.1 + random.below(9) * 0.1;
  cudnnActivationDescriptor_t activation = nullptr;
  expect_success(cudnnCreateActivationDescriptor(&activation), "cudnnCreateActivationDescriptor");
  expect_success(cudnnSetActivationDescriptor(activation, static_cast<cudnnActivationMode_t>(mode),
                                              CUDNN_NOT_PROPAGATE_NAN, coefficient),
                 "cudnnSetActivationDescriptor");
  if (mode == 6) expect_success(cudnnSetActivationDescriptorSwishBeta(activation, coefficient), "swish");
  const Blend<T> blend(random);
  check<T>(
      out, blend, [&](const Four& at) { return activated(mode, in.at(at), coefficient); },
      [&] {
        return cudnnActivationForward(handle, activation, &blend.alpha, in.descriptor, in.device, &blend.beta,
                                      out.descriptor, out.device);
      },
      "cudnnActivationForward " + std::to_string(mode));
  cudnnDestroyActivationDescriptor(activation);
}

template <class T>
void check_sum(cudnnHandle_t handle, Random& random) {
  Tensor<T> out(random_size(random), random);
  Four size = out.size;
  for (int& length : size)
    if (random.below(2) == 0) length = 1;
  const Tensor<T> in(size, random);
  const Blend<T> blend(random);
  const auto result = [&](Four at) {
    for (std::size_t d = 0; d < 4; ++d)
      if (size[d] == 1) at[d] = 0;
    return in.at(at);
  };
  check<T>(
      out, blend, result,
      [&] {
        return cudnnAddTensor(handle, &blend.alpha, in.descriptor, in.device, &blend.beta, out.descriptor,
                              out.device);
      },
      "cudnnAddTensor");
}

template <class T>
void check_pooling(cudnnHandle_t handle, Random& random) {
  const Tensor<T> in({1 + random.below(3), 1 + random.below(4), 4 + random.below(9), 4 + random.below(9)},
                     random);
  const int window[] = {1 + random.below(4), 1 + random.below(4)},
            step[] = {1 + random.below(3), 1 + random.below(3)};
  const int pad[] = {random.below(window[0]), random.below(window[1])}, mode = random.below(4);
  cudnnPoolingDescriptor_t pooling = nullptr;
  expect_success(cudnnCreatePoolingDescriptor(&pooling), "cudnnCreatePoolingDescriptor");
  expect_success(
      cudnnSetPooling2dDescriptor(pooling, static_cast<cudnnPoolingMode_t>(mode), CUDNN_NOT_PROPAGATE_NAN,
                                  window[0], window[1], pad[0], pad[1], step[0], step[1]),
      "cudnnSetPooling2dDescriptor");
  Four size{};
  expect_success(
      cudnnGetPooling2dForwardOutputDim(pooling, in.descriptor, &size[0], &size[1], &size[2], &size[3]),
      "cudnnGetPooling2dForwardOutputDim");
  Tensor<T> out(size, random);
  const auto result = [&](const Four& at) {
    double sum = 0, largest = -1e9;
    int count = 0;
    for_each_place({1, 1, window[0], window[1]}, [&](const Four& k) {
      const int y = at[2] * step[0] - pad[0] + k[2], x = at[3] * step[1] - pad[1] + k[3];
      if (y < 0 || y >= in.size[2] || x < 0 || x >= in.size[3]) return;
      sum += in.at({at[0], at[1], y, x});
      largest = std::max(largest, in.at({at[0], at[1], y, x}));
      ++count;
    });
    if (mode == 0 || mode == 3) return largest;
    return sum / (mode == 1 ? window[0] * window[1] : count);
  };
  const Blend<T> blend(random);
  check<T>(
      out, blend, result,
      [&] {
        return cudnnPoolingForward(handle, pooling, &blend.alpha, in.descriptor, in.device, &blend.beta,
                                   out.descriptor, out.device);
      },
      "cudnnPoolingForward " + std::to_string(mode));
  cudnnDestroyPoolingDescriptor(pooling);
}

template <class T>
void check_softmax(cudnnHandle_t handle, Random& random) {
  const Tensor<T> in(random_size(random), random);
  Tensor<T> out(in.size, random);
  const int algorithm = random.below(3), mode = random.below(2);
  const auto result = [&](const Four& at) {
    double sum = 0;
    for_each_place(in.size, [&](const Four& other) {
      const bool same = other[0] == at[0] && (mode == 0 || (other[2] == at[2] && other[3] == at[3]));
      if (same) sum += std::exp(in.at(other));
    });
    return algorithm == 2 ? in.at(at) - std::log(sum) : std::exp(in.at(at)) / sum;
  };
  const Blend<T> blend(random);
  check<T>(
      out, blend, result,
      [&] {
        return cudnnSoftmaxForward(handle, static_cast<cudnnSoftmaxAlgorithm_t>(algorithm),
                                   static_cast<cudnnSoftmaxMode_t>(mode), &blend.alpha, in.descriptor,
                                   in.device, &blend.beta, out.descriptor, out.device);
      },
      "cudnnSoftmaxForward " + std::to_string(algorithm));
}

template <class T>
void check_all(cudnnHandle_t handle, Random& random) {
  check_convolution<T>(handle, random);
  check_activation<T>(handle, random);
  check_sum<T>(handle, random);
  check_pooling<T>(handle, random);
  check_softmax<T>(handle, random);
}

void check_refusals(cudnnHandle_t handle, Random& random) {
  const Tensor<float> a({2, 3, 4, 5}, random), b({2, 3, 4, 6}, random);
  const float one = 1, none = 0;
  const auto softmax = [&](cudnnHandle_t on, cudnnTensorDescriptor_t from, cudnnTensorDescriptor_t to) {
    return cudnnSoftmaxForward(on, CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_MODE_INSTANCE, &one, from, a.device,
                               &none, to, b.device);
  };
  expect(softmax(nullptr, a.descriptor, a.descriptor) == CUDNN_STATUS_NOT_INITIALIZED, "no handle");
  expect(softmax(handle, nullptr, a.descriptor) == CUDNN_STATUS_BAD_PARAM, "no tensor");
  expect(softmax(handle, a.descriptor, b.descriptor) == CUDNN_STATUS_BAD_PARAM, "tensors of different sizes");
  cudnnTensorDescriptor_t tensor = nullptr;
  cudnnCreateTensorDescriptor(&tensor);
  expect(softmax(handle, tensor, tensor) == CUDNN_STATUS_BAD_PARAM, "a tensor that is not set");
  expect(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_HALF, 1, 1, 1, 1) ==
             CUDNN_STATUS_NOT_SUPPORTED,
         "half precision");
  expect(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 0, 1, 1) ==
             CUDNN_STATUS_BAD_PARAM,
         "a size of 0");
  cudnnDestroyTensorDescriptor(tensor);
}

}  // namespace

int main(int count, char** arguments) {
  Random random{static_cast<unsigned long long>(count > 1 ? std::atoi(arguments[1]) : 1)};
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 5;
  cudnnHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  expect_success(cudnnCreate(&handle), "cudnnCreate");
  cudaStreamCreate(&stream);
  check_refusals(handle, random);
  for (int i = 0; i < rounds; ++i) {
    expect_success(cudnnSetStream(handle, random.below(2) == 0 ? stream : nullptr), "cudnnSetStream");
    check_all<float>(handle, random);
    check_all<double>(handle, random);
  }
  expect_success(cudnnDestroy(handle), "cudnnDestroy");
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
