// cuSOLVER and cuBLAS: factors of random matrices, and solutions with them, against the matrices they are
// factors of.
#include "blas.hpp"

#define FACTORS(T, l)                                                                                        \
  int cusolverDn##l##getrf_bufferSize(Handle, int, int, T*, int, int*);                                      \
  int cusolverDn##l##getrf(Handle, int, int, T*, int, T*, int*, int*);                                       \
  int cusolverDn##l##getrs(Handle, int, int, int, const T*, int, const int*, T*, int, int*);                 \
  int cusolverDn##l##potrf(Handle, int, int, T*, int, T*, int, int*);                                        \
  int cusolverDn##l##potrs(Handle, int, int, int, const T*, int, T*, int, int*);                             \
  int cublas##l##getrfBatched(Handle, int, T* const*, int, int*, int*, int);                                 \
  int cublas##l##getrsBatched(Handle, int, int, int, const T* const*, int, const int*, T* const*, int, int*, \
                              int);                                                                          \
  int cublas##l##getriBatched(Handle, int, const T* const*, int, const int*, T* const*, int, int*, int);
extern "C" {
FACTORS(float, S)
FACTORS(double, D) FACTORS(Complex64, C) FACTORS(Complex128, Z) int cusolverDnCreate(Handle*);
int cusolverDnDestroy(Handle);
int cusolverDnSetStream(Handle, void*);
int cusolverDnCreateParams(void**);
int cusolverDnDestroyParams(void*);
int cusolverDnXgetrf_bufferSize(Handle, void*, std::int64_t, std::int64_t, int, const void*, std::int64_t,
                                int, std::size_t*, std::size_t*);
int cusolverDnXgetrf(Handle, void*, std::int64_t, std::int64_t, int, void*, std::int64_t, std::int64_t*, int,
                     void*, std::size_t, void*, std::size_t, int*);
int cusolverDnXgetrs(Handle, void*, int, std::int64_t, std::int64_t, int, const void*, std::int64_t,
                     const std::int64_t*, int, void*, std::int64_t, int*);
int cusolverDnXpotrf(Handle, void*, int, std::int64_t, int, void*, std::int64_t, int, void*, std::size_t,
                     void*, std::size_t, int*);
int cusolverDnXpotrs(Handle, void*, int, std::int64_t, std::int64_t, int, const void*, std::int64_t, int,
                     void*, std::int64_t, int*);
}

namespace {

constexpr int kSolverInvalid = 3;

template <class T>
struct Entries {
  int (*getrf)(Handle, int, int, T*, int, T*, int*, int*);
  int (*getrs)(Handle, int, int, int, const T*, int, const int*, T*, int, int*);
  int (*potrf)(Handle, int, int, T*, int, T*, int, int*);
  int (*potrs)(Handle, int, int, int, const T*, int, T*, int, int*);
  int (*getrf_batched)(Handle, int, T* const*, int, int*, int*, int);
  int (*getrs_batched)(Handle, int, int, int, const T* const*, int, const int*, T* const*, int, int*, int);
  int (*getri_batched)(Handle, int, const T* const*, int, const int*, T* const*, int, int*, int);
};

/// L U with the rows exchanged back.
template <class T>
Matrix<T> product_of(const Matrix<T>& factors, const std::vector<int>& pivots) {
  Matrix<T> a = factors;
  const int count = std::min(a.rows, a.columns);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) {
      Wide<T> sum{};
      for (int p = 0; p < count && p <= i && p <= j; ++p)
        sum += (p == i ? Wide<T>(1) : wide(factors.at(i, p))) * wide(factors.at(p, j));
      a.at(i, j) = static_cast<T>(sum);
    }
  for (int i = static_cast<int>(pivots.size()) - 1; i >= 0; --i)
    for (int j = 0; j < a.columns; ++j)
      std::swap(a.at(i, j), a.at(pivots[static_cast<std::size_t>(i)] - 1, j));
  return a;
}
/// op(A) X
template <class T>
Matrix<T> right_side(const Matrix<T>& a, int op, const Matrix<T>& x) {
  Matrix<T> b = x;
  for (int i = 0; i < x.rows; ++i)
    for (int j = 0; j < x.columns; ++j) {
      Wide<T> sum{};
      for (int p = 0; p < x.rows; ++p) sum += a.op(op, i, p) * wide(x.at(p, j));
      b.at(i, j) = static_cast<T>(sum);
    }
  return b;
}
/// Rows far from depending on each other, in an order that needs exchanges.
template <class T>
Matrix<T> well_conditioned(int n, int extra) {
  Matrix<T> a(n, n, extra);
  for (int i = 0; i < n; ++i)
    a.at(i, (i + 1) % n) = static_cast<T>(wide(a.at(i, (i + 1) % n)) + static_cast<double>(n));
  return a;
}

