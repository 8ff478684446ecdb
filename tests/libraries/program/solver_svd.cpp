// cuSOLVER: singular values of random matrices, also of less than full rank: U and V are orthogonal, U S V^T
// is the matrix, S descends.
#include <limits>

#include "blas.hpp"

#define SVD(T, l)                                                                                         \
  int cusolverDn##l##gesvd(Handle, signed char, signed char, int, int, T*, int, T*, T*, int, T*, int, T*, \
                           int, T*, int*);                                                                \
  int cusolverDn##l##gesvdj(Handle, int, int, int, int, T*, int, T*, T*, int, T*, int, T*, int, int*,     \
                            void*);                                                                       \
  int cusolverDn##l##gesvdjBatched(Handle, int, int, int, T*, int, T*, T*, int, T*, int, T*, int, int*,   \
                                   void*, int);
extern "C" {
SVD(float, S)
SVD(double, D)
int cusolverDnDgesvd_bufferSize(Handle, int, int, int*);
int cusolverDnDgesvdj_bufferSize(Handle, int, int, int, int, const double*, int, const double*, const double*,
                                 int, const double*, int, int*, void*);
int cusolverDnXgesvd_bufferSize(Handle, void*, signed char, signed char, long, long, int, const void*, long,
                                int, const void*, int, const void*, long, int, const void*, long, int,
                                std::size_t*, std::size_t*);
int cusolverDnXgesvd(Handle, void*, signed char, signed char, long, long, int, void*, long, int, void*, int,
                     void*, long, int, void*, long, int, void*, std::size_t, void*, std::size_t, int*);
int cusolverDnCreateGesvdjInfo(void**);
int cusolverDnDestroyGesvdjInfo(void*);
int cusolverDnXgesvdjSetTolerance(void*, double);
int cusolverDnXgesvdjSetMaxSweeps(void*, int);
int cusolverDnXgesvdjSetSortEig(void*, int);
int cusolverDnXgesvdjGetResidual(Handle, void*, double*);
int cusolverDnXgesvdjGetSweeps(Handle, void*, int*);
int cusolverDnCreate(Handle*);
int cusolverDnDestroy(Handle);
}

namespace {

template <class T>
struct Entries {
  int (*gesvd)(Handle, signed char, signed char, int, int, T*, int, T*, T*, int, T*, int, T*, int, T*, int*);
  int (*gesvdj)(Handle, int, int, int, int, T*, int, T*, T*, int, T*, int, T*, int, int*, void*);
  int (*batched)(Handle, int, int, int, T*, int, T*, T*, int, T*, int, T*, int, int*, void*, int);
  int type;
};

enum Kind { kFull, kLowRank, kZero, kLarge };

/// Of the rank that `kind` says.
template <class T>
Matrix<T> matrix_of(int m, int n, Kind kind) {
  Matrix<T> a(m, n, 2);
  const Matrix<T> x(m, 2), y(2, n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      T& value = a.at(i, j);
      if (kind == kLowRank) value = x.at(i, 0) * y.at(0, j) + x.at(i, 1) * y.at(1, j);
      if (kind == kZero) value = 0;
      if (kind == kLarge) value *= std::sqrt(std::numeric_limits<T>::max()) * 4;
    }
  return a;
}

/// Columns of the matrix are orthogonal to each other, of length 1.
template <class T>
double angle(const Matrix<T>& q, int columns) {
  double worst = 0;
  for (int i = 0; i < columns; ++i)
    for (int j = 0; j < columns; ++j) {
      double product = i == j ? -1 : 0;
      for (int p = 0; p < q.rows; ++p) product += static_cast<double>(q.at(p, i)) * q.at(p, j);
      if (!(std::abs(product) <= worst)) worst = std::abs(product);
    }
  return worst;
}

/// V by columns.
template <class T>
void check_svd(const Matrix<T>& a, const std::vector<T>& s, const Matrix<T>& u, const Matrix<T>& v,
               const std::string& what) {
  const int count = std::min(a.rows, a.columns);
  const double tolerance = 16 * kEpsilon<T> * (std::max(a.rows, a.columns) + 8);
  check(std::is_sorted(s.rbegin(), s.rend()) && (count == 0 || s.back() >= 0), what + ": order");
  check(angle(u, u.columns) < tolerance, what + ": U");
  check(angle(v, v.columns) < tolerance, what + ": V");
  double worst = 0, largest = count > 0 ? s[0] : 0;
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) {
      double value = -a.at(i, j);
      for (int k = 0; k < count; ++k)
        value += static_cast<double>(u.at(i, k)) * s[static_cast<std::size_t>(k)] * v.at(j, k);
      if (!(std::abs(value) <= worst)) worst = std::abs(value);
    }
  check(worst <= tolerance * largest, what + ": U S V^T");
}

