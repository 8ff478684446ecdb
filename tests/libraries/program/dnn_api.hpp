#pragma once

// cuDNN, as NVIDIA's header declares it, or as far as it is used here.
#ifdef LOCKSTEP_NVIDIA_HEADERS
#include <cudnn.h>
#else
extern "C" {
using cudnnHandle_t = struct cudnnContext*;
using cudnnTensorDescriptor_t = struct cudnnTensorStruct*;
using cudnnFilterDescriptor_t = struct cudnnFilterStruct*;
using cudnnConvolutionDescriptor_t = struct cudnnConvolutionStruct*;
using cudnnActivationDescriptor_t = struct cudnnActivationStruct*;
using cudnnPoolingDescriptor_t = struct cudnnPoolingStruct*;
enum cudnnStatus_t : int {
  CUDNN_STATUS_SUCCESS = 0,
  CUDNN_STATUS_NOT_INITIALIZED = 1001,
  CUDNN_STATUS_BAD_PARAM = 2000,
  CUDNN_STATUS_NOT_SUPPORTED = 3000,
};
enum cudnnDataType_t : int { CUDNN_DATA_FLOAT = 0, CUDNN_DATA_DOUBLE = 1, CUDNN_DATA_HALF = 2 };
enum cudnnTensorFormat_t : int { CUDNN_TENSOR_NCHW = 0, CUDNN_TENSOR_NHWC = 1 };
enum cudnnNanPropagation_t : int { CUDNN_NOT_PROPAGATE_NAN = 0 };
enum cudnnConvolutionMode_t : int { CUDNN_CONVOLUTION = 0, CUDNN_CROSS_CORRELATION = 1 };
enum cudnnActivationMode_t : int { CUDNN_ACTIVATION_SIGMOID = 0 };
enum cudnnPoolingMode_t : int { CUDNN_POOLING_MAX = 0 };
enum cudnnSoftmaxAlgorithm_t : int { CUDNN_SOFTMAX_FAST = 0 };
enum cudnnSoftmaxMode_t : int { CUDNN_SOFTMAX_MODE_INSTANCE = 0 };
enum cudnnConvolutionFwdAlgo_t : int { CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM = 0 };
enum cudnnDeterminism_t : int { CUDNN_NON_DETERMINISTIC = 0 };
enum cudnnMathType_t : int { CUDNN_DEFAULT_MATH = 0 };
struct cudnnConvolutionFwdAlgoPerf_t {
  cudnnConvolutionFwdAlgo_t algo;
  cudnnStatus_t status;
  float time;
  size_t memory;
  cudnnDeterminism_t determinism;
  cudnnMathType_t mathType;
  int reserved[3];
};
cudnnStatus_t cudnnCreate(cudnnHandle_t*);
cudnnStatus_t cudnnDestroy(cudnnHandle_t);
cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t);
cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t*);
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t);
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t, cudnnTensorFormat_t, cudnnDataType_t, int,
                                         int, int, int);
cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t, cudnnDataType_t, int, int, int, int, int,
                                           int, int, int);
cudnnStatus_t cudnnGetTensor4dDescriptor(cudnnTensorDescriptor_t, cudnnDataType_t*, int*, int*, int*, int*,
                                         int*, int*, int*, int*);
cudnnStatus_t cudnnGetTensorSizeInBytes(cudnnTensorDescriptor_t, size_t*);
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t*);
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t);
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t, cudnnDataType_t, cudnnTensorFormat_t, int,
                                         int, int, int);
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t*);
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t);
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t, int, int, int, int, int, int,
                                              cudnnConvolutionMode_t, cudnnDataType_t);
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t, int);
cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(cudnnConvolutionDescriptor_t, cudnnTensorDescriptor_t,
                                                    cudnnFilterDescriptor_t, int*, int*, int*, int*);
cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, cudnnTensorDescriptor_t,
                                                     cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
                                                     cudnnTensorDescriptor_t, int, int*,
                                                     cudnnConvolutionFwdAlgoPerf_t*);
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t, cudnnTensorDescriptor_t,
                                                      cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
                                                      cudnnTensorDescriptor_t, cudnnConvolutionFwdAlgo_t,
                                                      size_t*);
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t, const void*, cudnnTensorDescriptor_t, const void*,
                                      cudnnFilterDescriptor_t, const void*, cudnnConvolutionDescriptor_t,
                                      cudnnConvolutionFwdAlgo_t, void*, size_t, const void*,
                                      cudnnTensorDescriptor_t, void*);
cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t*);
cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t);
cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t, cudnnActivationMode_t,
                                           cudnnNanPropagation_t, double);
cudnnStatus_t cudnnSetActivationDescriptorSwishBeta(cudnnActivationDescriptor_t, double);
cudnnStatus_t cudnnActivationForward(cudnnHandle_t, cudnnActivationDescriptor_t, const void*,
                                     cudnnTensorDescriptor_t, const void*, const void*,
                                     cudnnTensorDescriptor_t, void*);
cudnnStatus_t cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t*);
cudnnStatus_t cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t);
cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t, cudnnPoolingMode_t, cudnnNanPropagation_t,
                                          int, int, int, int, int, int);
cudnnStatus_t cudnnGetPooling2dForwardOutputDim(cudnnPoolingDescriptor_t, cudnnTensorDescriptor_t, int*, int*,
                                                int*, int*);
cudnnStatus_t cudnnPoolingForward(cudnnHandle_t, cudnnPoolingDescriptor_t, const void*,
                                  cudnnTensorDescriptor_t, const void*, const void*, cudnnTensorDescriptor_t,
                                  void*);
cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t, cudnnSoftmaxAlgorithm_t, cudnnSoftmaxMode_t, const void*,
                                  cudnnTensorDescriptor_t, const void*, const void*, cudnnTensorDescriptor_t,
                                  void*);
cudnnStatus_t cudnnAddTensor(cudnnHandle_t, const void*, cudnnTensorDescriptor_t, const void*, const void*,
                             cudnnTensorDescriptor_t, void*);
}
#endif
