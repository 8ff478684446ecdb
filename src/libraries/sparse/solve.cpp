// Triangular systems with one right-hand side or several. The analysis copies the structure to the host and
// groups rows that do not depend on each other; the solution takes the groups one after the other.
#include <algorithm>
#include <memory>
#include <vector>

#include "libraries/sparse/context.hpp"
#include "libraries/sparse/gathered.hpp"

namespace lockstep::libraries::sparse {
namespace {

/// Some levels by one launch.
struct Launch {
  int first, last;
  long long rows;  // of its only level; 0: several small levels, by one CTA
};

/// What the analysis has found.
struct Plan {
  std::unique_ptr<Gathered> gathered;
  const void* matrix = nullptr;
  int operation = kAsIs;
  Memory rows, starts;
  Levels levels;
  std::vector<Launch> launches;
};

struct VectorPlan : Plan {};
struct MatrixPlan : Plan {};

constexpr long long kRowsOfOneCta = 32;

template <class T>
std::vector<T> copied(const void* data, long long count, Stream stream) {
  std::vector<T> values(static_cast<std::size_t>(count));
  if (count == 0) return values;
  check(runtime().cudaMemcpyAsync(values.data(), data, values.size() * sizeof(T), kDeviceToHost, stream),
        "copying a matrix");
  check(runtime().cudaStreamSynchronize(stream), "copying a matrix");
  return values;
}

/// From 0, in the order of the entries of `rows`.
std::vector<long long> copied_indices(const Indices& indices, long long count, Stream stream) {
  std::vector<long long> result;
  if (indices.wide != 0) {
    result = copied<long long>(indices.data, count, stream);
  } else {
    const auto narrow = copied<int>(indices.data, count, stream);
    result.assign(narrow.begin(), narrow.end());
  }
  for (long long& index : result) index -= indices.base;
  return result;
}

/// For each row how many others have to come before it, one after the other.
std::vector<int> levels_of(const Rows& rows, long long entries, bool upper, Stream stream) {
  const auto offsets = copied_indices(rows.offsets, rows.count + 1, stream);
  const auto columns = copied_indices(rows.columns, entries, stream);
  std::vector<int> order;
  if (rows.order != nullptr) order = copied<int>(rows.order, entries, stream);
  std::vector<int> levels(static_cast<std::size_t>(rows.count));
  for (long long i = 0; i < rows.count; ++i) {
    const long long row = upper ? rows.count - 1 - i : i;
    int level = 0;
    for (long long k = offsets[static_cast<std::size_t>(row)]; k < offsets[static_cast<std::size_t>(row + 1)];
         ++k) {
      const auto place = static_cast<std::size_t>(k);
      const long long column = columns[order.empty() ? place : static_cast<std::size_t>(order[place])];
      if (column != row && (column > row) == upper)
        level = std::max(level, 1 + levels[static_cast<std::size_t>(column)]);
    }
    levels[static_cast<std::size_t>(row)] = level;
  }
  return levels;
}

Memory uploaded(const std::vector<int>& values, Stream stream) {
  Memory memory(values.size() * sizeof(int), stream, true);
  if (values.empty()) return memory;
  check(runtime().cudaMemcpyAsync(memory.as<void>(), values.data(), values.size() * sizeof(int),
                                  kHostToDevice, stream),
        "copying levels");
  check(runtime().cudaStreamSynchronize(stream), "copying levels");
  return memory;
}

void group(Plan& plan, const std::vector<int>& levels, Stream stream) {
  const int count = levels.empty() ? 0 : 1 + *std::max_element(levels.begin(), levels.end());
  std::vector<int> starts(static_cast<std::size_t>(count) + 1), rows(levels.size());
  for (const int level : levels) ++starts[static_cast<std::size_t>(level) + 1];
  for (std::size_t level = 1; level < starts.size(); ++level) starts[level] += starts[level - 1];
  std::vector<int> next = starts;
  for (std::size_t row = 0; row < levels.size(); ++row)
    rows[static_cast<std::size_t>(next[static_cast<std::size_t>(levels[row])]++)] = static_cast<int>(row);
  plan.rows = uploaded(rows, stream);
  plan.starts = uploaded(starts, stream);
  plan.levels.rows = plan.rows.as<int>();
  plan.levels.starts = plan.starts.as<int>();
  plan.launches.clear();
  for (int level = 0; level < count; ++level) {
    const long long size =
        starts[static_cast<std::size_t>(level) + 1] - starts[static_cast<std::size_t>(level)];
    const bool small = size <= kRowsOfOneCta;
    if (small && !plan.launches.empty() && plan.launches.back().rows == 0) {
      plan.launches.back().last = level;
    } else {
      plan.launches.push_back({level, level, small ? 0 : size});
    }
  }
}

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
    plan.levels.upper = (matrix.fill_mode == kUpper) != (operation != kAsIs);
    plan.levels.unit = matrix.diagonal_type == kUnit;
    group(plan, levels_of(plan.gathered->rows, matrix.entries, plan.levels.upper != 0, context.stream),
          context.stream);
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
      for (const Launch& launch : plan.launches) {
        const Dim3 grid = launch.rows == 0 ? Dim3{1, 1, 1} : blocks_for(32 * launch.rows * x_columns);
        const unsigned threads = launch.rows == 0 ? 1024 : kThreads;
        kernels_of("solve").launch(type.name("solve").c_str(), grid, {threads, 1, 1}, 0, context.stream, rows,
                                   plan.levels, launch.first, launch.last, scalar_of<T>(context, alpha), b, x,
                                   x_columns);
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
