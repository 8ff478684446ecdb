// Conversions between formats.
#include "libraries/sparse/context.hpp"
#include "libraries/sparse/gathered.hpp"

namespace lockstep::libraries::sparse {
namespace {

constexpr int kOfStructure = 0, kOfValues = 1;

void require_base(int base) { require(base == 0 || base == 1); }

struct ToColumns {
  int rows, columns, entries;
  const void* values;
  const int *offsets, *indices;
  void* column_values;
  int *column_offsets, *row_indices;
  int type, copied, base, algorithm;

  void check() const {
    require(rows >= 0 && columns >= 0 && entries >= 0 && algorithm == 1);
    require(copied == kOfStructure || copied == kOfValues);
    require_base(base);
    require(column_offsets != nullptr &&
            (entries == 0 || (offsets != nullptr && indices != nullptr && row_indices != nullptr)));
    if (copied == kOfStructure) return;
    require(entries == 0 || (values != nullptr && column_values != nullptr));
    with_type(type, "cusparseCsr2cscEx2", [](auto) {});
  }
  void run(const Context& context) const {
    const Indices by_row{offsets, 0, base}, by_entry{indices, 0, base};
    const long long count = entries;
    const Stream stream = context.stream;
    const Sorted sorted = sort_indices(by_entry, count, columns, stream, false);
    enqueue_offsets({sorted.keys.as<int>(), 0, 0}, count, columns, base, column_offsets, stream);
    const Memory expanded(static_cast<std::size_t>(entries) * sizeof(int), stream, false);
    enqueue_expansion(by_row, rows, count, 0, expanded.as<int>(), stream);
    const Indices source{expanded.as<int>(), 0, 0};
    const int* const order = sorted.order.as<int>();
    Kernels& kernels = kernels_of("structure");
    kernels.launch("lockstep_sparse_gather_i", blocks_for(count), {kThreads, 1, 1}, 0, stream, order, count,
                   source, base, row_indices);
    if (copied == kOfStructure) return;
    with_type(type, "cusparseCsr2cscEx2", [&](auto value_type) {
      kernels.launch(value_type.name("reorder").c_str(), blocks_for(count), {kThreads, 1, 1}, 0, stream,
                     order, count, values, column_values);
    });
  }
};

struct CooSort {
  int rows, columns, entries;
  int *row_indices, *column_indices, *permutation;

