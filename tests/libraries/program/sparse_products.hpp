#pragma once

// Sparse results whose structure is found by the library or given: from dense matrices, and products.
#include <map>

#include "sparse_support.hpp"

/// Memory for indices of either width that the library writes.
class OutIndices {
 public:
  OutIndices(std::size_t count, bool wide, int base)
      : count_(count), wide_(wide), base_(base), memory_(std::vector<long long>(count + 1, -1)) {}
  [[nodiscard]] void* data() const { return memory_.data(); }
  [[nodiscard]] cusparseIndexType_t type() const { return wide_ ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I; }
  /// From 0.
  [[nodiscard]] std::vector<long long> get() const {
    std::vector<long long> result;
    cudaDeviceSynchronize();
    std::vector<int> narrow(count_);
    if (!wide_) cudaMemcpy(narrow.data(), memory_.data(), count_ * sizeof(int), cudaMemcpyDeviceToHost);
    const std::vector<long long> all = memory_.get();
    for (std::size_t k = 0; k < count_; ++k) result.push_back((wide_ ? all[k] : narrow[k]) - base_);
    return result;
  }

 private:
  std::size_t count_;
  bool wide_;
  int base_;
  Device<long long> memory_;
};

inline std::size_t entries_of(cusparseSpMatDescr_t matrix) {
  int64_t rows = 0, columns = 0, entries = 0;
  expect_success(cusparseSpMatGetSize(matrix, &rows, &columns, &entries), "cusparseSpMatGetSize");
  return static_cast<std::size_t>(entries);
}

template <class T>
void check_from_dense(const Library& library, Random& random) {
  set_mode(library, random);
  DenseMatrix<T> dense(1 + random.below(70), random.below(70), random);
  const int density = 1 + random.below(5);
  std::vector<Entry> wanted;
  const auto format = static_cast<Format>(random.below(3));
  const bool by_column = format == Format::kCsc;
  const int lines = by_column ? dense.columns : dense.rows, others = by_column ? dense.rows : dense.columns;
  for (int i = 0; i < lines; ++i)
    for (int j = 0; j < others; ++j) {
      T& value = dense.values[by_column ? dense.place(j, i) : dense.place(i, j)];
      if (random.below(density) != 0) value = T{};
      if (value != T{}) wanted.push_back({i, j, Value(value)});
    }
  const DescribedMatrix<T> from(dense);
  const int base = random.below(2);
  const bool wide = random.below(2) == 0, wide_second = format == Format::kCoo ? wide : random.below(2) == 0;
  const OutIndices first(format == Format::kCoo ? wanted.size() : static_cast<std::size_t>(lines) + 1, wide,
                         base),
      second(wanted.size(), wide_second, base);
  const Device<T> values(std::vector<T>(wanted.size() + 1));
  cusparseSpMatDescr_t to = nullptr;
  const auto index_base = static_cast<cusparseIndexBase_t>(base);
  if (format == Format::kCoo) {
    expect_success(cusparseCreateCoo(&to, dense.rows, dense.columns, 0, nullptr, nullptr, nullptr,
                                     first.type(), index_base, Kind<T>::type),
                   "cusparseCreateCoo");
  } else {
    auto* const create = by_column ? cusparseCreateCsc : cusparseCreateCsr;
    expect_success(create(&to, dense.rows, dense.columns, 0, first.data(), nullptr, nullptr, first.type(),
                          second.type(), index_base, Kind<T>::type),
                   "cusparseCreateCsr or Csc");
  }
  std::size_t bytes = 77;
  constexpr auto kAlgorithm = CUSPARSE_DENSETOSPARSE_ALG_DEFAULT;
  expect_success(cusparseDenseToSparse_bufferSize(library.handle, from.descriptor, to, kAlgorithm, &bytes),
                 "cusparseDenseToSparse_bufferSize");
  const Device<char> buffer(std::vector<char>(bytes + 1));
  expect_success(
      cusparseDenseToSparse_analysis(library.handle, from.descriptor, to, kAlgorithm, buffer.data()),
      "cusparseDenseToSparse_analysis");
  expect(entries_of(to) == wanted.size(), "the entries of a dense matrix");
  auto* const point = format == Format::kCoo   ? cusparseCooSetPointers
                      : format == Format::kCsc ? cusparseCscSetPointers
                                               : cusparseCsrSetPointers;
  expect_success(point(to, first.data(), second.data(), values.data()), "pointers");
  expect_success(
      cusparseDenseToSparse_convert(library.handle, from.descriptor, to, kAlgorithm, buffer.data()),
      "cusparseDenseToSparse_convert");
  std::vector<int> rows;
  std::vector<long long> others_wanted;
  std::vector<T> values_wanted;
  for (const Entry& entry : wanted) {
    rows.push_back(entry.row);
    others_wanted.push_back(entry.column);
    values_wanted.push_back(Kind<T>::of(entry.value));
  }
  values_wanted.push_back(T{});
  const std::vector<long long> first_wanted =
      format == Format::kCoo ? std::vector<long long>(rows.begin(), rows.end()) : offsets_of(rows, lines);
  expect(first.get() == first_wanted && second.get() == others_wanted && values.get() == values_wanted,
         named("cusparseDenseToSparse", format, 0));
  expect_success(cusparseDestroySpMat(to), "cusparseDestroySpMat");
}

