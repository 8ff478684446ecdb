// LU and Cholesky factors: cusolverDnSgetrf and its relatives. They need no workspace; one element is asked
// for, since programs may not expect none.
#include <algorithm>

#include "libraries/blas/entries.hpp"
#include "libraries/blas/level2.hpp"
#include "libraries/solver/context.hpp"

namespace lockstep::libraries::solver {
namespace {

using blas::Complex128;
using blas::Complex64;
using blas::Factors;
using blas::MatrixRef;

template <class T>
MatrixRef matrix_of(const T* data, int ld, int rows) {
  require(ld >= std::max(1, rows));
  return {const_cast<T*>(data), ld, sizeof(T)};
}

Status workspace(const void* handle, int rows, int columns, int ld, int* elements) {
  return with_context(handle, [&](Context&) {
    require(elements != nullptr && rows >= 0 && columns >= 0 && ld >= std::max(1, rows));
    *elements = 1;
  });
}

template <class T>
Factors factors_of(const T* a, int ld, int rows, const int* pivots, int* info) {
  Factors f{.type = blas::kTypeOf<T>};
  f.a = matrix_of(a, ld, rows);
  f.pivots = const_cast<int*>(pivots), f.info = info;
  return f;
}

/// Solutions always work out.
void clear(const Context& context, int* info) {
  require(info != nullptr);
  check(runtime().cudaMemsetAsync(info, 0, sizeof(int), context.blas.stream), "cudaMemsetAsync");
}

template <class T>
Status getrf(const void* handle, int m, int n, T* a, int lda, int* pivots, int* info) {
  return with_context(handle, [&](Context& context) {
    require(m >= 0 && n >= 0 && info != nullptr);
    blas::factor_lu(context.blas, factors_of(a, lda, m, pivots, info), m, n);
  });
}
template <class T>
Status getrs(const void* handle, int op, int n, int count, const T* a, int lda, const int* pivots, T* b,
             int ldb, int* info) {
  return with_context(handle, [&](Context& context) {
    require(n >= 0 && count >= 0 && (op == blas::kOpN || op == blas::kOpT || op == blas::kOpC));
    const Factors f = factors_of(a, lda, n, pivots, nullptr);
    const MatrixRef right = matrix_of(b, ldb, n);
    clear(context, info);
    blas::solve_lu(context.blas, f, op, n, right, count);
  });
}
template <class T>
Status potrf(const void* handle, int mode, int n, T* a, int lda, int* info) {
  return with_context(handle, [&](Context& context) {
    require(n >= 0 && info != nullptr);
    blas::factor_cholesky(context.blas, factors_of(a, lda, n, nullptr, info), blas::triangle_of(mode), n);
  });
}
template <class T>
Status potrs(const void* handle, int mode, int n, int count, const T* a, int lda, T* b, int ldb, int* info) {
  return with_context(handle, [&](Context& context) {
    require(n >= 0 && count >= 0);
    const int triangle = blas::triangle_of(mode);
    const Factors f = factors_of(a, lda, n, nullptr, nullptr);
    const MatrixRef right = matrix_of(b, ldb, n);
    clear(context, info);
    blas::solve_cholesky(context.blas, f, triangle, n, right, count);
  });
}
template <class T>
Status potrf_batched(const void* handle, int mode, int n, T* const a[], int lda, int* info, int batches) {
  return with_context(handle, [&](Context& context) {
    require(n >= 0 && batches >= 0 && info != nullptr && lda >= std::max(1, n));
    Factors f{.type = blas::kTypeOf<T>};
    f.a = {const_cast<T**>(a), lda, sizeof(T), 0, true};
    f.batches = batches, f.info = info;
    blas::factor_cholesky(context.blas, f, blas::triangle_of(mode), n);
  });
}
template <class T>
Status potrs_batched(const void* handle, int mode, int n, int count, T* const a[], int lda, T* const b[],
                     int ldb, int* info, int batches) {
  return with_context(handle, [&](Context& context) {
    require(n >= 0 && count >= 0 && batches >= 0 && lda >= std::max(1, n) && ldb >= std::max(1, n));
    Factors f{.type = blas::kTypeOf<T>};
    f.a = {const_cast<T**>(a), lda, sizeof(T), 0, true};
    f.batches = batches;
    const int triangle = blas::triangle_of(mode);
    clear(context, info);
    blas::solve_cholesky(context.blas, f, triangle, n, {const_cast<T**>(b), ldb, sizeof(T), 0, true}, count);
  });
}

}  // namespace

#define LOCKSTEP_SOLVER_FACTORS(l, T)                                                                        \
  LOCKSTEP_SOLVER_API cusolverDn##l##getrf_bufferSize(void* handle, int m, int n, T*, int lda,               \
                                                      int* elements) {                                       \
    return workspace(handle, m, n, lda, elements);                                                           \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##getrf(void* handle, int m, int n, T* a, int lda, T*, int* pivots,       \
                                           int* info) {                                                      \
    return getrf(handle, m, n, a, lda, pivots, info);                                                        \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##getrs(void* handle, int op, int n, int count, const T* a, int lda,      \
                                           const int* pivots, T* b, int ldb, int* info) {                    \
    return getrs(handle, op, n, count, a, lda, pivots, b, ldb, info);                                        \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##potrf_bufferSize(void* handle, int, int n, T*, int lda,                 \
                                                      int* elements) {                                       \
    return workspace(handle, n, n, lda, elements);                                                           \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##potrf(void* handle, int mode, int n, T* a, int lda, T*, int,            \
                                           int* info) {                                                      \
    return potrf(handle, mode, n, a, lda, info);                                                             \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##potrs(void* handle, int mode, int n, int count, const T* a, int lda,    \
                                           T* b, int ldb, int* info) {                                       \
    return potrs(handle, mode, n, count, a, lda, b, ldb, info);                                              \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##potrfBatched(void* handle, int mode, int n, T* a[], int lda, int* info, \
                                                  int batches) {                                             \
    return potrf_batched<T>(handle, mode, n, a, lda, info, batches);                                         \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##potrsBatched(void* handle, int mode, int n, int count, T* a[], int lda, \
                                                  T* b[], int ldb, int* info, int batches) {                 \
    return potrs_batched<T>(handle, mode, n, count, a, lda, b, ldb, info, batches);                          \
  }
LOCKSTEP_SOLVER_FACTORS(S, float)
LOCKSTEP_SOLVER_FACTORS(D, double)
LOCKSTEP_SOLVER_FACTORS(C, Complex64)
LOCKSTEP_SOLVER_FACTORS(Z, Complex128)

}  // namespace lockstep::libraries::solver
