// Singular values and vectors: cusolverDnSgesvd, gesvdj and their relatives.
#include <fmt/format.h>

#include <algorithm>

#include "libraries/blas/entries.hpp"
#include "libraries/blas/level2.hpp"
#include "libraries/solver/context.hpp"
#include "libraries/solver/jacobi_info.hpp"
#include "libraries/solver/svd_arguments.hpp"

namespace lockstep::libraries::solver {

[[nodiscard]] std::string_view embedded_ptx(std::string_view file);

namespace {

constexpr int kMaxSweeps = 60;

struct SvdSizes {
  std::int64_t m, n, lda;
  [[nodiscard]] std::int64_t smaller() const { return std::min(m, n); }
};
void check_sizes(const SvdSizes& s) {
  require(s.m >= 0 && s.n >= 0 && s.lda >= std::max<std::int64_t>(1, s.m));
}

SvdArguments arguments_of(const SvdSizes& s, const void* a, void* values, int* info) {
  check_sizes(s);
  require(info != nullptr);
  SvdArguments g{};
  g.a = a, g.lda = s.lda, g.stride_a = s.lda * s.n, g.m = blas::size_of(s.m), g.n = blas::size_of(s.n);
  g.values = values, g.info = info;
  g.max_sweeps = kMaxSweeps, g.failure = static_cast<int>(s.smaller()) + 1;
  return g;
}

template <class T>
void launch_svd(const Context& context, SvdArguments g, std::int64_t matrices) {
  static auto& kernels = *new Kernels(embedded_ptx("svd"));  // to the end of the process
  if (matrices == 0) return;
  const auto count = static_cast<std::size_t>(blas::size_of(matrices));
  const auto larger = static_cast<std::size_t>(std::max(g.m, g.n)),
             smaller = static_cast<std::size_t>(std::min(g.m, g.n));
  const std::size_t numbers = (2 * smaller + larger) * count * sizeof(double),
                    elements = (larger + smaller) * smaller * count;
  const Scratch scratch(numbers + elements * sizeof(T), context.blas.stream);
  g.numbers = scratch.as<double>();
  T* const matrix = reinterpret_cast<T*>(scratch.as<char>() + numbers);
  g.tall = matrix, g.right = matrix + larger * smaller * count;
  const std::string kernel = std::string("lockstep_solver_svd_") + blas::kSuffix<T>;
  kernels.launch(kernel.c_str(), {static_cast<unsigned>(count)}, {256}, 0, context.blas.stream, g);
}

/// V by columns; `economy`: only as many vectors as there are values.
struct GesvdjCall {
  int mode;
  bool economy;
  SvdSizes sizes;
  const void* a;
  void *values, *u;
  std::int64_t ldu;
  void* v;
  std::int64_t ldv;
  int* info;
  std::int64_t matrices = 1;
};
void check_gesvdj(const GesvdjCall& c) {
  require((c.mode == 0 || c.mode == 1) && c.matrices >= 0);
  check_sizes(c.sizes);
  if (c.mode == 0) return;
  require(c.ldu >= std::max<std::int64_t>(1, c.sizes.m) && c.ldv >= std::max<std::int64_t>(1, c.sizes.n));
}
template <class T>
Status gesvdj(const void* handle, const GesvdjCall& c, const void* options, bool batch) {
  return with_context(handle, [&](Context& context) {
    check_gesvdj(c);
    GesvdjInfo& info = handles<GesvdjInfo>().get(options);
    SvdArguments g = arguments_of(c.sizes, c.a, c.values, c.info);
    g.max_sweeps = info.max_sweeps, g.unsorted = batch && !info.sorted;
    if (c.mode == 1) {
      const auto smaller = static_cast<int>(c.sizes.smaller());
      g.u = {c.u, c.ldu, c.ldu * c.sizes.m, c.economy ? smaller : g.m, 0};
      g.v = {c.v, c.ldv, c.ldv * c.sizes.n, c.economy ? smaller : g.n, 0};
    }
    JacobiInfo::Results* const results = info.results_for(context, batch);
    if (results != nullptr) g.residual = &results->residual, g.sweeps = &results->sweeps;
    launch_svd<T>(context, g, c.matrices);
  });
}

/// V^T, by rows. job: A(ll), S(ome: as many as there are values), O(n A), N(one).
struct GesvdCall {
  signed char job_u, job_v;
  SvdSizes sizes;
  void *a, *values, *u;
  std::int64_t ldu;
  void* v;
  std::int64_t ldv;
  int* info;
};
SingularVectors vectors_of(signed char job, const GesvdCall& c, void* data, std::int64_t ld, std::int64_t all,
                           bool transposed) {
  const auto smaller = static_cast<int>(c.sizes.smaller());
  switch (job) {
    case 'N':
      return {};
    case 'O':
      return {c.a, c.sizes.lda, 0, smaller, transposed};
    case 'S':
    case 'A': {
      const int columns = job == 'A' ? blas::size_of(all) : smaller;
      require(ld >= std::max<std::int64_t>(1, transposed ? columns : all));
      return {data, ld, 0, columns, transposed};
    }
    default:
      throw Error(Failure::kInvalidValue);
  }
}
template <class T>
void gesvd(const Context& context, const GesvdCall& c) {
  require(c.job_u != 'O' || c.job_v != 'O');
  SvdArguments g = arguments_of(c.sizes, c.a, c.values, c.info);
  g.u = vectors_of(c.job_u, c, c.u, c.ldu, c.sizes.m, false);
  g.v = vectors_of(c.job_v, c, c.v, c.ldv, c.sizes.n, true);
  launch_svd<T>(context, g, 1);
}

/// Workspaces are the library's own; programs may not expect none.
void one_element(int* elements) {
  require(elements != nullptr);
  *elements = 1;
}
Status workspace(const void* handle, const GesvdjCall& c, int* elements) {
  return with_context(handle, [&](Context&) {
    check_gesvdj(c);
    one_element(elements);
  });
}

/// Of the generic interface: which type all have.
blas::DataType type_of_all(const char* name, std::initializer_list<int> types) {
  const int first = *types.begin();
  for (const int type : types)
    if ((first != blas::kReal32 && first != blas::kReal64) || type != first)
      refuse(fmt::format("{}: cudaDataType {} with {}", name, first, type));
  return static_cast<blas::DataType>(first);
}

}  // namespace

#define LOCKSTEP_SOLVER_SVD(l, T)                                                                            \
  LOCKSTEP_SOLVER_API cusolverDn##l##gesvd_bufferSize(void* handle, int m, int n, int* elements) {           \
    return with_context(handle, [&](Context&) {                                                              \
      require(m >= 0 && n >= 0);                                                                             \
      one_element(elements);                                                                                 \
    });                                                                                                      \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##gesvd(void* handle, signed char job_u, signed char job_v, int m, int n, \
                                           T* a, int lda, T* values, T* u, int ldu, T* v, int ldv, T*, int,  \
                                           T*, int* info) {                                                  \
    return with_context(handle, [&](Context& context) {                                                      \
      gesvd<T>(context, {job_u, job_v, {m, n, lda}, a, values, u, ldu, v, ldv, info});                       \
    });                                                                                                      \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##gesvdj_bufferSize(void* handle, int mode, int economy, int m, int n,    \
                                                       const T*, int lda, const T*, const T*, int ldu,       \
                                                       const T*, int ldv, int* elements, void*) {            \
    return workspace(                                                                                        \
        handle, {mode, economy != 0, {m, n, lda}, nullptr, nullptr, nullptr, ldu, nullptr, ldv, nullptr},    \
        elements);                                                                                           \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##gesvdj(void* handle, int mode, int economy, int m, int n, T* a,         \
                                            int lda, T* values, T* u, int ldu, T* v, int ldv, T*, int,       \
                                            int* info, void* options) {                                      \
    return gesvdj<T>(handle, {mode, economy != 0, {m, n, lda}, a, values, u, ldu, v, ldv, info}, options,    \
                     false);                                                                                 \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##gesvdjBatched_bufferSize(                                               \
      void* handle, int mode, int m, int n, const T*, int lda, const T*, const T*, int ldu, const T*,        \
      int ldv, int* elements, void*, int matrices) {                                                         \
    return workspace(                                                                                        \
        handle, {mode, false, {m, n, lda}, nullptr, nullptr, nullptr, ldu, nullptr, ldv, nullptr, matrices}, \
        elements);                                                                                           \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##gesvdjBatched(void* handle, int mode, int m, int n, T* a, int lda,      \
                                                   T* values, T* u, int ldu, T* v, int ldv, T*, int,         \
                                                   int* info, void* options, int matrices) {                 \
    return gesvdj<T>(handle, {mode, false, {m, n, lda}, a, values, u, ldu, v, ldv, info, matrices}, options, \
                     true);                                                                                  \
  }
