#pragma once

// What the programs share: the runtime's functions, as NVIDIA's header declares them or as far as they are
// used here, and random numbers.
#ifdef LOCKSTEP_NVIDIA_HEADERS
#include <cuda_runtime.h>
#else
#include <cstddef>

extern "C" {
using cudaStream_t = struct CUstream_st*;
using cudaError_t = int;
enum cudaMemcpyKind : int { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
cudaError_t cudaMalloc(void** memory, size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemset(void* memory, int value, size_t bytes);
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaDeviceSynchronize();
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
enum cudaStreamCaptureMode : int { cudaStreamCaptureModeGlobal = 0 };
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
}
#endif

/// SplitMix64
struct Random {
  unsigned long long state;

  unsigned long long next() {
    state += 0x9e3779b97f4a7c15ULL;
    unsigned long long value = state;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
  }
  int below(int limit) { return static_cast<int>(next() % static_cast<unsigned long long>(limit)); }
  /// From -1 to 1.
  double unit() { return 2 * (static_cast<double>(next() >> 11) / 9007199254740992.0) - 1; }
};
