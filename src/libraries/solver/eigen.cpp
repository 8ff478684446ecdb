// Eigenvalues and eigenvectors of symmetric matrices: cusolverDnSsyevd, syevdx, syevj and their relatives.
#include <fmt/format.h>

#include <algorithm>

#include "libraries/blas/entries.hpp"
#include "libraries/blas/level2.hpp"
#include "libraries/solver/context.hpp"
#include "libraries/solver/eigen_arguments.hpp"
#include "libraries/solver/jacobi_info.hpp"

namespace lockstep::libraries::solver {

[[nodiscard]] std::string_view embedded_ptx(std::string_view file);

namespace {

constexpr int kWithVectors = 1, kMaxSweeps = 60;
constexpr int kRangeAll = 1001, kRangeByIndex = 1002, kRangeBySize = 1003;

struct EigenCall {
  int mode, fill;
  std::int64_t n;
  void* a;
  std::int64_t lda;
  void* values;
  int* info;
  std::int64_t matrices = 1;
};

void check_call(const EigenCall& c) {
  require(c.mode == 0 || c.mode == kWithVectors);
  require(c.n >= 0 && c.lda >= std::max<std::int64_t>(1, c.n) && c.matrices >= 0);
  (void)blas::triangle_of(c.fill);
}

EigenArguments arguments_of(const EigenCall& c) {
  check_call(c);
  require(c.info != nullptr);
  EigenArguments e{};
  e.a = c.a, e.lda = c.lda, e.stride_a = c.lda * c.n, e.n = blas::size_of(c.n);
  e.lower = blas::triangle_of(c.fill) == blas::kLowerTriangle, e.vectors = c.mode == kWithVectors;
  e.values = c.values, e.info = c.info;
  e.max_sweeps = e.failure = kMaxSweeps;
  return e;
}

template <class T>
void launch_eigen(const Context& context, EigenArguments e, std::int64_t matrices) {
  static auto& kernels = *new Kernels(embedded_ptx("eigen"));  // to the end of the process
  if (matrices == 0) return;
  const auto n = static_cast<std::size_t>(e.n), count = static_cast<std::size_t>(blas::size_of(matrices));
  const Scratch scratch((2 * n * n + n + 1) * count * sizeof(T), context.blas.stream);
  e.whole = scratch.data(), e.rotated = scratch.as<T>() + n * n * count;
  e.rotations = scratch.as<T>() + 2 * n * n * count;
  const std::string kernel = std::string("lockstep_solver_eigen_") + blas::kSuffix<T>;
  kernels.launch(kernel.c_str(), {static_cast<unsigned>(count)}, {256}, 0, context.blas.stream, e);
}

template <class T>
Status syevd(const void* handle, const EigenCall& c) {
  return with_context(handle, [&](Context& context) { launch_eigen<T>(context, arguments_of(c), 1); });
}

struct EigenSelection {
  int range;
  double low, high;
  int first, last;  // from 1
  int* found;       // on the host
};

void check_selection(const EigenSelection& s, std::int64_t n) {
  require(s.range == kRangeAll || s.range == kRangeByIndex || s.range == kRangeBySize);
  require(s.found != nullptr);
  if (s.range == kRangeByIndex && n > 0) require(s.first >= 1 && s.first <= s.last && s.last <= n);
  if (s.range == kRangeBySize) require(s.low < s.high);
}

/// Where values are asked for by their size the host waits for how many there are.
template <class T>
Status syevdx(const void* handle, const EigenCall& c, const EigenSelection& s) {
  return with_context(handle, [&](Context& context) {
    EigenArguments e = arguments_of(c);
    check_selection(s, c.n);
    e.range = s.range == kRangeAll ? kAllValues : s.range == kRangeByIndex ? kValuesByIndex : kValuesBySize;
    if (c.n == 0) e.range = kAllValues;
    e.first = s.first - 1, e.last = s.last, e.low = s.low, e.high = s.high;
    const bool by_size = e.range == kValuesBySize;
    const Scratch found(sizeof(int), context.blas.stream);
    if (by_size) e.found = found.as<int>();
    launch_eigen<T>(context, e, 1);
    *s.found = e.range == kAllValues ? e.n : e.last - e.first;
    if (!by_size) return;
    check(runtime().cudaMemcpyAsync(s.found, found.data(), sizeof(int), kDeviceToHost, context.blas.stream),
          "a copy");
    check(runtime().cudaStreamSynchronize(context.blas.stream), "cudaStreamSynchronize");
  });
}

template <class T>
Status syevj(const void* handle, const EigenCall& c, const void* options, bool batch) {
  return with_context(handle, [&](Context& context) {
    EigenArguments e = arguments_of(c);
    SyevjInfo& info = handles<SyevjInfo>().get(options);
    e.max_sweeps = info.max_sweeps, e.failure = e.n + 1;
    JacobiInfo::Results* const results = info.results_for(context, batch);
    if (results != nullptr) e.residual = &results->residual, e.sweeps = &results->sweeps;
    launch_eigen<T>(context, e, c.matrices);
  });
}

/// Workspaces are the library's own; programs may not expect none.
Status workspace(const void* handle, const EigenCall& c, int* elements) {
  return with_context(handle, [&](Context&) {
    check_call(c);
    require(elements != nullptr);
    *elements = 1;
  });
}

/// Of the generic interface: which type all have.
blas::DataType type_of_all(const char* name, int a, int values, int computed_with) {
  if ((a != blas::kReal32 && a != blas::kReal64) || values != a || computed_with != a)
    refuse(fmt::format("{}: cudaDataType {} and {} with {}", name, a, values, computed_with));
  return static_cast<blas::DataType>(a);
}

}  // namespace

#define LOCKSTEP_SOLVER_EIGEN(l, T)                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##syevd_bufferSize(void* handle, int mode, int fill, int n, const T*,     \
                                                      int lda, const T*, int* elements) {                    \
    return workspace(handle, {mode, fill, n, nullptr, lda, nullptr, nullptr}, elements);                     \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##syevd(void* handle, int mode, int fill, int n, T* a, int lda,           \
                                           T* values, T*, int, int* info) {                                  \
    return syevd<T>(handle, {mode, fill, n, a, lda, values, info});                                          \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##syevdx_bufferSize(void* handle, int mode, int range, int fill, int n,   \
                                                       const T*, int lda, T low, T high, int first,          \
                                                       int last, int* found, const T*, int* elements) {      \
    const Status status = guarded(&status_of, [&] {                                                          \
      check_selection({range, low, high, first, last, found}, n);                                            \
    });                                                                                                      \
    if (status != kStatusSuccess) return status;                                                             \
    return workspace(handle, {mode, fill, n, nullptr, lda, nullptr, nullptr}, elements);                     \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##syevdx(void* handle, int mode, int range, int fill, int n, T* a,        \
                                            int lda, T low, T high, int first, int last, int* found,         \
                                            T* values, T*, int, int* info) {                                 \
    return syevdx<T>(handle, {mode, fill, n, a, lda, values, info}, {range, low, high, first, last, found}); \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##syevj_bufferSize(void* handle, int mode, int fill, int n, const T*,     \
                                                      int lda, const T*, int* elements, void*) {             \
    return workspace(handle, {mode, fill, n, nullptr, lda, nullptr, nullptr}, elements);                     \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##syevj(void* handle, int mode, int fill, int n, T* a, int lda,           \
                                           T* values, T*, int, int* info, void* options) {                   \
    return syevj<T>(handle, {mode, fill, n, a, lda, values, info}, options, false);                          \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##syevjBatched_bufferSize(void* handle, int mode, int fill, int n,        \
                                                             const T*, int lda, const T*, int* elements,     \
                                                             void*, int matrices) {                          \
    return workspace(handle, {mode, fill, n, nullptr, lda, nullptr, nullptr, matrices}, elements);           \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##syevjBatched(void* handle, int mode, int fill, int n, T* a, int lda,    \
                                                  T* values, T*, int, int* info, void* options,              \
                                                  int matrices) {                                            \
    return syevj<T>(handle, {mode, fill, n, a, lda, values, info, matrices}, options, true);                 \
  }
