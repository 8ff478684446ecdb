// cuBLAS: matrix products of random sizes against products by definition.
#include "blas.hpp"

#define GEMM(T, name) \
  int name(Handle, int, int, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, int);
#define STRIDED(T, name)                                                                                  \
  int name(Handle, int, int, int, int, int, const T*, const T*, int, long long, const T*, int, long long, \
           const T*, T*, int, long long, int);
#define POINTERS(T, name)                                                                                   \
  int name(Handle, int, int, int, int, int, const T*, const T* const*, int, const T* const*, int, const T*, \
           T* const*, int, int);
extern "C" {
GEMM(float, cublasSgemm_v2)
GEMM(double, cublasDgemm_v2)
GEMM(Complex64, cublasCgemm_v2)
GEMM(Complex128, cublasZgemm_v2)
STRIDED(float, cublasSgemmStridedBatched)
STRIDED(double, cublasDgemmStridedBatched)
STRIDED(Complex64, cublasCgemmStridedBatched)
STRIDED(Complex128, cublasZgemmStridedBatched)
POINTERS(float, cublasSgemmBatched)
POINTERS(double, cublasDgemmBatched)
POINTERS(Complex64, cublasCgemmBatched)
POINTERS(Complex128, cublasZgemmBatched)
int cublasDgemm_v2_64(Handle, int, int, std::int64_t, std::int64_t, std::int64_t, const double*,
                      const double*, std::int64_t, const double*, std::int64_t, const double*, double*,
                      std::int64_t);
}

