// cublasSgemv and its relatives.
#include "libraries/blas/level2.hpp"

#include <algorithm>

#include "libraries/blas/entries.hpp"

namespace lockstep::libraries::blas {

int triangle_of(FillMode mode) {
  require(mode == kFillLower || mode == kFillUpper);
  return mode == kFillLower ? kLowerTriangle : kUpperTriangle;
}
int unit_of(Diagonal diagonal) {
  require(diagonal == kDiagonalNonUnit || diagonal == kDiagonalUnit);
  return diagonal;
}

namespace {

constexpr unsigned kThreads = 256, kRows = 32, kWarps = 8, kMaxGridY = 65535;

unsigned ctas(std::int64_t size, unsigned block) { return static_cast<unsigned>((size + block - 1) / block); }

/// Where a vector of `n` elements begins.
template <class T>
const void* first_of(const Vector& vector, std::int64_t n) {
  require(vector.inc != 0);
  return static_cast<const T*>(vector.data) + (vector.inc < 0 && n > 0 ? (1 - n) * vector.inc : 0);
}

template <class T>
void launch(const Context& context, const char* name, Dim3 grid, const MatrixVectorArguments& arguments) {
  const std::string kernel = std::string("lockstep_blas_") + name + "_" + kSuffix<T>;
  kernels_of("matrix_vector").launch(kernel.c_str(), grid, {kThreads}, 0, context.stream, arguments);
}

/// What all entries check: a matrix of m x n.
void set_matrix(MatrixVectorArguments& g, const void* a, std::int64_t m, std::int64_t n, std::int64_t lda) {
  g.m = size_of(m), g.n = size_of(n);
  require(lda >= std::max<std::int64_t>(1, m));
  g.a = a, g.lda = lda;
  g.batches = 1;
}

template <class T>
void gemv(const Context& context, const GemvCall& call) {
  MatrixVectorArguments g{};
  set_matrix(g, call.a, call.m, call.n, call.lda);
  require(call.op == kOpN || call.op == kOpT || call.op == kOpC);
  require(call.batches >= 0);
  const bool plain = call.op == kOpN;
  if (call.by_pointers) {
    if (call.x.inc < 0 || call.y.inc < 0) refuse("a batch of pointers to vectors with negative increments");
    require(call.x.inc != 0 && call.y.inc != 0);
    g.x = call.x.data, g.y = const_cast<void*>(call.y.data);
  } else {
    g.x = first_of<T>(call.x, plain ? call.n : call.m);
    g.y = const_cast<void*>(first_of<T>(call.y, plain ? call.m : call.n));
  }
  g.inc_x = call.x.inc, g.inc_y = call.y.inc;
  g.stride_a = call.stride_a, g.stride_x = call.stride_x, g.stride_y = call.stride_y;
  g.batches = call.batches, g.by_pointers = call.by_pointers, g.op = call.op;
  g.alpha = scalar_of(context, call.alpha, kTypeOf<T>);
  g.beta = scalar_of(context, call.beta, kTypeOf<T>);
  if (call.m == 0 || call.n == 0) return;
  const unsigned batches = static_cast<unsigned>(std::min<std::int64_t>(call.batches, kMaxGridY));
  if (plain)
    launch<T>(context, "gemv_n", {ctas(call.m, kRows), batches}, g);
  else
    launch<T>(context, "gemv_t", {ctas(call.n, kWarps), batches}, g);
}

template <class T>
Status gemv_entry(void* handle, const GemvCall& call) {
  return with_context(handle, [&](Context& context) { gemv<T>(context, call); });
}

/// y := alpha A x + beta y of a symmetric or Hermitian A.
template <class T>
Status symv(void* handle, FillMode mode, bool hermitian, std::int64_t n, const T* alpha, const T* a,
            std::int64_t lda, Vector x, const T* beta, Vector y) {
  return with_context(handle, [&](Context& context) {
    MatrixVectorArguments g{};
    set_matrix(g, a, n, n, lda);
    g.triangle = triangle_of(mode), g.hermitian = hermitian;
    g.x = first_of<T>(x, n), g.y = const_cast<void*>(first_of<T>(y, n));
    g.inc_x = x.inc, g.inc_y = y.inc;
    g.alpha = scalar_of(context, alpha, kTypeOf<T>), g.beta = scalar_of(context, beta, kTypeOf<T>);
    launch<T>(context, "symv", {ctas(n, kRows)}, g);
  });
}

/// x := op(A) x, or (SOLVE) op(A)^-1 x, of a triangular A.
template <class T, bool SOLVE>
Status triangular(void* handle, FillMode mode, Operation op, Diagonal diagonal, std::int64_t n, const T* a,
                  std::int64_t lda, Vector x) {
  return with_context(handle, [&](Context& context) {
    MatrixVectorArguments g{};
    set_matrix(g, a, n, n, lda);
    require(op == kOpN || op == kOpT || op == kOpC);
    g.op = op, g.triangle = triangle_of(mode), g.unit = unit_of(diagonal);
    g.y = const_cast<void*>(first_of<T>(x, n)), g.inc_y = x.inc;
    if (n == 0) return;
    if (SOLVE) return launch<T>(context, "trsv", {1}, g);
    const Scratch copy(static_cast<std::size_t>(n) * sizeof(T), context.stream);
    check(runtime().cudaMemcpy2DAsync(copy.data(), sizeof(T), x.data,
                                      static_cast<std::size_t>(std::abs(x.inc)) * sizeof(T), sizeof(T),
                                      static_cast<std::size_t>(n), kDeviceToDevice, context.stream),
          "a copy");
    const Vector copied{copy.data(), x.inc < 0 ? -1 : 1};
    g.x = first_of<T>(copied, n), g.inc_x = copied.inc;
    launch<T>(context, "trmv", {ctas(n, kRows)}, g);
  });
}

struct RankOne {
  std::int64_t m, n;
  Vector x, y;
  void* a;
  std::int64_t lda;
  int triangle = kWholeMatrix;
  Operation op = kOpT;  // kOpC: the conjugate of y
  bool hermitian = false;
};

template <class T, class S>
void add_product(const Context& context, const RankOne& call, const S* alpha, bool conjugate_alpha = false) {
  MatrixVectorArguments g{};
  set_matrix(g, call.a, call.m, call.n, call.lda);
  g.x = first_of<T>(call.x, call.m), g.y = const_cast<void*>(first_of<T>(call.y, call.n));
  g.inc_x = call.x.inc, g.inc_y = call.y.inc;
  g.op = call.op, g.triangle = call.triangle, g.hermitian = call.hermitian;
  g.conjugate_alpha = conjugate_alpha;
  g.alpha = scalar_of(context, alpha, kTypeOf<S>, sizeof(S) < sizeof(T));
  g.beta = scalar_of(0.0);
  launch<T>(context, "ger", {ctas(call.m, kRows), std::min(ctas(call.n, kWarps), kMaxGridY)}, g);
}
template <class T>
Status rank_one(void* handle, const RankOne& call, const T* alpha) {
  return with_context(handle, [&](Context& context) { add_product<T>(context, call, alpha); });
}
template <class T, class S>
Status rank_one(void* handle, FillMode mode, RankOne call, const S* alpha) {
  return with_context(handle, [&](Context& context) {
    call.triangle = triangle_of(mode);
    add_product<T>(context, call, alpha);
  });
}
/// A := A + alpha x op(y) + alpha' y op(x) in one triangle; Hermitian: alpha' is the conjugate.
template <class T>
Status rank_two(void* handle, FillMode mode, const RankOne& call, const T* alpha) {
  return with_context(handle, [&](Context& context) {
    RankOne first = call;
    first.triangle = triangle_of(mode);
    RankOne second = first;
    std::swap(second.x, second.y);
    add_product<T>(context, first, alpha);
    add_product<T>(context, second, alpha, call.hermitian);
  });
}

}  // namespace

#define LOCKSTEP_GEMV(letter, T, suffix, Int)                                                               \
  LOCKSTEP_LIBRARY_API Status cublas##letter##gemv_v2##suffix(                                              \
      void* handle, Operation op, Int m, Int n, const T* alpha, const T* a, Int lda, const T* x, Int inc_x, \
      const T* beta, T* y, Int inc_y) {                                                                     \
    return gemv_entry<T>(handle, {op, m, n, alpha, a, lda, {x, inc_x}, beta, {y, inc_y}});                  \
  }                                                                                                         \
  LOCKSTEP_LIBRARY_API Status cublas##letter##gemvStridedBatched##suffix(                                   \
      void* handle, Operation op, Int m, Int n, const T* alpha, const T* a, Int lda, long long stride_a,    \
      const T* x, Int inc_x, long long stride_x, const T* beta, T* y, Int inc_y, long long stride_y,        \
      Int batches) {                                                                                        \
    return gemv_entry<T>(                                                                                   \
        handle,                                                                                             \
        {op, m, n, alpha, a, lda, {x, inc_x}, beta, {y, inc_y}, stride_a, stride_x, stride_y, batches});    \
  }                                                                                                         \
  LOCKSTEP_LIBRARY_API Status cublas##letter##gemvBatched##suffix(                                          \
      void* handle, Operation op, Int m, Int n, const T* alpha, const T* const a[], Int lda,                \
      const T* const x[], Int inc_x, const T* beta, T* const y[], Int inc_y, Int batches) {                 \
    return gemv_entry<T>(handle,                                                                            \
                         {op, m, n, alpha, a, lda, {x, inc_x}, beta, {y, inc_y}, 0, 0, 0, batches, true});  \
  }
