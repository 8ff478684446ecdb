#pragma once

// Tensors on the host and on the device, and the comparison of what cuDNN makes of them.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "api.hpp"
#include "dnn_api.hpp"

inline int failures = 0;

inline void expect(bool fact, const std::string& what) {
  if (fact) return;
  std::printf("FAIL: %s\n", what.c_str());
  ++failures;
}
inline void expect_success(cudnnStatus_t status, const char* what) {
  expect(status == CUDNN_STATUS_SUCCESS,
         std::string(what) + " gives " + std::to_string(static_cast<int>(status)));
}

using Four = std::array<int, 4>;

/// Images, channels, rows, columns; `sizes` are as far as they go.
inline void for_each_place(const Four& size, const std::function<void(const Four&)>& visit) {
  for (int n = 0; n < size[0]; ++n)
    for (int c = 0; c < size[1]; ++c)
      for (int h = 0; h < size[2]; ++h)
        for (int w = 0; w < size[3]; ++w) visit({n, c, h, w});
}

/// A tensor in one of three layouts: by channels, by points, or with gaps.
template <class T>
struct Tensor {
  static constexpr cudnnDataType_t type = sizeof(T) == 8 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  Four size, stride{};
  std::vector<T> values;
  T* device = nullptr;
  cudnnTensorDescriptor_t descriptor = nullptr;

  Tensor(const Four& sizes, Random& random) : size(sizes) {
    expect_success(cudnnCreateTensorDescriptor(&descriptor), "cudnnCreateTensorDescriptor");
    const int layout = random.below(3);
    if (layout == 2) {
      stride[3] = 1 + random.below(2);
      stride[2] = size[3] * stride[3] + random.below(2);
      stride[1] = size[2] * stride[2];
      stride[0] = size[1] * stride[1] + random.below(3);
      expect_success(cudnnSetTensor4dDescriptorEx(descriptor, type, size[0], size[1], size[2], size[3],
                                                  stride[0], stride[1], stride[2], stride[3]),
                     "cudnnSetTensor4dDescriptorEx");
    } else {
      expect_success(cudnnSetTensor4dDescriptor(descriptor, static_cast<cudnnTensorFormat_t>(layout), type,
                                                size[0], size[1], size[2], size[3]),
                     "cudnnSetTensor4dDescriptor");
      cudnnDataType_t got;
      Four sizes_got;
      expect_success(
          cudnnGetTensor4dDescriptor(descriptor, &got, &sizes_got[0], &sizes_got[1], &sizes_got[2],
                                     &sizes_got[3], &stride[0], &stride[1], &stride[2], &stride[3]),
          "cudnnGetTensor4dDescriptor");
      expect(got == type && sizes_got == size, "what was set");
      expect(stride[1] == (layout == 1 ? 1 : size[2] * size[3]), "the stride of channels");
    }
    std::size_t bytes = 0;
    expect_success(cudnnGetTensorSizeInBytes(descriptor, &bytes), "cudnnGetTensorSizeInBytes");
    values.resize(bytes / sizeof(T));
    for (T& value : values) value = static_cast<T>(random.unit());
    cudaMalloc(reinterpret_cast<void**>(&device), bytes);
    upload();
  }
  ~Tensor() {
    cudaFree(device);
    expect_success(cudnnDestroyTensorDescriptor(descriptor), "cudnnDestroyTensorDescriptor");
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  void upload() const {
    cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  }
  [[nodiscard]] std::size_t index(const Four& at) const {
    return static_cast<std::size_t>(at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2] +
                                    at[3] * stride[3]);
  }
  [[nodiscard]] double at(const Four& place) const { return static_cast<double>(values[index(place)]); }
};

/// y = alpha * result + beta * y; y's elements are none where beta is 0.
template <class T>
struct Blend {
  T alpha, beta;

  explicit Blend(Random& random)
      : alpha(static_cast<T>(random.unit())), beta(static_cast<T>(random.below(2) * 0.5)) {}
};

template <class T>
void check(Tensor<T>& out, const Blend<T>& blend, const std::function<double(const Four&)>& result,
           const std::function<cudnnStatus_t()>& call, const std::string& what) {
  std::vector<T> before = out.values;
  std::vector<double> wanted(before.begin(), before.end());
  for_each_place(out.size, [&](const Four& at) {
    const std::size_t i = out.index(at);
    wanted[i] = static_cast<double>(blend.alpha) * result(at) + static_cast<double>(blend.beta) * wanted[i];
    if (blend.beta == 0) out.values[i] = static_cast<T>(std::nan(""));
  });
  out.upload();
  const cudnnStatus_t status = call();
  expect(status == CUDNN_STATUS_SUCCESS, what + " gives " + std::to_string(static_cast<int>(status)));
  cudaDeviceSynchronize();
  cudaMemcpy(out.values.data(), out.device, out.values.size() * sizeof(T), cudaMemcpyDeviceToHost);
  double largest = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double off = std::abs(static_cast<double>(out.values[i]) - wanted[i]) / (1 + std::abs(wanted[i]));
    if (!(off <= largest)) largest = off;
  }
  expect(largest <= (sizeof(T) == 8 ? 1e-12 : 2e-5), what + ": off by " + std::to_string(largest));
}