namespace {

/// The entries of one type.
template <class T>
struct Entries {
  GEMM(T, (*one))
  STRIDED(T, (*strided))
  POINTERS(T, (*pointers))
};

/// C := alpha op(A) op(B) + beta C
template <class T>
void product(int op_a, int op_b, int k, Wide<T> alpha, const Matrix<T>& a, const Matrix<T>& b, Wide<T> beta,
             Matrix<T>& c) {
  for (int i = 0; i < c.rows; ++i)
    for (int j = 0; j < c.columns; ++j) {
      Wide<T> sum{};
      for (int p = 0; p < k; ++p) sum += a.op(op_a, i, p) * b.op(op_b, p, j);
      Wide<T> value = alpha == Wide<T>{} ? Wide<T>{} : alpha * sum;
      if (beta != Wide<T>{}) value += beta * wide(c.at(i, j));
      c.at(i, j) = static_cast<T>(value);
    }
}

template <class T>
T factor_of(int choice) {
  return choice == 0 ? T{} : choice == 1 ? T{1} : random_values<T>(1)[0];
}

enum Way { kOne, kStrided, kPointers };

template <class T>
int call(Way way, const Entries<T>& entries, Handle handle, int op_a, int op_b, int k, const T* alpha,
         const Device<T>& a, const Device<T>& b, const T* beta, const Device<T>& c, const Matrix<T>& ma,
         const Matrix<T>& mb, const Matrix<T>& mc, int count) {
  const int m = mc.rows, n = mc.columns;
  const auto size = [](const Matrix<T>& x) { return static_cast<long long>(x.values.size()); };
  if (way == kOne) return entries.one(handle, op_a, op_b, m, n, k, alpha, a, ma.ld, b, mb.ld, beta, c, mc.ld);
  if (way == kStrided)
    return entries.strided(handle, op_a, op_b, m, n, k, alpha, a, ma.ld, size(ma), b, mb.ld, size(mb), beta,
                           c, mc.ld, size(mc), count);
  std::vector<T*> pa, pb, pc;
  for (int i = 0; i < count; ++i) {
    pa.push_back(static_cast<T*>(a) + i * size(ma));
    pb.push_back(static_cast<T*>(b) + i * size(mb));
    pc.push_back(static_cast<T*>(c) + i * size(mc));
  }
  const Device<T*> da(pa), db(pb), dc(pc);
  const int status =
      entries.pointers(handle, op_a, op_b, m, n, k, alpha, da, ma.ld, db, mb.ld, beta, dc, mc.ld, count);
  cudaDeviceSynchronize();
  return status;
}

template <class T>
void random_product(const Entries<T>& entries, Handle handle, const char* type, int smallest, int largest) {
  const int m = random_int(smallest, largest), n = random_int(smallest, largest), k = random_int(0, 70);
  const int op_a = random_int(0, 2), op_b = random_int(0, 2), count = random_int(1, 3);
  const auto way = static_cast<Way>(random_int(0, 2));
  const bool on_device = random_int(0, 1) == 1;
  const Factor<T> alpha(factor_of<T>(random_int(0, 3)), on_device),
      beta(factor_of<T>(random_int(0, 3)), on_device);
  std::vector<T> all_a, all_b, all_c, expected;
  const int extra[] = {random_int(0, 5), random_int(0, 5), random_int(0, 5)};
  const auto shape_a = [&] { return op_a == kN ? Matrix<T>(m, k, extra[0]) : Matrix<T>(k, m, extra[0]); };
  const auto shape_b = [&] { return op_b == kN ? Matrix<T>(k, n, extra[1]) : Matrix<T>(n, k, extra[1]); };
  for (int i = 0; i < (way == kOne ? 1 : count); ++i) {
    const Matrix<T> a = shape_a(), b = shape_b();
    Matrix<T> c(m, n, extra[2]);
    if (beta.exact() == Wide<T>{} && m > 0 && n > 0)
      c.at(random_int(0, m - 1), random_int(0, n - 1)) = T(NAN);
    all_a.insert(all_a.end(), a.values.begin(), a.values.end());
    all_b.insert(all_b.end(), b.values.begin(), b.values.end());
    all_c.insert(all_c.end(), c.values.begin(), c.values.end());
    product(op_a, op_b, k, alpha.exact(), a, b, beta.exact(), c);
    expected.insert(expected.end(), c.values.begin(), c.values.end());
  }
  const Device<T> a(all_a), b(all_b), c(all_c);
  cublasSetPointerMode_v2(handle, on_device);
  const int status = call<T>(way, entries, handle, op_a, op_b, k, alpha, a, b, beta, c, shape_a(), shape_b(),
                             Matrix<T>(m, n, extra[2]), count);
  check(status == 0 && close(c.get(), expected, 8 * kEpsilon<T> * (k + 4)),
        std::string(type) + " way " + std::to_string(way) + " ops " + std::to_string(op_a) +
            std::to_string(op_b) + " of " + std::to_string(m) + " x " + std::to_string(n) + " x " +
            std::to_string(k));
}

void refusals(Handle handle) {
  cublasSetPointerMode_v2(handle, 0);
  const float one = 1;
  int foreign = 0;
  const Device<float> x(std::vector<float>(16, 1));
  const auto gemm = [&](int op, int m, int lda, int ldc, const float* alpha) {
    return cublasSgemm_v2(handle, op, kN, m, 2, 2, alpha, x, lda, x, 2, &one, x, ldc);
  };
  check(gemm(kN, 2, 2, 2, &one) == 0, "a product of 2 x 2");
  check(gemm(3, 2, 2, 2, &one) == kInvalid, "an operation that there is not");
  check(gemm(kN, -1, 2, 2, &one) == kInvalid, "a negative size");
  check(gemm(kN, 3, 2, 3, &one) == kInvalid, "A's leading dimension");
  check(gemm(kT, 3, 2, 3, &one) == 0, "A's leading dimension, transposed");
  check(gemm(kN, 2, 2, 1, &one) == kInvalid, "C's leading dimension");
  check(gemm(kN, 2, 2, 2, nullptr) == kInvalid, "no alpha");
  check(cublasSgemm_v2(nullptr, kN, kN, 2, 2, 2, &one, x, 2, x, 2, &one, x, 2) == kNotInitialized,
        "no handle");
  check(cublasSgemm_v2(&foreign, kN, kN, 2, 2, 2, &one, x, 2, x, 2, &one, x, 2) == kNotInitialized,
        "no handle of ours");
  const double two = 2;
  const Device<double> y(std::vector<double>{3, 0, 0, 3}), z(4);
  check(cublasDgemm_v2_64(handle, kN, kN, 2, 2, 2, &two, y, 2, y, 2, &two, y, 2) == 0, "sizes of 64 bits");
  check(cublasDgemm_v2_64(handle, kN, kN, std::int64_t{1} << 32, 2, 2, &two, y, std::int64_t{1} << 32, y, 2,
                          &two, z, std::int64_t{1} << 32) == kNotSupported,
        "a size that needs more than 32 bits");
}

}  // namespace

int main() {
  const Blas handle;
  const Entries<float> s{cublasSgemm_v2, cublasSgemmStridedBatched, cublasSgemmBatched};
  const Entries<double> d{cublasDgemm_v2, cublasDgemmStridedBatched, cublasDgemmBatched};
  const Entries<Complex64> c{cublasCgemm_v2, cublasCgemmStridedBatched, cublasCgemmBatched};
  const Entries<Complex128> z{cublasZgemm_v2, cublasZgemmStridedBatched, cublasZgemmBatched};
  random_product(s, handle, "S", 150, 200);
  random_product(d, handle, "D", 100, 150);
  random_product(c, handle, "C", 100, 150);
  random_product(z, handle, "Z", 100, 150);
  for (int i = 0; i < 12; ++i) {
    random_product(s, handle, "S", 0, 70);
    random_product(d, handle, "D", 0, 40);
    random_product(c, handle, "C", 0, 40);
    random_product(z, handle, "Z", 0, 40);
  }
  refusals(handle);
  return result();
}
