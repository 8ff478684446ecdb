// cublasSsyrk, trsm and their relatives: products and solutions with matrices of which one triangle is
// stored.
#include <fmt/format.h>

#include <algorithm>

#include "libraries/blas/dense.hpp"
#include "libraries/blas/entries.hpp"
#include "libraries/blas/level2.hpp"

namespace lockstep::libraries::blas {
namespace {

template <class T>
MatrixRef matrix_of(const T* data, std::int64_t ld, std::int64_t rows) {
  require(ld >= std::max<std::int64_t>(1, rows));
  return {const_cast<T*>(data), ld, sizeof(T)};
}

/// C := alpha op(A) op'(B) + beta C in one triangle, of n x n. `twice`: and alpha' op(B) op'(A); Hermitian:
/// op' is the conjugate transpose, alpha' the conjugate, and beta (with `real_alpha`: alpha, too) real.
template <class T>
struct RankK {
  FillMode mode;
  Operation op;
  std::int64_t n, k;
  const void* alpha;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  const void* beta;
  T* c;
  std::int64_t ldc;
  bool hermitian = false, real_alpha = false, twice = false;
};

template <class T>
constexpr bool kIsComplex = kTypeOf<T> == kComplex32 || kTypeOf<T> == kComplex64;
template <class T>
constexpr DataType kRealOf = kTypeOf<T> == kComplex32 ? kReal32 : kReal64;

template <class T>
Status rank_k(void* handle, const RankK<T>& r) {
  return with_context(handle, [&](Context& context) {
    const Operation across = r.hermitian ? kOpC : kOpT;
    require(r.op == kOpN || r.op == across || (!kIsComplex<T> && r.op == kOpC));
    require(r.k >= 0);
    const bool plain = r.op == kOpN;
    Product p{.type = kTypeOf<T>, .m = r.n, .n = r.n, .k = r.k};
    p.a = matrix_of(r.a, r.lda, plain ? r.n : r.k), p.b = matrix_of(r.b, r.ldb, plain ? r.n : r.k);
    p.c = matrix_of(r.c, r.ldc, r.n);
    p.op_a = plain ? kOpN : across, p.op_b = plain ? across : kOpN;
    p.triangle = triangle_of(r.mode), p.real_diagonal = r.hermitian;
    p.alpha = r.real_alpha ? scalar_of(context, r.alpha, kRealOf<T>, true)
                           : scalar_of(context, r.alpha, kTypeOf<T>);
    p.beta =
        r.hermitian ? scalar_of(context, r.beta, kRealOf<T>, true) : scalar_of(context, r.beta, kTypeOf<T>);
    multiply(context, p);
    if (!r.twice) return;
    std::swap(p.a, p.b);
    if (r.hermitian) p.alpha.kind = kScalarConjugate, p.alpha.imaginary = -p.alpha.imaginary;
    p.beta = scalar_of(1.0);
    multiply(context, p);
  });
}

/// With types as arguments, which have to be those of complex floats.
Status rank_k_ex(void* handle, const char* name, int a_type, int c_type, const RankK<Complex64>& r) {
  const Status status = guarded(&status_of, [&] {
    if (a_type != kComplex32 || c_type != kComplex32)
      refuse(fmt::format("{}: A and C of cudaDataType {} and {}", name, a_type, c_type));
  });
  return status != kStatusSuccess ? status : rank_k<Complex64>(handle, r);
}

/// A whole matrix of `n` x `n` in scratch memory, from one triangle.
void expand(const Context& context, DataType type, const std::string& kernel, MatrixVectorArguments& g,
            const Scratch& scratch) {
  g.batches = 1;
  g.y = scratch.data(), g.inc_y = g.m, g.inc_x = 1;
  g.alpha = g.beta = scalar_of(1.0);
  constexpr std::int64_t kSide = 32;
  launch_typed(context, "matrix_vector", kernel, type, {blocks_of(g.m, kSide), blocks_of(g.m, kSide)}, g);
}

template <class T>
struct SideCall {
  Side side;
  FillMode mode;
  std::int64_t m, n;
  const T* alpha;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  const T* beta;
  T* c;
  std::int64_t ldc;
  [[nodiscard]] std::int64_t size() const { return side == kSideLeft ? m : n; }  // of A
};

template <class T>
void check_sides(const SideCall<T>& s) {
  require(s.side == kSideLeft || s.side == kSideRight);
  require(s.m >= 0 && s.n >= 0);
}

/// C := alpha A B + beta C with the expanded A, or on the right.
template <class T>
void multiply_expanded(const Context& context, const SideCall<T>& s, Operation op, const Scratch& scratch) {
  const MatrixRef a{scratch.data(), std::max<std::int64_t>(1, s.size()), sizeof(T)},
      b = matrix_of(s.b, s.ldb, s.m);
  Product p{.type = kTypeOf<T>, .m = s.m, .n = s.n, .k = s.size()};
  const bool left = s.side == kSideLeft;
  p.op_a = left ? op : kOpN, p.a = left ? a : b;
  p.op_b = left ? kOpN : op, p.b = left ? b : a;
  p.c = matrix_of(s.c, s.ldc, s.m);
  p.alpha = scalar_of(context, s.alpha, kTypeOf<T>);
  p.beta = s.beta != nullptr ? scalar_of(context, s.beta, kTypeOf<T>) : scalar_of(0.0);
  multiply(context, p);
}

template <class T>
Status symm(void* handle, const SideCall<T>& s, bool hermitian) {
  return with_context(handle, [&](Context& context) {
    check_sides(s);
    require(s.beta != nullptr);
    (void)matrix_of(s.a, s.lda, s.size());
    MatrixVectorArguments g{};
    g.a = s.a, g.lda = s.lda, g.m = g.n = size_of(s.size());
    g.triangle = triangle_of(s.mode), g.hermitian = hermitian;
    const auto count = static_cast<std::size_t>(s.size());
    const Scratch scratch(count * count * sizeof(T), context.stream);
    expand(context, kTypeOf<T>, "expand", g, scratch);
    multiply_expanded(context, s, kOpN, scratch);
  });
}

template <class T>
Status trmm(void* handle, SideCall<T> s, Operation op, Diagonal diagonal) {
  return with_context(handle, [&](Context& context) {
    check_sides(s);
    require(op == kOpN || op == kOpT || op == kOpC);
    (void)matrix_of(s.a, s.lda, s.size());
    (void)matrix_of(s.b, s.ldb, s.m);
    MatrixVectorArguments g{};
    g.a = s.a, g.lda = s.lda, g.m = g.n = size_of(s.size());
    g.triangle = triangle_of(s.mode), g.unit = unit_of(diagonal);
    if (s.m == 0 || s.n == 0) return;
    const auto count = static_cast<std::size_t>(s.size()), column = static_cast<std::size_t>(s.m) * sizeof(T);
    const bool in_place = s.b == s.c;
    const Scratch scratch(count * count * sizeof(T), context.stream);
    const Scratch copy(in_place ? column * static_cast<std::size_t>(s.n) : 0, context.stream);
    expand(context, kTypeOf<T>, "expand_triangle", g, scratch);
    if (in_place) {
      check(
          runtime().cudaMemcpy2DAsync(copy.data(), column, s.b, static_cast<std::size_t>(s.ldb) * sizeof(T),
                                      column, static_cast<std::size_t>(s.n), kDeviceToDevice, context.stream),
          "a copy");
      s.b = copy.as<T>(), s.ldb = s.m;
    }
    multiply_expanded(context, s, op, scratch);
  });
}

template <class T>
struct TrsmCall {
  Side side;
  FillMode mode;
  Operation op;
  Diagonal diagonal;
  std::int64_t m, n;
  const T* alpha;
  const void* a;
  std::int64_t lda;
  void* b;
  std::int64_t ldb;
  std::int64_t batches = 1;
  bool by_pointers = false;
};

template <class T>
Status trsm(void* handle, const TrsmCall<T>& t) {
  return with_context(handle, [&](Context& context) {
    require(t.side == kSideLeft || t.side == kSideRight);
    require(t.op == kOpN || t.op == kOpT || t.op == kOpC);
    require(t.batches >= 0);
    const int m = size_of(t.m), n = size_of(t.n);
    Solution s{.type = kTypeOf<T>, .right = t.side == kSideRight, .triangle = triangle_of(t.mode)};
    s.op = t.op, s.unit = unit_of(t.diagonal) != 0, s.m = m, s.n = n, s.batches = t.batches;
    s.a = matrix_of(static_cast<const T*>(t.a), t.lda, s.right ? n : m);
    s.b = matrix_of(static_cast<const T*>(t.b), t.ldb, m);
    s.a.by_pointers = s.b.by_pointers = t.by_pointers;
    s.alpha = scalar_of(context, t.alpha, kTypeOf<T>);
    solve_triangular(context, s);
  });
}

template <class T>
Status geam(void* handle, MatrixArguments g, const T* alpha, const T* beta, std::int64_t m, std::int64_t n) {
  return with_context(handle, [&](Context& context) {
    const auto fits = [&](int op, long long ld) {
      require(op == kOpN || op == kOpT || op == kOpC);
      require(ld >= std::max<std::int64_t>(1, op == kOpN ? m : n));
    };
    fits(g.op_a, g.lda);
    fits(g.op_b, g.ldb);
    require(g.ldc >= std::max<std::int64_t>(1, m));
    require((g.c != g.a || (g.op_a == kOpN && g.ldc == g.lda)) &&
            (g.c != g.b || (g.op_b == kOpN && g.ldc == g.ldb)));
    g.m = size_of(m), g.n = size_of(n);
    g.alpha = scalar_of(context, alpha, kTypeOf<T>), g.beta = scalar_of(context, beta, kTypeOf<T>);
    add_matrices(context, kTypeOf<T>, g);
  });
}

template <class T>
Status dgmm(void* handle, Side side, std::int64_t m, std::int64_t n, const T* a, std::int64_t lda, const T* x,
            std::int64_t inc, T* c, std::int64_t ldc) {
  return with_context(handle, [&](Context& context) {
    require(side == kSideLeft || side == kSideRight);
    MatrixArguments g{};
    g.m = size_of(m), g.n = size_of(n);
    g.a = matrix_of(a, lda, m).data, g.c = matrix_of(c, ldc, m).data;
    g.lda = lda, g.ldb = inc, g.ldc = ldc, g.by_rows = side == kSideLeft;
    const std::int64_t length = side == kSideLeft ? m : n;
    g.b = x + (inc < 0 && length > 0 ? (1 - length) * inc : 0);
    constexpr std::int64_t kSide = 32;
    launch_typed(context, "matrix", "dgmm", kTypeOf<T>, {blocks_of(m, kSide) * blocks_of(n, kSide)}, g);
  });
}

}  // namespace

#define LOCKSTEP_SYRK(name, T, S, hermitian, Int)                                                           \
  LOCKSTEP_LIBRARY_API Status name(void* handle, FillMode mode, Operation op, Int n, Int k, const S* alpha, \
                                   const T* a, Int lda, const S* beta, T* c, Int ldc) {                     \
    return rank_k<T>(handle,                                                                                \
                     {mode, op, n, k, alpha, a, lda, a, lda, beta, c, ldc, hermitian, hermitian, false});   \
  }
#define LOCKSTEP_SYR2K(name, T, S, hermitian, twice, Int)                                                    \
  LOCKSTEP_LIBRARY_API Status name(void* handle, FillMode mode, Operation op, Int n, Int k, const T* alpha,  \
                                   const T* a, Int lda, const T* b, Int ldb, const S* beta, T* c, Int ldc) { \
    return rank_k<T>(handle,                                                                                 \
                     {mode, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc, hermitian, false, twice});        \
  }
#define LOCKSTEP_SYMM(name, T, hermitian, Int)                                                               \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Side side, FillMode mode, Int m, Int n, const T* alpha,     \
                                   const T* a, Int lda, const T* b, Int ldb, const T* beta, T* c, Int ldc) { \
    return symm<T>(handle, {side, mode, m, n, alpha, a, lda, b, ldb, beta, c, ldc}, hermitian);              \
  }