template <class T>
Matrix<T> transposed(const Matrix<T>& a) {
  Matrix<T> t(a.columns, a.rows);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) t.at(j, i) = a.at(i, j);
  return t;
}

/// By rotations: full, economy and values only.
template <class T>
void jacobi(const Entries<T>& e, Handle handle, void* info, int m, int n, Kind kind) {
  const Matrix<T> a = matrix_of<T>(m, n, kind);
  const int count = std::min(m, n);
  const Device<T> work(1), values(static_cast<std::size_t>(count)), only(static_cast<std::size_t>(count));
  const Device<int> status(std::vector<int>{7});
  for (const int economy : {0, 1}) {
    const std::string what = "gesvdj " + std::to_string(m) + " x " + std::to_string(n) + " kind " +
                             std::to_string(kind) + " economy " + std::to_string(economy);
    Matrix<T> u(m, economy ? count : m, 1), v(n, economy ? count : n, 3);
    const Device<T> data(a.values), on_u(u.values), on_v(v.values);
    check(e.gesvdj(handle, 1, economy, m, n, data, a.ld, values, on_u, u.ld, on_v, v.ld, work, 1, status,
                   info) == 0 &&
              status.get()[0] == 0,
          what);
    u.values = on_u.get(), v.values = on_v.get();
    check_svd(a, values.get(), u, v, what);
    double residual = -1;
    int sweeps = -1;
    check(cusolverDnXgesvdjGetResidual(handle, info, &residual) == 0 && residual >= 0 &&
              (count == 0 || residual <= 1e3 * kEpsilon<T> * std::max(T(1), values.get()[0])) &&
              cusolverDnXgesvdjGetSweeps(handle, info, &sweeps) == 0 && sweeps >= 1 && sweeps < 20,
          what + ": residual and sweeps");
    const Device<T> again(a.values);
    check(e.gesvdj(handle, 0, economy, m, n, again, a.ld, only, nullptr, 1, nullptr, 1, work, 1, status,
                   info) == 0 &&
              only.get() == values.get(),
          what + ": values only");
  }
}

/// By jobs; one of them in A's place.
template <class T>
void jobs(const Entries<T>& e, Handle handle, int m, int n, signed char job_u, signed char job_v,
          bool generic) {
  const std::string what = std::string("gesvd ") + static_cast<char>(job_u) + static_cast<char>(job_v) + " " +
                           std::to_string(m) + " x " + std::to_string(n);
  const Matrix<T> a = matrix_of<T>(m, n, kFull);
  const int count = std::min(m, n);
  Matrix<T> u(m, job_u == 'A' ? m : count, 1), vt(job_v == 'A' ? n : count, n, 2);
  const Device<T> data(a.values), values(static_cast<std::size_t>(count)), on_u(u.values), on_vt(vt.values),
      work(1);
  const Device<int> status(std::vector<int>{7});
  if (generic) {
    std::size_t bytes = 0, on_host = 1;
    check(cusolverDnXgesvd_bufferSize(handle, nullptr, job_u, job_v, m, n, e.type, data, a.ld, e.type, values,
                                      e.type, on_u, u.ld, e.type, on_vt, vt.ld, e.type, &bytes,
                                      &on_host) == 0 &&
              bytes > 0,
          what + ": workspace");
    check(cusolverDnXgesvd(handle, nullptr, job_u, job_v, m, n, e.type, data, a.ld, e.type, values, e.type,
                           on_u, u.ld, e.type, on_vt, vt.ld, e.type, work, bytes, nullptr, on_host,
                           status) == 0,
          what);
  } else {
    check(e.gesvd(handle, job_u, job_v, m, n, data, a.ld, values, on_u, u.ld, on_vt, vt.ld, work, 1, nullptr,
                  status) == 0,
          what);
  }
  check(status.get()[0] == 0, what + ": info");
  u.values = on_u.get(), vt.values = on_vt.get();
  Matrix<T> overwritten = a;
  overwritten.values = data.get();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < count && job_u == 'O'; ++j) u.at(i, j) = overwritten.at(i, j);
  for (int i = 0; i < count && job_v == 'O'; ++i)
    for (int j = 0; j < n; ++j) vt.at(i, j) = overwritten.at(i, j);
  if (job_u != 'N' && job_v != 'N') return check_svd(a, values.get(), u, transposed(vt), what);
  const auto s = values.get();
  double squares = 0, all = 0;
  for (const T value : s) squares += static_cast<double>(value) * value;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) all += static_cast<double>(a.at(i, j)) * a.at(i, j);
  check(std::abs(squares - all) <= 32 * kEpsilon<T> * all, what + ": the sum of squares");
}

