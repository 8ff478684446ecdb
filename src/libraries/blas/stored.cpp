// cublasSgbmv, cublasSspmv and their relatives: band and packed matrices.
#include <algorithm>

#include "libraries/blas/dense.hpp"
#include "libraries/blas/entries.hpp"
#include "libraries/blas/level2.hpp"
#include "libraries/blas/stored_arguments.hpp"

namespace lockstep::libraries::blas {
namespace {

constexpr unsigned kRows = 32, kColumns = 8, kMaxGridY = 65535;

template <class T>
const void* first_of_vector(const Vector& vector, std::int64_t n) {
  require(vector.inc != 0);
  return static_cast<const T*>(vector.data) + (vector.inc < 0 && n > 0 ? (1 - n) * vector.inc : 0);
}

StoredMatrix band(const void* a, std::int64_t lda, std::int64_t m, std::int64_t n, std::int64_t below,
                  std::int64_t above) {
  StoredMatrix s{const_cast<void*>(a), lda, 0, size_of(m), size_of(n), size_of(below), size_of(above)};
  require(lda >= below + above + 1);
  return s;
}
StoredMatrix band(FillMode mode, const void* a, std::int64_t lda, std::int64_t n, std::int64_t k) {
  const bool lower = triangle_of(mode) == kLowerTriangle;
  return band(a, lda, n, n, lower ? k : 0, lower ? 0 : k);
}
StoredMatrix packed(FillMode mode, const void* a, std::int64_t n) {
  const bool lower = triangle_of(mode) == kLowerTriangle;
  const int size = size_of(n), others = std::max(1, size - 1);  // one for a single element: which triangle
  return {const_cast<void*>(a), 0, 1, size, size, lower ? others : 0, lower ? 0 : others};
}

template <class T>
void launch_stored(const Context& context, const char* name, Dim3 grid, const StoredArguments& g) {
  launch_typed(context, "stored", std::string("stored_") + name, kTypeOf<T>, grid, g);
}
Dim3 tiles_of(const StoredMatrix& s) {
  return {blocks_of(s.m, kRows), std::min(blocks_of(s.n, kColumns), kMaxGridY)};
}

enum Structure { kGeneral, kSymmetric, kHermitian };

/// y := alpha op(A) x + beta y
template <class T, class Describe>
Status product(void* handle, Structure structure, Operation op, const T* alpha, Describe&& describe, Vector x,
               const T* beta, Vector y) {
  return with_context(handle, [&](Context& context) {
    StoredArguments g{};
    require(op == kOpN || op == kOpT || op == kOpC);
    g.matrix = describe();
    const bool plain = op == kOpN;
    const int m = plain ? g.matrix.m : g.matrix.n, n = plain ? g.matrix.n : g.matrix.m;
    g.op = op, g.symmetric = structure != kGeneral, g.hermitian = structure == kHermitian;
    g.x = first_of_vector<T>(x, n), g.y = const_cast<void*>(first_of_vector<T>(y, m));
    g.inc_x = x.inc, g.inc_y = y.inc;
    g.alpha = scalar_of(context, alpha, kTypeOf<T>), g.beta = scalar_of(context, beta, kTypeOf<T>);
    if (n != 0) launch_stored<T>(context, "product", {blocks_of(m, kRows)}, g);
  });
}

/// x := op(A) x, or (SOLVE) op(A)^-1 x, of a triangular A.
template <class T, bool SOLVE, class Describe>
Status triangle(void* handle, Operation op, Diagonal diagonal, Describe&& describe, Vector x) {
  return with_context(handle, [&](Context& context) {
    StoredArguments g{};
    require(op == kOpN || op == kOpT || op == kOpC);
    g.matrix = describe();
    const int n = g.matrix.n;
    g.op = op, g.unit = unit_of(diagonal);
    g.y = const_cast<void*>(first_of_vector<T>(x, n)), g.inc_y = x.inc;
    if (n == 0) return;
    if (SOLVE) return launch_stored<T>(context, "solution", {1}, g);
    const Scratch copy(static_cast<std::size_t>(n) * sizeof(T), context.stream);
    check(runtime().cudaMemcpy2DAsync(copy.data(), sizeof(T), x.data,
                                      static_cast<std::size_t>(std::abs(x.inc)) * sizeof(T), sizeof(T),
                                      static_cast<std::size_t>(n), kDeviceToDevice, context.stream),
          "a copy");
    const Vector copied{copy.data(), x.inc < 0 ? -1 : 1};
    g.x = first_of_vector<T>(copied, n), g.inc_x = copied.inc;
    g.alpha = scalar_of(1.0), g.beta = scalar_of(0.0);
    launch_stored<T>(context, "product", {blocks_of(n, kRows)}, g);
  });
}

/// A := A + alpha x op(x)^T, with a real alpha where A is Hermitian; or (`y`) A + alpha x op(y)^T + alpha' y
/// op(x)^T, where alpha' is the conjugate.
template <class T, class S>
Status update(void* handle, FillMode mode, bool hermitian, std::int64_t n, const S* alpha, Vector x,
              const Vector* y, void* a) {
  return with_context(handle, [&](Context& context) {
    StoredArguments g{};
    g.matrix = packed(mode, a, n), g.hermitian = hermitian;
    const Vector& other = y != nullptr ? *y : x;
    const void *first = first_of_vector<T>(x, n), *second = first_of_vector<T>(other, n);
    g.alpha = scalar_of(context, alpha, kTypeOf<S>, sizeof(S) < sizeof(T)), g.beta = scalar_of(0.0);
    g.x = first, g.inc_x = x.inc, g.y = const_cast<void*>(second), g.inc_y = other.inc;
    launch_stored<T>(context, "rank_one", tiles_of(g.matrix), g);
    if (y == nullptr) return;
    g.x = second, g.inc_x = other.inc, g.y = const_cast<void*>(first), g.inc_y = x.inc;
    g.conjugate_alpha = hermitian;
    launch_stored<T>(context, "rank_one", tiles_of(g.matrix), g);
  });
}

template <class T>
Status copy(void* handle, FillMode mode, std::int64_t n, const T* stored, const T* whole, std::int64_t lda,
            bool to_packed) {
  return with_context(handle, [&](Context& context) {
    StoredArguments g{};
    g.matrix = packed(mode, stored, n);
    require(lda >= std::max<std::int64_t>(1, n));
    g.y = const_cast<T*>(whole), g.inc_y = lda, g.to_packed = to_packed;
    g.alpha = g.beta = scalar_of(0.0);
    launch_stored<T>(context, "copy", tiles_of(g.matrix), g);
  });
}

}  // namespace

#define LOCKSTEP_GBMV(name, T, Int)                                                                          \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Operation op, Int m, Int n, Int kl, Int ku, const T* alpha, \
                                   const T* a, Int lda, const T* x, Int inc_x, const T* beta, T* y,          \
                                   Int inc_y) {                                                              \
    return product<T>(handle, kGeneral, op, alpha, [&] { return band(a, lda, m, n, kl, ku); }, {x, inc_x},   \
                      beta, {y, inc_y});                                                                     \
  }
