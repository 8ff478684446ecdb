// cuSOLVER: QR factors of random matrices: Q is orthogonal, Q R is the matrix, and products with Q are those
// with its elements.
#include "blas.hpp"

#define QR(T, l)                                                                                       \
  int cusolverDn##l##geqrf(Handle, int, int, T*, int, T*, T*, int, int*);                              \
  int cusolverDn##l##ormqr(Handle, int, int, int, int, int, const T*, int, const T*, T*, int, T*, int, \
                           int*);                                                                      \
  int cusolverDn##l##orgqr(Handle, int, int, int, T*, int, const T*, T*, int, int*);                   \
  int cusolverDn##l##geqrf_bufferSize(Handle, int, int, T*, int, int*);
extern "C" {
QR(float, S)
QR(double, D)
int cusolverDnXgeqrf_bufferSize(Handle, void*, long, long, int, const void*, long, int, const void*, int,
                                std::size_t*, std::size_t*);
int cusolverDnXgeqrf(Handle, void*, long, long, int, void*, long, int, void*, int, void*, std::size_t, void*,
                     std::size_t, int*);
int cusolverDnCreate(Handle*);
int cusolverDnDestroy(Handle);
int cusolverDnSetStream(Handle, void*);
}

namespace {

template <class T>
struct Entries {
  int (*geqrf)(Handle, int, int, T*, int, T*, T*, int, int*);
  int (*ormqr)(Handle, int, int, int, int, int, const T*, int, const T*, T*, int, T*, int, int*);
  int (*orgqr)(Handle, int, int, int, T*, int, const T*, T*, int, int*);
};

/// op(A) op(B)
template <class T>
Matrix<T> product(const Matrix<T>& a, int op_a, const Matrix<T>& b, int op_b, int extra = 0) {
  const int rows = op_a == kN ? a.rows : a.columns, inner = op_a == kN ? a.columns : a.rows;
  Matrix<T> c(rows, op_b == kN ? b.columns : b.rows, extra);
  for (int i = 0; i < c.rows; ++i)
    for (int j = 0; j < c.columns; ++j) {
      double sum = 0;
      for (int p = 0; p < inner; ++p) sum += a.op(op_a, i, p) * b.op(op_b, p, j);
      c.at(i, j) = static_cast<T>(sum);
    }
  return c;
}
/// Elements that belong to the matrices are as close.
template <class T>
bool same(const Matrix<T>& a, const Matrix<T>& b, double tolerance) {
  std::vector<T> found, expected;
  for (int i = 0; i < b.rows; ++i)
    for (int j = 0; j < b.columns; ++j) found.push_back(a.at(i, j)), expected.push_back(b.at(i, j));
  return close(found, expected, tolerance);
}

template <class T>
void products(const Entries<T>& e, Handle handle, const Matrix<T>& q, const Device<T>& factors, int ld,
              const Device<T>& tau, int k, const std::string& what) {
  const int size = q.rows;
  const Device<int> info(1);
  const Device<T> work(1);
  for (const int side : {kLeft, kRight})
    for (const int op : {kN, kT}) {
      const Matrix<T> c(side == kLeft ? size : 13, side == kLeft ? 11 : size, 2);
      const Device<T> dc(c.values);
      const int status =
          e.ormqr(handle, side, op, c.rows, c.columns, k, factors, ld, tau, dc, c.ld, work, 1, info);
      Matrix<T> found = c;
      found.values = dc.get();
      const Matrix<T> expected = side == kLeft ? product(q, op, c, kN) : product(c, kN, q, op);
      check(status == 0 && info.get()[0] == 0 && same(found, expected, 32 * kEpsilon<T> * size),
            "ormqr " + what + " side " + std::to_string(side) + " op " + std::to_string(op));
    }
}

template <class T>
void factors(const Entries<T>& e, Handle handle, int m, int n, const char* type) {
  const std::string what = type + std::to_string(m) + " x " + std::to_string(n);
  const int k = std::min(m, n);
  const Matrix<T> a(m, n, 3);
  const Device<T> da(a.values), tau(static_cast<std::size_t>(k)), work(1);
  const Device<int> info(std::vector<int>{4});
  check(e.geqrf(handle, m, n, da, a.ld, tau, work, 1, info) == 0 && info.get()[0] == 0, "geqrf " + what);
  Matrix<T> r(m, n), reflectors(m, m);
  Matrix<T> stored = a;
  stored.values = da.get();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) r.at(i, j) = i <= j ? stored.at(i, j) : T{};
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) reflectors.at(i, j) = j < k ? stored.at(i, j) : T{};
  const Device<T> dq(reflectors.values);
  check(e.orgqr(handle, m, m, k, dq, reflectors.ld, tau, work, 1, info) == 0, "orgqr " + what);
  Matrix<T> q = reflectors, unit(m, m);
  q.values = dq.get();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) unit.at(i, j) = i == j ? T{1} : T{};
  const double tolerance = 32 * kEpsilon<T> * m;
  check(same(product(q, kT, q, kN), unit, tolerance), "Q is orthogonal: " + what);
  check(same(product(q, kN, r, kN), a, tolerance), "Q R: " + what);
  products(e, handle, q, da, a.ld, tau, k, what);
}

