// cuBLAS, level 3: symmetric and triangular matrices of random sizes against the functions' definitions.
#include <cstdlib>

#include "blas.hpp"

#define LEVEL_3(T, l)                                                                                       \
  int cublas##l##syrk_v2(Handle, int, int, int, int, const T*, const T*, int, const T*, T*, int);           \
  int cublas##l##syr2k_v2(Handle, int, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, \
                          int);                                                                             \
  int cublas##l##symm_v2(Handle, int, int, int, int, const T*, const T*, int, const T*, int, const T*, T*,  \
                         int);                                                                              \
  int cublas##l##trmm_v2(Handle, int, int, int, int, int, int, const T*, const T*, int, const T*, int, T*,  \
                         int);                                                                              \
  int cublas##l##trsm_v2(Handle, int, int, int, int, int, int, const T*, const T*, int, T*, int);           \
  int cublas##l##trsmBatched(Handle, int, int, int, int, int, int, const T*, const T* const*, int,          \
                             T* const*, int, int);                                                          \
  int cublas##l##geam(Handle, int, int, int, int, const T*, const T*, int, const T*, const T*, int, T*,     \
                      int);                                                                                 \
  int cublas##l##dgmm(Handle, int, int, int, const T*, int, const T*, int, T*, int);
#define HERMITIAN(T, R, l)                                                                                  \
  int cublas##l##herk_v2(Handle, int, int, int, int, const R*, const T*, int, const R*, T*, int);           \
  int cublas##l##her2k_v2(Handle, int, int, int, int, const T*, const T*, int, const T*, int, const R*, T*, \
                          int);                                                                             \
  int cublas##l##hemm_v2(Handle, int, int, int, int, const T*, const T*, int, const T*, int, const T*, T*,  \
                         int);
extern "C" {
LEVEL_3(float, S)
LEVEL_3(double, D)
LEVEL_3(Complex64, C) LEVEL_3(Complex128, Z) HERMITIAN(Complex64, float, C) HERMITIAN(Complex128, double, Z)
}