#define LOCKSTEP_SBMV(name, T, structure, Int)                                                              \
  LOCKSTEP_LIBRARY_API Status name(void* handle, FillMode mode, Int n, Int k, const T* alpha, const T* a,   \
                                   Int lda, const T* x, Int inc_x, const T* beta, T* y, Int inc_y) {        \
    return product<T>(handle, structure, kOpN, alpha, [&] { return band(mode, a, lda, n, k); }, {x, inc_x}, \
                      beta, {y, inc_y});                                                                    \
  }
#define LOCKSTEP_SPMV(name, T, structure, Int)                                                              \
  LOCKSTEP_LIBRARY_API Status name(void* handle, FillMode mode, Int n, const T* alpha, const T* a,          \
                                   const T* x, Int inc_x, const T* beta, T* y, Int inc_y) {                 \
    return product<T>(handle, structure, kOpN, alpha, [&] { return packed(mode, a, n); }, {x, inc_x}, beta, \
                      {y, inc_y});                                                                          \
  }
#define LOCKSTEP_TBMV(name, T, solve, Int)                                                                 \
  LOCKSTEP_LIBRARY_API Status name(void* handle, FillMode mode, Operation op, Diagonal diagonal, Int n,    \
                                   Int k, const T* a, Int lda, T* x, Int inc_x) {                          \
    return triangle<T, solve>(handle, op, diagonal, [&] { return band(mode, a, lda, n, k); }, {x, inc_x}); \
  }
#define LOCKSTEP_TPMV(name, T, solve, Int)                                                              \
  LOCKSTEP_LIBRARY_API Status name(void* handle, FillMode mode, Operation op, Diagonal diagonal, Int n, \
                                   const T* a, T* x, Int inc_x) {                                       \
    return triangle<T, solve>(handle, op, diagonal, [&] { return packed(mode, a, n); }, {x, inc_x});    \
  }