  void check() const {
    require(rows >= 0 && columns >= 0 && entries >= 0);
    require(entries == 0 || (row_indices != nullptr && column_indices != nullptr));
  }
  /// By `major` and, where that is the same, by `minor`.
  void run(const Context& context, int* major, int major_limit, int* minor, int minor_limit) const {
    if (entries == 0) return;
    // Which base the indices have is not said: neither does the order depend on it.
    const Stream stream = context.stream;
    const long long count = entries;
    Sorted sorted = sort_indices({minor, 0, 0}, count, minor_limit + 1LL, stream, false);
    pick(sorted.order.as<int>(), major, sorted.keys.as<int>(), stream);
    sort_further(sorted, count, major_limit + 1LL, stream, false);
    for (int* array : {major, minor, permutation}) {
      if (array == nullptr) continue;
      const std::size_t bytes = static_cast<std::size_t>(entries) * sizeof(int);
      const Memory before(bytes, stream, false);
      libraries::check(runtime().cudaMemcpyAsync(before.as<void>(), array, bytes, kDeviceToDevice, stream),
                       "copying indices");
      pick(sorted.order.as<int>(), before.as<int>(), array, stream);
    }
  }
  void pick(const int* order, const int* source, int* result, Stream stream) const {
    const long long count = entries;
    kernels_of("structure")
        .launch("lockstep_sparse_gather_i", blocks_for(count), {kThreads, 1, 1}, 0, stream, order, count,
                Indices{source, 0, 0}, 0, result);
  }
};

}  // namespace

LOCKSTEP_SPARSE_API cusparseCsr2cscEx2_bufferSize(void* handle, int rows, int columns, int entries,
                                                  const void* values, const int* offsets, const int* indices,
                                                  void* column_values, int* column_offsets, int* row_indices,
                                                  int type, int copied, int base, int algorithm,
                                                  std::size_t* bytes) {
  return with_context(handle, [&](Context&) {
    ToColumns{rows,           columns,     entries, values, offsets, indices,  column_values,
              column_offsets, row_indices, type,    copied, base,    algorithm}
        .check();
    require(bytes != nullptr);
    *bytes = 0;
  });
}
LOCKSTEP_SPARSE_API cusparseCsr2cscEx2(void* handle, int rows, int columns, int entries, const void* values,
                                       const int* offsets, const int* indices, void* column_values,
                                       int* column_offsets, int* row_indices, int type, int copied, int base,
                                       int algorithm, void*) {
  return with_context(handle, [&](Context& context) {
    const ToColumns conversion{rows,           columns,     entries, values, offsets, indices,  column_values,
                               column_offsets, row_indices, type,    copied, base,    algorithm};
    conversion.check();
    conversion.run(context);
  });
}

LOCKSTEP_SPARSE_API cusparseXcoo2csr(void* handle, const int* row_indices, int entries, int rows,
                                     int* offsets, int base) {
  return with_context(handle, [&](Context& context) {
    require(entries >= 0 && rows >= 0 && offsets != nullptr && (entries == 0 || row_indices != nullptr));
    require_base(base);
    enqueue_offsets({row_indices, 0, base}, entries, rows, base, offsets, context.stream);
  });
}
LOCKSTEP_SPARSE_API cusparseXcsr2coo(void* handle, const int* offsets, int entries, int rows,
                                     int* row_indices, int base) {
  return with_context(handle, [&](Context& context) {
    require(entries >= 0 && rows >= 0 && (entries == 0 || (offsets != nullptr && row_indices != nullptr)));
    require_base(base);
    enqueue_expansion({offsets, 0, base}, rows, entries, base, row_indices, context.stream);
  });
}

LOCKSTEP_SPARSE_API cusparseCreateIdentityPermutation(void* handle, int count, int* permutation) {
  return with_context(handle, [&](Context& context) {
    require(count >= 0 && (count == 0 || permutation != nullptr));
    int* const keys = nullptr;
    const long long entries = count;
    kernels_of("structure")
        .launch("lockstep_sparse_keys", blocks_for(entries), {kThreads, 1, 1}, 0, context.stream, Indices{},
                entries, keys, permutation);
  });
}
LOCKSTEP_SPARSE_API cusparseXcoosort_bufferSizeExt(void* handle, int rows, int columns, int entries,
                                                   const int* row_indices, const int* column_indices,
                                                   std::size_t* bytes) {
  return with_context(handle, [&](Context&) {
    CooSort{rows, columns, entries, const_cast<int*>(row_indices), const_cast<int*>(column_indices), nullptr}
        .check();
    require(bytes != nullptr);
    *bytes = 0;
  });
}
LOCKSTEP_SPARSE_API cusparseXcoosortByRow(void* handle, int rows, int columns, int entries, int* row_indices,
                                          int* column_indices, int* permutation, void*) {
  return with_context(handle, [&](Context& context) {
    const CooSort sort{rows, columns, entries, row_indices, column_indices, permutation};
    sort.check();
    sort.run(context, row_indices, rows, column_indices, columns);
  });
}
LOCKSTEP_SPARSE_API cusparseXcoosortByColumn(void* handle, int rows, int columns, int entries,
                                             int* row_indices, int* column_indices, int* permutation, void*) {
  return with_context(handle, [&](Context& context) {
    const CooSort sort{rows, columns, entries, row_indices, column_indices, permutation};
    sort.check();
    sort.run(context, column_indices, columns, row_indices, rows);
  });
}

namespace {
void check_dense(const SparseMatrix& matrix, const DenseMatrix& dense, int algorithm) {
  require(matrix.rows == dense.rows && matrix.columns == dense.columns && algorithm == 0);
  require_same_types("cusparseSparseToDense", {matrix.type, dense.type});
  if (matrix.batch != 1 || dense.batch != 1) refuse("cusparseSparseToDense: a batch of matrices");
}
}  // namespace

LOCKSTEP_SPARSE_API cusparseSparseToDense_bufferSize(void* handle, const void* sparse, void* dense,
                                                     int algorithm, std::size_t* bytes) {
  return with_context(handle, [&](Context&) {
    check_dense(described<SparseMatrix>(sparse), described<DenseMatrix>(dense), algorithm);
    require(bytes != nullptr);
    *bytes = 0;
  });
}
LOCKSTEP_SPARSE_API cusparseSparseToDense(void* handle, const void* sparse, void* dense, int algorithm,
                                          void*) {
  return with_context(handle, [&](Context& context) {
    const auto& matrix = described<SparseMatrix>(sparse);
    const auto& to = described<DenseMatrix>(dense);
    check_dense(matrix, to, algorithm);
    if (to.rows == 0 || to.columns == 0) return;
    const Gathered gathered(matrix, kAsIs, 0, context.stream);
    const int across = to.order == kByRows ? 1 : 0;
    with_type(matrix.type, "cusparseSparseToDense", [&](auto type) {
      Kernels& kernels = kernels_of("structure");
      kernels.launch(type.name("clear").c_str(), blocks_for(to.rows * to.columns), {kThreads, 1, 1}, 0,
                     context.stream, to.view(kAsIs), to.rows, to.columns, across);
      kernels.launch(type.name("densify").c_str(), blocks_for(32 * to.rows), {kThreads, 1, 1}, 0,
                     context.stream, gathered.rows, to.view(kAsIs));
    });
  });
}

}  // namespace lockstep::libraries::sparse
