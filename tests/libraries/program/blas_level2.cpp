// cuBLAS, level 2: matrices and vectors of random sizes and increments against the functions' definitions.
#include "blas.hpp"

#define GEMV_BATCHED(T, l)                                                                                \
  int cublas##l##gemvBatched(Handle, int, int, int, const T*, const T* const*, int, const T* const*, int, \
                             const T*, T* const*, int, int)
#define GEMV(T, l)                                                                                          \
  int cublas##l##gemv_v2(Handle, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, int); \
  int cublas##l##gemvStridedBatched(Handle, int, int, int, const T*, const T*, int, long long, const T*,    \
                                    int, long long, const T*, T*, int, long long, int);                     \
  int cublas##l##symv_v2(Handle, int, int, const T*, const T*, int, const T*, int, const T*, T*, int);      \
  int cublas##l##trmv_v2(Handle, int, int, int, int, const T*, int, T*, int);                               \
  int cublas##l##trsv_v2(Handle, int, int, int, int, const T*, int, T*, int);                               \
  int cublas##l##syr_v2(Handle, int, int, const T*, const T*, int, T*, int);                                \
  int cublas##l##syr2_v2(Handle, int, int, const T*, const T*, int, const T*, int, T*, int)
#define GER(T, name) int name(Handle, int, int, const T*, const T*, int, const T*, int, T*, int)
#define HERMITIAN(T, R, l)                                                                             \
  int cublas##l##hemv_v2(Handle, int, int, const T*, const T*, int, const T*, int, const T*, T*, int); \
  int cublas##l##her_v2(Handle, int, int, const R*, const T*, int, T*, int);                           \
  int cublas##l##her2_v2(Handle, int, int, const T*, const T*, int, const T*, int, T*, int)
extern "C" {
GEMV(float, S);
GEMV(double, D);
GEMV(Complex64, C);
GEMV(Complex128, Z);
GER(float, cublasSger_v2);
GER(double, cublasDger_v2);
GER(Complex64, cublasCgeru_v2);
GER(Complex64, cublasCgerc_v2);
GER(Complex128, cublasZgeru_v2);
GER(Complex128, cublasZgerc_v2);
GEMV_BATCHED(float, S);
HERMITIAN(Complex64, float, C);
HERMITIAN(Complex128, double, Z);
}

