#pragma once

// Sparse vectors, and conversions between formats.
#include "sparse_support.hpp"

/// A sparse vector with what it is made of.
template <class T>
struct SparseVector {
  int size, base;
  std::vector<int> places;
  std::vector<T> values;
  DeviceIndices indices;
  Device<T> device;
  cusparseSpVecDescr_t descriptor = nullptr;

  explicit SparseVector(Random& random)
      : size(1 + random.below(500)),
        base(random.below(2)),
        places(random_places(size, random)),
        values(random_vector<T>(static_cast<int>(places.size()), random)),
        indices(places, random.below(2) == 0, base),
        device(values) {
    expect_success(cusparseCreateSpVec(&descriptor, size, static_cast<int64_t>(places.size()), indices.data(),
                                       device.data(), indices.type(), static_cast<cusparseIndexBase_t>(base),
                                       Kind<T>::type),
                   "cusparseCreateSpVec");
  }
  ~SparseVector() { expect_success(cusparseDestroySpVec(descriptor), "cusparseDestroySpVec"); }
  SparseVector(const SparseVector&) = delete;
  SparseVector& operator=(const SparseVector&) = delete;

 private:
  static std::vector<int> random_places(int count, Random& random) {
    std::vector<int> result;
    for (int i = 0; i < count; ++i)
      if (random.below(4) == 0) result.push_back(i);
    return result;
  }
};

template <class T>
void check_dot(const Library& library, bool on_device, const SparseVector<T>& x, const std::vector<T>& y,
               Random& random) {
  const int operation = random.below(2) * 2;
  const Vector<T> dense(y);
  Value sum = 0;
  for (std::size_t k = 0; k < x.places.size(); ++k)
    sum += (operation == 2 ? std::conj(Value(x.values[k])) : Value(x.values[k])) *
           Value(y[static_cast<std::size_t>(x.places[k])]);
  const Device<T> device({T{}});
  T result{};
  expect_success(cusparseSpVV(library.handle, static_cast<cusparseOperation_t>(operation), x.descriptor,
                              dense.descriptor, on_device ? device.data() : &result, Kind<T>::type, nullptr),
                 "cusparseSpVV");
  check_near<T>({on_device ? device.get()[0] : result}, {sum}, 20, "cusparseSpVV");
}

