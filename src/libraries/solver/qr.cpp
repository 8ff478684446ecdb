// QR factors: cusolverDnSgeqrf and its relatives.
#include <fmt/format.h>

#include <algorithm>

#include "libraries/blas/entries.hpp"
#include "libraries/solver/context.hpp"
#include "libraries/solver/qr_arguments.hpp"

namespace lockstep::libraries::solver {

[[nodiscard]] std::string_view embedded_ptx(std::string_view file);

namespace {

using blas::MatrixRef;
using blas::Product;

constexpr int kPanel = 32;

void launch(const Context& context, const std::string& name, blas::DataType type, unsigned ctas,
            const QrArguments& arguments) {
  static auto& kernels = *new Kernels(embedded_ptx("qr"));  // to the end of the process
  constexpr unsigned kThreads = 256;
  const std::string kernel = "lockstep_solver_" + name + "_" + blas::suffix_of(type);
  kernels.launch(kernel.c_str(), {ctas}, {kThreads}, 0, context.blas.stream, arguments);
}

/// The reflectors of a panel as I - V T V^T, which C is multiplied by.
class BlockReflector {
 public:
  /// `panel`: of `rows` x `columns`, at its diagonal. C has at most `others` rows or columns along the
  /// product.
  BlockReflector(const Context& context, blas::DataType type, const MatrixRef& panel, const void* tau,
                 int rows, int columns, int others)
      : context_(context),
        type_(type),
        rows_(rows),
        columns_(columns),
        v_(bytes(rows, columns), context.blas.stream),
        t_(bytes(kPanel, kPanel), context.blas.stream),
        w_(bytes(columns, others), context.blas.stream),
        tw_(bytes(columns, others), context.blas.stream) {
    QrArguments q{panel.base(), panel.ld, rows, columns, const_cast<void*>(tau), t_.data(), v_.data()};
    launch(context, "block_reflector", type, 1, q);
    launch(context, "reflectors", type, blas::blocks_of(rows, kPanel), q);
  }
  /// C, of rows x n, := (I - V op(T) V^T) C.
  void apply_left(const MatrixRef& c, int n, bool transposed) const {
    const MatrixRef v = matrix(v_, rows_), t = matrix(t_, kPanel), w = matrix(w_, columns_),
                    tw = matrix(tw_, columns_);
    multiply({columns_, n, rows_}, blas::kOpT, v, blas::kOpN, c, w, 1, 0);
    multiply({columns_, n, columns_}, transposed ? blas::kOpT : blas::kOpN, t, blas::kOpN, w, tw, 1, 0);
    multiply({rows_, n, columns_}, blas::kOpN, v, blas::kOpN, tw, c, -1, 1);
  }
  /// C, of m x rows, := C (I - V op(T) V^T).
  void apply_right(const MatrixRef& c, int m, bool transposed) const {
    const MatrixRef v = matrix(v_, rows_), t = matrix(t_, kPanel), w = matrix(w_, m), tw = matrix(tw_, m);
    multiply({m, columns_, rows_}, blas::kOpN, c, blas::kOpN, v, w, 1, 0);
    multiply({m, columns_, columns_}, blas::kOpN, w, transposed ? blas::kOpT : blas::kOpN, t, tw, 1, 0);
    multiply({m, rows_, columns_}, blas::kOpN, tw, blas::kOpT, v, c, -1, 1);
  }

 private:
  struct Sizes {
    int m, n, k;
  };
  [[nodiscard]] std::size_t bytes(int m, int n) const {
    return static_cast<std::size_t>(m) * static_cast<std::size_t>(n) * blas::bytes_of(type_);
  }
  [[nodiscard]] MatrixRef matrix(const Scratch& scratch, int ld) const {
    return {scratch.data(), std::max(1, ld), blas::bytes_of(type_)};
  }
  void multiply(const Sizes& sizes, int op_a, const MatrixRef& a, int op_b, const MatrixRef& b,
                const MatrixRef& c, double alpha, double beta) const {
    Product p{.type = type_, .m = sizes.m, .n = sizes.n, .k = sizes.k};
    p.op_a = op_a, p.a = a, p.op_b = op_b, p.b = b, p.c = c;
    p.alpha = blas::scalar_of(alpha), p.beta = blas::scalar_of(beta);
    blas::multiply(context_.blas, p);
  }

