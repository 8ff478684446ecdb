// cuBLAS by cublas.h: numbers by value, operations as letters, results returned, errors kept.
#include "blas.hpp"

/// As C has complex numbers.
struct Pair {
  float real, imaginary;
};

extern "C" {
int cublasInit();
int cublasShutdown();
int cublasGetError();
int cublasAlloc(int, int, void**);
int cublasFree(void*);
int cublasSetVector(int, int, const void*, int, void*, int);
int cublasGetVector(int, int, const void*, int, void*, int);
void cublasSgemm(char, char, int, int, int, float, const float*, int, const float*, int, float, float*, int);
void cublasZgemm(char, char, int, int, int, Complex128, const Complex128*, int, const Complex128*, int,
                 Complex128, Complex128*, int);
void cublasDtrsm(char, char, char, char, int, int, double, const double*, int, double*, int);
void cublasDtrmm(char, char, char, char, int, int, double, const double*, int, double*, int);
Pair cublasCdotc(int, const Complex64*, int, const Complex64*, int);
double cublasDznrm2(int, const Complex128*, int);
int cublasIsamax(int, const float*, int);
}

namespace {

/// C = alpha op(A) op(B) + beta C by the definition, all matrices packed.
template <class T, class Gemm>
void test_product(Gemm gemm, char op_a, char op_b, T alpha, T beta) {
  const std::size_t m = 19, n = 37, k = 23;
  const auto a = random_values<T>(m * k), b = random_values<T>(k * n);
  auto c = random_values<T>(m * n);
  const Device<T> da(a), db(b), dc(c);
  const auto size = [](std::size_t count) { return static_cast<int>(count); };
  gemm(op_a, op_b, size(m), size(n), size(k), alpha, da, size(op_a == 'N' ? m : k), db,
       size(op_b == 'n' ? k : n), beta, dc, size(m));
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < m; ++i) {
      T sum{};
      for (std::size_t l = 0; l < k; ++l)
        sum += (op_a == 'N' ? a[l * m + i] : a[i * k + l]) * (op_b == 'n' ? b[j * k + l] : b[l * n + j]);
      c[j * m + i] = alpha * sum + beta * c[j * m + i];
    }
  check(close(dc.get(), c, 1e-5), std::string("gemm ") + op_a + op_b);
  check(cublasGetError() == 0, "gemm: no error");
}

void test_vectors() {
  constexpr int n = 1000;
  const auto x = random_values<Complex64>(n), y = random_values<Complex64>(n);
  std::complex<double> dot = 0;
  for (std::size_t i = 0; i < n; ++i)
    dot += std::conj(std::complex<double>(x[i])) * std::complex<double>(y[i]);
  const Pair found = cublasCdotc(n, Device<Complex64>(x), 1, Device<Complex64>(y), 1);
  check(std::abs(std::complex<double>(found.real, found.imaginary) - dot) < 1e-3, "Cdotc");
  const auto z = random_values<Complex128>(n);
  double squares = 0;
  for (const Complex128& value : z) squares += std::norm(value);
  check(std::abs(cublasDznrm2(n, Device<Complex128>(z), 1) - std::sqrt(squares)) < 1e-9, "Dznrm2");
  std::vector<float> f(n, 0.5f);
  f[417] = -3;
  check(cublasIsamax(n, Device<float>(f), 1) == 418, "Isamax counts from 1");
}

/// A product with a triangle, and the solution that undoes it.
void test_triangles() {
  constexpr std::size_t m = 40, n = 9;
  auto a = random_values<double>(m * m);
  for (std::size_t i = 0; i < m; ++i) a[i * m + i] = 8 + random_real();
  const auto b = random_values<double>(m * n);
  const Device<double> da(a), db(b);
  cublasDtrmm('l', 'U', 'T', 'N', int{m}, int{n}, 2.0, da, int{m}, db, int{m});
  auto product = b;
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < m; ++i) {
      double sum = 0;
      for (std::size_t l = 0; l <= i; ++l) sum += a[i * m + l] * b[j * m + l];
      product[j * m + i] = 2 * sum;
    }
  check(close(db.get(), product, 1e-12), "Dtrmm");
  cublasDtrsm('L', 'u', 't', 'n', int{m}, int{n}, 0.5, da, int{m}, db, int{m});
  check(close(db.get(), b, 1e-10), "Dtrsm undoes Dtrmm");
}

}  // namespace

int main() {
  check(cublasShutdown() == 1, "not initialised");
  cublasIsamax(1, nullptr, 1);
  check(cublasGetError() == 1 && cublasGetError() == 0, "an error is read once");
  check(cublasInit() == 0 && cublasInit() == 0, "cublasInit");
  void* memory = nullptr;
  const std::vector<float> sent = random_values<float>(50);
  std::vector<float> got(50);
  check(cublasAlloc(50, 4, &memory) == 0 && cublasSetVector(50, 4, sent.data(), 1, memory, 1) == 0 &&
            cublasGetVector(50, 4, memory, 1, got.data(), 1) == 0 && cublasFree(memory) == 0 && got == sent,
        "cublasAlloc");
  for (const char op_a : {'N', 't'})
    for (const char op_b : {'n', 'T'}) {
      test_product<float>(&cublasSgemm, op_a, op_b, 1.5f, -0.5f);
      test_product<Complex128>(&cublasZgemm, op_a, op_b, {0.5, 1}, {-1, 0.25});
    }
  cublasSgemm('X', 'N', 1, 1, 1, 1, Device<float>(1), 1, Device<float>(1), 1, 0, Device<float>(1), 1);
  check(cublasGetError() == 7, "a letter that is none");
  test_vectors();
  test_triangles();
  check(cublasShutdown() == 0, "cublasShutdown");
  return result();
}