LOCKSTEP_SOLVER_SVD(S, float)
LOCKSTEP_SOLVER_SVD(D, double)

LOCKSTEP_SOLVER_API cusolverDnXgesvd_bufferSize(void* handle, void*, signed char, signed char, std::int64_t m,
                                                std::int64_t n, int type, const void*, std::int64_t lda,
                                                int values_type, const void*, int u_type, const void*,
                                                std::int64_t, int v_type, const void*, std::int64_t,
                                                int computed_with, std::size_t* on_device,
                                                std::size_t* on_host) {
  return with_context(handle, [&](Context&) {
    (void)type_of_all("cusolverDnXgesvd_bufferSize", {type, values_type, u_type, v_type, computed_with});
    check_sizes({m, n, lda});
    require(on_device != nullptr && on_host != nullptr);
    *on_device = 1, *on_host = 0;
  });
}
LOCKSTEP_SOLVER_API cusolverDnXgesvd(void* handle, void*, signed char job_u, signed char job_v,
                                     std::int64_t m, std::int64_t n, int type, void* a, std::int64_t lda,
                                     int values_type, void* values, int u_type, void* u, std::int64_t ldu,
                                     int v_type, void* v, std::int64_t ldv, int computed_with, void*,
                                     std::size_t, void*, std::size_t, int* info) {
  return with_context(handle, [&](Context& context) {
    const GesvdCall call{job_u, job_v, {m, n, lda}, a, values, u, ldu, v, ldv, info};
    if (type_of_all("cusolverDnXgesvd", {type, values_type, u_type, v_type, computed_with}) == blas::kReal32)
      gesvd<float>(context, call);
    else
      gesvd<double>(context, call);
  });
}

}  // namespace lockstep::libraries::solver