template <class T>
void lu(const Entries<T>& e, Handle handle, int m, int n, const std::string& type) {
  const Matrix<T> a(m, n, 2);
  const int count = std::min(m, n);
  const Device<T> da(a.values), work(1);
  const Device<int> pivots(static_cast<std::size_t>(count)), info(std::vector<int>{-7});
  check(e.getrf(handle, m, n, da, a.ld, work, pivots, info) == 0 && info.get()[0] == 0,
        type + "getrf's status");
  Matrix<T> factors = a;
  factors.values = da.get();
  const auto order = pivots.get();
  check(close(product_of(factors, order).values, a.values, 8 * kEpsilon<T> * (m + n + 8)),
        type + "getrf of " + std::to_string(m) + " x " + std::to_string(n));
  for (int j = 0; j < count; ++j)
    for (int i = j + 1; i < m; ++i)
      if (std::abs(wide(factors.at(i, j))) > 1.4143)
        return check(false, type + "a factor that an exchange would have made smaller");
}

template <class T>
void solutions(const Entries<T>& e, Handle handle, int n, const std::string& type) {
  const Matrix<T> a = well_conditioned<T>(n, 1);
  const Device<T> factors(a.values), work(1);
  const Device<int> pivots(static_cast<std::size_t>(n)), info(1);
  check(e.getrf(handle, n, n, factors, a.ld, work, pivots, info) == 0, type + "getrf's status");
  for (const int op : {kN, kT, kC}) {
    const Matrix<T> x(n, 5, 3), b = right_side(a, op, x);
    const Device<T> db(b.values);
    info.set({5});
    check(e.getrs(handle, op, n, 5, factors, a.ld, pivots, db, b.ld, info) == 0 && info.get()[0] == 0,
          type + "getrs' status");
    check(close(db.get(), x.values, 64 * kEpsilon<T> * n),
          type + "getrs of " + std::to_string(n) + " op " + std::to_string(op));
  }
}

template <class T>
void cholesky(const Entries<T>& e, Handle handle, int n, const std::string& type) {
  Matrix<T> a(n, n, 1);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      a.at(j, i) = static_cast<T>(conjugate(wide(a.at(i, j))));
      if (i == j) a.at(i, i) = static_cast<T>(Wide<T>(2.0 * n + i));
    }
  for (const int mode : {kLower, kUpper}) {
    const Matrix<T> x(n, 3, 1), b = right_side(a, kN, x);
    Matrix<T> stored = a;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (mode == kLower ? i < j : i > j) stored.at(i, j) = T(NAN);
    const Device<T> factor(stored.values), db(b.values), work(1);
    const Device<int> info(std::vector<int>{9});
    const std::string what = type + " of " + std::to_string(n) + " mode " + std::to_string(mode);
    check(e.potrf(handle, mode, n, factor, a.ld, work, 1, info) == 0 && info.get()[0] == 0, "potrf " + what);
    check(e.potrs(handle, mode, n, 3, factor, a.ld, db, b.ld, info) == 0, "potrs " + what);
    check(close(db.get(), x.values, 64 * kEpsilon<T> * n), "potrs' solution " + what);
  }
  if (n < 40) return;
  a.at(35, 35) = T{-1};
  const Device<T> factor(a.values), work(1);
  const Device<int> info(1);
  check(e.potrf(handle, kLower, n, factor, a.ld, work, 1, info) == 0 && info.get()[0] == 36,
        type + "a matrix that is not positive definite");
}

