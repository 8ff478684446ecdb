// Dense matrices to sparse ones, and products of dense matrices at the places of a sparse one.
#include <algorithm>

#include "libraries/sparse/context.hpp"
#include "libraries/sparse/gathered.hpp"

namespace lockstep::libraries::sparse {
namespace {

struct ToSparse {
  const void *dense, *sparse;
  int algorithm;

  void check() const {
    const auto& from = described<DenseMatrix>(dense);
    const auto& to = described<SparseMatrix>(sparse);
    require(from.rows == to.rows && from.columns == to.columns && algorithm == 0);
    require_same_types("cusparseDenseToSparse", {from.type, to.type});
    if (from.batch != 1 || to.batch != 1) refuse("cusparseDenseToSparse: a batch of matrices");
    require_int(rows());
    with_type(from.type, "cusparseDenseToSparse", [](auto) {});
  }
  [[nodiscard]] int operation() const { return described<SparseMatrix>(sparse).format == kCsc ? 1 : 0; }
  [[nodiscard]] long long rows() const { return described<DenseMatrix>(dense).rows_after(operation()); }
  [[nodiscard]] long long columns() const { return described<DenseMatrix>(dense).columns_after(operation()); }
  [[nodiscard]] Dense view() const { return described<DenseMatrix>(dense).view(operation()); }
  /// Neighbouring threads read neighbouring elements.
  [[nodiscard]] int lanes() const { return view().column == 1 ? 32 : 1; }

  /// Where the entries of each row begin, from 0.
  [[nodiscard]] Memory offsets(const Context& context) const {
    Memory counts(static_cast<std::size_t>(rows() + 1) * sizeof(int), context.stream, false);
    const int width = lanes();
    with_type(described<DenseMatrix>(dense).type, "cusparseDenseToSparse", [&](auto type) {
      kernels_of("dense").launch(type.name("count_nonzeros").c_str(), blocks_for((rows() + 1) * width),
                                 {kThreads, 1, 1}, 0, context.stream, view(), rows(), columns(), width,
                                 counts.as<int>());
    });
    enqueue_prefix_sums(counts.as<int>(), rows() + 1, context.stream);
    return counts;
  }
  void analyse(const Context& context) const {
    check();
    auto& to = described<SparseMatrix>(sparse);
    const Memory counts = offsets(context);
    to.entries = int_at(counts.as<int>() + rows(), context.stream);
    if (to.format == kCoo) return;
    require(to.first != nullptr);
    const long long count = rows() + 1;
    kernels_of("dense").launch("lockstep_sparse_put_indices", blocks_for(count), {kThreads, 1, 1}, 0,
                               context.stream, counts.as<int>(), count, to.first_view());
  }
  void convert(const Context& context) const {
    check();
    const auto& to = described<SparseMatrix>(sparse);
    if (to.entries == 0) return;
    require(to.first != nullptr && to.second != nullptr && to.values != nullptr);
    const Memory begins = offsets(context);
    const int width = lanes();
    const Indices coordinates = to.format == kCoo ? to.first_view() : Indices{};
    with_type(to.type, "cusparseDenseToSparse", [&](auto type) {
      kernels_of("dense").launch(type.name("sparsify").c_str(), blocks_for(rows() * width), {kThreads, 1, 1},
                                 0, context.stream, view(), rows(), columns(), width, begins.as<int>(),
                                 coordinates, to.second_view(), to.values);
    });
  }
};

struct SampledProduct {
  int operation_a, operation_b;
  const void *alpha, *a, *b, *beta, *c;
  int compute_type, algorithm;

