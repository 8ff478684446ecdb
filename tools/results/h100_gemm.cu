// One of the tensor-core kernels of pranjalssh/fast.cu on C = A B of SIZE x SIZE bf16:
// h100_gemm KERNEL SIZE [check].
//
// The repository's kernels are included as they are; its own main program needs cuBLAS to check them. `check`
// fills the operands with numbers from -1.5 to 1.5 and compares 1,000 elements with the host's sums;
// otherwise they are zero. Build, FAST_CU being a checkout:
//   nvcc -std=c++17 -O3 -DNDEBUG -w --use_fast_math --expt-relaxed-constexpr --expt-extended-lambda
//     -gencode arch=compute_90a,code=[compute_90a,sm_90a] -IFAST_CU -lcuda -o h100_gemm h100_gemm.cu
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda/barrier>
#include <iostream>
#include <vector>

// What the repository's matmul.cu defines for its kernels.
typedef __nv_bfloat16 bf16;
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

void must(cudaError_t error, const char* file, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorString(error));
  std::exit(1);
}
#define cudaCheck(error) must(error, __FILE__, __LINE__)

#include "examples/matmul/matmul_11.cuh"
#include "examples/matmul/matmul_2.cuh"
#include "examples/matmul/matmul_4.cuh"
#include "examples/matmul/matmul_5.cuh"
#include "examples/matmul/matmul_6.cuh"
#include "examples/matmul/matmul_7.cuh"

namespace {

bool launch(int kernel, int n, bf16* a, bf16* b, bf16* c) {
  switch (kernel) {
    case 2:
      runKernel2(n, n, n, a, b, c);
      return true;
    case 4:
      runKernel4(n, n, n, a, b, c, nullptr);
      return true;
    case 5:
      runKernel5(n, n, n, a, b, c, nullptr);
      return true;
    case 6:
      runKernel6(n, n, n, a, b, c, nullptr);
      return true;
    case 7:
      runKernel7(n, n, n, a, b, c, nullptr);
      return true;
    case 11:
      runKernel11(n, n, n, a, b, c, nullptr);
      return true;
    default:
      return false;
  }
}

std::vector<bf16> numbers(size_t count, unsigned seed) {
  std::vector<bf16> all(count);
  for (bf16& each : all) {
    seed = seed * 1664525u + 1013904223u;
    each = __float2bfloat16(float(int(seed >> 30)) - 1.5f);
  }
  return all;
}

// C is stored by columns, A by rows and B by columns.
bool right(const std::vector<bf16>& a, const std::vector<bf16>& b, const std::vector<bf16>& c, size_t n) {
  for (size_t t = 0; t < 1000; ++t) {
    const size_t row = t * 7919 % n, column = t * 104729 % n;
    double sum = 0;
    for (size_t k = 0; k < n; ++k) sum += double(float(a[row * n + k])) * double(float(b[column * n + k]));
    const float got = float(c[column * n + row]), expected = float(__float2bfloat16(float(sum)));
    if (got == expected) continue;
    std::printf("row %zu, column %zu: %g, expected %g\n", row, column, got, expected);
    return false;
  }
  return true;
}

}  // namespace

int main(int count, char** words) {
  const int kernel = count > 2 ? std::atoi(words[1]) : 0, size = count > 2 ? std::atoi(words[2]) : 0;
  const bool check = count == 4 && std::strcmp(words[3], "check") == 0;
  if (size <= 0 || size % 256 != 0 || (count == 4 && !check) || count > 4) {
    std::fprintf(stderr,
                 "usage: h100_gemm KERNEL SIZE [check], SIZE a multiple of 256, from 2048 on for kernel 5\n");
    return 2;
  }
  const size_t elements = size_t(size) * size, bytes = elements * sizeof(bf16);
  const std::vector<bf16> a = check ? numbers(elements, 1) : std::vector<bf16>(elements, bf16(0.0f));
  const std::vector<bf16> b = check ? numbers(elements, 2) : std::vector<bf16>(elements, bf16(0.0f));
  std::vector<bf16> c(elements);
  bf16 *da, *db, *dc;
  cudaCheck(cudaMalloc(&da, bytes));
  cudaCheck(cudaMalloc(&db, bytes));
  cudaCheck(cudaMalloc(&dc, bytes));
  cudaCheck(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
  cudaCheck(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));
  if (!launch(kernel, size, da, db, dc)) {
    std::fprintf(stderr, "h100_gemm: no kernel %d\n", kernel);
    return 2;
  }
  cudaCheck(cudaDeviceSynchronize());
  cudaCheck(cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost));
  if (check && !right(a, b, c, size_t(size))) return 1;
  std::printf("%s\n", check ? "right" : "done");
}
