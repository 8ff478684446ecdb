// cublasSgemm and its relatives: one product, pointers to many, strides between many.
#include "libraries/blas/entries.hpp"

namespace lockstep::libraries::blas {
namespace {

/// The type that sums of products of `T` have.
template <class T>
constexpr DataType kSums = kTypeOf<T> == kReal16 ? kReal32 : kTypeOf<T>;

template <class T>
Status typed_gemm(void* handle, const char* name, const GemmCall& call) {
  return with_context(handle, [&](Context& context) {
    const GemmKind* const kind = find_gemm(kTypeOf<T>, kTypeOf<T>, kSums<T>, context.arch);
    if (kind == nullptr) refuse(name);
    gemm(context, *kind, kTypeOf<T>, call);
  });
}

}  // namespace

#define LOCKSTEP_ONE(name, T, Int)                                                                          \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Operation op_a, Operation op_b, Int m, Int n, Int k,       \
                                   const T* alpha, const T* a, Int lda, const T* b, Int ldb, const T* beta, \
                                   T* c, Int ldc) {                                                         \
    return typed_gemm<T>(handle, #name, {op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});        \
  }
#define LOCKSTEP_STRIDED(name, T, Int)                                                                      \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Operation op_a, Operation op_b, Int m, Int n, Int k,       \
                                   const T* alpha, const T* a, Int lda, long long stride_a, const T* b,     \
                                   Int ldb, long long stride_b, const T* beta, T* c, Int ldc,               \
                                   long long stride_c, Int batches) {                                       \
    return typed_gemm<T>(                                                                                   \
        handle, #name,                                                                                      \
        {op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, stride_a, stride_b, stride_c, batches}); \
  }
#define LOCKSTEP_POINTERS(name, T, Int)                                                                      \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Operation op_a, Operation op_b, Int m, Int n, Int k,        \
                                   const T* alpha, const T* const a[], Int lda, const T* const b[], Int ldb, \
                                   const T* beta, T* const c[], Int ldc, Int batches) {                      \
    return typed_gemm<T>(handle, #name,                                                                      \
                         {op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, const_cast<T**>(c), ldc, 0, 0,   \
                          0, batches, true});                                                                \
  }

LOCKSTEP_BOTH_SIZES(LOCKSTEP_ONE, cublasSgemm_v2, float)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_ONE, cublasDgemm_v2, double)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_ONE, cublasCgemm_v2, Complex64)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_ONE, cublasZgemm_v2, Complex128)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_ONE, cublasCgemm3m, Complex64)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_ONE, cublasZgemm3m, Complex128)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_ONE, cublasHgemm, Half)

LOCKSTEP_BOTH_SIZES(LOCKSTEP_STRIDED, cublasSgemmStridedBatched, float)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_STRIDED, cublasDgemmStridedBatched, double)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_STRIDED, cublasCgemmStridedBatched, Complex64)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_STRIDED, cublasZgemmStridedBatched, Complex128)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_STRIDED, cublasCgemm3mStridedBatched, Complex64)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_STRIDED, cublasHgemmStridedBatched, Half)

LOCKSTEP_BOTH_SIZES(LOCKSTEP_POINTERS, cublasSgemmBatched, float)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_POINTERS, cublasDgemmBatched, double)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_POINTERS, cublasCgemmBatched, Complex64)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_POINTERS, cublasZgemmBatched, Complex128)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_POINTERS, cublasCgemm3mBatched, Complex64)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_POINTERS, cublasHgemmBatched, Half)

}  // namespace lockstep::libraries::blas