namespace {

/// R: of the factors of Hermitian updates.
template <class T, class R>
struct Entries {
  int (*syrk)(Handle, int, int, int, int, const T*, const T*, int, const T*, T*, int);
  int (*herk)(Handle, int, int, int, int, const R*, const T*, int, const R*, T*, int);
  int (*syr2k)(Handle, int, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, int);
  int (*her2k)(Handle, int, int, int, int, const T*, const T*, int, const T*, int, const R*, T*, int);
  int (*symm)(Handle, int, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, int);
  int (*hemm)(Handle, int, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, int);
  int (*trmm)(Handle, int, int, int, int, int, int, const T*, const T*, int, const T*, int, T*, int);
  int (*trsm)(Handle, int, int, int, int, int, int, const T*, const T*, int, T*, int);
  int (*trsm_batched)(Handle, int, int, int, int, int, int, const T*, const T* const*, int, T* const*, int,
                      int);
  int (*geam)(Handle, int, int, int, int, const T*, const T*, int, const T*, const T*, int, T*, int);
  int (*dgmm)(Handle, int, int, int, const T*, int, const T*, int, T*, int);
};

template <class T>
Wide<T> mirrored(const Matrix<T>& a, int mode, bool hermitian, int i, int j) {
  if (i == j && hermitian) return Wide<T>(std::real(wide(a.at(i, j))));
  if (mode == kLower ? i >= j : i <= j) return wide(a.at(i, j));
  return hermitian ? conjugate(wide(a.at(j, i))) : wide(a.at(j, i));
}
template <class T>
Wide<T> triangular(const Matrix<T>& a, int mode, int op, int unit, int i, int j) {
  const bool stored = (mode == kLower) == (op == kN) ? i >= j : i <= j;
  if (i == j && unit) return Wide<T>(1);
  return stored ? a.op(op, i, j) : Wide<T>{};
}

/// syrk, syr2k, herk and her2k.
template <class T, class R>
void updates(const Entries<T, R>& e, Handle handle, bool on_device, const std::string& type) {
  const int n = random_int(0, 90), k = random_int(0, 50), mode = random_int(0, 1);
  const bool hermitian = e.herk != nullptr && random_int(0, 1) == 1, twice = random_int(0, 1) == 1;
  const int across = hermitian ? kC : kT, op = random_int(0, 1) == 1 ? across : kN;
  const auto shape = [&] { return op == kN ? Matrix<T>(n, k, 1) : Matrix<T>(k, n, 2); };
  const Matrix<T> a = shape(), other = shape();
  const Matrix<T>& b = twice ? other : a;
  Matrix<T> c(n, n, 3);
  const Factor<T> alpha(random_values<T>(1)[0], on_device), beta(random_values<T>(1)[0], on_device);
  const Factor<R> real_alpha(random_values<R>(1)[0], on_device), real_beta(random_values<R>(1)[0], on_device);
  const Device<T> da(a.values), db(b.values), dc(c.values);
  const int status =
      twice ? hermitian ? e.her2k(handle, mode, op, n, k, alpha, da, a.ld, db, b.ld, real_beta, dc, c.ld)
                        : e.syr2k(handle, mode, op, n, k, alpha, da, a.ld, db, b.ld, beta, dc, c.ld)
      : hermitian ? e.herk(handle, mode, op, n, k, real_alpha, da, a.ld, real_beta, dc, c.ld)
                  : e.syrk(handle, mode, op, n, k, alpha, da, a.ld, beta, dc, c.ld);
  const Wide<T> factor = hermitian && !twice ? Wide<T>(real_alpha.exact()) : alpha.exact();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      if (mode == kLower ? i < j : i > j) continue;
      const auto second = [&](Wide<T> x) { return hermitian ? conjugate(x) : x; };
      Wide<T> sum{};
      for (int p = 0; p < k; ++p) {
        const auto at = [&](const Matrix<T>& x, int row) {
          return op == kN ? wide(x.at(row, p)) : second(wide(x.at(p, row)));
        };
        sum += factor * at(a, i) * second(at(b, j));
        if (twice) sum += second(factor) * at(b, i) * second(at(a, j));
      }
      sum += (hermitian ? Wide<T>(real_beta.exact()) : beta.exact()) * wide(c.at(i, j));
      if (hermitian && i == j) sum = Wide<T>(std::real(sum));
      c.at(i, j) = static_cast<T>(sum);
    }
  check(status == 0 && close(dc.get(), c.values, 16 * kEpsilon<T> * (k + 8)),
        type + (hermitian ? "her" : "syr") + (twice ? "2k of " : "k of ") + std::to_string(n) + " x " +
            std::to_string(k) + " op " + std::to_string(op) + " mode " + std::to_string(mode));
}

template <class T, class R>
void symmetric(const Entries<T, R>& e, Handle handle, bool on_device, const std::string& type) {
  const int m = random_int(0, 70), n = random_int(0, 70), side = random_int(0, 1), mode = random_int(0, 1);
  const bool hermitian = e.hemm != nullptr && random_int(0, 1) == 1;
  const int size = side == kLeft ? m : n;
  const Matrix<T> a(size, size, 1), b(m, n, 2);
  Matrix<T> c(m, n, 3);
  const Factor<T> alpha(random_values<T>(1)[0], on_device), beta(random_values<T>(1)[0], on_device);
  const Device<T> da(a.values), db(b.values), dc(c.values);
  const int status =
      (hermitian ? e.hemm : e.symm)(handle, side, mode, m, n, alpha, da, a.ld, db, b.ld, beta, dc, c.ld);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      Wide<T> sum{};
      for (int p = 0; p < size; ++p)
        sum += side == kLeft ? mirrored(a, mode, hermitian, i, p) * wide(b.at(p, j))
                             : wide(b.at(i, p)) * mirrored(a, mode, hermitian, p, j);
      c.at(i, j) = static_cast<T>(alpha.exact() * sum + beta.exact() * wide(c.at(i, j)));
    }
  check(status == 0 && close(dc.get(), c.values, 16 * kEpsilon<T> * (size + 8)),
        type + "symm of " + std::to_string(m) + " x " + std::to_string(n) + " side " + std::to_string(side));
}