/// In a graph the result is there, on the host, when the graph has been launched.
inline void check_captured_dot(const Library& library, Random& random) {
  cusparseSetPointerMode(library.handle, CUSPARSE_POINTER_MODE_HOST);
  cusparseSetStream(library.handle, library.stream);
  const SparseVector<float> x(random);
  const auto y = random_vector<float>(x.size, random);
  const Vector<float> dense(y);
  double sum = 0;
  for (std::size_t k = 0; k < x.places.size(); ++k)
    sum += static_cast<double>(x.values[k]) * static_cast<double>(y[static_cast<std::size_t>(x.places[k])]);
  float result = 77;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  expect(cudaStreamBeginCapture(library.stream, cudaStreamCaptureModeGlobal) == 0, "a capture");
  expect_success(cusparseSpVV(library.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, x.descriptor,
                              dense.descriptor, &result, CUDA_R_32F, nullptr),
                 "cusparseSpVV in a capture");
  expect(cudaStreamEndCapture(library.stream, &graph) == 0, "a capture's end");
  expect(result == 77, "a result before the launch");
  expect(cudaGraphInstantiate(&executable, graph, 0) == 0, "a graph");
  expect(cudaGraphLaunch(executable, library.stream) == 0 && cudaStreamSynchronize(library.stream) == 0,
         "a graph's launch");
  check_near<float>({result}, {sum}, 20, "cusparseSpVV in a graph");
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

template <class T>
void check_vectors(const Library& library, Random& random) {
  const bool on_device = set_mode(library, random);
  const SparseVector<T> x(random);
  const auto y = random_vector<T>(x.size, random);
  check_dot(library, on_device, x, y, random);
  const Vector<T> dense(y), other(y);
  const Scalar<T> alpha(random_factor<T>(random), on_device), beta(random_factor<T>(random), on_device);
  expect_success(cusparseAxpby(library.handle, alpha.pointer, x.descriptor, beta.pointer, dense.descriptor),
                 "cusparseAxpby");
  std::vector<Value> wanted;
  for (const T value : y) wanted.push_back(Value(beta.value) * Value(value));
  for (std::size_t k = 0; k < x.places.size(); ++k)
    wanted[static_cast<std::size_t>(x.places[k])] += Value(alpha.value) * Value(x.values[k]);
  auto changed = dense.device.get();
  check_near(changed, wanted, 1, "cusparseAxpby");
  expect_success(cusparseScatter(library.handle, x.descriptor, dense.descriptor), "cusparseScatter");
  for (std::size_t k = 0; k < x.places.size(); ++k)
    changed[static_cast<std::size_t>(x.places[k])] = x.values[k];
  expect(dense.device.get() == changed, "cusparseScatter");
  expect_success(cusparseGather(library.handle, other.descriptor, x.descriptor), "cusparseGather");
  std::vector<T> gathered;
  for (const int place : x.places) gathered.push_back(y[static_cast<std::size_t>(place)]);
  expect(x.device.get() == gathered, "cusparseGather");
}

template <class T>
void check_dense(const Library& library, Random& random) {
  set_mode(library, random);
  const Matrix matrix = random_matrix<T>(1 + random.below(60), 1 + random.below(60), random);
  const DeviceMatrix<T> sparse(matrix, static_cast<Format>(random.below(3)), random);
  DenseMatrix<T> dense(matrix.rows, matrix.columns, random);
  const DescribedMatrix<T> to(dense);
  for (int i = 0; i < dense.rows; ++i)
    for (int j = 0; j < dense.columns; ++j) dense.values[dense.place(i, j)] = T{};
  for (const Entry& entry : matrix.entries)
    dense.values[dense.place(entry.row, entry.column)] = Kind<T>::of(entry.value);
  expect_success(cusparseSparseToDense(library.handle, sparse.descriptor, to.descriptor,
                                       CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr),
                 "cusparseSparseToDense");
  expect(to.device.get() == dense.values, "cusparseSparseToDense");
}

/// Entries as arrays, from `base`.
template <class T>
struct Lists {
  int base;
  std::vector<int> rows, columns;
  std::vector<T> values;

  Lists(const std::vector<Entry>& entries, int index_base) : base(index_base) {
    for (const Entry& entry : entries) {
      rows.push_back(entry.row + base);
      columns.push_back(entry.column + base);
      values.push_back(Kind<T>::of(entry.value));
    }
  }
  /// Of sorted indices.
  [[nodiscard]] std::vector<int> offsets(std::vector<int> sorted, int count) const {
    for (int& index : sorted) index -= base;
    std::vector<int> result;
    for (const long long offset : offsets_of(sorted, count))
      result.push_back(static_cast<int>(offset) + base);
    return result;
  }
};

/// To CSC, and from offsets to rows and back. `by_column` is `by_row` in another order.
template <class T>
void check_conversion(const Library& library, const Matrix& matrix, const Lists<T>& by_row,
                      const Lists<T>& by_column) {
  const auto entries = static_cast<int>(by_row.rows.size());
  const auto base = static_cast<cusparseIndexBase_t>(by_row.base);
  const std::vector<int> offsets = by_row.offsets(by_row.rows, matrix.rows);
  const std::vector<int> column_offsets = by_row.offsets(by_column.columns, matrix.columns);
  const Device<int> rows(by_row.rows), columns(by_row.columns),
      made_offsets(std::vector<int>(offsets.size()));
  const Device<int> made_rows(std::vector<int>(by_row.rows.size())), made_column_rows(by_row.rows);
  const Device<int> made_column_offsets(std::vector<int>(column_offsets.size()));
  const Device<T> values(by_row.values), made_values(std::vector<T>(by_row.values.size()));
  expect_success(
      cusparseXcoo2csr(library.handle, rows.data(), entries, matrix.rows, made_offsets.data(), base),
      "cusparseXcoo2csr");
  expect(made_offsets.get() == offsets, "cusparseXcoo2csr");
  expect_success(
      cusparseXcsr2coo(library.handle, made_offsets.data(), entries, matrix.rows, made_rows.data(), base),
      "cusparseXcsr2coo");
  expect(made_rows.get() == by_row.rows, "cusparseXcsr2coo");
  expect_success(cusparseCsr2cscEx2(library.handle, matrix.rows, matrix.columns, entries, values.data(),
                                    made_offsets.data(), columns.data(), made_values.data(),
                                    made_column_offsets.data(), made_column_rows.data(), Kind<T>::type,
                                    CUSPARSE_ACTION_NUMERIC, base, CUSPARSE_CSR2CSC_ALG1, nullptr),
                 "cusparseCsr2cscEx2");
  expect(made_column_offsets.get() == column_offsets, "the columns of cusparseCsr2cscEx2");
  expect(made_column_rows.get() == by_column.rows, "the rows of cusparseCsr2cscEx2");
  expect(made_values.get() == by_column.values, "the values of cusparseCsr2cscEx2");
}

/// Sorted by columns and back; `order` is where the entries of `by_column` were.
template <class T>
void check_sorting(const Library& library, const Matrix& matrix, const Lists<T>& by_row,
                   const Lists<T>& by_column, const std::vector<int>& order) {
  const auto entries = static_cast<int>(order.size());
  std::vector<int> identity(order.size());
  std::iota(identity.begin(), identity.end(), 0);
  const Device<int> rows(by_row.rows), columns(by_row.columns), permutation(identity);
  expect_success(cusparseXcoosortByColumn(library.handle, matrix.rows, matrix.columns, entries, rows.data(),
                                          columns.data(), permutation.data(), nullptr),
                 "cusparseXcoosortByColumn");
  expect(rows.get() == by_column.rows && columns.get() == by_column.columns && permutation.get() == order,
         "cusparseXcoosortByColumn");
  expect_success(cusparseXcoosortByRow(library.handle, matrix.rows, matrix.columns, entries, rows.data(),
                                       columns.data(), permutation.data(), nullptr),
                 "cusparseXcoosortByRow");
  expect(rows.get() == by_row.rows && columns.get() == by_row.columns && permutation.get() == identity,
         "cusparseXcoosortByRow");
}

template <class T>
void check_conversions(const Library& library, Random& random) {
  set_mode(library, random);
  const Matrix matrix = random_matrix<T>(1 + random.below(300), 1 + random.below(300), random);
  std::vector<int> order(matrix.entries.size());
  std::iota(order.begin(), order.end(), 0);
  const auto entry_at = [&](int place) { return matrix.entries[static_cast<std::size_t>(place)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return entry_at(a).column < entry_at(b).column; });
  std::vector<Entry> sorted;
  for (const int place : order) sorted.push_back(entry_at(place));
  const int base = random.below(2);
  const Lists<T> by_row(matrix.entries, base), by_column(sorted, base);
  check_conversion(library, matrix, by_row, by_column);
  check_sorting(library, matrix, by_row, by_column, order);
}
