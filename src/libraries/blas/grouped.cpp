// cublasSgemmGroupedBatched and its relatives: a batch for each group.
#include <fmt/format.h>

#include <algorithm>

#include "libraries/blas/entries.hpp"

namespace lockstep::libraries::blas {
namespace {

constexpr std::size_t size_of_scale(DataType type) {
  return type == kReal64 ? sizeof(double) : sizeof(float);
}

/// Arrays with an element for each group, but a, b and c: with a pointer for each product.
template <class Int>
struct Groups {
  const char* name;
  const Operation *op_a, *op_b;
  const Int *m, *n, *k;
  const void* alpha;
  const void* const* a;
  const Int* lda;
  const void* const* b;
  const Int* ldb;
  const void* beta;
  void* const* c;
  const Int* ldc;
  Int count;
  const Int* size;
};

/// Before any group is enqueued.
template <class Int>
void check_group(const Groups<Int>& g, Int i) {
  const auto fits = [](Operation op, Int ld, Int rows, Int columns) {
    require(op == kOpN || op == kOpT || op == kOpC);
    require(rows >= 0 && columns >= 0 && ld >= std::max<Int>(1, op == kOpN ? rows : columns));
  };
  require(g.size[i] >= 0);
  fits(g.op_a[i], g.lda[i], g.m[i], g.k[i]);
  fits(g.op_b[i], g.ldb[i], g.k[i], g.n[i]);
  fits(kOpN, g.ldc[i], g.m[i], g.n[i]);
}

template <class Int>
Status multiply_groups(void* handle, DataType type, DataType scale, const Groups<Int>& g) {
  return with_context(handle, [&](Context& context) {
    if (context.on_device()) refuse(fmt::format("{}: the device's pointer mode", g.name));
    const GemmKind* const kind = find_gemm(type, type, scale, context.arch);
    if (kind == nullptr) refuse(g.name);
    require(g.count >= 0);
    for (Int i = 0; i < g.count; ++i) check_group(g, i);
    std::int64_t first = 0;
    for (Int i = 0; i < g.count; ++i) {
      const std::size_t at = static_cast<std::size_t>(i) * size_of_scale(scale);
      GemmCall call{g.op_a[i],
                    g.op_b[i],
                    g.m[i],
                    g.n[i],
                    g.k[i],
                    static_cast<const char*>(g.alpha) + at,
                    g.a + first,
                    g.lda[i],
                    g.b + first,
                    g.ldb[i],
                    static_cast<const char*>(g.beta) + at,
                    const_cast<void**>(g.c + first),
                    g.ldc[i]};
      call.batches = g.size[i], call.by_pointers = true;
      gemm(context, *kind, scale, call);
      first += g.size[i];
    }
  });
}

/// The type of sums, and of alpha and beta.
DataType scale_of(const char* name, int a, int b, int c, int compute) {
  const bool single = compute == kCompute32F || compute == kCompute32FPedantic ||
                      (a == kReal32 && (compute == kCompute32FFast16F || compute == kCompute32FFast16BF ||
                                        compute == kCompute32FFastTF32));
  if (a == b && a == c) {
    if (single && (a == kReal32 || a == kReal16 || a == kBfloat16)) return kReal32;
    if ((compute == kCompute64F || compute == kCompute64FPedantic) && a == kReal64) return kReal64;
  }
  refuse(fmt::format("{}: A, B and C of cudaDataType {}, {} and {} with compute type {}", name, a, b, c,
                     compute));
}

}  // namespace

#define LOCKSTEP_GROUPED(entry, T, Int)                                                                     \
  LOCKSTEP_LIBRARY_API Status entry(                                                                        \
      void* handle, const Operation op_a[], const Operation op_b[], const Int m[], const Int n[],           \
      const Int k[], const T alpha[], const T* const a[], const Int lda[], const T* const b[],              \
      const Int ldb[], const T beta[], T* const c[], const Int ldc[], Int count, const Int size[]) {        \
    return multiply_groups<Int>(                                                                            \
        handle, kTypeOf<T>, kTypeOf<T>,                                                                     \
        {#entry, op_a, op_b, m, n, k, alpha, reinterpret_cast<const void* const*>(a), lda,                  \
         reinterpret_cast<const void* const*>(b), ldb, beta, reinterpret_cast<void* const*>(c), ldc, count, \
         size});                                                                                            \
  }
#define LOCKSTEP_GROUPED_EX(entry, Unused, Int)                                                          \
  LOCKSTEP_LIBRARY_API Status entry(                                                                     \
      void* handle, const Operation op_a[], const Operation op_b[], const Int m[], const Int n[],        \
      const Int k[], const void* alpha, const void* const a[], int a_type, const Int lda[],              \
      const void* const b[], int b_type, const Int ldb[], const void* beta, void* const c[], int c_type, \
      const Int ldc[], Int count, const Int size[], int compute) {                                       \
    DataType scale{};                                                                                    \
    const Status status =                                                                                \
        guarded(&status_of, [&] { scale = scale_of(#entry, a_type, b_type, c_type, compute); });         \
    if (status != kStatusSuccess) return status;                                                         \
    return multiply_groups<Int>(                                                                         \
        handle, static_cast<DataType>(a_type), scale,                                                    \
        {#entry, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count, size});                \
  }
LOCKSTEP_BOTH_SIZES(LOCKSTEP_GROUPED, cublasSgemmGroupedBatched, float)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_GROUPED, cublasDgemmGroupedBatched, double)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_GROUPED_EX, cublasGemmGroupedBatchedEx, void)

}  // namespace lockstep::libraries::blas