/// The generic interface gives the same factors.
template <class T>
void generic(const Entries<T>& e, Handle handle, int type) {
  const Matrix<T> a(40, 35, 1);
  const Device<T> one(a.values), other(a.values), tau(35), other_tau(35), work(1);
  const Device<int> info(std::vector<int>{4});
  std::size_t bytes = 0, on_host = 1;
  check(cusolverDnXgeqrf_bufferSize(handle, nullptr, 40, 35, type, one, a.ld, type, tau, type, &bytes,
                                    &on_host) == 0 &&
            bytes > 0,
        "Xgeqrf's workspace");
  check(e.geqrf(handle, 40, 35, one, a.ld, tau, work, 1, info) == 0 &&
            cusolverDnXgeqrf(handle, nullptr, 40, 35, type, other, a.ld, type, other_tau, type, work, bytes,
                             nullptr, on_host, info) == 0 &&
            one.get() == other.get() && tau.get() == other_tau.get() && info.get()[0] == 0,
        "Xgeqrf");
  check(cusolverDnXgeqrf(handle, nullptr, 4, 4, type, other, 3, type, other_tau, type, work, bytes, nullptr,
                         on_host, info) == 3,
        "Xgeqrf: a leading dimension that is too small");
}

}  // namespace

int main() {
  Handle handle = nullptr;
  void* stream = nullptr;
  check(cusolverDnCreate(&handle) == 0 && cudaStreamCreateWithFlags(&stream, 1) == 0 &&
            cusolverDnSetStream(handle, stream) == 0,
        "a handle");
  for (const auto& [m, n] : {std::pair{1, 1}, {5, 3}, {3, 5}, {33, 32}, {90, 70}, {40, 100}}) {
    factors<float>({cusolverDnSgeqrf, cusolverDnSormqr, cusolverDnSorgqr}, handle, m, n, "S ");
    factors<double>({cusolverDnDgeqrf, cusolverDnDormqr, cusolverDnDorgqr}, handle, m, n, "D ");
  }
  generic<float>({cusolverDnSgeqrf, cusolverDnSormqr, cusolverDnSorgqr}, handle, 0);
  generic<double>({cusolverDnDgeqrf, cusolverDnDormqr, cusolverDnDorgqr}, handle, 1);
  const Device<double> a(std::vector<double>{3e200, 4e200}), tau(1), work(1);
  const Device<int> info(1);
  check(cusolverDnDgeqrf(handle, 2, 1, a, 2, tau, work, 1, info) == 0 &&
            std::abs(a.get()[0] / -5e200 - 1) < 1e-15,
        "a column whose square is too large");
  int elements = 0;
  check(cusolverDnDgeqrf_bufferSize(handle, 2, 1, a, 1, &elements) == 3,
        "a leading dimension that is too small");
  check(cusolverDnDestroy(handle) == 0, "the end of the handle");
  return result();
}