#define LOCKSTEP_TRMM(name, T, Int)                                                                         \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Side side, FillMode mode, Operation op, Diagonal diagonal, \
                                   Int m, Int n, const T* alpha, const T* a, Int lda, const T* b, Int ldb,  \
                                   T* c, Int ldc) {                                                         \
    return trmm<T>(handle, {side, mode, m, n, alpha, a, lda, b, ldb, nullptr, c, ldc}, op, diagonal);       \
  }
#define LOCKSTEP_TRSM(name, T, Int)                                                                         \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Side side, FillMode mode, Operation op, Diagonal diagonal, \
                                   Int m, Int n, const T* alpha, const T* a, Int lda, T* b, Int ldb) {      \
    return trsm<T>(handle, {side, mode, op, diagonal, m, n, alpha, a, lda, b, ldb});                        \
  }
#define LOCKSTEP_TRSM_BATCHED(name, T, Int)                                                                  \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Side side, FillMode mode, Operation op, Diagonal diagonal,  \
                                   Int m, Int n, const T* alpha, const T* const a[], Int lda, T* const b[],  \
                                   Int ldb, Int batches) {                                                   \
    return trsm<T>(handle,                                                                                   \
                   {side, mode, op, diagonal, m, n, alpha, a, lda, const_cast<T**>(b), ldb, batches, true}); \
  }