/// What a product of sparse matrices has: the places where entries meet, also where their sum is 0.
inline std::map<std::pair<int, int>, Value> product_of(const Matrix& a, const Matrix& b) {
  std::map<std::pair<int, int>, Value> sums;
  for (const Entry& left : a.entries)
    for (const Entry& right : b.entries)
      if (left.column == right.row) sums[{left.row, right.column}] += left.value * right.value;
  return sums;
}

/// The calls up to the number of entries of C; gives how many products there are by the library's count.
template <class T>
int64_t find_structure(const Library& library, const void* alpha, const void* beta, cusparseSpMatDescr_t a,
                       cusparseSpMatDescr_t b, cusparseSpMatDescr_t c, cusparseSpGEMMAlg_t algorithm,
                       cusparseSpGEMMDescr_t plan, bool reused) {
  constexpr auto kOp = CUSPARSE_OPERATION_NON_TRANSPOSE;
  std::size_t bytes = 0, bytes3 = 0, bytes4 = 0;
  for (const bool real : {false, true}) {
    const Device<char> buffer(std::vector<char>(bytes + 1));
    void* const memory = real ? buffer.data() : nullptr;
    expect_success(reused ? cusparseSpGEMMreuse_workEstimation(library.handle, kOp, kOp, a, b, c, algorithm,
                                                               plan, &bytes, memory)
                          : cusparseSpGEMM_workEstimation(library.handle, kOp, kOp, alpha, a, b, beta, c,
                                                          Kind<T>::type, algorithm, plan, &bytes, memory),
                   "workEstimation");
  }
  int64_t products = -1;
  expect_success(cusparseSpGEMM_getNumProducts(plan, &products), "cusparseSpGEMM_getNumProducts");
  if (algorithm == CUSPARSE_SPGEMM_ALG3) {
    std::size_t needed = 0;
    expect_success(
        cusparseSpGEMM_estimateMemory(library.handle, kOp, kOp, alpha, a, b, beta, c, Kind<T>::type,
                                      algorithm, plan, 0.2F, &bytes, nullptr, nullptr),
        "cusparseSpGEMM_estimateMemory");
    const Device<char> buffer(std::vector<char>(bytes + 1));
    expect_success(
        cusparseSpGEMM_estimateMemory(library.handle, kOp, kOp, alpha, a, b, beta, c, Kind<T>::type,
                                      algorithm, plan, 0.2F, &bytes, buffer.data(), &needed),
        "cusparseSpGEMM_estimateMemory");
  }
  for (const bool real : {false, true}) {
    const Device<char> buffer(std::vector<char>(bytes + bytes3 + bytes4 + 1));
    void* const memory = real ? buffer.data() : nullptr;
    expect_success(reused ? cusparseSpGEMMreuse_nnz(library.handle, kOp, kOp, a, b, c, algorithm, plan,
                                                    &bytes, memory, &bytes3, memory, &bytes4, memory)
                          : cusparseSpGEMM_compute(library.handle, kOp, kOp, alpha, a, b, beta, c,
                                                   Kind<T>::type, algorithm, plan, &bytes, memory),
                   "compute");
  }
  return products;
}