template <class T>
void batches(const Entries<T>& e, Handle handle, int n, const std::string& type) {
  constexpr int kCount = 3;
  std::vector<Matrix<T>> all;
  std::vector<T> stored, solutions, sides;
  for (int i = 0; i < kCount; ++i) {
    all.push_back(well_conditioned<T>(n, 0));
    const Matrix<T> x(n, 2), b = right_side(all.back(), kT, x);
    stored.insert(stored.end(), all.back().values.begin(), all.back().values.end());
    solutions.insert(solutions.end(), x.values.begin(), x.values.end());
    sides.insert(sides.end(), b.values.begin(), b.values.end());
  }
  const Device<T> a(stored), b(sides), c(stored.size());
  const auto pointers = [&](const Device<T>& in, std::size_t step) {
    std::vector<T*> to;
    for (std::size_t i = 0; i < kCount; ++i) to.push_back(static_cast<T*>(in) + i * step);
    return to;
  };
  const Device<T*> pa(pointers(a, stored.size() / kCount)), pb(pointers(b, sides.size() / kCount)),
      pc(pointers(c, stored.size() / kCount));
  const Device<int> pivots(static_cast<std::size_t>(n * kCount)), infos(kCount);
  int info = -1;
  check(e.getrf_batched(handle, n, pa, n, pivots, infos, kCount) == 0 &&
            infos.get() == std::vector<int>(kCount),
        type + "getrfBatched");
  check(e.getrs_batched(handle, kT, n, 2, pa, n, pivots, pb, n, &info, kCount) == 0 && info == 0,
        type + "getrsBatched's status");
  check(close(b.get(), solutions, 64 * kEpsilon<T> * n), type + "getrsBatched of " + std::to_string(n));
  check(e.getri_batched(handle, n, pa, n, pivots, pc, n, infos, kCount) == 0, type + "getriBatched's status");
  const auto inverse = c.get();
  for (std::size_t batch = 0; batch < kCount; ++batch) {
    Matrix<T> x(n, n), unit(n, n);
    std::copy_n(inverse.begin() + static_cast<std::ptrdiff_t>(batch * stored.size() / kCount), n * n,
                x.values.begin());
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) unit.at(i, j) = i == j ? T{1} : T{};
    Matrix<T> product = right_side(all[batch], kN, x);
    product.values.resize(static_cast<std::size_t>(n * n)),
        unit.values.resize(static_cast<std::size_t>(n * n));
    check(close(product.values, unit.values, 64 * kEpsilon<T> * n),
          type + "getriBatched of " + std::to_string(n));
  }
}

template <class T>
void all(const Entries<T>& e, Handle solver, Handle blas, const char* type) {
  for (const auto& [m, n] : {std::pair{1, 1}, {7, 7}, {32, 33}, {70, 45}, {45, 100}, {90, 90}})
    lu(e, solver, m, n, type);
  for (const int n : {1, 20, 75}) {
    solutions(e, solver, n, type);
    cholesky(e, solver, n, type);
    batches(e, blas, n, type);
  }
}