namespace {

template <class T>
struct Entries {
  int (*gemv)(Handle, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, int);
  int (*gemv_strided)(Handle, int, int, int, const T*, const T*, int, long long, const T*, int, long long,
                      const T*, T*, int, long long, int);
  int (*symv)(Handle, int, int, const T*, const T*, int, const T*, int, const T*, T*, int);
  int (*hemv)(Handle, int, int, const T*, const T*, int, const T*, int, const T*, T*, int);
  int (*trmv)(Handle, int, int, int, int, const T*, int, T*, int);
  int (*trsv)(Handle, int, int, int, int, const T*, int, T*, int);
  int (*ger)(Handle, int, int, const T*, const T*, int, const T*, int, T*, int);
  int (*gerc)(Handle, int, int, const T*, const T*, int, const T*, int, T*, int);
  int (*syr)(Handle, int, int, const T*, const T*, int, T*, int);
  int (*syr2)(Handle, int, int, const T*, const T*, int, const T*, int, T*, int);
  int (*her2)(Handle, int, int, const T*, const T*, int, const T*, int, T*, int);
};

template <class T>
struct Vector {
  int n, inc;
  std::vector<T> values;
  explicit Vector(int count)
      : n(count),
        inc(random_int(0, 2) == 0 ? random_int(-2, -1) : random_int(1, 3)),
        values(random_values<T>(static_cast<std::size_t>(std::max(1, count * std::abs(inc))))) {}
  T& operator[](int i) { return values[static_cast<std::size_t>(inc > 0 ? i * inc : (i + 1 - n) * inc)]; }
};

/// An element of a symmetric or Hermitian matrix of which one triangle is stored.
template <class T>
Wide<T> mirrored(const Matrix<T>& a, int mode, bool hermitian, int i, int j) {
  if (i == j && hermitian) return Wide<T>(std::real(wide(a.at(i, j))));
  if (mode == kLower ? i >= j : i <= j) return wide(a.at(i, j));
  return hermitian ? conjugate(wide(a.at(j, i))) : wide(a.at(j, i));
}
/// Of op(A) for a triangular A.
template <class T>
Wide<T> triangular(const Matrix<T>& a, int mode, int op, int unit, int i, int j) {
  const bool stored = (mode == kLower) == (op == kN) ? i >= j : i <= j;
  if (i == j && unit) return Wide<T>(1);
  return stored ? a.op(op, i, j) : Wide<T>{};
}

template <class T>
void products(const Entries<T>& e, Handle handle, bool on_device, const std::string& type) {
  const int m = random_int(0, 90), n = random_int(0, 90), op = random_int(0, 2);
  const Matrix<T> a(m, n, random_int(0, 3));
  Vector<T> x(op == kN ? n : m), y(op == kN ? m : n);
  const Factor<T> alpha(random_values<T>(1)[0], on_device),
      beta(random_int(0, 1) == 0 ? T{} : random_values<T>(1)[0], on_device);
  if (beta.exact() == Wide<T>{} && y.n > 0 && x.n > 0) y[0] = T(NAN);
  const Device<T> da(a.values), dx(x.values), dy(y.values);
  check(e.gemv(handle, op, m, n, alpha, da, a.ld, dx, x.inc, beta, dy, y.inc) == 0, type + "gemv's status");
  for (int i = 0; i < y.n && x.n > 0; ++i) {
    Wide<T> sum{};
    for (int j = 0; j < x.n; ++j) sum += a.op(op, i, j) * wide(x[j]);
    y[i] = static_cast<T>(alpha.exact() * sum +
                          (beta.exact() == Wide<T>{} ? Wide<T>{} : beta.exact() * wide(y[i])));
  }
  check(close(dy.get(), y.values, 8 * kEpsilon<T> * (x.n + 8)),
        type + "gemv, op " + std::to_string(op) + " of " + std::to_string(m) + " x " + std::to_string(n));
  if (m == 0 || n == 0) return;
  Matrix<T> b(m, n, 2);
  Vector<T> u(m), v(n);
  const bool conjugated = random_int(0, 1) == 1;
  const Device<T> db(b.values), du(u.values), dv(v.values);
  check((conjugated ? e.gerc : e.ger)(handle, m, n, alpha, du, u.inc, dv, v.inc, db, b.ld) == 0,
        type + "ger's status");
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      b.at(i, j) = static_cast<T>(wide(b.at(i, j)) + alpha.exact() * wide(u[i]) *
                                                         (conjugated ? conjugate(wide(v[j])) : wide(v[j])));
  check(close(db.get(), b.values, 8 * kEpsilon<T>), type + "ger");
}

template <class T>
void symmetric(const Entries<T>& e, Handle handle, bool on_device, const std::string& type) {
  const int n = random_int(1, 90), mode = random_int(0, 1);
  const bool hermitian = e.hemv != e.symv && random_int(0, 1) == 1;
  Matrix<T> a(n, n, random_int(0, 3));
  Vector<T> x(n), y(n);
  const Factor<T> alpha(random_values<T>(1)[0], on_device), beta(random_values<T>(1)[0], on_device);
  const Device<T> da(a.values), dx(x.values), dy(y.values);
  check((hermitian ? e.hemv : e.symv)(handle, mode, n, alpha, da, a.ld, dx, x.inc, beta, dy, y.inc) == 0,
        type + "symv's status");
  for (int i = 0; i < n; ++i) {
    Wide<T> sum{};
    for (int j = 0; j < n; ++j) sum += mirrored(a, mode, hermitian, i, j) * wide(x[j]);
    y[i] = static_cast<T>(alpha.exact() * sum + beta.exact() * wide(y[i]));
  }
  const std::string what = type + (hermitian ? "Hermitian, " : "symmetric, ") + std::to_string(n) +
                           (mode == kLower ? " lower" : " upper");
  check(close(dy.get(), y.values, 8 * kEpsilon<T> * (n + 8)), what + ": symv");
  const auto before = dy.get();
  check((hermitian ? e.her2 : e.syr2)(handle, mode, n, alpha, dx, x.inc, dy, y.inc, da, a.ld) == 0,
        type + "syr2's status");
  y.values = before;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      if (mode == kLower ? i < j : i > j) continue;
      const auto second = [&](Wide<T> value) { return hermitian ? conjugate(value) : value; };
      Wide<T> value = wide(a.at(i, j)) + alpha.exact() * wide(x[i]) * second(wide(y[j])) +
                      second(alpha.exact()) * wide(y[i]) * second(wide(x[j]));
      if (hermitian && i == j) value = Wide<T>(std::real(value));
      a.at(i, j) = static_cast<T>(value);
    }
  check(close(da.get(), a.values, 16 * kEpsilon<T>), what + ": syr2");
  check(e.syr(handle, mode, n, alpha, dx, x.inc, da, a.ld) == 0, type + "syr's status");
  const auto kept = a.values;
  a.values = da.get();
  Matrix<T> expected = a;
  expected.values = kept;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (mode == kLower ? i >= j : i <= j)
        expected.at(i, j) = static_cast<T>(wide(expected.at(i, j)) + alpha.exact() * wide(x[i]) * wide(x[j]));
  check(close(a.values, expected.values, 16 * kEpsilon<T>), what + ": syr");
}