template <class T>
void batch(const Entries<T>& e, Handle handle, void* info, int m, int n) {
  constexpr std::size_t kCount = 3;
  const auto count = static_cast<std::size_t>(std::min(m, n));
  std::vector<Matrix<T>> all;
  std::vector<T> values;
  for (std::size_t i = 0; i < kCount; ++i) {
    all.push_back(matrix_of<T>(m, n, i == 1 ? kLowRank : kFull));
    values.insert(values.end(), all[i].values.begin(), all[i].values.end() - 1);
  }
  Matrix<T> u(m, m, 1), v(n, n, 2);
  const std::size_t u_size = u.values.size() - 1, v_size = v.values.size() - 1;
  const Device<T> data(values), s(count * kCount), on_u(u_size * kCount), on_v(v_size * kCount), work(1);
  const Device<int> status(std::vector<int>(kCount, 7));
  check(e.batched(handle, 1, m, n, data, all[0].ld, s, on_u, u.ld, on_v, v.ld, work, 1, status, info,
                  kCount) == 0 &&
            status.get() == std::vector<int>(kCount),
        "a batch");
  const auto found = s.get(), us = on_u.get(), vs = on_v.get();
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto part = [&](const std::vector<T>& from, std::size_t size) {
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(i * size);
      return std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(size));
    };
    u.values = part(us, u_size), v.values = part(vs, v_size);
    check_svd(all[i], part(found, count), u, v, "batch " + std::to_string(i));
  }
  double residual = 0;
  check(cusolverDnXgesvdjGetResidual(handle, info, &residual) == 9, "the residual of a batch");
  // Left in the order of orthogonal columns, but for zeros.
  const Device<T> columns(std::vector<T>{0, 0, 0, 1, 0, 0, 0, 4, 0}), three(3), left(9), right(9);
  check(cusolverDnXgesvdjSetSortEig(info, 0) == 0 &&
            e.batched(handle, 1, 3, 3, columns, 3, three, left, 3, right, 3, work, 1, status, info, 1) == 0 &&
            three.get() == std::vector<T>{1, 4, 0} && cusolverDnXgesvdjSetSortEig(info, 1) == 0 &&
            right.get() == std::vector<T>{0, 1, 0, 0, 0, 1, 1, 0, 0},
        "unsorted");
}

template <class T>
void all(const Entries<T>& e, Handle handle, void* info) {
  for (const auto& [m, n] :
       std::vector<std::pair<int, int>>{{1, 1}, {7, 1}, {1, 6}, {3, 3}, {9, 4}, {6, 13}, {20, 18}}) {
    for (const Kind kind : {kFull, kLowRank}) jacobi(e, handle, info, m, n, kind);
    int turn = 0;
    for (const auto& [u, v] : std::vector<std::pair<char, char>>{
             {'A', 'A'}, {'S', 'S'}, {'O', 'S'}, {'A', 'O'}, {'N', 'N'}, {'N', 'A'}, {'S', 'N'}})
      jobs(e, handle, m, n, static_cast<signed char>(u), static_cast<signed char>(v), ++turn % 2 == 0);
  }
  jacobi(e, handle, info, 5, 4, kZero);
  jacobi(e, handle, info, 4, 0, kFull);
  jacobi(e, handle, info, 0, 3, kFull);
  batch(e, handle, info, 9, 5);
  batch(e, handle, info, 4, 6);
  jobs(e, handle, 0, 3, 'A', 'A', false);
}