  const Context& context_;
  blas::DataType type_;
  int rows_, columns_;
  Scratch v_, t_, w_, tw_;
};

template <class T>
MatrixRef matrix_of(const T* data, int ld, int rows) {
  require(ld >= std::max(1, rows));
  return {const_cast<T*>(data), ld, sizeof(T)};
}

void clear(const Context& context, int* info) {
  require(info != nullptr);
  check(runtime().cudaMemsetAsync(info, 0, sizeof(int), context.blas.stream), "cudaMemsetAsync");
}

template <class T>
void factor(const Context& context, int m, int n, const MatrixRef& a, T* tau, int* info) {
  clear(context, info);
  for (int j = 0; j < std::min(m, n); j += kPanel) {
    const int count = std::min({kPanel, m - j, n - j}), rows = m - j, others = n - j - count;
    const MatrixRef panel = a.at(j, j);
    launch(context, "qr_panel", blas::kTypeOf<T>, 1,
           {panel.base(), panel.ld, rows, count, tau + j, nullptr, nullptr});
    if (others == 0) continue;
    const BlockReflector reflector(context, blas::kTypeOf<T>, panel, tau + j, rows, count, others);
    reflector.apply_left(a.at(j, j + count), others, true);
  }
}
template <class T>
Status geqrf(const void* handle, int m, int n, T* data, int ld, T* tau, int* info) {
  return with_context(handle, [&](Context& context) {
    require(m >= 0 && n >= 0);
    factor(context, m, n, matrix_of(data, ld, m), tau, info);
  });
}

/// Of the generic interface: which type all have.
blas::DataType type_of_all(const char* name, int a, int tau, int computed_with) {
  if ((a != blas::kReal32 && a != blas::kReal64) || tau != a || computed_with != a)
    refuse(fmt::format("{}: cudaDataType {} and {} with {}", name, a, tau, computed_with));
  return static_cast<blas::DataType>(a);
}

/// C := Q C, Q^T C, C Q or C Q^T of m x n, with the first k reflectors in A.
template <class T>
void multiply_by_q(const Context& context, bool left, bool transposed, int m, int n, int k,
                   const MatrixRef& a, const T* tau, const MatrixRef& c) {
  const int size = left ? m : n, blocks = (k + kPanel - 1) / kPanel;
  const bool forward = left == transposed;
  for (int i = 0; i < blocks && m > 0 && n > 0; ++i) {
    const int j = (forward ? i : blocks - 1 - i) * kPanel, count = std::min(kPanel, k - j);
    const BlockReflector reflector(context, blas::kTypeOf<T>, a.at(j, j), tau + j, size - j, count,
                                   left ? n : m);
    if (left)
      reflector.apply_left(c.at(j, 0), n, transposed);
    else
      reflector.apply_right(c.at(0, j), m, transposed);
  }
}

void check_q(int side, int op, int m, int n, int k) {
  require(side == blas::kSideLeft || side == blas::kSideRight);
  require(op == blas::kOpN || op == blas::kOpT || op == blas::kOpC);
  require(m >= 0 && n >= 0 && k >= 0 && k <= (side == blas::kSideLeft ? m : n));
}

template <class T>
Status ormqr(const void* handle, int side, int op, int m, int n, int k, const T* a, int lda, const T* tau,
             T* c, int ldc, int* info) {
  return with_context(handle, [&](Context& context) {
    check_q(side, op, m, n, k);
    const bool left = side == blas::kSideLeft;
    const MatrixRef q = matrix_of(a, lda, left ? m : n), to = matrix_of(c, ldc, m);
    clear(context, info);
    multiply_by_q(context, left, op != blas::kOpN, m, n, k, q, tau, to);
  });
}

template <class T>
Status orgqr(const void* handle, int m, int n, int k, T* data, int ld, const T* tau, int* info) {
  return with_context(handle, [&](Context& context) {
    require(m >= 0 && n >= 0 && n <= m && k >= 0 && k <= n);
    const MatrixRef a = matrix_of(data, ld, m);
    clear(context, info);
    if (m == 0 || n == 0) return;
    const std::size_t column = static_cast<std::size_t>(m) * sizeof(T);
    const Scratch scratch(column * static_cast<std::size_t>(n), context.blas.stream);
    const MatrixRef q{scratch.data(), m, sizeof(T)};
    blas::set_identity(context.blas, blas::kTypeOf<T>, q, m, n, 1);
    multiply_by_q(context, true, false, m, n, k, a, tau, q);
    check(runtime().cudaMemcpy2DAsync(data, static_cast<std::size_t>(ld) * sizeof(T), scratch.data(), column,
                                      column, static_cast<std::size_t>(n), kDeviceToDevice,
                                      context.blas.stream),
          "a copy");
  });
}

/// Workspaces are the library's own; programs may not expect none.
Status workspace(const void* handle, bool valid, int* elements) {
  return with_context(handle, [&](Context&) {
    require(valid && elements != nullptr);
    *elements = 1;
  });
}

}  // namespace

#define LOCKSTEP_SOLVER_QR(l, T)                                                                             \
  LOCKSTEP_SOLVER_API cusolverDn##l##geqrf_bufferSize(void* handle, int m, int n, T*, int lda,               \
                                                      int* elements) {                                       \
    return workspace(handle, m >= 0 && n >= 0 && lda >= std::max(1, m), elements);                           \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##geqrf(void* handle, int m, int n, T* a, int lda, T* tau, T*, int,       \
                                           int* info) {                                                      \
    return geqrf(handle, m, n, a, lda, tau, info);                                                           \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##ormqr_bufferSize(void* handle, int, int, int m, int n, int k, const T*, \
                                                      int, const T*, const T*, int ldc, int* elements) {     \
    return workspace(handle, m >= 0 && n >= 0 && k >= 0 && ldc >= std::max(1, m), elements);                 \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##ormqr(void* handle, int side, int op, int m, int n, int k, const T* a,  \
                                           int lda, const T* tau, T* c, int ldc, T*, int, int* info) {       \
    return ormqr(handle, side, op, m, n, k, a, lda, tau, c, ldc, info);                                      \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##orgqr_bufferSize(void* handle, int m, int n, int k, const T*, int lda,  \
                                                      const T*, int* elements) {                             \
    return workspace(handle, m >= 0 && n >= 0 && k >= 0 && lda >= std::max(1, m), elements);                 \
  }                                                                                                          \
  LOCKSTEP_SOLVER_API cusolverDn##l##orgqr(void* handle, int m, int n, int k, T* a, int lda, const T* tau,   \
                                           T*, int, int* info) {                                             \
    return orgqr(handle, m, n, k, a, lda, tau, info);                                                        \
  }
