// cublasGemmEx and its relatives: types are arguments.
#include <fmt/format.h>

#include <optional>

#include "libraries/blas/entries.hpp"

namespace lockstep::libraries::blas {
namespace {

struct Types {
  DataType scale, accumulator;
};

bool is_algorithm(int algorithm) {
  return (algorithm >= -1 && algorithm <= 23) || (algorithm >= 99 && algorithm <= 115) || algorithm == 999;
}

/// Of alpha and beta, and of sums. Sums of halves are floats, also where halves are asked for.
std::optional<Types> types_of(int compute, DataType a) {
  switch (compute) {
    case kCompute16F:
    case kCompute16FPedantic:
      if (a == kReal16) return Types{kReal16, kReal32};
      return {};
    case kCompute32F:
    case kCompute32FPedantic:
    case kCompute32FFast16F:
    case kCompute32FFast16BF:
    case kCompute32FFastTF32:
      if (a == kComplex32) return Types{kComplex32, kComplex32};
      return Types{kReal32, kReal32};
    case kCompute64F:
    case kCompute64FPedantic:
      return Types{a, a};
    case kCompute32I:
    case kCompute32IPedantic:
      return Types{kInt32, kInt32};
    default:
      return {};
  }
}

Status extended(void* handle, const char* name, int a, int b, int c, int compute, int algorithm,
                const GemmCall& call) {
  return with_context(handle, [&](Context& context) {
    require(is_algorithm(algorithm));
    const auto type = static_cast<DataType>(a);
    const auto types = types_of(compute, type);
    const bool half = compute == kCompute16F || compute == kCompute16FPedantic;
    const GemmKind* const kind =
        types && a == b && (!half || c == kReal16)
            ? find_gemm(type, static_cast<DataType>(c), types->accumulator, context.arch)
            : nullptr;
    if (kind == nullptr)
      refuse(fmt::format("{}: A, B and C of cudaDataType {}, {} and {} with compute type {}", name, a, b, c,
                         compute));
    gemm(context, *kind, types->scale, call);
  });
}

}  // namespace

#define LOCKSTEP_EX(name, Unused, Int)                                                                   \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Operation op_a, Operation op_b, Int m, Int n, Int k,    \
                                   const void* alpha, const void* a, int a_type, Int lda, const void* b, \
                                   int b_type, Int ldb, const void* beta, void* c, int c_type, Int ldc,  \
                                   int compute, int algorithm) {                                         \
    return extended(handle, #name, a_type, b_type, c_type, compute, algorithm,                           \
                    {op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});                         \
  }
#define LOCKSTEP_EX_STRIDED(name, Unused, Int)                                                              \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Operation op_a, Operation op_b, Int m, Int n, Int k,       \
                                   const void* alpha, const void* a, int a_type, Int lda,                   \
                                   long long stride_a, const void* b, int b_type, Int ldb,                  \
                                   long long stride_b, const void* beta, void* c, int c_type, Int ldc,      \
                                   long long stride_c, Int batches, int compute, int algorithm) {           \
    return extended(                                                                                        \
        handle, #name, a_type, b_type, c_type, compute, algorithm,                                          \
        {op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, stride_a, stride_b, stride_c, batches}); \
  }
#define LOCKSTEP_EX_POINTERS(name, Unused, Int)                                                             \
  LOCKSTEP_LIBRARY_API Status name(                                                                         \
      void* handle, Operation op_a, Operation op_b, Int m, Int n, Int k, const void* alpha,                 \
      const void* const a[], int a_type, Int lda, const void* const b[], int b_type, Int ldb,               \
      const void* beta, void* const c[], int c_type, Int ldc, Int batches, int compute, int algorithm) {    \
    return extended(handle, #name, a_type, b_type, c_type, compute, algorithm,                              \
                    {op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, const_cast<void**>(c), ldc, 0, 0, 0, \
                     batches, true});                                                                       \
  }
#define LOCKSTEP_TYPED_EX(name, T, Int)                                                                \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Operation op_a, Operation op_b, Int m, Int n, Int k,  \
                                   const T* alpha, const void* a, int a_type, Int lda, const void* b,  \
                                   int b_type, Int ldb, const T* beta, void* c, int c_type, Int ldc) { \
    return extended(handle, #name, a_type, b_type, c_type, kCompute32F, -1,                            \
                    {op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});                       \
  }

LOCKSTEP_BOTH_SIZES(LOCKSTEP_EX, cublasGemmEx, void)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_EX_STRIDED, cublasGemmStridedBatchedEx, void)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_EX_POINTERS, cublasGemmBatchedEx, void)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_TYPED_EX, cublasSgemmEx, float)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_TYPED_EX, cublasCgemmEx, Complex64)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_TYPED_EX, cublasCgemm3mEx, Complex64)

}  // namespace lockstep::libraries::blas
