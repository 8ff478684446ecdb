// cuDNN's types and values, as far as they are used here.
#pragma once

#include "libraries/common/error.hpp"

namespace lockstep::libraries::dnn {

enum Status {
  kSuccess = 0,
  kNotInitialized = 1001,
  kBadParameter = 2000,
  kNotSupported = 3000,
  kAllocationFailed = 4004,
  kExecutionFailed = 5000,
};

enum DataType { kFloat = 0, kDouble = 1 };
enum TensorFormat { kNchw = 0, kNhwc = 1 };
enum ConvolutionMode { kConvolution = 0, kCrossCorrelation = 1 };
enum Activation { kSigmoid, kRelu, kTanh, kClippedRelu, kElu, kIdentity, kSwish, kActivations };
enum Pooling { kMaximum, kAverageWithPadding, kAverageWithoutPadding, kDeterministicMaximum, kPoolings };
enum Softmax { kFast, kAccurate, kLogarithm, kSoftmaxes };
enum SoftmaxMode { kOverInstance, kOverChannels };

constexpr int kVersion[] = {9, 19, 0};
constexpr int kAlgorithms = 8;               // for a convolution forward
constexpr int kPrecomputedImplicitGemm = 1;  // that which ours is most like

struct AlgorithmPerformance {
  int algorithm;
  int status;
  float time;
  std::size_t memory;
  int determinism;
  int math_type;
  int reserved[3];
};

inline Status status_of(Failure failure) {
  switch (failure) {
    case Failure::kNotInitialized:
      return kNotInitialized;
    case Failure::kInvalidValue:
      return kBadParameter;
    case Failure::kAllocation:
      return kAllocationFailed;
    case Failure::kExecution:
      return kExecutionFailed;
    default:
      return kNotSupported;
  }
}

}  // namespace lockstep::libraries::dnn

#define LOCKSTEP_DNN_API extern "C" __attribute__((visibility("default"))) lockstep::libraries::dnn::Status
