// cuSOLVER: eigenvalues of random symmetric matrices: A V = V diag(w), V is orthogonal, w ascends.
#include "blas.hpp"

#define EIGEN(T, l) int cusolverDn##l##syevd(Handle, int, int, int, T*, int, T*, T*, int, int*);
extern "C" {
EIGEN(float, S)
EIGEN(double, D)
int cusolverDnDsyevd_bufferSize(Handle, int, int, int, const double*, int, const double*, int*);
int cusolverDnCreate(Handle*);
int cusolverDnDestroy(Handle);
}

namespace {

template <class T>
using Syevd = int (*)(Handle, int, int, int, T*, int, T*, T*, int, int*);

template <class T>
void eigenvalues(Syevd<T> syevd, Handle handle, int n, int mode) {
  const std::string what =
      std::to_string(sizeof(T)) + " bytes, " + std::to_string(n) + ", mode " + std::to_string(mode);
  Matrix<T> a(n, n, 2), stored = a;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) {
      a.at(j, i) = a.at(i, j);
      stored.at(j, i) = mode == kLower ? T(NAN) : a.at(i, j);
      stored.at(i, j) = mode == kLower ? a.at(i, j) : T(NAN);
    }
  const Device<T> data(stored.values), values(static_cast<std::size_t>(n)), again(stored.values),
      only(static_cast<std::size_t>(n)), work(1);
  const Device<int> info(std::vector<int>{7});
  check(syevd(handle, 1, mode, n, data, a.ld, values, work, 1, info) == 0 && info.get()[0] == 0,
        "syevd " + what);
  check(syevd(handle, 0, mode, n, again, a.ld, only, work, 1, info) == 0 && only.get() == values.get(),
        "values alone " + what);
  Matrix<T> v = a;
  v.values = data.get();
  const auto w = values.get();
  check(std::is_sorted(w.begin(), w.end()), "order " + what);
  double residual = 0, angle = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double product = -v.at(i, j) * static_cast<double>(w[static_cast<std::size_t>(j)]),
             dot = i == j ? -1 : 0;
      for (int p = 0; p < n; ++p) {
        product += static_cast<double>(a.at(i, p)) * v.at(p, j);
        dot += static_cast<double>(v.at(p, i)) * v.at(p, j);
      }
      residual = std::max(residual, std::abs(product)), angle = std::max(angle, std::abs(dot));
    }
  const double tolerance = 16 * kEpsilon<T> * (n + 8);
  check(residual < tolerance && angle < tolerance, "A V = V w " + what);
}

}  // namespace

int main() {
  Handle handle = nullptr;
  check(cusolverDnCreate(&handle) == 0, "a handle");
  for (const int n : {1, 2, 3, 16, 41})
    for (const int mode : {kLower, kUpper}) {
      eigenvalues<float>(cusolverDnSsyevd, handle, n, mode);
      eigenvalues<double>(cusolverDnDsyevd, handle, n, mode);
    }
  const Device<double> a(std::vector<double>{2, 1, 1, 2}), w(2), work(1);
  const Device<int> info(1);
  check(cusolverDnDsyevd(handle, 1, kLower, 2, a, 2, w, work, 1, info) == 0 && close(w.get(), {1, 3}, 1e-15),
        "two eigenvalues");
  int elements = 0;
  check(cusolverDnDsyevd_bufferSize(handle, 1, kLower, 2, a, 2, w, &elements) == 0 && elements > 0,
        "a workspace");
  check(cusolverDnDsyevd(handle, 2, kLower, 2, a, 2, w, work, 1, info) == 3, "a mode that there is not");
  check(cusolverDnDestroy(handle) == 0, "the end of the handle");
  return result();
}