/// Squares of the elements would overflow.
template <class T>
void large(const Entries<T>& e, Handle handle) {
  const Matrix<T> a = matrix_of<T>(6, 4, kLarge);
  Matrix<T> u(6, 6), vt(4, 4);
  const Device<T> data(a.values), s(4), on_u(u.values), on_vt(vt.values), work(1);
  const Device<int> status(1);
  check(e.gesvd(handle, 'A', 'A', 6, 4, data, a.ld, s, on_u, 6, on_vt, 4, work, 1, nullptr, status) == 0,
        "large");
  u.values = on_u.get(), vt.values = on_vt.get();
  check_svd(a, s.get(), u, transposed(vt), "large");
}

void known_and_refused(Handle handle, void* info) {
  // (3 0; 4 5) has the singular values 3 sqrt(5) and sqrt(5).
  const Device<double> a(std::vector<double>{3, 4, 0, 5}), s(2), u(4), v(4), work(1);
  const Device<int> status(1);
  check(cusolverDnDgesvd(handle, 'N', 'N', 2, 2, a, 2, s, u, 2, v, 2, work, 1, nullptr, status) == 0 &&
            close(s.get(), {3 * std::sqrt(5.), std::sqrt(5.)}, 1e-15),
        "two values");
  int elements = 0;
  check(cusolverDnDgesvd_bufferSize(handle, 2, 2, &elements) == 0 && elements > 0 &&
            cusolverDnDgesvdj_bufferSize(handle, 1, 0, 2, 2, a, 2, s, u, 2, v, 2, &elements, info) == 0,
        "workspaces");
  check(cusolverDnDgesvd(handle, 'O', 'O', 2, 2, a, 2, s, u, 2, v, 2, work, 1, nullptr, status) == 3 &&
            cusolverDnDgesvd(handle, 'X', 'N', 2, 2, a, 2, s, u, 2, v, 2, work, 1, nullptr, status) == 3 &&
            cusolverDnDgesvd(handle, 'A', 'N', 2, 2, a, 2, s, u, 1, v, 2, work, 1, nullptr, status) == 3 &&
            cusolverDnDgesvdj(handle, 1, 0, 2, 2, a, 2, s, u, 2, v, 1, work, 1, status, info) == 3 &&
            cusolverDnDgesvdj(handle, 1, 0, 2, 2, a, 2, s, u, 2, v, 2, work, 1, status, nullptr) == 1,
        "what is wrong");
  check(cusolverDnXgesvd(handle, nullptr, 'N', 'N', 2, 2, 1, a, 2, 0, s, 1, u, 2, 1, v, 2, 1, work, 1,
                         nullptr, 0, status) == 9,
        "values of another type");
  check(cusolverDnXgesvdjSetMaxSweeps(info, 1) == 0 &&
            cusolverDnDgesvdj(handle, 1, 0, 2, 2, a, 2, s, u, 2, v, 2, work, 1, status, info) == 0 &&
            status.get()[0] == 3,
        "a sweep that is not enough");
}

}  // namespace

int main() {
  Handle handle = nullptr;
  void* info = nullptr;
  check(cusolverDnCreate(&handle) == 0 && cusolverDnCreateGesvdjInfo(&info) == 0, "handles");
  check(cusolverDnXgesvdjSetTolerance(info, 1e-7) == 0 && cusolverDnXgesvdjSetSortEig(info, 1) == 0,
        "options");
#define ENTRIES(l, type) {cusolverDn##l##gesvd, cusolverDn##l##gesvdj, cusolverDn##l##gesvdjBatched, type}
  all<float>(ENTRIES(S, 0), handle, info);
  all<double>(ENTRIES(D, 1), handle, info);
  large<float>(ENTRIES(S, 0), handle);
  large<double>(ENTRIES(D, 1), handle);
  known_and_refused(handle, info);
  check(cusolverDnDestroyGesvdjInfo(info) == 0 && cusolverDnDestroyGesvdjInfo(info) == 1,
        "the end of the options");
  check(cusolverDnDestroy(handle) == 0, "the end of the handle");
  return result();
}
