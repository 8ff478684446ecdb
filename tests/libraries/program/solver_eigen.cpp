// cuSOLVER: eigenvalues of random symmetric matrices: A V = V diag(w), V is orthogonal, w ascends.
#include <cstdint>

#include "blas.hpp"

#define EIGEN(T, l)                                                                                        \
  int cusolverDn##l##syevd(Handle, int, int, int, T*, int, T*, T*, int, int*);                             \
  int cusolverDn##l##syevdx(Handle, int, int, int, int, T*, int, T, T, int, int, int*, T*, T*, int, int*); \
  int cusolverDn##l##syevj(Handle, int, int, int, T*, int, T*, T*, int, int*, void*);                      \
  int cusolverDn##l##sygvd(Handle, int, int, int, int, T*, int, T*, int, T*, T*, int, int*);               \
  int cusolverDn##l##syevjBatched(Handle, int, int, int, T*, int, T*, T*, int, int*, void*, int);
extern "C" {
EIGEN(float, S)
EIGEN(double, D)
int cusolverDnDsyevd_bufferSize(Handle, int, int, int, const double*, int, const double*, int*);
int cusolverDnDsyevdx_bufferSize(Handle, int, int, int, int, const double*, int, double, double, int, int,
                                 int*, const double*, int*);
int cusolverDnXsyevd_bufferSize(Handle, void*, int, int, long, int, const void*, long, int, const void*, int,
                                std::size_t*, std::size_t*);
int cusolverDnXsyevd(Handle, void*, int, int, long, int, void*, long, int, void*, int, void*, std::size_t,
                     void*, std::size_t, int*);
int cusolverDnXsyevdx(Handle, void*, int, int, int, std::int64_t, int, void*, std::int64_t, const void*,
                      const void*, std::int64_t, std::int64_t, std::int64_t*, int, void*, int, void*,
                      std::size_t, void*, std::size_t, int*);
int cusolverDnXsyevjSetSortEig(void*, int);
int cusolverDnCreateSyevjInfo(void**);
int cusolverDnDestroySyevjInfo(void*);
int cusolverDnXsyevjSetMaxSweeps(void*, int);
int cusolverDnXsyevjGetResidual(Handle, void*, double*);
int cusolverDnXsyevjGetSweeps(Handle, void*, int*);
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

/// A x = w B x, A B x = w x or B A x = w x, with vectors of length 1 by B, or by its inverse.
template <class T>
void generalized(int (*sygvd)(Handle, int, int, int, int, T*, int, T*, int, T*, T*, int, int*), Handle handle,
                 int n, int mode, int problem) {
  const std::string what = "sygvd " + std::to_string(problem) + " of " + std::to_string(n) + " mode " +
                           std::to_string(mode) + " " + std::to_string(sizeof(T)) + " bytes";
  Matrix<T> a(n, n, 1), b(n, n, 2), stored_a = a, stored_b = b;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      b.at(i, j) = static_cast<T>(i == j ? 2.0 + b.at(i, j) : static_cast<double>(b.at(i, j)) / n);
      a.at(j, i) = a.at(i, j), b.at(j, i) = b.at(i, j);
      for (Matrix<T>* const m : {&stored_a, &stored_b}) {
        const T value = (m == &stored_a ? a : b).at(i, j);
        m->at(j, i) = m->at(i, j) = T(NAN);
        (mode == kLower ? m->at(i, j) : m->at(j, i)) = value;
      }
    }
  const Device<T> data(stored_a.values), on_b(stored_b.values), values(static_cast<std::size_t>(n)),
      only(static_cast<std::size_t>(n)), again(stored_a.values), again_b(stored_b.values), work(1);
  const Device<int> info(std::vector<int>{7});
  check(sygvd(handle, problem, 1, mode, n, data, a.ld, on_b, b.ld, values, work, 1, info) == 0 &&
            info.get()[0] == 0,
        what);
  check(sygvd(handle, problem, 0, mode, n, again, a.ld, again_b, b.ld, only, work, 1, info) == 0 &&
            only.get() == values.get(),
        what + ": values alone");
  Matrix<T> x = a;
  x.values = data.get();
  const auto w = values.get();
  check(std::is_sorted(w.begin(), w.end()), what + ": order");
  double worst = 0;
  for (int k = 0; k < n; ++k) {
    const auto times = [n](const Matrix<T>& m, const std::vector<double>& v) {
      std::vector<double> product(v.size());
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          product[static_cast<std::size_t>(i)] +=
              static_cast<double>(m.at(i, j)) * v[static_cast<std::size_t>(j)];
      return product;
    };
    std::vector<double> v;
    for (int i = 0; i < n; ++i) v.push_back(x.at(i, k));
    const auto left = problem == 1   ? times(a, v)
                      : problem == 2 ? times(a, times(b, v))
                                     : times(b, times(a, v));
    const auto right = problem == 1 ? times(b, v) : v;
    for (std::size_t i = 0; i < v.size(); ++i)
      worst =
          std::max(worst, std::abs(left[i] - static_cast<double>(w[static_cast<std::size_t>(k)]) * right[i]));
    // x' B x, or of the third problem x' inverse(B) x, where inverse(B) x = A x / w.
    const auto weighed = problem == 3 ? times(a, v) : times(b, v);
    double length = 0;
    for (std::size_t i = 0; i < v.size(); ++i) length += v[i] * weighed[i];
    const double expected = problem == 3 ? static_cast<double>(w[static_cast<std::size_t>(k)]) : 1;
    worst = std::max(worst, std::abs(length - expected));
  }
  check(worst < 64 * kEpsilon<T> * (n + 8), what + ": residual");
}

