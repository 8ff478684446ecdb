// Triangular systems with one right-hand side or several. The analysis copies the structure to the host and
// groups rows that do not depend on each other; the solution takes the groups one after the other.
#include <memory>

#include "libraries/sparse/context.hpp"
#include "libraries/sparse/gathered.hpp"
#include "libraries/sparse/schedule.hpp"

namespace lockstep::libraries::sparse {
namespace {

/// What the analysis has found.
struct Plan {
  std::unique_ptr<Gathered> gathered;
  const void* matrix = nullptr;
  int operation = kAsIs;
  Schedule schedule;
};

struct VectorPlan : Plan {};
struct MatrixPlan : Plan {};

struct System {
  const char* what;
  int operation, operation_b;
  const void *alpha, *a;
  Dense b, x;
  long long b_rows, b_columns, x_rows, x_columns;
  int b_type, x_type, compute_type, algorithm;

  void check() const {
    const auto& matrix = described<SparseMatrix>(a);
    require(alpha != nullptr && algorithm == 0);
    require_operation(operation);
    require(operation_b == kAsIs || operation_b == kTransposed);
    require(matrix.rows == matrix.columns && b_rows == matrix.rows && x_rows == matrix.rows);
    require(b_columns == x_columns);
    require_same_types(what, {matrix.type, b_type, x_type, compute_type});
    if (matrix.batch != 1) refuse(std::string(what) + ": a batch of matrices");
    require_int(matrix.rows);
    with_type(matrix.type, what, [](auto) {});
  }
  void analyse(const Context& context, Plan& plan) const {
    check();
    const auto& matrix = described<SparseMatrix>(a);
    plan.gathered = std::make_unique<Gathered>(matrix, operation, 0, context.stream, true);
    plan.matrix = a;
    plan.operation = operation;
    const bool upper = (matrix.fill_mode == kUpper) != (operation != kAsIs);
    plan.schedule = Schedule(Structure(plan.gathered->rows, matrix.entries, context.stream), upper,
                             lanes_for(matrix.entries, matrix.rows), context.stream);
    plan.schedule.levels.unit = matrix.diagonal_type == kUnit;
  }
  void solve(const Context& context, const Plan& plan) const {
    check();
    require(plan.gathered != nullptr && plan.matrix == a && plan.operation == operation);
    const auto& matrix = described<SparseMatrix>(a);
    Rows rows = plan.gathered->rows;
    rows.values = matrix.values;
    if (x_columns == 0) return;
    with_type(matrix.type, what, [&](auto type) {
      using T = typename decltype(type)::type;
      for (const Launch& launch : plan.schedule.launches) {
        kernels_of("solve").launch(type.name("solve").c_str(), launch.grid(x_columns), launch.block(), 0,
                                   context.stream, rows, plan.schedule.levels, launch.first, launch.last,
                                   scalar_of<T>(context, alpha), b, x, x_columns, launch.lanes);
      }
    });
  }
};

System vector_system(int operation, const void* alpha, const void* a, const void* b, const void* x,
                     int compute_type, int algorithm) {
  const auto &from = described<DenseVector>(b), &to = described<DenseVector>(x);
  return {"cusparseSpSV",
          operation,
          kAsIs,
          alpha,
          a,
          {from.values, 1, from.size, 0},
          {to.values, 1, to.size, 0},
          from.size,
          1,
          to.size,
          1,
          from.type,
          to.type,
          compute_type,
          algorithm};
}

System matrix_system(int operation, int operation_b, const void* alpha, const void* a, const void* b,
                     const void* x, int compute_type, int algorithm) {
  const auto &from = described<DenseMatrix>(b), &to = described<DenseMatrix>(x);
  if (from.batch != 1 || to.batch != 1) refuse("cusparseSpSM: a batch of matrices");
  return {"cusparseSpSM",
          operation,
          operation_b,
          alpha,
          a,
          from.view(operation_b),
          to.view(kAsIs),
          from.rows_after(operation_b),
          from.columns_after(operation_b),
          to.rows,
          to.columns,
          from.type,
          to.type,
          compute_type,
          algorithm};
}

template <class T>
Status create(void** plan) {
  return guarded(&status_of, [&] {
    require(plan != nullptr);
    *plan = handles<T>().create();
  });
}
template <class T>
Status destroy(const void* plan) {
  return guarded(&status_of, [&] {
    (void)described<T>(plan);
    handles<T>().destroy(plan);
  });
}

}  // namespace

LOCKSTEP_SPARSE_API cusparseSpSV_createDescr(void** plan) { return create<VectorPlan>(plan); }
LOCKSTEP_SPARSE_API cusparseSpSV_destroyDescr(void* plan) { return destroy<VectorPlan>(plan); }
LOCKSTEP_SPARSE_API cusparseSpSV_bufferSize(void* handle, int operation, const void* alpha, const void* a,
                                            const void* b, void* x, int type, int algorithm, void* plan,
                                            std::size_t* bytes) {
  return with_context(handle, [&](Context&) {
    (void)described<VectorPlan>(plan);
    vector_system(operation, alpha, a, b, x, type, algorithm).check();
    require(bytes != nullptr);
    *bytes = 0;
  });
}
LOCKSTEP_SPARSE_API cusparseSpSV_analysis(void* handle, int operation, const void* alpha, const void* a,
                                          const void* b, void* x, int type, int algorithm, void* plan,
                                          void*) {
  return with_context(handle, [&](Context& context) {
    vector_system(operation, alpha, a, b, x, type, algorithm).analyse(context, described<VectorPlan>(plan));
  });
}
LOCKSTEP_SPARSE_API cusparseSpSV_solve(void* handle, int operation, const void* alpha, const void* a,
                                       const void* b, void* x, int type, int algorithm, void* plan) {
  return with_context(handle, [&](Context& context) {
    vector_system(operation, alpha, a, b, x, type, algorithm).solve(context, described<VectorPlan>(plan));
  });
}

LOCKSTEP_SPARSE_API cusparseSpSM_createDescr(void** plan) { return create<MatrixPlan>(plan); }
LOCKSTEP_SPARSE_API cusparseSpSM_destroyDescr(void* plan) { return destroy<MatrixPlan>(plan); }
LOCKSTEP_SPARSE_API cusparseSpSM_bufferSize(void* handle, int operation, int operation_b, const void* alpha,
                                            const void* a, const void* b, void* x, int type, int algorithm,
                                            void* plan, std::size_t* bytes) {
  return with_context(handle, [&](Context&) {
    (void)described<MatrixPlan>(plan);
    matrix_system(operation, operation_b, alpha, a, b, x, type, algorithm).check();
    require(bytes != nullptr);
    *bytes = 0;
  });
}
LOCKSTEP_SPARSE_API cusparseSpSM_analysis(void* handle, int operation, int operation_b, const void* alpha,
                                          const void* a, const void* b, void* x, int type, int algorithm,
                                          void* plan, void*) {
  return with_context(handle, [&](Context& context) {
    matrix_system(operation, operation_b, alpha, a, b, x, type, algorithm)
        .analyse(context, described<MatrixPlan>(plan));
  });
}
LOCKSTEP_SPARSE_API cusparseSpSM_solve(void* handle, int operation, int operation_b, const void* alpha,
                                       const void* a, const void* b, void* x, int type, int algorithm,
                                       void* plan) {
  return with_context(handle, [&](Context& context) {
    matrix_system(operation, operation_b, alpha, a, b, x, type, algorithm)
        .solve(context, described<MatrixPlan>(plan));
  });
}

}  // namespace lockstep::libraries::sparse