template <class T>
void triangles(const Entries<T>& e, Handle handle, const std::string& type) {
  const int n = random_int(1, 90), mode = random_int(0, 1), op = random_int(0, 2), unit = random_int(0, 1);
  Matrix<T> a(n, n, random_int(0, 3));
  for (T& value : a.values) value = static_cast<T>(wide(value) / 16.0);  // far from singular
  for (int i = 0; i < n; ++i) a.at(i, i) = static_cast<T>(wide(a.at(i, i)) + 1.5);
  Vector<T> x(n);
  const Device<T> da(a.values), dx(x.values);
  const auto original = x.values;
  check(e.trmv(handle, mode, op, unit, n, da, a.ld, dx, x.inc) == 0, type + "trmv's status");
  Vector<T> product = x;
  for (int i = 0; i < n; ++i) {
    Wide<T> sum{};
    for (int j = 0; j < n; ++j) sum += triangular(a, mode, op, unit, i, j) * wide(x[j]);
    product[i] = static_cast<T>(sum);
  }
  const std::string what = type + std::to_string(n) + " mode " + std::to_string(mode) + " op " +
                           std::to_string(op) + " unit " + std::to_string(unit);
  check(close(dx.get(), product.values, 8 * kEpsilon<T> * (n + 8)), "trmv " + what);
  check(e.trsv(handle, mode, op, unit, n, da, a.ld, dx, x.inc) == 0, type + "trsv's status");
  check(close(dx.get(), original, 64 * kEpsilon<T> * (n + 8)), "trsv " + what);
}

template <class T>
void batch(const Entries<T>& e, Handle handle, const std::string& type) {
  cublasSetPointerMode_v2(handle, 0);
  const auto a = random_values<T>(3 * 12), x = random_values<T>(3 * 4);
  std::vector<T> y(3 * 3);
  const Device<T> da(a), dx(x), dy(y);
  const T one{1}, none{};
  check(e.gemv_strided(handle, kN, 3, 4, &one, da, 3, 12, dx, 1, 4, &none, dy, 1, 3, 3) == 0,
        type + "gemv's status");
  for (std::size_t b = 0; b < 3; ++b)
    for (std::size_t i = 0; i < 3; ++i) {
      Wide<T> sum{};
      for (std::size_t j = 0; j < 4; ++j) sum += wide(a[b * 12 + i + j * 3]) * wide(x[b * 4 + j]);
      y[b * 3 + i] = static_cast<T>(sum);
    }
  check(close(dy.get(), y, 16 * kEpsilon<T>), type + "a batch of gemv");
}

template <class T>
void all(const Entries<T>& e, Handle handle, const char* type) {
  for (int i = 0; i < 12; ++i) {
    const bool on_device = i % 2 == 1;
    cublasSetPointerMode_v2(handle, on_device);
    products(e, handle, on_device, type + std::string(" "));
    symmetric(e, handle, on_device, type + std::string(" "));
    triangles(e, handle, type + std::string(" "));
  }
  batch(e, handle, type);
}

/// her, whose factor is real.
void real_factor(Handle handle) {
  const std::vector<Complex64> x = {{1, 2}, {3, -1}};
  const Device<Complex64> dx(x), a(std::vector<Complex64>{{1, 9}, {2, 0}, {7, 7}, {0, 9}});
  const std::vector<Complex64> expected = {{11, 0}, {4, -14}, {7, 7}, {20, 0}};
  for (const bool on_device : {false, true}) {
    a.set({{1, 9}, {2, 0}, {7, 7}, {0, 9}});
    cublasSetPointerMode_v2(handle, on_device);
    const Factor<float> two(2, on_device);
    check(cublasCher_v2(handle, kLower, 2, two, dx, 1, a, 2) == 0 && a.get() == expected, "her");
  }
}

/// By pointers: op(A) x + 2 y of two small matrices.
void pointers(Handle handle) {
  cublasSetPointerMode_v2(handle, 0);
  const Device<float> a(std::vector<float>{1, 2, 3, 4}), x(std::vector<float>{1, 1, 10, 10}),
      y(std::vector<float>{1, 2, 3, 4});
  const Device<float*> pa(std::vector<float*>{a, a}), px(std::vector<float*>{x, x + 2}),
      py(std::vector<float*>{y, y + 2});
  const float one = 1, two = 2;
  check(cublasSgemvBatched(handle, kT, 2, 2, &one, pa, 2, px, 1, &two, py, 1, 2) == 0 &&
            y.get() == std::vector<float>{5, 11, 36, 78},
        "gemvBatched");
}

}  // namespace

int main() {
  const Blas handle;
#define ENTRIES(l, ger, gerc, hemv, her2)             \
  {cublas##l##gemv_v2, cublas##l##gemvStridedBatched, \
   cublas##l##symv_v2, cublas##l##hemv,               \
   cublas##l##trmv_v2, cublas##l##trsv_v2,            \
   cublas##l##ger,     cublas##l##gerc,               \
   cublas##l##syr_v2,  cublas##l##syr2_v2,            \
   cublas##l##her2}
  all<float>(ENTRIES(S, ger_v2, ger_v2, symv_v2, syr2_v2), handle, "S");
  all<double>(ENTRIES(D, ger_v2, ger_v2, symv_v2, syr2_v2), handle, "D");
  all<Complex64>(ENTRIES(C, geru_v2, gerc_v2, hemv_v2, her2_v2), handle, "C");
  all<Complex128>(ENTRIES(Z, geru_v2, gerc_v2, hemv_v2, her2_v2), handle, "Z");
  real_factor(handle);
  pointers(handle);
  return result();
}