/// The generic interface: an unsymmetric system by LU, and a symmetric one by Cholesky.
void generic(Handle solver) {
  constexpr int kDouble = 1, kFloat = 0, kOrder = 50, kCount = 4, kSolverNotSupported = 9;
  void* options = nullptr;
  check(cusolverDnCreateParams(&options) == 0, "cusolverDnCreateParams");
  const Matrix<double> a = well_conditioned<double>(kOrder, 1), x(kOrder, kCount, 2),
                       b = right_side(a, kT, x);
  const Device<double> factors(a.values), solution(b.values);
  const Device<std::int64_t> pivots(kOrder);
  const Device<int> info(std::vector<int>{3});
  std::size_t on_device = 0, on_host = 0;
  check(cusolverDnXgetrf_bufferSize(solver, options, kOrder, kOrder, kDouble, factors, a.ld, kDouble,
                                    &on_device, &on_host) == 0,
        "a workspace");
  const Device<unsigned char> work(on_device);
  check(cusolverDnXgetrf(solver, options, kOrder, kOrder, kDouble, factors, a.ld, pivots, kDouble, work,
                         on_device, nullptr, 0, info) == 0 &&
            info.get()[0] == 0,
        "Xgetrf");
  check(cusolverDnXgetrs(solver, options, kT, kOrder, kCount, kDouble, factors, a.ld, pivots, kDouble,
                         solution, b.ld, info) == 0 &&
            close(solution.get(), x.values, 1e-12),
        "Xgetrs");
  check(cusolverDnXgetrf(solver, options, kOrder, kOrder, kDouble, factors, a.ld, pivots, kFloat, work,
                         on_device, nullptr, 0, info) == kSolverNotSupported,
        "a computation of another type");
  const Device<double> symmetric(std::vector<double>{4, 2, 2, 5}), right(std::vector<double>{8, 12});
  check(cusolverDnXpotrf(solver, options, kUpper, 2, kDouble, symmetric, 2, kDouble, work, 1, nullptr, 0,
                         info) == 0 &&
            info.get()[0] == 0,
        "Xpotrf");
  check(
      cusolverDnXpotrs(solver, options, kUpper, 2, 1, kDouble, symmetric, 2, kDouble, right, 2, info) == 0 &&
          close(right.get(), {1, 2}, 1e-15),
      "Xpotrs");
  check(cusolverDnDestroyParams(options) == 0 && cusolverDnDestroyParams(options) == kNotInitialized,
        "cusolverDnDestroyParams");
}

void singular(Handle solver) {
  const Device<double> a(std::vector<double>{1, 2, 3, 2, 4, 6, 1, 1, 1}), work(1);
  const Device<int> pivots(3), info(1);
  check(cusolverDnDgetrf(solver, 3, 3, a, 3, work, pivots, info) == 0 && info.get()[0] == 2,
        "a singular matrix");
  const std::vector<double> symmetric = {4, 2, 2, 5};
  const Device<double> b(symmetric);
  check(cusolverDnDgetrf(solver, 2, 2, b, 2, work, nullptr, info) == 0 &&
            b.get() == std::vector<double>{4, 0.5, 2, 4},
        "no exchanges");
  int elements = 0;
  check(cusolverDnDgetrf_bufferSize(solver, 3, 3, a, 3, &elements) == 0 && elements > 0, "the workspace");
  check(cusolverDnDgetrf_bufferSize(solver, 3, 3, a, 2, &elements) == kSolverInvalid,
        "a leading dimension that is too small");
  check(cusolverDnDgetrf(nullptr, 3, 3, a, 3, work, pivots, info) == kNotInitialized, "no handle");
}

}  // namespace

int main() {
  const Blas blas;
  Handle solver = nullptr;
  void* stream = nullptr;
  check(cusolverDnCreate(&solver) == 0, "cusolverDnCreate");
  check(cudaStreamCreateWithFlags(&stream, 1) == 0 && cusolverDnSetStream(solver, stream) == 0, "a stream");
#define ENTRIES(l)                                                                                 \
  {cusolverDn##l##getrf,    cusolverDn##l##getrs,    cusolverDn##l##potrf,   cusolverDn##l##potrs, \
   cublas##l##getrfBatched, cublas##l##getrsBatched, cublas##l##getriBatched}
  all<float>(ENTRIES(S), solver, blas, "S ");
  all<double>(ENTRIES(D), solver, blas, "D ");
  all<Complex64>(ENTRIES(C), solver, blas, "C ");
  all<Complex128>(ENTRIES(Z), solver, blas, "Z ");
  singular(solver);
  generic(solver);
  check(cusolverDnDestroy(solver) == 0 && cusolverDnDestroy(solver) == kNotInitialized, "cusolverDnDestroy");
  return result();
}