#define LOCKSTEP_GEAM(name, T, Int)                                                                         \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Operation op_a, Operation op_b, Int m, Int n,              \
                                   const T* alpha, const T* a, Int lda, const T* beta, const T* b, Int ldb, \
                                   T* c, Int ldc) {                                                         \
    MatrixArguments g{};                                                                                    \
    g.a = a, g.b = b, g.c = c, g.lda = lda, g.ldb = ldb, g.ldc = ldc, g.op_a = op_a, g.op_b = op_b;         \
    return geam<T>(handle, g, alpha, beta, m, n);                                                           \
  }
#define LOCKSTEP_DGMM(name, T, Int)                                                                        \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Side side, Int m, Int n, const T* a, Int lda, const T* x, \
                                   Int inc, T* c, Int ldc) {                                               \
    return dgmm<T>(handle, side, m, n, a, lda, x, inc, c, ldc);                                            \
  }
#define LOCKSTEP_SYRK_EX(name, S, hermitian, Int)                                                           \
  LOCKSTEP_LIBRARY_API Status name(void* handle, FillMode mode, Operation op, Int n, Int k, const S* alpha, \
                                   const void* a, int a_type, Int lda, const S* beta, void* c, int c_type,  \
                                   Int ldc) {                                                               \
    const auto* const from = static_cast<const Complex64*>(a);                                              \
    return rank_k_ex(handle, #name, a_type, c_type,                                                         \
                     {mode, op, n, k, alpha, from, lda, from, lda, beta, static_cast<Complex64*>(c), ldc,   \
                      hermitian, hermitian, false});                                                        \
  }

