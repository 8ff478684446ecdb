// cuBLAS, cuBLASLt and cuSOLVER by NVIDIA's headers: what they pass and expect is what our libraries have.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cusolverDn.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

int failures = 0;
void check(bool right, const char* what) {
  if (right) return;
  ++failures;
  std::printf("FAIL: %s\n", what);
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* data = nullptr;
  cudaMalloc(&data, values.size() * sizeof(T));
  cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return data;
}
template <class T>
std::vector<T> from_device(const T* data, std::size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}

constexpr int kM = 45, kN = 33, kK = 21;

/// Small integers: sums of their products are exact.
template <class T>
std::vector<T> numbers(std::size_t count, int step) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = T(static_cast<float>(static_cast<int>(i) * step % 7 - 3));
  return values;
}
template <class T, class C>
bool is_product(const std::vector<C>& c, const std::vector<T>& a, const std::vector<T>& b, float alpha,
                float floor) {
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int p = 0; p < kK; ++p) sum += float(a[i + p * kM]) * float(b[p + j * kK]);
      if (float(c[i + j * kM]) != std::fmax(alpha * sum, floor)) return false;
    }
  return true;
}

void blas() {
  cublasHandle_t handle;
  cudaStream_t stream;
  check(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS && cudaStreamCreate(&stream) == cudaSuccess,
        "a handle");
  check(cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS, "a stream");
  int version = 0;
  check(cublasGetVersion(handle, &version) == CUBLAS_STATUS_SUCCESS && version / 10000 == CUBLAS_VER_MAJOR,
        "the version");
  const auto a = numbers<float>(kM * kK, 3), b = numbers<float>(kK * kN, 5);
  float *da = on_device(a), *db = on_device(b), *dc = on_device(std::vector<float>(kM * kN));
  const float alpha = 2, beta = 0;
  check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &alpha, da, kM, db, kK, &beta, dc, kM) ==
            CUBLAS_STATUS_SUCCESS,
        "cublasSgemm");
  check(is_product(from_device(dc, kM * kN), a, b, alpha, -INFINITY), "its result");
  const auto ha = numbers<__half>(kM * kK, 3), hb = numbers<__half>(kK * kN, 5);
  check(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &alpha, on_device(ha), CUDA_R_16F, kM,
                     on_device(hb), CUDA_R_16F, kK, &beta, dc, CUDA_R_32F, kM, CUBLAS_COMPUTE_32F,
                     CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS,
        "cublasGemmEx");
  check(is_product(from_device(dc, kM * kN), ha, hb, alpha, -INFINITY), "its result");
  float dot = 0, expected = 0;
  for (int i = 0; i < kK * kN; ++i) expected += b[i] * b[i];
  check(cublasSdot(handle, kK * kN, db, 1, db, 1, &dot) == CUBLAS_STATUS_SUCCESS && dot == expected,
        "cublasSdot");
  int largest = 0;
  check(cublasIsamax(handle, kK * kN, db, 1, &largest) == CUBLAS_STATUS_SUCCESS &&
            std::fabs(b[largest - 1]) == 3,
        "cublasIsamax");
  const cuDoubleComplex one{1, 0};
  auto* z = on_device(std::vector<cuDoubleComplex>{{2, 0}, {0, 1}, {0, 0}, {4, 0}});
  auto* y = on_device(std::vector<cuDoubleComplex>{{2, 0}, {8, 1}});
  check(cublasZtrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 2, 1,
                    &one, z, 2, y, 2) == CUBLAS_STATUS_SUCCESS,
        "cublasZtrsm");
  const auto x = from_device(y, 2);
  check(x[0].x == 1 && x[0].y == 0 && x[1].x == 2 && x[1].y == 0, "its result");
  check(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH) == CUBLAS_STATUS_SUCCESS, "a math mode");
  check(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS, "the end of the handle");
}

void blas_lt() {
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t la, lb, lc;
  cublasLtMatmulPreference_t preference;
  check(cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS &&
            cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS,
        "a product");
  const cublasLtEpilogue_t relu = CUBLASLT_EPILOGUE_RELU;
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &relu, sizeof relu);
  cublasLtMatrixLayoutCreate(&la, CUDA_R_32F, kM, kK, kM);
  cublasLtMatrixLayoutCreate(&lb, CUDA_R_32F, kK, kN, kK);
  cublasLtMatrixLayoutCreate(&lc, CUDA_R_32F, kM, kN, kM);
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulHeuristicResult_t heuristic{};
  int found = 0;
  check(cublasLtMatmulAlgoGetHeuristic(handle, product, la, lb, lc, lc, preference, 1, &heuristic, &found) ==
                CUBLAS_STATUS_SUCCESS &&
            found == 1,
        "an algorithm");
  const auto a = numbers<float>(kM * kK, 3), b = numbers<float>(kK * kN, 5);
  float* dc = on_device(std::vector<float>(kM * kN));
  const float alpha = 1, beta = 0;
  check(cublasLtMatmul(handle, product, &alpha, on_device(a), la, on_device(b), lb, &beta, dc, lc, dc, lc,
                       &heuristic.algo, nullptr, 0, nullptr) == CUBLAS_STATUS_SUCCESS,
        "cublasLtMatmul");
  check(is_product(from_device(dc, kM * kN), a, b, alpha, 0), "its result");
  cublasLtMatmulDescOpaque_t own;
  check(cublasLtMatmulDescInit(&own, CUBLAS_COMPUTE_32F, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS,
        "a description in place");
  check(cublasLtMatmulPreferenceDestroy(preference) == CUBLAS_STATUS_SUCCESS &&
            cublasLtMatrixLayoutDestroy(la) == CUBLAS_STATUS_SUCCESS &&
            cublasLtMatmulDescDestroy(product) == CUBLAS_STATUS_SUCCESS &&
            cublasLtDestroy(handle) == CUBLAS_STATUS_SUCCESS,
        "the ends");
}

void solver() {
  cusolverDnHandle_t handle;
  check(cusolverDnCreate(&handle) == CUSOLVER_STATUS_SUCCESS, "a solver");
  double* a = on_device(std::vector<double>{1, 2, 2, 1});
  double* b = on_device(std::vector<double>{5, 4});
  int *pivots = on_device(std::vector<int>(2)), *info = on_device(std::vector<int>(1)), elements = 0;
  check(cusolverDnDgetrf_bufferSize(handle, 2, 2, a, 2, &elements) == CUSOLVER_STATUS_SUCCESS, "a workspace");
  double* work = on_device(std::vector<double>(elements));
  check(cusolverDnDgetrf(handle, 2, 2, a, 2, work, pivots, info) == CUSOLVER_STATUS_SUCCESS,
        "cusolverDnDgetrf");
  check(cusolverDnDgetrs(handle, CUBLAS_OP_N, 2, 1, a, 2, pivots, b, 2, info) == CUSOLVER_STATUS_SUCCESS,
        "cusolverDnDgetrs");
  check(from_device(b, 2) == std::vector<double>{1, 2} && from_device(info, 1)[0] == 0, "its result");
  check(cusolverDnDestroy(handle) == CUSOLVER_STATUS_SUCCESS, "the end of the solver");
}

}  // namespace

int main() {
  blas();
  blas_lt();
  solver();
  if (failures == 0) std::puts("PASS");
  return failures;
}