LOCKSTEP_SOLVER_EIGEN(S, float)
LOCKSTEP_SOLVER_EIGEN(D, double)

LOCKSTEP_SOLVER_API cusolverDnXsyevd_bufferSize(void* handle, void*, int mode, int fill, std::int64_t n,
                                                int type, const void*, std::int64_t lda, int values_type,
                                                const void*, int computed_with, std::size_t* on_device,
                                                std::size_t* on_host) {
  return with_context(handle, [&](Context&) {
    (void)type_of_all("cusolverDnXsyevd_bufferSize", type, values_type, computed_with);
    check_call({mode, fill, n, nullptr, lda, nullptr, nullptr});
    require(on_device != nullptr && on_host != nullptr);
    *on_device = 1, *on_host = 0;
  });
}
LOCKSTEP_SOLVER_API cusolverDnXsyevd(void* handle, void*, int mode, int fill, std::int64_t n, int type,
                                     void* a, std::int64_t lda, int values_type, void* values,
                                     int computed_with, void*, std::size_t, void*, std::size_t, int* info) {
  return with_context(handle, [&](Context& context) {
    const EigenArguments e = arguments_of({mode, fill, n, a, lda, values, info});
    if (type_of_all("cusolverDnXsyevd", type, values_type, computed_with) == blas::kReal32)
      launch_eigen<float>(context, e, 1);
    else
      launch_eigen<double>(context, e, 1);
  });
}

}  // namespace lockstep::libraries::solver
