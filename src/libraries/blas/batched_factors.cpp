// cublasSgetrfBatched and its relatives: LU factors of many matrices by pointers.
#include <algorithm>

#include "libraries/blas/entries.hpp"
#include "libraries/blas/factor.hpp"

namespace lockstep::libraries::blas {
namespace {

template <class T>
Factors factors_of(const T* const a[], int n, int lda, const int* pivots, int batches) {
  require(n >= 0 && batches >= 0 && lda >= std::max(1, n));
  Factors f{.type = kTypeOf<T>};
  f.a = {const_cast<T**>(a), lda, sizeof(T), 0, true};
  f.batches = batches;
  f.pivots = const_cast<int*>(pivots), f.stride_pivots = n;
  return f;
}

template <class T>
Status getrf(void* handle, int n, T* const a[], int lda, int* pivots, int* info, int batches) {
  return with_context(handle, [&](Context& context) {
    Factors f = factors_of<T>(a, n, lda, pivots, batches);
    require(info != nullptr);
    f.info = info;
    factor_lu(context, f, n, n);
  });
}
/// The parameter that is wrong, from 1, goes to `info` on the host, as with LAPACK.
template <class T>
Status getrs(void* handle, Operation op, int n, int count, const T* const a[], int lda, const int* pivots,
             T* const b[], int ldb, int* info, int batches) {
  return with_context(handle, [&](Context& context) {
    require(info != nullptr);
    *info = n < 0 ? -2 : count < 0 ? -3 : lda < std::max(1, n) ? -5 : ldb < std::max(1, n) ? -8 : 0;
    require(*info == 0 && (op == kOpN || op == kOpT || op == kOpC));
    const Factors f = factors_of<T>(a, n, lda, pivots, batches);
    solve_lu(context, f, op, n, {const_cast<T**>(b), ldb, sizeof(T), 0, true}, count);
  });
}
template <class T>
Status getri(void* handle, int n, const T* const a[], int lda, const int* pivots, T* const c[], int ldc,
             int* info, int batches) {
  return with_context(handle, [&](Context& context) {
    Factors f = factors_of<T>(a, n, lda, pivots, batches);
    require(info != nullptr && ldc >= std::max(1, n));
    if (n == 0 || batches == 0) return;
    const MatrixRef inverse{const_cast<T**>(c), ldc, sizeof(T), 0, true};
    f.info = info;
    find_zeros(context, f, n);
    set_identity(context, kTypeOf<T>, inverse, n, n, batches);
    solve_lu(context, f, kOpN, n, inverse, n);
  });
}

}  // namespace

#define LOCKSTEP_BATCHED(letter, T)                                                                          \
  LOCKSTEP_LIBRARY_API Status cublas##letter##getrfBatched(void* handle, int n, T* const a[], int lda,       \
                                                           int* pivots, int* info, int batches) {            \
    return getrf<T>(handle, n, a, lda, pivots, info, batches);                                               \
  }                                                                                                          \
  LOCKSTEP_LIBRARY_API Status cublas##letter##getrsBatched(void* handle, Operation op, int n, int count,     \
                                                           const T* const a[], int lda, const int* pivots,   \
                                                           T* const b[], int ldb, int* info, int batches) {  \
    return getrs<T>(handle, op, n, count, a, lda, pivots, b, ldb, info, batches);                            \
  }                                                                                                          \
  LOCKSTEP_LIBRARY_API Status cublas##letter##getriBatched(void* handle, int n, const T* const a[], int lda, \
                                                           const int* pivots, T* const c[], int ldc,         \
                                                           int* info, int batches) {                         \
    return getri<T>(handle, n, a, lda, pivots, c, ldc, info, batches);                                       \
  }
LOCKSTEP_BATCHED(S, float)
LOCKSTEP_BATCHED(D, double)
LOCKSTEP_BATCHED(C, Complex64)
LOCKSTEP_BATCHED(Z, Complex128)

}  // namespace lockstep::libraries::blas
