// Eigenvalues of A x = w B x and its relatives, with a positive definite B: cusolverDnSsygvd. By Cholesky's
// factors of B it becomes a problem of one matrix.
#include <algorithm>

#include "libraries/blas/entries.hpp"
#include "libraries/blas/factor.hpp"
#include "libraries/blas/level2.hpp"
#include "libraries/solver/eigen.hpp"

namespace lockstep::libraries::solver {
namespace {

using blas::MatrixRef;

/// B = L L^T; U, where that is what is stored, is L^T.
class Reduction {
 public:
  Reduction(const Context& context, blas::DataType type, int triangle, int n, const MatrixRef& a,
            const MatrixRef& b)
      : context_(context),
        type_(type),
        triangle_(triangle),
        n_(n),
        b_(b),
        memory_(3 * bytes(), context.blas.stream) {
    expand("expand", a, whole());
  }
  /// A, then its eigenvectors.
  [[nodiscard]] MatrixRef whole() const { return part(0); }

  /// A := L^-1 A L^-T
  void divide() const {
    solve(false, false);
    solve(true, true);
  }
  /// A := L^T A L
  void multiply() const {
    expand("expand_triangle", b_, part(1));
    product(whole(), blas::kOpN, part(1), op(false), part(2));
    product(part(1), op(true), part(2), blas::kOpN, whole());
  }
  /// Eigenvectors of the first problem: L^-T y.
  void divide_vectors() const { solve(false, true); }
  /// L y
  void multiply_vectors() const {
    product(part(1), op(false), whole(), blas::kOpN, part(2));
    check(
        runtime().cudaMemcpyAsync(whole().data, part(2).data, bytes(), kDeviceToDevice, context_.blas.stream),
        "a copy");
  }

 private:
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_) * blas::bytes_of(type_);
  }
  [[nodiscard]] MatrixRef part(std::size_t index) const {
    return {memory_.as<char>() + index * bytes(), std::max(1, n_), blas::bytes_of(type_)};
  }
  /// That makes L, or L^T, of what is stored.
  [[nodiscard]] int op(bool transposed) const {
    return transposed == (triangle_ == blas::kLowerTriangle) ? blas::kOpT : blas::kOpN;
  }
  void expand(const char* kernel, const MatrixRef& from, const MatrixRef& to) const {
    constexpr std::int64_t kSide = 32;
    blas::MatrixVectorArguments g{};
    g.a = from.data, g.lda = from.ld, g.m = g.n = n_, g.triangle = triangle_, g.batches = 1;
    g.y = to.data, g.inc_y = to.ld, g.inc_x = 1;
    g.alpha = g.beta = blas::scalar_of(1.0);
    const unsigned blocks = blas::blocks_of(n_, kSide);
    blas::launch_typed(context_.blas, "matrix_vector", kernel, type_, {blocks, blocks}, g);
  }
  void solve(bool right, bool transposed) const {
    blas::Solution s{.type = type_, .right = right, .triangle = triangle_};
    s.op = op(transposed), s.m = s.n = n_, s.a = b_, s.b = whole(), s.alpha = blas::scalar_of(1.0);
    blas::solve_triangular(context_.blas, s);
  }
  void product(const MatrixRef& a, int op_a, const MatrixRef& b, int op_b, const MatrixRef& c) const {
    blas::Product p{.type = type_, .m = n_, .n = n_, .k = n_};
    p.a = a, p.op_a = op_a, p.b = b, p.op_b = op_b, p.c = c;
    p.alpha = blas::scalar_of(1.0), p.beta = blas::scalar_of(0.0);
    blas::multiply(context_.blas, p);
  }

  const Context& context_;
  blas::DataType type_;
  int triangle_, n_;
  MatrixRef b_;
  Scratch memory_;
};

/// A x = w B x, A B x = w x, B A x = w x.
enum Problem { kAxBx = 1, kABx = 2, kBAx = 3 };

void check_problem(int problem, const EigenCall& c, std::int64_t ldb) {
  require(problem >= kAxBx && problem <= kBAx && ldb >= std::max<std::int64_t>(1, c.n));
  check_call(c);
}

/// `info`: n more than the order of the leading part of B that is not positive definite.
void find_generalized(const Context& context, blas::DataType type, int problem, const EigenCall& c, void* b,
                      std::int64_t ldb) {
  check_problem(problem, c, ldb);
  EigenArguments e = arguments_of(c);
  const Scratch factored(sizeof(int), context.blas.stream);
  blas::Factors f{.type = type};
  f.a = {b, ldb, blas::bytes_of(type)}, f.info = factored.as<int>();
  const int triangle = blas::triangle_of(c.fill);
  blas::factor_cholesky(context.blas, f, triangle, e.n);
  const Reduction reduction(context, type, triangle, e.n, {c.a, c.lda, blas::bytes_of(type)}, f.a);
  if (problem == kAxBx)
    reduction.divide();
  else
    reduction.multiply();
  e.a = reduction.whole().data, e.lda = reduction.whole().ld, e.before = factored.as<int>();
  launch_eigen(context, type, e, 1);
  if (c.mode != kWithVectors || e.n == 0) return;
  if (problem == kBAx)
    reduction.multiply_vectors();
  else
    reduction.divide_vectors();
  const std::size_t bytes = blas::bytes_of(type), column = static_cast<std::size_t>(e.n) * bytes;
  check(runtime().cudaMemcpy2DAsync(c.a, static_cast<std::size_t>(c.lda) * bytes, e.a, column, column,
                                    static_cast<std::size_t>(e.n), kDeviceToDevice, context.blas.stream),
        "a copy");
}

}  // namespace

#define LOCKSTEP_SOLVER_GENERALIZED(l, T)                                                                   \
  LOCKSTEP_SOLVER_API cusolverDn##l##sygvd_bufferSize(void* handle, int problem, int mode, int fill, int n, \
                                                      const T*, int lda, const T*, int ldb, const T*,       \
                                                      int* elements) {                                      \
    return with_context(handle, [&](Context&) {                                                             \
      check_problem(problem, {mode, fill, n, nullptr, lda, nullptr, nullptr}, ldb);                         \
      require(elements != nullptr);                                                                         \
      *elements = 1;                                                                                        \
    });                                                                                                     \
  }                                                                                                         \
  LOCKSTEP_SOLVER_API cusolverDn##l##sygvd(void* handle, int problem, int mode, int fill, int n, T* a,      \
                                           int lda, T* b, int ldb, T* values, T*, int, int* info) {         \
    return with_context(handle, [&](Context& context) {                                                     \
      find_generalized(context, blas::kTypeOf<T>, problem, {mode, fill, n, a, lda, values, info}, b, ldb);  \
    });                                                                                                     \
  }
LOCKSTEP_SOLVER_GENERALIZED(S, float)
LOCKSTEP_SOLVER_GENERALIZED(D, double)

}  // namespace lockstep::libraries::solver