/// B := alpha op(A) B, in place or not, and back by trsm.
template <class T, class R>
void triangles(const Entries<T, R>& e, Handle handle, bool on_device, const std::string& type) {
  const int m = random_int(1, 100), n = random_int(1, 100), side = random_int(0, 1), mode = random_int(0, 1);
  const int op = random_int(0, 2), unit = random_int(0, 1), size = side == kLeft ? m : n;
  Matrix<T> a(size, size, 1), c(m, n, 3);
  for (T& value : a.values) value = static_cast<T>(wide(value) / 16.0);  // far from singular
  for (int i = 0; i < size; ++i) a.at(i, i) = static_cast<T>(wide(a.at(i, i)) + 1.5);
  const Matrix<T> b(m, n, 3);
  const bool in_place = random_int(0, 1) == 1;
  if (in_place) c = b;
  const Factor<T> alpha(T{2}, on_device), half(T{0.5}, on_device);
  const Device<T> da(a.values), db(b.values), dc(c.values);
  T* const to = in_place ? db : dc;
  int status = e.trmm(handle, side, mode, op, unit, m, n, alpha, da, a.ld, db, b.ld, to, c.ld);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      Wide<T> sum{};
      for (int p = 0; p < size; ++p)
        sum += side == kLeft ? triangular(a, mode, op, unit, i, p) * wide(b.at(p, j))
                             : wide(b.at(i, p)) * triangular(a, mode, op, unit, p, j);
      c.at(i, j) = static_cast<T>(2.0 * sum);
    }
  const std::string what = std::to_string(m) + " x " + std::to_string(n) + " side " + std::to_string(side) +
                           " mode " + std::to_string(mode) + " op " + std::to_string(op) + " unit " +
                           std::to_string(unit);
  check(status == 0 && close((in_place ? db : dc).get(), c.values, 16 * kEpsilon<T> * (size + 8)),
        type + "trmm of " + what);
  status = e.trsm(handle, side, mode, op, unit, m, n, half, da, a.ld, to, c.ld);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) c.at(i, j) = b.at(i, j);
  check(status == 0 && close((in_place ? db : dc).get(), c.values, 64 * kEpsilon<T> * (size + 8)),
        type + "trsm of " + what);
}

template <class T, class R>
void sums(const Entries<T, R>& e, Handle handle, bool on_device, const std::string& type) {
  const int m = random_int(0, 70), n = random_int(0, 70), op_a = random_int(0, 2), op_b = random_int(0, 2);
  const Matrix<T> a(op_a == kN ? m : n, op_a == kN ? n : m, 1), b(op_b == kN ? m : n, op_b == kN ? n : m, 2);
  Matrix<T> c(m, n, 3);
  const Factor<T> alpha(random_values<T>(1)[0], on_device),
      beta(random_int(0, 2) == 0 ? T{} : random_values<T>(1)[0], on_device);
  const Device<T> da(a.values), db(b.values), dc(c.values);
  check(e.geam(handle, op_a, op_b, m, n, alpha, da, a.ld, beta, db, b.ld, dc, c.ld) == 0,
        type + "geam's status");
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      c.at(i, j) = static_cast<T>(alpha.exact() * a.op(op_a, i, j) + beta.exact() * b.op(op_b, i, j));
  check(close(dc.get(), c.values, 8 * kEpsilon<T>),
        type + "geam of " + std::to_string(m) + " x " + std::to_string(n));
  const int side = random_int(0, 1), inc = random_int(0, 1) == 1 ? 2 : -1;
  const Matrix<T> d(m, n, 1);
  const auto x = random_values<T>(200);
  const Device<T> dd(d.values), dx(x);
  check(e.dgmm(handle, side, m, n, dd, d.ld, dx, inc, dc, c.ld) == 0, type + "dgmm's status");
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      const int length = side == kLeft ? m : n, at = side == kLeft ? i : j;
      c.at(i, j) = static_cast<T>(wide(d.at(i, j)) *
                                  wide(x[static_cast<std::size_t>(inc > 0 ? at * inc : length - 1 - at)]));
    }
  check(close(dc.get(), c.values, 8 * kEpsilon<T>), type + "dgmm");
}