#define LOCKSTEP_SPR(name, T, S, hermitian, Int)                                                   \
  LOCKSTEP_LIBRARY_API Status name(void* handle, FillMode mode, Int n, const S* alpha, const T* x, \
                                   Int inc_x, T* a) {                                              \
    return update<T>(handle, mode, hermitian, n, alpha, {x, inc_x}, nullptr, a);                   \
  }
#define LOCKSTEP_SPR2(name, T, hermitian, Int)                                                     \
  LOCKSTEP_LIBRARY_API Status name(void* handle, FillMode mode, Int n, const T* alpha, const T* x, \
                                   Int inc_x, const T* y, Int inc_y, T* a) {                       \
    const Vector second{y, inc_y};                                                                 \
    return update<T>(handle, mode, hermitian, n, alpha, {x, inc_x}, &second, a);                   \
  }
#define LOCKSTEP_COPIES(letter, T)                                                                     \
  LOCKSTEP_LIBRARY_API Status cublas##letter##tpttr(void* handle, FillMode mode, int n, const T* from, \
                                                    T* to, int lda) {                                  \
    return copy<T>(handle, mode, n, from, to, lda, false);                                             \
  }                                                                                                    \
  LOCKSTEP_LIBRARY_API Status cublas##letter##trttp(void* handle, FillMode mode, int n, const T* from, \
                                                    int lda, T* to) {                                  \
    return copy<T>(handle, mode, n, to, from, lda, true);                                              \
  }

#define LOCKSTEP_OF_ALL(letter, T, suffix, Int)                 \
  LOCKSTEP_GBMV(cublas##letter##gbmv_v2##suffix, T, Int)        \
  LOCKSTEP_TBMV(cublas##letter##tbmv_v2##suffix, T, false, Int) \
  LOCKSTEP_TBMV(cublas##letter##tbsv_v2##suffix, T, true, Int)  \
  LOCKSTEP_TPMV(cublas##letter##tpmv_v2##suffix, T, false, Int) \
  LOCKSTEP_TPMV(cublas##letter##tpsv_v2##suffix, T, true, Int)
#define LOCKSTEP_OF_REAL(letter, T, suffix, Int)                     \
  LOCKSTEP_OF_ALL(letter, T, suffix, Int)                            \
  LOCKSTEP_SBMV(cublas##letter##sbmv_v2##suffix, T, kSymmetric, Int) \
  LOCKSTEP_SPMV(cublas##letter##spmv_v2##suffix, T, kSymmetric, Int) \
  LOCKSTEP_SPR(cublas##letter##spr_v2##suffix, T, T, false, Int)     \
  LOCKSTEP_SPR2(cublas##letter##spr2_v2##suffix, T, false, Int)
#define LOCKSTEP_OF_COMPLEX(letter, T, R, suffix, Int)               \
  LOCKSTEP_OF_ALL(letter, T, suffix, Int)                            \
  LOCKSTEP_SBMV(cublas##letter##hbmv_v2##suffix, T, kHermitian, Int) \
  LOCKSTEP_SPMV(cublas##letter##hpmv_v2##suffix, T, kHermitian, Int) \
  LOCKSTEP_SPR(cublas##letter##hpr_v2##suffix, T, R, true, Int)      \
  LOCKSTEP_SPR2(cublas##letter##hpr2_v2##suffix, T, true, Int)

LOCKSTEP_OF_REAL(S, float, , std::int32_t)
LOCKSTEP_OF_REAL(D, double, , std::int32_t)
LOCKSTEP_OF_COMPLEX(C, Complex64, float, , std::int32_t)
LOCKSTEP_OF_COMPLEX(Z, Complex128, double, , std::int32_t)
LOCKSTEP_OF_REAL(S, float, _64, std::int64_t)
LOCKSTEP_OF_REAL(D, double, _64, std::int64_t)
LOCKSTEP_OF_COMPLEX(C, Complex64, float, _64, std::int64_t)
LOCKSTEP_OF_COMPLEX(Z, Complex128, double, _64, std::int64_t)
LOCKSTEP_COPIES(S, float)
LOCKSTEP_COPIES(D, double)
LOCKSTEP_COPIES(C, Complex64)
LOCKSTEP_COPIES(Z, Complex128)

}  // namespace lockstep::libraries::blas
