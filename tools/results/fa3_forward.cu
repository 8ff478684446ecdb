// FlashAttention-3's forward kernel on one problem, without PyTorch: fa3_forward BATCH LENGTH HEADS WIDTH causal|full [check].
//
// WIDTH is 64 or 128, the operands are fp16 with as many heads of keys as of queries. `check` fills them with small pseudo-random
// numbers and compares with an attention of the host; otherwise they are zero. Build: tools/results/fa3.py.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_fp16.h>

#include "flash.h"

namespace cutlass {
struct half_t;
}

namespace {

struct Problem {
  int batch, length, heads, width;
  bool causal;
  size_t elements() const { return size_t(batch) * length * heads * width; }
  size_t at(int b, int row, int head) const { return ((size_t(b) * length + row) * heads + head) * width; }
};

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "fa3_forward: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
T* on_device(size_t count) {
  void* memory = nullptr;
  must(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  must(cudaMemset(memory, 0, count * sizeof(T)), "cudaMemset");
  return static_cast<T*>(memory);
}

std::vector<__half> numbers(size_t count, unsigned seed) {
  std::vector<__half> all(count);
  for (__half& each : all) {
    seed = seed * 1664525u + 1013904223u;
    each = __float2half(float(int(seed >> 24) - 128) / 128.0f);
  }
  return all;
}

Flash_fwd_params parameters(const Problem& p, const __half* q, const __half* k, const __half* v, __half* o,
                            float* lse, int* tiles) {
  Flash_fwd_params a{};
  a.q_ptr = const_cast<__half*>(q);
  a.k_ptr = const_cast<__half*>(k);
  a.v_ptr = const_cast<__half*>(v);
  a.o_ptr = o;
  a.softmax_lse_ptr = lse;
  const int64_t row = int64_t(p.heads) * p.width, all = row * p.length;
  a.q_row_stride = a.k_row_stride = a.v_row_stride = a.o_row_stride = row;
  a.q_head_stride = a.k_head_stride = a.v_head_stride = a.o_head_stride = p.width;
  a.q_batch_stride = a.k_batch_stride = a.v_batch_stride = a.o_batch_stride = all;
  a.v_dim_stride = 1;
  a.b = a.b_k = p.batch;
  a.h = a.h_k = p.heads;
  a.seqlen_q = a.seqlen_k = a.seqlen_q_rounded = a.seqlen_k_rounded = p.length;
  a.d = a.dv = a.d_rounded = a.dv_rounded = p.width;
  a.scale_softmax = 1.0f / std::sqrt(float(p.width));
  a.window_size_left = p.length - 1;
  a.window_size_right = p.causal ? 0 : p.length - 1;
  a.is_causal = p.causal;
  a.num_splits = 1;
  a.page_size = 1;
  a.tile_count_semaphore = p.causal ? tiles : nullptr;
  a.arch = 90;
  cudaDeviceProp device;
  must(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  a.num_sm = device.multiProcessorCount;
  return a;
}

/// The greatest difference from an attention in double precision, and from its logarithm of the sum.
void compare(const Problem& p, const std::vector<__half>& q, const std::vector<__half>& k, const std::vector<__half>& v,
             const std::vector<__half>& o, const std::vector<float>& lse, double& output, double& sum_log) {
  output = sum_log = 0;
  std::vector<double> weight(p.length), mean(p.width);
  for (int b = 0; b < p.batch; ++b)
    for (int h = 0; h < p.heads; ++h)
      for (int row = 0; row < p.length; ++row) {
        const int keys = p.causal ? row + 1 : p.length;
        double most = -INFINITY, sum = 0;
        for (int n = 0; n < keys; ++n) {
          double dot = 0;
          for (int d = 0; d < p.width; ++d)
            dot += double(__half2float(q[p.at(b, row, h) + d])) * double(__half2float(k[p.at(b, n, h) + d]));
          weight[n] = dot / std::sqrt(double(p.width));
          most = std::max(most, weight[n]);
        }
        std::fill(mean.begin(), mean.end(), 0.0);
        for (int n = 0; n < keys; ++n) {
          const double w = std::exp(weight[n] - most);
          sum += w;
          for (int d = 0; d < p.width; ++d) mean[d] += w * double(__half2float(v[p.at(b, n, h) + d]));
        }
        for (int d = 0; d < p.width; ++d)
          output = std::max(output, std::abs(mean[d] / sum - double(__half2float(o[p.at(b, row, h) + d]))));
        sum_log = std::max(sum_log, std::abs(most + std::log(sum) - double(lse[(size_t(b) * p.heads + h) * p.length + row])));
      }
}

}  // namespace

int main(int count, char** words) {
  const bool check = count == 7 && std::strcmp(words[6], "check") == 0;
  const bool causal = count >= 6 && std::strcmp(words[5], "causal") == 0;
  if ((count != 6 && !check) || (!causal && std::strcmp(words[5], "full") != 0)) {
    std::fprintf(stderr, "usage: fa3_forward BATCH LENGTH HEADS WIDTH causal|full [check]\n");
    return 2;
  }
  const Problem p{std::atoi(words[1]), std::atoi(words[2]), std::atoi(words[3]), std::atoi(words[4]), causal};
  if (p.batch < 1 || p.length < 1 || p.heads < 1 || (p.width != 64 && p.width != 128)) {
    std::fprintf(stderr, "fa3_forward: positive numbers expected, and a width of 64 or 128\n");
    return 2;
  }
  const size_t n = p.elements(), rows = size_t(p.batch) * p.heads * p.length;
  __half *q = on_device<__half>(n), *k = on_device<__half>(n), *v = on_device<__half>(n), *o = on_device<__half>(n);
  float* lse = on_device<float>(rows);
  int* tiles = on_device<int>(1);
  std::vector<__half> host[3];
  if (check) {
    __half* const device[] = {q, k, v};
    for (unsigned i = 0; i < 3; ++i) {
      host[i] = numbers(n, i + 1);
      must(cudaMemcpy(device[i], host[i].data(), n * sizeof(__half), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
  }
  Flash_fwd_params a = parameters(p, q, k, v, o, lse, tiles);
  if (p.width == 64)
    run_mha_fwd_<90, cutlass::half_t, 64, 64, false, false, false, false>(a, nullptr);
  else
    run_mha_fwd_<90, cutlass::half_t, 128, 128, false, false, false, false>(a, nullptr);
  must(cudaGetLastError(), "launch");
  must(cudaDeviceSynchronize(), "kernel");
  if (!check) return 0;
  std::vector<__half> result(n);
  std::vector<float> logs(rows);
  must(cudaMemcpy(result.data(), o, n * sizeof(__half), cudaMemcpyDeviceToHost), "cudaMemcpy");
  must(cudaMemcpy(logs.data(), lse, rows * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
  double output, sum_log;
  compare(p, host[0], host[1], host[2], result, logs, output, sum_log);
  // Weights and outputs are fp16: relative steps of 2^-11.
  const bool right = output < 2e-3 && sum_log < 1e-4;
  std::printf("%s: output within %.2e, logarithm of the sum within %.2e\n", right ? "PASSED" : "FAILED", output, sum_log);
  return right ? 0 : 1;
}