  void check() const {
    const auto &left = described<DenseMatrix>(a), &right = described<DenseMatrix>(b);
    const auto& out = described<SparseMatrix>(c);
    require(alpha != nullptr && beta != nullptr && algorithm == 0);
    require_operation(operation_a);
    require_operation(operation_b);
    require(left.columns_after(operation_a) == right.rows_after(operation_b));
    require(left.rows_after(operation_a) == out.rows && right.columns_after(operation_b) == out.columns);
    require_same_types("cusparseSDDMM", {left.type, right.type, out.type, compute_type});
    if (out.format != kCsr) refuse("cusparseSDDMM: a matrix that is not CSR");
    require((left.batch == 1 || left.batch == out.batch) && (right.batch == 1 || right.batch == out.batch));
    require_int(out.entries);
    require_int(out.rows);
    with_type(out.type, "cusparseSDDMM", [](auto) {});
  }
  void run(const Context& context) const {
    check();
    const auto& out = described<SparseMatrix>(c);
    for (int which = 0; which < out.batch && out.entries != 0; ++which) run_one(context, which);
  }
  void run_one(const Context& context, int which) const {
    const auto &left = described<DenseMatrix>(a), &right = described<DenseMatrix>(b);
    const auto& out = described<SparseMatrix>(c);
    const Gathered gathered(out, kAsIs, which, context.stream);
    const Dense from = left.view(operation_a, left.batch > 1 ? which : 0),
                with = right.view(operation_b, right.batch > 1 ? which : 0);
    const long long inner = left.columns_after(operation_a);
    int lanes = 1;
    while (lanes < 32 && lanes < inner) lanes *= 2;
    with_type(out.type, "cusparseSDDMM", [&](auto type) {
      using T = typename decltype(type)::type;
      kernels_of("dense").launch(type.name("sddmm").c_str(), blocks_for(out.entries * lanes),
                                 {kThreads, 1, 1}, 0, context.stream, from, with, inner,
                                 scalar_of<T>(context, alpha), scalar_of<T>(context, beta), gathered.rows,
                                 out.entries, gathered.rows.values, lanes);
    });
  }
};

}  // namespace

LOCKSTEP_SPARSE_API cusparseDenseToSparse_bufferSize(void* handle, const void* dense, const void* sparse,
                                                     int algorithm, std::size_t* bytes) {
  return with_context(handle, [&](Context&) {
    ToSparse{dense, sparse, algorithm}.check();
    require(bytes != nullptr);
    *bytes = 0;
  });
}
LOCKSTEP_SPARSE_API cusparseDenseToSparse_analysis(void* handle, const void* dense, const void* sparse,
                                                   int algorithm, void*) {
  return with_context(handle, [&](Context& context) { ToSparse{dense, sparse, algorithm}.analyse(context); });
}
LOCKSTEP_SPARSE_API cusparseDenseToSparse_convert(void* handle, const void* dense, const void* sparse,
                                                  int algorithm, void*) {
  return with_context(handle, [&](Context& context) { ToSparse{dense, sparse, algorithm}.convert(context); });
}

LOCKSTEP_SPARSE_API cusparseSDDMM_bufferSize(void* handle, int op_a, int op_b, const void* alpha,
                                             const void* a, const void* b, const void* beta, void* c,
                                             int type, int algorithm, std::size_t* bytes) {
  return with_context(handle, [&](Context&) {
    SampledProduct{op_a, op_b, alpha, a, b, beta, c, type, algorithm}.check();
    require(bytes != nullptr);
    *bytes = 0;
  });
}
LOCKSTEP_SPARSE_API cusparseSDDMM_preprocess(void* handle, int op_a, int op_b, const void* alpha,
                                             const void* a, const void* b, const void* beta, void* c,
                                             int type, int algorithm, void*) {
  return with_context(
      handle, [&](Context&) { SampledProduct{op_a, op_b, alpha, a, b, beta, c, type, algorithm}.check(); });
}
LOCKSTEP_SPARSE_API cusparseSDDMM(void* handle, int op_a, int op_b, const void* alpha, const void* a,
                                  const void* b, const void* beta, void* c, int type, int algorithm, void*) {
  return with_context(handle, [&](Context& context) {
    SampledProduct{op_a, op_b, alpha, a, b, beta, c, type, algorithm}.run(context);
  });
}

}  // namespace lockstep::libraries::sparse