#define LOCKSTEP_SYMV(name, T, hermitian, Int)                                                              \
  LOCKSTEP_LIBRARY_API Status name(void* handle, FillMode mode, Int n, const T* alpha, const T* a, Int lda, \
                                   const T* x, Int inc_x, const T* beta, T* y, Int inc_y) {                 \
    return symv<T>(handle, mode, hermitian, n, alpha, a, lda, {x, inc_x}, beta, {y, inc_y});                \
  }
#define LOCKSTEP_TRIANGULAR(name, T, solve, Int)                                                        \
  LOCKSTEP_LIBRARY_API Status name(void* handle, FillMode mode, Operation op, Diagonal diagonal, Int n, \
                                   const T* a, Int lda, T* x, Int inc_x) {                              \
    return triangular<T, solve>(handle, mode, op, diagonal, n, a, lda, {x, inc_x});                     \
  }
#define LOCKSTEP_GER(name, T, op, Int)                                                                \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Int m, Int n, const T* alpha, const T* x, Int inc_x, \
                                   const T* y, Int inc_y, T* a, Int lda) {                            \
    return rank_one<T>(handle, {m, n, {x, inc_x}, {y, inc_y}, a, lda, kWholeMatrix, op}, alpha);      \
  }
#define LOCKSTEP_SYR(name, T, S, op, hermitian, Int)                                                      \
  LOCKSTEP_LIBRARY_API Status name(void* handle, FillMode mode, Int n, const S* alpha, const T* x,        \
                                   Int inc_x, T* a, Int lda) {                                            \
    return rank_one<T>(handle, mode, {n, n, {x, inc_x}, {x, inc_x}, a, lda, kWholeMatrix, op, hermitian}, \
                       alpha);                                                                            \
  }
