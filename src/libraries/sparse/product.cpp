// Products of a sparse matrix with dense vectors and matrices.
#include <algorithm>

#include "libraries/sparse/context.hpp"
#include "libraries/sparse/gathered.hpp"
#include "libraries/sparse/schedule.hpp"

namespace lockstep::libraries::sparse {
namespace {

struct VectorProduct {
  int operation;
  const void *alpha, *a, *x, *beta, *y;
  int compute_type, algorithm;

  void check() const {
    const SparseMatrix& matrix = described<SparseMatrix>(a);
    const DenseVector &in = described<DenseVector>(x), &out = described<DenseVector>(y);
    require(alpha != nullptr && beta != nullptr);
    require_operation(operation);
    require(in.size == matrix.columns_after(operation) && out.size == matrix.rows_after(operation));
    require_same_types("cusparseSpMV", {matrix.type, in.type, out.type, compute_type});
    require(algorithm >= 0 && algorithm <= 6);
    if (matrix.batch != 1) refuse("cusparseSpMV: a batch of matrices");
    with_type(matrix.type, "cusparseSpMV", [](auto) {});
  }
  void run(const Context& context) const {
    check();
    const SparseMatrix& matrix = described<SparseMatrix>(a);
    const DenseVector &in = described<DenseVector>(x), &out = described<DenseVector>(y);
    if (out.size == 0) return;
    const Gathered gathered(matrix, operation, 0, context.stream);
    const int lanes = lanes_for(matrix.entries, out.size);
    with_type(matrix.type, "cusparseSpMV", [&](auto type) {
      using T = typename decltype(type)::type;
      kernels_of("product").launch(type.name("mv").c_str(), blocks_for(out.size * lanes), {kThreads, 1, 1}, 0,
                                   context.stream, gathered.rows, scalar_of<T>(context, alpha), in.values,
                                   scalar_of<T>(context, beta), out.values, lanes);
    });
  }
};

struct MatrixProduct {
  int operation, operation_b;
  const void *alpha, *a, *b, *beta, *c;
  int compute_type, algorithm;

  void check() const {
    const SparseMatrix& matrix = described<SparseMatrix>(a);
    const DenseMatrix &in = described<DenseMatrix>(b), &out = described<DenseMatrix>(c);
    require(alpha != nullptr && beta != nullptr);
    require_operation(operation);
    require_operation(operation_b);
    require(in.rows_after(operation_b) == matrix.columns_after(operation));
    require(out.rows == matrix.rows_after(operation) && out.columns == in.columns_after(operation_b));
    require_same_types("cusparseSpMM", {matrix.type, in.type, out.type, compute_type});
    require(algorithm >= 0 && algorithm <= 14);
    require((matrix.batch == 1 || matrix.batch == out.batch) && (in.batch == 1 || in.batch == out.batch));
    with_type(matrix.type, "cusparseSpMM", [](auto) {});
  }
  void run(const Context& context) const {
    check();
    const DenseMatrix& out = described<DenseMatrix>(c);
    if (out.rows == 0 || out.columns == 0) return;
    for (int which = 0; which < out.batch; ++which) run_one(context, which);
  }
  void run_one(const Context& context, int which) const {
    const SparseMatrix& matrix = described<SparseMatrix>(a);
    const DenseMatrix &in = described<DenseMatrix>(b), &out = described<DenseMatrix>(c);
    const Gathered gathered(matrix, operation, which, context.stream);
    const Dense from = in.view(operation_b, in.batch > 1 ? which : 0), to = out.view(kAsIs, which);
    const long long columns = out.columns;
    with_type(matrix.type, "cusparseSpMM", [&](auto type) {
      using T = typename decltype(type)::type;
      const Scalar<T> first = scalar_of<T>(context, alpha), second = scalar_of<T>(context, beta);
      Kernels& kernels = kernels_of("product");
      if (from.column == 1) {
        constexpr unsigned kRows = 8;
        const auto blocks = static_cast<unsigned>((out.rows + kRows - 1) / kRows);
        kernels.launch(type.name("mm_columns").c_str(), {blocks, pieces(columns, 32), 1}, {32, kRows, 1}, 0,
                       context.stream, gathered.rows, first, from, second, to, columns);
      } else {
        const int lanes = lanes_for(matrix.entries, out.rows);
        kernels.launch(type.name("mm_entries").c_str(),
                       {blocks_for(out.rows * lanes).x, pieces(columns, 4), 1}, {kThreads, 1, 1}, 0,
                       context.stream, gathered.rows, first, from, second, to, columns, lanes);
      }
    });
  }
  [[nodiscard]] static unsigned pieces(long long columns, long long width) {
    constexpr long long kLargestGrid = 65535;
    return static_cast<unsigned>(std::min(kLargestGrid, (columns + width - 1) / width));
  }
};

/// Work areas are the library's own, from the stream's pool.
template <class Product>
Status size_for(const void* handle, const Product& product, std::size_t* bytes) {
  return with_context(handle, [&](Context&) {
    require(bytes != nullptr);
    product.check();
    *bytes = 0;
  });
}

}  // namespace

LOCKSTEP_SPARSE_API cusparseSpMV_bufferSize(void* handle, int op, const void* alpha, const void* a,
                                            const void* x, const void* beta, void* y, int type, int algorithm,
                                            std::size_t* bytes) {
  return size_for(handle, VectorProduct{op, alpha, a, x, beta, y, type, algorithm}, bytes);
}
LOCKSTEP_SPARSE_API cusparseSpMV_preprocess(void* handle, int op, const void* alpha, const void* a,
                                            const void* x, const void* beta, void* y, int type, int algorithm,
                                            void*) {
  return with_context(handle,
                      [&](Context&) { VectorProduct{op, alpha, a, x, beta, y, type, algorithm}.check(); });
}
LOCKSTEP_SPARSE_API cusparseSpMV(void* handle, int op, const void* alpha, const void* a, const void* x,
                                 const void* beta, void* y, int type, int algorithm, void*) {
  return with_context(handle, [&](Context& context) {
    VectorProduct{op, alpha, a, x, beta, y, type, algorithm}.run(context);
  });
}

LOCKSTEP_SPARSE_API cusparseSpMM_bufferSize(void* handle, int op, int op_b, const void* alpha, const void* a,
                                            const void* b, const void* beta, void* c, int type, int algorithm,
                                            std::size_t* bytes) {
  return size_for(handle, MatrixProduct{op, op_b, alpha, a, b, beta, c, type, algorithm}, bytes);
}
LOCKSTEP_SPARSE_API cusparseSpMM_preprocess(void* handle, int op, int op_b, const void* alpha, const void* a,
                                            const void* b, const void* beta, void* c, int type, int algorithm,
                                            void*) {
  return with_context(
      handle, [&](Context&) { MatrixProduct{op, op_b, alpha, a, b, beta, c, type, algorithm}.check(); });
}
LOCKSTEP_SPARSE_API cusparseSpMM(void* handle, int op, int op_b, const void* alpha, const void* a,
                                 const void* b, const void* beta, void* c, int type, int algorithm, void*) {
  return with_context(handle, [&](Context& context) {
    MatrixProduct{op, op_b, alpha, a, b, beta, c, type, algorithm}.run(context);
  });
}

}  // namespace lockstep::libraries::sparse