template <class T>
struct Entries {
  Syevd<T> syevd;
  int (*syevdx)(Handle, int, int, int, int, T*, int, T, T, int, int, int*, T*, T*, int, int*);
  int (*syevj)(Handle, int, int, int, T*, int, T*, T*, int, int*, void*);
  int (*batched)(Handle, int, int, int, T*, int, T*, T*, int, int*, void*, int);
  int type;
};

/// Values and vectors alone, by index and by size, are some of those of syevd; those of the other entries are
/// all.
template <class T>
void other_entries(const Entries<T>& e, Handle handle) {
  constexpr int kSize = 12, kAll = 1001, kByIndex = 1002, kBySize = 1003;
  const std::string what = std::to_string(sizeof(T)) + " bytes: ";
  const Matrix<T> a(kSize, kSize, 1);
  const std::size_t one = a.values.size() - 1;
  const Device<T> all(a.values), values(kSize), data(a.values), some(kSize), work(1);
  const Device<int> info(std::vector<int>{7});
  check(e.syevd(handle, 1, kLower, kSize, all, a.ld, values, work, 1, info) == 0, what + "syevd");
  const auto w = values.get(), v = all.get();
  const auto select = [&](int range, T low, T high, int first, int last, int expected_first, int expected) {
    const std::string range_name = what + "syevdx " + std::to_string(range) + " ";
    int found = -1;
    data.set(a.values);
    some.set(std::vector<T>(kSize, 99));
    check(e.syevdx(handle, 1, range, kLower, kSize, data, a.ld, low, high, first, last, &found, some, work, 1,
                   info) == 0 &&
              info.get()[0] == 0 && found == expected,
          range_name + std::to_string(found));
    const auto values_found = some.get(), vectors = data.get();
    for (int i = 0; i < expected; ++i) {
      check(values_found[static_cast<std::size_t>(i)] == w[static_cast<std::size_t>(expected_first + i)],
            range_name + "values");
      for (int j = 0; j < kSize; ++j)
        check(vectors[static_cast<std::size_t>(j + i * a.ld)] ==
                  v[static_cast<std::size_t>(j + (expected_first + i) * a.ld)],
              range_name + "vectors");
    }
    // As with NVIDIA's library larger values follow.
    check(std::equal(w.begin() + expected_first, w.end(), values_found.begin()),
          range_name + "larger values");
  };
  select(kAll, 0, 0, 0, 0, 0, kSize);
  select(kByIndex, 0, 0, 3, 7, 2, 5);
  select(kByIndex, 0, 0, 12, 12, 11, 1);
  select(kBySize, w[3], w[8], 0, 0, 4, 5);
  select(kBySize, -100, 100, 0, 0, 0, kSize);
  select(kBySize, 100, 200, 0, 0, kSize, 0);
  const T low = w[3], high = w[8];
  std::int64_t count = 0;
  data.set(a.values);
  check(cusolverDnXsyevdx(handle, nullptr, 1, kBySize, kLower, kSize, e.type, data, a.ld, &low, &high, 0, 0,
                          &count, e.type, some, e.type, work, 1, nullptr, 0, info) == 0 &&
            count == 5 && some.get()[0] == w[4],
        what + "Xsyevdx");

  void* options = nullptr;
  double residual = -1;
  int sweeps = -1;
  check(cusolverDnCreateSyevjInfo(&options) == 0, "options");
  check(cusolverDnXsyevjGetSweeps(handle, options, &sweeps) == 3, "sweeps before there are any");
  data.set(a.values);
  check(e.syevj(handle, 1, kLower, kSize, data, a.ld, some, work, 1, info, options) == 0 && some.get() == w &&
            data.get() == v && info.get()[0] == 0,
        what + "syevj");
  check(cusolverDnXsyevjGetResidual(handle, options, &residual) == 0 && residual >= 0 &&
            residual < 1e3 * kEpsilon<T> && cusolverDnXsyevjGetSweeps(handle, options, &sweeps) == 0 &&
            sweeps > 1,
        what + "residual and sweeps");

  std::vector<T> three;
  const Matrix<T> b(kSize, kSize, 1);
  for (const Matrix<T>* const matrix : {&b, &a, &b})
    three.insert(three.end(), matrix->values.begin(), matrix->values.end() - 1);
  const Device<T> batch(three), batch_values(3 * kSize);
  const Device<int> batch_info(std::vector<int>(3, 7));
  check(
      e.batched(handle, 1, kLower, kSize, batch, a.ld, batch_values, work, 1, batch_info, options, 3) == 0 &&
          batch_info.get() == std::vector<int>(3),
      what + "a batch");
  const auto values_found = batch_values.get(), vectors = batch.get();
  check(std::equal(w.begin(), w.end(), values_found.begin() + kSize) &&
            std::equal(v.begin(), v.end() - 1, vectors.begin() + static_cast<std::ptrdiff_t>(one)) &&
            std::equal(values_found.begin(), values_found.begin() + kSize, values_found.begin() + 2 * kSize),
        what + "values and vectors of a batch");
  check(cusolverDnXsyevjGetSweeps(handle, options, &sweeps) == 9, what + "sweeps of a batch");
  // Left as they are on a diagonal that does not have to be rotated.
  const Device<T> diagonal(std::vector<T>{3, 0, 0, 1}), two(2);
  check(cusolverDnXsyevjSetSortEig(options, 0) == 0 &&
            e.batched(handle, 1, kLower, 2, diagonal, 2, two, work, 1, info, options, 1) == 0 &&
            two.get() == std::vector<T>{3, 1} && diagonal.get() == std::vector<T>{1, 0, 0, 1},
        what + "unsorted");
  data.set(a.values);
  check(cusolverDnXsyevjSetMaxSweeps(options, 1) == 0 &&
            e.syevj(handle, 1, kLower, kSize, data, a.ld, some, work, 1, info, options) == 0 &&
            info.get()[0] == kSize + 1,
        what + "a sweep that is not enough");
  check(cusolverDnDestroySyevjInfo(options) == 0 && cusolverDnDestroySyevjInfo(options) == 1, "no options");

  std::size_t bytes = 0, on_host = 1;
  data.set(a.values);
  check(cusolverDnXsyevd_bufferSize(handle, nullptr, 1, kLower, kSize, e.type, data, a.ld, e.type, some,
                                    e.type, &bytes, &on_host) == 0 &&
            bytes > 0 &&
            cusolverDnXsyevd(handle, nullptr, 1, kLower, kSize, e.type, data, a.ld, e.type, some, e.type,
                             work, bytes, nullptr, on_host, info) == 0 &&
            some.get() == w && data.get() == v,
        what + "Xsyevd");
  int found = 0, elements = 0;
  check(e.syevdx(handle, 1, kByIndex, kLower, kSize, data, a.ld, 0, 0, 0, 3, &found, some, work, 1, info) ==
                3 &&
            e.syevdx(handle, 1, kBySize, kLower, kSize, data, a.ld, 1, 1, 0, 3, &found, some, work, 1,
                     info) == 3 &&
            e.syevj(handle, 1, kLower, kSize, data, a.ld, some, work, 1, info, nullptr) == 1,
        what + "what is wrong");
  check(cusolverDnDsyevdx_bufferSize(handle, 1, kAll, kLower, kSize, nullptr, kSize, 0, 0, 0, 0, &found,
                                     nullptr, &elements) == 0 &&
            elements > 0,
        "syevdx's workspace");
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
  for (const int n : {1, 5, 18})
    for (const int mode : {kLower, kUpper})
      for (const int problem : {1, 2, 3}) {
        generalized<float>(cusolverDnSsygvd, handle, n, mode, problem);
        generalized<double>(cusolverDnDsygvd, handle, n, mode, problem);
      }
  const Device<double> indefinite(std::vector<double>{1, 0, 0, -1}), any(std::vector<double>(4, 1)), two(2),
      room(1);
  const Device<int> order(1);
  check(cusolverDnDsygvd(handle, 1, 1, kLower, 2, any, 2, indefinite, 2, two, room, 1, order) == 0 &&
            order.get()[0] == 4 &&
            cusolverDnDsygvd(handle, 4, 1, kLower, 2, any, 2, indefinite, 2, two, room, 1, order) == 3,
        "sygvd of a B that is not positive definite");
#define ENTRIES(l, type) \
  {cusolverDn##l##syevd, cusolverDn##l##syevdx, cusolverDn##l##syevj, cusolverDn##l##syevjBatched, type}
  other_entries<float>(ENTRIES(S, 0), handle);
  other_entries<double>(ENTRIES(D, 1), handle);
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