#define LOCKSTEP_SYR2(name, T, op, hermitian, Int)                                                        \
  LOCKSTEP_LIBRARY_API Status name(void* handle, FillMode mode, Int n, const T* alpha, const T* x,        \
                                   Int inc_x, const T* y, Int inc_y, T* a, Int lda) {                     \
    return rank_two<T>(handle, mode, {n, n, {x, inc_x}, {y, inc_y}, a, lda, kWholeMatrix, op, hermitian}, \
                       alpha);                                                                            \
  }

#define LOCKSTEP_LEVEL_2(letter, T, suffix, Int)                       \
  LOCKSTEP_GEMV(letter, T, suffix, Int)                                \
  LOCKSTEP_SYMV(cublas##letter##symv_v2##suffix, T, false, Int)        \
  LOCKSTEP_TRIANGULAR(cublas##letter##trmv_v2##suffix, T, false, Int)  \
  LOCKSTEP_TRIANGULAR(cublas##letter##trsv_v2##suffix, T, true, Int)   \
  LOCKSTEP_SYR(cublas##letter##syr_v2##suffix, T, T, kOpT, false, Int) \
  LOCKSTEP_SYR2(cublas##letter##syr2_v2##suffix, T, kOpT, false, Int)
#define LOCKSTEP_REAL(letter, T, suffix, Int) \
  LOCKSTEP_LEVEL_2(letter, T, suffix, Int)    \
  LOCKSTEP_GER(cublas##letter##ger_v2##suffix, T, kOpT, Int)
#define LOCKSTEP_COMPLEX(letter, T, S, suffix, Int)                   \
  LOCKSTEP_LEVEL_2(letter, T, suffix, Int)                            \
  LOCKSTEP_GER(cublas##letter##geru_v2##suffix, T, kOpT, Int)         \
  LOCKSTEP_GER(cublas##letter##gerc_v2##suffix, T, kOpC, Int)         \
  LOCKSTEP_SYMV(cublas##letter##hemv_v2##suffix, T, true, Int)        \
  LOCKSTEP_SYR(cublas##letter##her_v2##suffix, T, S, kOpC, true, Int) \
  LOCKSTEP_SYR2(cublas##letter##her2_v2##suffix, T, kOpC, true, Int)

LOCKSTEP_REAL(S, float, , std::int32_t)
LOCKSTEP_REAL(D, double, , std::int32_t)
LOCKSTEP_COMPLEX(C, Complex64, float, , std::int32_t)
LOCKSTEP_COMPLEX(Z, Complex128, double, , std::int32_t)
LOCKSTEP_REAL(S, float, _64, std::int64_t)
LOCKSTEP_REAL(D, double, _64, std::int64_t)
LOCKSTEP_COMPLEX(C, Complex64, float, _64, std::int64_t)
LOCKSTEP_COMPLEX(Z, Complex128, double, _64, std::int64_t)

}  // namespace lockstep::libraries::blas