/// Many small systems by pointers.
template <class T, class R>
void batch(const Entries<T, R>& e, Handle handle, const std::string& type) {
  cublasSetPointerMode_v2(handle, 0);
  constexpr int kCount = 3, kSize = 40, kColumns = 5;
  std::vector<T> all_a, all_b, expected;
  for (int i = 0; i < kCount; ++i) {
    Matrix<T> a(kSize, kSize), x(kSize, kColumns), b = x;
    for (int j = 0; j < kSize; ++j) a.at(j, j) = static_cast<T>(Wide<T>(20 + j));
    for (int r = 0; r < kSize; ++r)
      for (int j = 0; j < kColumns; ++j) {
        Wide<T> sum{};
        for (int p = 0; p < kSize; ++p) sum += triangular(a, kUpper, kT, 0, r, p) * wide(x.at(p, j));
        b.at(r, j) = static_cast<T>(sum);
      }
    all_a.insert(all_a.end(), a.values.begin(), a.values.end());
    all_b.insert(all_b.end(), b.values.begin(), b.values.end());
    expected.insert(expected.end(), x.values.begin(), x.values.end());
  }
  const Device<T> a(all_a), b(all_b);
  std::vector<T*> pa, pb;
  for (int i = 0; i < kCount; ++i) {
    pa.push_back(static_cast<T*>(a) + i * (kSize * kSize + 1));
    pb.push_back(static_cast<T*>(b) + i * (kSize * kColumns + 1));
  }
  const Device<T*> da(pa), db(pb);
  const T one{1};
  check(e.trsm_batched(handle, kLeft, kUpper, kT, 0, kSize, kColumns, &one, da, kSize, db, kSize, kCount) ==
                0 &&
            close(b.get(), expected, 64 * kEpsilon<T> * kSize),
        type + "trsmBatched");
  const T none{};
  a.set(std::vector<T>(all_a.size(), T(NAN)));
  check(e.trsm(handle, kRight, kLower, kN, 0, kColumns, kSize, &none, a, kSize, b, kColumns) == 0 &&
            b.get()[kSize * kColumns - 1] == none && b.get()[kSize * kColumns] == expected[kSize * kColumns],
        type + "trsm with alpha zero");
}

template <class T, class R>
void all(const Entries<T, R>& e, Handle handle, const char* type, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const bool on_device = i % 2 == 1;
    cublasSetPointerMode_v2(handle, on_device);
    updates(e, handle, on_device, type);
    symmetric(e, handle, on_device, type);
    triangles(e, handle, on_device, type);
    sums(e, handle, on_device, type);
  }
  batch(e, handle, type);
}

}  // namespace

/// program [rounds]
int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 12;
  const Blas handle;
#define ENTRIES(l, herk, her2k, hemm)          \
  {cublas##l##syrk_v2,     herk,               \
   cublas##l##syr2k_v2,    her2k,              \
   cublas##l##symm_v2,     hemm,               \
   cublas##l##trmm_v2,     cublas##l##trsm_v2, \
   cublas##l##trsmBatched, cublas##l##geam,    \
   cublas##l##dgmm}
  all<float, float>(ENTRIES(S, nullptr, nullptr, nullptr), handle, "S", rounds);
  all<double, double>(ENTRIES(D, nullptr, nullptr, nullptr), handle, "D", rounds);
  all<Complex64, float>(ENTRIES(C, cublasCherk_v2, cublasCher2k_v2, cublasChemm_v2), handle, "C", rounds);
  all<Complex128, double>(ENTRIES(Z, cublasZherk_v2, cublasZher2k_v2, cublasZhemm_v2), handle, "Z", rounds);
  return result();
}