#define LOCKSTEP_LEVEL_3(letter, T, suffix, Int)                           \
  LOCKSTEP_SYRK(cublas##letter##syrk_v2##suffix, T, T, false, Int)         \
  LOCKSTEP_SYR2K(cublas##letter##syr2k_v2##suffix, T, T, false, true, Int) \
  LOCKSTEP_SYR2K(cublas##letter##syrkx##suffix, T, T, false, false, Int)   \
  LOCKSTEP_SYMM(cublas##letter##symm_v2##suffix, T, false, Int)            \
  LOCKSTEP_TRMM(cublas##letter##trmm_v2##suffix, T, Int)                   \
  LOCKSTEP_TRSM(cublas##letter##trsm_v2##suffix, T, Int)                   \
  LOCKSTEP_TRSM_BATCHED(cublas##letter##trsmBatched##suffix, T, Int)       \
  LOCKSTEP_GEAM(cublas##letter##geam##suffix, T, Int)                      \
  LOCKSTEP_DGMM(cublas##letter##dgmm##suffix, T, Int)
#define LOCKSTEP_COMPLEX(letter, T, R, suffix, Int)                       \
  LOCKSTEP_LEVEL_3(letter, T, suffix, Int)                                \
  LOCKSTEP_SYRK(cublas##letter##herk_v2##suffix, T, R, true, Int)         \
  LOCKSTEP_SYR2K(cublas##letter##her2k_v2##suffix, T, R, true, true, Int) \
  LOCKSTEP_SYR2K(cublas##letter##herkx##suffix, T, R, true, false, Int)   \
  LOCKSTEP_SYMM(cublas##letter##hemm_v2##suffix, T, true, Int)

LOCKSTEP_LEVEL_3(S, float, , std::int32_t)
LOCKSTEP_LEVEL_3(D, double, , std::int32_t)
LOCKSTEP_COMPLEX(C, Complex64, float, , std::int32_t)
LOCKSTEP_COMPLEX(Z, Complex128, double, , std::int32_t)
LOCKSTEP_LEVEL_3(S, float, _64, std::int64_t)
LOCKSTEP_LEVEL_3(D, double, _64, std::int64_t)
LOCKSTEP_COMPLEX(C, Complex64, float, _64, std::int64_t)
LOCKSTEP_COMPLEX(Z, Complex128, double, _64, std::int64_t)
#define LOCKSTEP_EXTENDED(suffix, Int)                             \
  LOCKSTEP_SYRK_EX(cublasCsyrkEx##suffix, Complex64, false, Int)   \
  LOCKSTEP_SYRK_EX(cublasCsyrk3mEx##suffix, Complex64, false, Int) \
  LOCKSTEP_SYRK_EX(cublasCherkEx##suffix, float, true, Int)        \
  LOCKSTEP_SYRK_EX(cublasCherk3mEx##suffix, float, true, Int)
LOCKSTEP_EXTENDED(, std::int32_t)
LOCKSTEP_EXTENDED(_64, std::int64_t)

}  // namespace lockstep::libraries::blas
