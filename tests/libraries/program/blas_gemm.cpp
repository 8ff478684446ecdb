// cuBLAS: matrix products against a product by definition.
#include "blas.hpp"

extern "C" {
int cublasCreate_v2(Handle*);
int cublasDestroy_v2(Handle);
int cublasSgemm_v2(Handle, int, int, int, int, int, const float*, const float*, int, const float*, int,
                   const float*, float*, int);
}

int main() {
  Handle handle = nullptr;
  check(cublasCreate_v2(&handle) == 0, "create");
  const int m = 37, n = 41, k = 19;
  const auto a = random_values<float>(m * k), b = random_values<float>(k * n);
  const Device<float> da(a), db(b), dc(std::vector<float>(m * n, NAN));
  const float alpha = 2, beta = 0;
  check(cublasSgemm_v2(handle, 0, 0, m, n, k, &alpha, da, m, db, k, &beta, dc, m) == 0, "gemm");
  const auto c = dc.get();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int p = 0; p < k; ++p)
        sum += static_cast<double>(a[static_cast<std::size_t>(i + p * m)]) *
               b[static_cast<std::size_t>(p + j * k)];
      check(std::abs(2 * sum - c[static_cast<std::size_t>(i + j * m)]) < 1e-4, "an element");
    }
  check(cublasDestroy_v2(handle) == 0 && cublasDestroy_v2(handle) == kNotInitialized, "destroy");
  return result();
}