LOCKSTEP_SOLVER_QR(S, float)
LOCKSTEP_SOLVER_QR(D, double)

LOCKSTEP_SOLVER_API cusolverDnXgeqrf_bufferSize(void* handle, void*, std::int64_t m, std::int64_t n, int type,
                                                const void*, std::int64_t lda, int tau_type, const void*,
                                                int computed_with, std::size_t* on_device,
                                                std::size_t* on_host) {
  return with_context(handle, [&](Context&) {
    (void)type_of_all("cusolverDnXgeqrf_bufferSize", type, tau_type, computed_with);
    require(m >= 0 && n >= 0 && lda >= std::max<std::int64_t>(1, m));
    require(on_device != nullptr && on_host != nullptr);
    *on_device = 1, *on_host = 0;
  });
}
LOCKSTEP_SOLVER_API cusolverDnXgeqrf(void* handle, void*, std::int64_t m, std::int64_t n, int type, void* a,
                                     std::int64_t lda, int tau_type, void* tau, int computed_with, void*,
                                     std::size_t, void*, std::size_t, int* info) {
  return with_context(handle, [&](Context& context) {
    const blas::DataType all = type_of_all("cusolverDnXgeqrf", type, tau_type, computed_with);
    const int rows = blas::size_of(m), columns = blas::size_of(n);
    require(lda >= std::max(1, rows));
    const MatrixRef matrix{a, lda, blas::bytes_of(all)};
    if (all == blas::kReal32)
      factor(context, rows, columns, matrix, static_cast<float*>(tau), info);
    else
      factor(context, rows, columns, matrix, static_cast<double*>(tau), info);
  });
}

}  // namespace lockstep::libraries::solver