template <class T>
void check_sparse_product(const Library& library, Random& random) {
  constexpr auto kOp = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const bool on_device = set_mode(library, random), reused = random.below(2) == 0;
  const int inner = random.below(90);
  const Matrix left = random_matrix<T>(1 + random.below(90), inner, random),
               right = random_matrix<T>(inner, 1 + random.below(90), random);
  const auto sums = product_of(left, right);
  const DeviceMatrix<T> a(left, Format::kCsr, random), b(right, Format::kCsr, random);
  const int base = random.below(2);
  const OutIndices offsets(static_cast<std::size_t>(left.rows) + 1, random.below(2) == 0, base),
      columns(sums.size(), random.below(2) == 0, base);
  const Scalar<T> alpha(random_factor<T>(random), on_device), beta(random_factor<T>(random), on_device);
  auto start = random_vector<T>(static_cast<int>(sums.size()), random);
  std::vector<int> rows;
  std::vector<long long> columns_wanted;
  std::vector<Value> wanted;
  for (const auto& [place, sum] : sums) {
    wanted.push_back(Value(alpha.value) * sum + Value(beta.value) * Value(start[rows.size()]));
    rows.push_back(place.first);
    columns_wanted.push_back(place.second);
  }
  spoil(start, beta.value);
  const Device<T> values(start);
  cusparseSpMatDescr_t c = nullptr;
  expect_success(
      cusparseCreateCsr(&c, left.rows, right.columns, 0, offsets.data(), nullptr, nullptr, offsets.type(),
                        columns.type(), static_cast<cusparseIndexBase_t>(base), Kind<T>::type),
      "cusparseCreateCsr");
  cusparseSpGEMMDescr_t plan = nullptr;
  expect_success(cusparseSpGEMM_createDescr(&plan), "cusparseSpGEMM_createDescr");
  const auto algorithm = !reused && random.below(2) == 0 ? CUSPARSE_SPGEMM_ALG3 : CUSPARSE_SPGEMM_DEFAULT;
  const int64_t products = find_structure<T>(library, alpha.pointer, beta.pointer, a.descriptor, b.descriptor,
                                             c, algorithm, plan, reused);
  int64_t counted = 0;
  for (const Entry& one : left.entries)
    counted += std::count_if(right.entries.begin(), right.entries.end(),
                             [&](const Entry& other) { return one.column == other.row; });
  expect(products == counted, "cusparseSpGEMM_getNumProducts");
  expect(entries_of(c) == sums.size(), "the entries of a product");
  expect_success(cusparseCsrSetPointers(c, offsets.data(), columns.data(), values.data()),
                 "cusparseCsrSetPointers");
  if (reused) {
    std::size_t bytes = 0;
    const Device<char> buffer(std::vector<char>(1024));
    for (void* const memory : {static_cast<void*>(nullptr), static_cast<void*>(buffer.data())})
      expect_success(cusparseSpGEMMreuse_copy(library.handle, kOp, kOp, a.descriptor, b.descriptor, c,
                                              algorithm, plan, &bytes, memory),
                     "cusparseSpGEMMreuse_copy");
    expect_success(cusparseSpGEMMreuse_compute(library.handle, kOp, kOp, alpha.pointer, a.descriptor,
                                               b.descriptor, beta.pointer, c, Kind<T>::type, algorithm, plan),
                   "cusparseSpGEMMreuse_compute");
  } else {
    expect_success(cusparseSpGEMM_copy(library.handle, kOp, kOp, alpha.pointer, a.descriptor, b.descriptor,
                                       beta.pointer, c, Kind<T>::type, algorithm, plan),
                   "cusparseSpGEMM_copy");
  }
  check_near(values.get(), wanted, 10, "cusparseSpGEMM");
  expect(offsets.get() == offsets_of(rows, left.rows), "the offsets of cusparseSpGEMM");
  expect(columns.get() == columns_wanted, "the columns of cusparseSpGEMM");
  expect_success(cusparseSpGEMM_destroyDescr(plan), "cusparseSpGEMM_destroyDescr");
  expect_success(cusparseDestroySpMat(c), "cusparseDestroySpMat");
}

template <class T>
void check_sampled_product(const Library& library, Random& random) {
  const bool on_device = set_mode(library, random);
  const Matrix places = random_matrix<T>(1 + random.below(60), 1 + random.below(60), random);
  const int inner = random.below(80), op_a = random.below(3), op_b = random.below(3);
  const DenseMatrix<T> a(op_a == 0 ? places.rows : inner, op_a == 0 ? inner : places.rows, random),
      b(op_b == 0 ? inner : places.columns, op_b == 0 ? places.columns : inner, random);
  const Scalar<T> alpha(random_factor<T>(random), on_device), beta(random_factor<T>(random), on_device);
  // C twice, as a batch with one structure.
  const std::size_t count = places.entries.size();
  std::vector<int> rows, columns;
  std::vector<Value> wanted;
  auto start = random_vector<T>(static_cast<int>(2 * count), random);
  for (int copy = 0; copy < 2; ++copy)
    for (const Entry& entry : places.entries) {
      Value sum = 0;
      for (int l = 0; l < inner; ++l) sum += a.at(entry.row, l, op_a) * b.at(l, entry.column, op_b);
      wanted.push_back(Value(alpha.value) * sum + Value(beta.value) * Value(start[wanted.size()]));
      if (copy == 0) rows.push_back(entry.row);
      columns.push_back(entry.column);
    }
  spoil(start, beta.value);
  const int base = random.below(2);
  const DeviceIndices offsets(offsets_of(rows, places.rows), random.below(2) == 0, base),
      indices(columns, random.below(2) == 0, base);
  const Device<T> values(start);
  const DescribedMatrix<T> left(a), right(b);
  cusparseSpMatDescr_t c = nullptr;
  expect_success(cusparseCreateCsr(&c, places.rows, places.columns, static_cast<int64_t>(count),
                                   offsets.data(), indices.data(), values.data(), offsets.type(),
                                   indices.type(), static_cast<cusparseIndexBase_t>(base), Kind<T>::type),
                 "cusparseCreateCsr");
  expect_success(cusparseCsrSetStridedBatch(c, 2, 0, static_cast<int64_t>(count)), "a batch");
  expect_success(
      cusparseSDDMM(library.handle, static_cast<cusparseOperation_t>(op_a),
                    static_cast<cusparseOperation_t>(op_b), alpha.pointer, left.descriptor, right.descriptor,
                    beta.pointer, c, Kind<T>::type, CUSPARSE_SDDMM_ALG_DEFAULT, nullptr),
      "cusparseSDDMM");
  check_near(values.get(), wanted, 10, "cusparseSDDMM");
  expect_success(cusparseDestroySpMat(c), "cusparseDestroySpMat");
}
