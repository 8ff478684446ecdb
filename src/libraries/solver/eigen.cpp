// Eigenvalues and eigenvectors of symmetric matrices: cusolverDnSsyevd, syevdx, syevj and their relatives.
#include "libraries/solver/eigen.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "libraries/blas/entries.hpp"
#include "libraries/blas/level2.hpp"
#include "libraries/solver/context.hpp"
#include "libraries/solver/jacobi_info.hpp"

namespace lockstep::libraries::solver {

[[nodiscard]] std::string_view embedded_ptx(std::string_view file);

namespace {
constexpr int kMaxSweeps = 60;
}

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

void launch_eigen(const Context& context, blas::DataType type, EigenArguments e, std::int64_t matrices) {
  static auto& kernels = *new Kernels(embedded_ptx("eigen"));  // to the end of the process
  if (matrices == 0) return;
  const auto n = static_cast<std::size_t>(e.n), count = static_cast<std::size_t>(blas::size_of(matrices));
  const std::size_t matrix = n * n * count * blas::bytes_of(type);
  const Scratch scratch(2 * matrix + (n + 1) * count * blas::bytes_of(type), context.blas.stream);
  e.whole = scratch.data(), e.rotated = scratch.as<char>() + matrix;
  e.rotations = scratch.as<char>() + 2 * matrix;
  const std::string kernel = std::string("lockstep_solver_eigen_") + blas::suffix_of(type);
  kernels.launch(kernel.c_str(), {static_cast<unsigned>(count)}, {256}, 0, context.blas.stream, e);
}

namespace {

constexpr int kRangeAll = 1001, kRangeByIndex = 1002, kRangeBySize = 1003;

template <class T>
Status syevd(const void* handle, const EigenCall& c) {
  return with_context(handle,
                      [&](Context& context) { launch_eigen(context, blas::kTypeOf<T>, arguments_of(c), 1); });
}

struct EigenSelection {
  int range;
  double low, high;
  std::int64_t first, last;  // from 1
  int* found;                // on the host
};

void check_selection(const EigenSelection& s, std::int64_t n) {
  require(s.range == kRangeAll || s.range == kRangeByIndex || s.range == kRangeBySize);
  require(s.found != nullptr);
  if (s.range == kRangeByIndex && n > 0) require(s.first >= 1 && s.first <= s.last && s.last <= n);
  if (s.range == kRangeBySize) require(s.low < s.high);
}

/// Where values are asked for by their size the host waits for how many there are.
void find_selected(const Context& context, blas::DataType type, const EigenCall& c, const EigenSelection& s) {
  EigenArguments e = arguments_of(c);
  check_selection(s, c.n);
  e.range = s.range == kRangeAll ? kAllValues : s.range == kRangeByIndex ? kValuesByIndex : kValuesBySize;
  if (c.n == 0) e.range = kAllValues;
  e.first = static_cast<int>(s.first - 1), e.last = static_cast<int>(s.last), e.low = s.low, e.high = s.high;
  const bool by_size = e.range == kValuesBySize;
  const Scratch found(sizeof(int), context.blas.stream);
  if (by_size) e.found = found.as<int>();
  launch_eigen(context, type, e, 1);
  *s.found = e.range == kAllValues ? e.n : e.last - e.first;
  if (!by_size) return;
  check(runtime().cudaMemcpyAsync(s.found, found.data(), sizeof(int), kDeviceToHost, context.blas.stream),
        "a copy");
  check(runtime().cudaStreamSynchronize(context.blas.stream), "cudaStreamSynchronize");
}
template <class T>
Status syevdx(const void* handle, const EigenCall& c, const EigenSelection& s) {
  return with_context(handle, [&](Context& context) { find_selected(context, blas::kTypeOf<T>, c, s); });
}

template <class T>
Status syevj(const void* handle, const EigenCall& c, const void* options, bool batch) {
  return with_context(handle, [&](Context& context) {
    EigenArguments e = arguments_of(c);
    SyevjInfo& info = handles<SyevjInfo>().get(options);
    e.max_sweeps = info.max_sweeps, e.failure = e.n + 1, e.unsorted = batch && !info.sorted;
    JacobiInfo::Results* const results = info.results_for(context, batch);
    if (results != nullptr) e.residual = &results->residual, e.sweeps = &results->sweeps;
    launch_eigen(context, blas::kTypeOf<T>, e, c.matrices);
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
    launch_eigen(context, type_of_all("cusolverDnXsyevd", type, values_type, computed_with), e, 1);
  });
}

/// Bounds are on the host, of A's type.
LOCKSTEP_SOLVER_API cusolverDnXsyevdx_bufferSize(void* handle, void* options, int mode, int, int fill,
                                                 std::int64_t n, int type, const void* a, std::int64_t lda,
                                                 void*, void*, std::int64_t, std::int64_t, std::int64_t*,
                                                 int values_type, const void* values, int computed_with,
                                                 std::size_t* on_device, std::size_t* on_host) {
  return cusolverDnXsyevd_bufferSize(handle, options, mode, fill, n, type, a, lda, values_type, values,
                                     computed_with, on_device, on_host);
}
LOCKSTEP_SOLVER_API cusolverDnXsyevdx(void* handle, void*, int mode, int range, int fill, std::int64_t n,
                                      int type, void* a, std::int64_t lda, void* low, void* high,
                                      std::int64_t first, std::int64_t last, std::int64_t* found,
                                      int values_type, void* values, int computed_with, void*, std::size_t,
                                      void*, std::size_t, int* info) {
  return with_context(handle, [&](Context& context) {
    const blas::DataType all = type_of_all("cusolverDnXsyevdx", type, values_type, computed_with);
    require(found != nullptr && (range != kRangeBySize || (low != nullptr && high != nullptr)));
    const auto bound = [&](const void* at) {
      if (range != kRangeBySize) return 0.0;
      return all == blas::kReal32 ? *static_cast<const float*>(at) : *static_cast<const double*>(at);
    };
    int count = 0;
    find_selected(context, all, {mode, fill, n, a, lda, values, info},
                  {range, bound(low), bound(high), first, last, &count});
    *found = count;
  });
}

}  // namespace lockstep::libraries::solver
