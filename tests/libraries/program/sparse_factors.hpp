#pragma once

// Incomplete factors: where the matrix has an entry, their product has the same one.
#include "sparse_solutions.hpp"

/// The calls for LU and for Cholesky factors.
#define LOCKSTEP_FACTOR_CALLS(structure, letter, T, name, Name)                                         \
  struct structure {                                                                                    \
    using Value = T;                                                                                    \
    name##Info_t info = nullptr;                                                                        \
    structure() { expect_success(cusparseCreate##Name##Info(&info), "cusparseCreate" #Name "Info"); }   \
    ~structure() { expect_success(cusparseDestroy##Name##Info(info), "cusparseDestroy" #Name "Info"); } \
    structure(const structure&) = delete;                                                               \
    structure& operator=(const structure&) = delete;                                                    \
    static constexpr auto& size = cusparse##letter##name##_bufferSize;                                  \
    static constexpr auto& analyse = cusparse##letter##name##_analysis;                                 \
    static constexpr auto& factor = cusparse##letter##name;                                             \
    static constexpr auto& zero_pivot = cusparseX##name##_zeroPivot;                                    \
  };
LOCKSTEP_FACTOR_CALLS(LuFloat, S, float, csrilu02, Csrilu02)
LOCKSTEP_FACTOR_CALLS(LuDouble, D, double, csrilu02, Csrilu02)
LOCKSTEP_FACTOR_CALLS(CholeskyFloat, S, float, csric02, Csric02)
LOCKSTEP_FACTOR_CALLS(CholeskyDouble, D, double, csric02, Csric02)
#undef LOCKSTEP_FACTOR_CALLS

/// A CSR matrix as the older entries take it, in their order of arguments.
template <class T>
struct Csr {
  int rows, count, base;
  Device<int> offsets, columns;
  Device<T> values;
  cusparseMatDescr_t description = nullptr;

  Csr(const Matrix& matrix, int index_base)
      : rows(matrix.rows),
        count(static_cast<int>(matrix.entries.size())),
        base(index_base),
        offsets(offsets_from(matrix, base)),
        columns(columns_of(matrix, base)),
        values(values_of(matrix)) {
    expect_success(cusparseCreateMatDescr(&description), "cusparseCreateMatDescr");
    expect_success(cusparseSetMatIndexBase(description, static_cast<cusparseIndexBase_t>(base)), "a base");
  }
  ~Csr() { expect_success(cusparseDestroyMatDescr(description), "cusparseDestroyMatDescr"); }
  Csr(const Csr&) = delete;
  Csr& operator=(const Csr&) = delete;

  template <class Calls>
  void analyse(const Library& library, Calls& calls) const {
    int bytes = -1;
    expect_success(Calls::size(library.handle, rows, count, description, values.data(), offsets.data(),
                               columns.data(), calls.info, &bytes),
                   "the size for factors");
    expect(bytes >= 0, "the size for factors");
    expect_success(Calls::analyse(library.handle, rows, count, description, values.data(), offsets.data(),
                                  columns.data(), calls.info, CUSPARSE_SOLVE_POLICY_USE_LEVEL, nullptr),
                   "the analysis for factors");
  }
  template <class Calls>
  cusparseStatus_t factor(const Library& library, Calls& calls) const {
    return Calls::factor(library.handle, rows, count, description, values.data(), offsets.data(),
                         columns.data(), calls.info, CUSPARSE_SOLVE_POLICY_NO_LEVEL, nullptr);
  }

 private:
  static std::vector<int> offsets_from(const Matrix& matrix, int base) {
    std::vector<int> sorted, result;
    for (const Entry& entry : matrix.entries) sorted.push_back(entry.row);
    for (const long long offset : offsets_of(sorted, matrix.rows))
      result.push_back(static_cast<int>(offset) + base);
    return result;
  }
  static std::vector<int> columns_of(const Matrix& matrix, int base) {
    std::vector<int> result;
    for (const Entry& entry : matrix.entries) result.push_back(entry.column + base);
    return result;
  }
  static std::vector<T> values_of(const Matrix& matrix) {
    std::vector<T> result;
    for (const Entry& entry : matrix.entries) result.push_back(Kind<T>::of(entry.value));
    return result;
  }
};

/// Symmetric, with a diagonal larger than the rest of its row.
template <class T>
Matrix random_definite(int size, Random& random) {
  Matrix matrix = random_square<T>(size, random);
  const auto at = [size](int i, int j) {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(size) + static_cast<std::size_t>(j);
  };
  std::vector<double> all(static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
  for (const Entry& entry : matrix.entries)
    if (entry.row != entry.column)
      all[at(entry.row, entry.column)] = all[at(entry.column, entry.row)] = entry.value.real();
  matrix.entries.clear();
  for (int i = 0; i < size; ++i) {
    double sum = 1;
    for (int j = 0; j < size; ++j) sum += std::abs(all[at(i, j)]);
    for (int j = 0; j < size; ++j)
      if (i == j || all[at(i, j)] != 0) matrix.entries.push_back({i, j, i == j ? sum : all[at(i, j)]});
  }
  return matrix;
}

/// Row i of L times column j of U; of L and its transpose where it is a Cholesky factor.
inline double product_at(const std::vector<double>& factors, int size, int i, int j, bool cholesky) {
  const auto at = [&](int row, int column) {
    return factors[static_cast<std::size_t>(row) * static_cast<std::size_t>(size) +
                   static_cast<std::size_t>(column)];
  };
  double sum = 0;
  for (int k = 0; k <= std::min(i, j); ++k)
    sum += cholesky ? at(i, k) * at(j, k) : (k == i ? 1 : at(i, k)) * at(k, j);
  return sum;
}

template <class Calls>
void check_factors(const Library& library, bool cholesky, Random& random) {
  using T = typename Calls::Value;
  const bool on_device = set_mode(library, random);
  const int size = 1 + random.below(120), base = random.below(2);
  const Matrix matrix = random_definite<T>(size, random);
  const Csr<T> csr(matrix, base);
  Calls calls;
  csr.analyse(library, calls);
  expect_success(csr.factor(library, calls), "factors");
  const Device<int> position(std::vector<int>{77});
  int here = 77;
  expect_success(Calls::zero_pivot(library.handle, calls.info, on_device ? position.data() : &here),
                 "no zero");
  expect((on_device ? position.get()[0] : here) == -1, "no zero pivot");
  const std::vector<T> got = csr.values.get();
  std::vector<double> factors(static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
  for (std::size_t k = 0; k < got.size(); ++k)
    factors[static_cast<std::size_t>(matrix.entries[k].row) * static_cast<std::size_t>(size) +
            static_cast<std::size_t>(matrix.entries[k].column)] = static_cast<double>(got[k]);
  double off = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    const Entry& entry = matrix.entries[k];
    const double wanted = static_cast<double>(Kind<T>::of(entry.value));
    const bool kept = cholesky && entry.column > entry.row;
    const double value =
        kept ? static_cast<double>(got[k]) : product_at(factors, size, entry.row, entry.column, cholesky);
    off = std::max(off, std::abs(value - wanted) / (kept ? 1e-30 : 1 + std::abs(wanted)));
  }
  expect(off < 10 * precision<T>(), "factors: off by " + std::to_string(off));
}

/// The first pivot that is zero is named, by the matrix' base.
template <class Calls>
void check_zero_pivots(const Library& library) {
  using T = typename Calls::Value;
  cusparseSetPointerMode(library.handle, CUSPARSE_POINTER_MODE_HOST);
  for (const int base : {0, 1}) {
    const Csr<T> missing({3, 3, {{0, 0, 1}, {1, 1, 4}, {2, 0, 2}}}, base);
    const Csr<T> singular({3, 3, {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}, {2, 2, 1}}}, base);
    Calls calls;
    int position = 77;
    missing.analyse(library, calls);
    expect(Calls::zero_pivot(library.handle, calls.info, &position) == CUSPARSE_STATUS_ZERO_PIVOT,
           "a zero pivot of the structure");
    expect(position == 2 + base, "where a diagonal is missing");
    singular.analyse(library, calls);
    expect_success(Calls::zero_pivot(library.handle, calls.info, &position), "before the factors");
    expect_success(singular.factor(library, calls), "factors of a singular matrix");
    expect(Calls::zero_pivot(library.handle, calls.info, &position) == CUSPARSE_STATUS_ZERO_PIVOT,
           "a zero pivot of the numbers");
    expect(position == 1 + base, "where a pivot is zero");
    expect(missing.factor(library, calls) == CUSPARSE_STATUS_SUCCESS, "the same number of rows");
  }
}

/// A pivot of zero becomes the value that was given.
inline void check_boost(const Library& library) {
  const Csr<double> singular({2, 2, {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}}}, 0);
  LuDouble calls;
  double tolerance = 1e-3, value = 0.5;
  int position = 77;
  singular.analyse(library, calls);
  expect_success(cusparseDcsrilu02_numericBoost(library.handle, calls.info, 1, &tolerance, &value),
                 "a boost");
  expect_success(singular.factor(library, calls), "factors with a boost");
  expect_success(cusparseXcsrilu02_zeroPivot(library.handle, calls.info, &position), "no zero with a boost");
  expect(singular.values.get() == std::vector<double>({1, 1, 1, 0.5}), "the factors with a boost");
}

inline void check_descriptions(const Library& library) {
  cusparseMatDescr_t description = nullptr;
  expect_success(cusparseCreateMatDescr(&description), "cusparseCreateMatDescr");
  expect(cusparseGetMatType(description) == CUSPARSE_MATRIX_TYPE_GENERAL &&
             cusparseGetMatIndexBase(description) == CUSPARSE_INDEX_BASE_ZERO &&
             cusparseGetMatFillMode(description) == CUSPARSE_FILL_MODE_LOWER &&
             cusparseGetMatDiagType(description) == CUSPARSE_DIAG_TYPE_NON_UNIT,
         "a new description");
  cusparseSetMatType(description, CUSPARSE_MATRIX_TYPE_HERMITIAN);
  cusparseSetMatIndexBase(description, CUSPARSE_INDEX_BASE_ONE);
  cusparseSetMatFillMode(description, CUSPARSE_FILL_MODE_UPPER);
  cusparseSetMatDiagType(description, CUSPARSE_DIAG_TYPE_UNIT);
  expect(cusparseGetMatType(description) == CUSPARSE_MATRIX_TYPE_HERMITIAN &&
             cusparseGetMatIndexBase(description) == CUSPARSE_INDEX_BASE_ONE &&
             cusparseGetMatFillMode(description) == CUSPARSE_FILL_MODE_UPPER &&
             cusparseGetMatDiagType(description) == CUSPARSE_DIAG_TYPE_UNIT,
         "a description that was set");
  const Csr<float> one({1, 1, {{0, 0, 1}}}, 1);
  LuFloat calls;
  int bytes = 0;
  expect(LuFloat::size(library.handle, 1, 1, description, one.values.data(), one.offsets.data(),
                       one.columns.data(), calls.info, &bytes) == CUSPARSE_STATUS_NOT_SUPPORTED,
         "factors of a Hermitian matrix");
  expect_success(cusparseDestroyMatDescr(description), "cusparseDestroyMatDescr");
  expect(cusparseSetMatType(description, CUSPARSE_MATRIX_TYPE_GENERAL) == CUSPARSE_STATUS_INVALID_VALUE,
         "a description that is gone");
  check_zero_pivots<LuFloat>(library);
  check_zero_pivots<CholeskyDouble>(library);
  check_boost(library);
}
