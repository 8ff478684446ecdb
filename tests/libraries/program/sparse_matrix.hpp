#pragma once

// Random sparse matrices, on the host as coordinates and on the device in any format.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "api.hpp"
#include "sparse_api.hpp"

inline int failures = 0;

inline void expect(bool fact, const std::string& what) {
  if (fact) return;
  std::printf("FAIL: %s\n", what.c_str());
  ++failures;
}
inline void expect_success(cusparseStatus_t status, const char* what) {
  expect(status == CUSPARSE_STATUS_SUCCESS,
         std::string(what) + " gives " + std::to_string(static_cast<int>(status)));
}

using Value = std::complex<double>;

template <class T>
struct Kind;
template <>
struct Kind<float> {
  static constexpr cudaDataType type = CUDA_R_32F;
  static float of(Value value) { return static_cast<float>(value.real()); }
};
template <>
struct Kind<double> {
  static constexpr cudaDataType type = CUDA_R_64F;
  static double of(Value value) { return value.real(); }
};
template <>
struct Kind<std::complex<float>> {
  static constexpr cudaDataType type = CUDA_C_32F;
  static std::complex<float> of(Value value) { return std::complex<float>(value); }
};
template <>
struct Kind<std::complex<double>> {
  static constexpr cudaDataType type = CUDA_C_64F;
  static Value of(Value value) { return value; }
};

/// An array on the device.
template <class T>
class Device {
 public:
  explicit Device(const std::vector<T>& values) : count_(values.size()) {
    if (cudaMalloc(&data_, std::max<std::size_t>(1, count_) * sizeof(T)) != 0) std::abort();
    cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Device() { cudaFree(data_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  [[nodiscard]] std::vector<T> get() const {
    std::vector<T> values(count_);
    cudaDeviceSynchronize();
    cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
  }
  [[nodiscard]] T* data() const { return static_cast<T*>(data_); }

 private:
  void* data_ = nullptr;
  std::size_t count_;
};

struct Entry {
  int row, column;
  Value value;
};

/// By rows, then by columns.
struct Matrix {
  int rows, columns;
  std::vector<Entry> entries;
};

template <class T>
Value random_value(Random& random) {
  const double real = random.unit(), imaginary = random.unit();
  return Value(Kind<T>::of({real, imaginary}));
}

template <class T>
Matrix random_matrix(int rows, int columns, Random& random) {
  Matrix matrix{rows, columns, {}};
  const int dense_row = random.below(rows + 1), density = 1 + random.below(60);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      if (i == dense_row || random.below(density) == 0)
        matrix.entries.push_back({i, j, random_value<T>(random)});
  return matrix;
}

/// As op(matrix) is: its rows, columns and values.
inline Matrix after(const Matrix& matrix, int operation) {
  if (operation == 0) return matrix;
  Matrix result{matrix.columns, matrix.rows, matrix.entries};
  for (Entry& entry : result.entries) {
    std::swap(entry.row, entry.column);
    if (operation == 2) entry.value = std::conj(entry.value);
  }
  return result;
}

inline std::vector<long long> offsets_of(const std::vector<int>& sorted, int rows) {
  std::vector<long long> offsets(static_cast<std::size_t>(rows) + 1);
  for (const int row : sorted) ++offsets[static_cast<std::size_t>(row) + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return offsets;
}

/// Indices of either width, from either base.
class DeviceIndices {
 public:
  template <class Integer>
  DeviceIndices(const std::vector<Integer>& indices, bool wide, int base)
      : wide_(wide), narrow_data_(moved<int>(indices, base)), wide_data_(moved<long long>(indices, base)) {}
  [[nodiscard]] void* data() const {
    return wide_ ? static_cast<void*>(wide_data_.data()) : static_cast<void*>(narrow_data_.data());
  }
  [[nodiscard]] cusparseIndexType_t type() const { return wide_ ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I; }

 private:
  template <class To, class From>
  static std::vector<To> moved(const std::vector<From>& indices, int base) {
    std::vector<To> result;
    for (const From index : indices) result.push_back(static_cast<To>(index + base));
    return result;
  }
  bool wide_;
  Device<int> narrow_data_;
  Device<long long> wide_data_;
};

enum class Format { kCsr, kCsc, kCoo };

template <class T>
class DeviceMatrix {
 public:
  DeviceMatrix(Matrix matrix, Format format, Random& random)
      : base_(random.below(2)),
        sorted_(sorted(std::move(matrix), format)),
        first_(first_indices(sorted_, format), random.below(2) == 0, base_),
        second_(list(sorted_, format != Format::kCsc),
                format == Format::kCoo ? first_.type() == CUSPARSE_INDEX_64I : random.below(2) == 0, base_),
        values_(values(sorted_)) {
    const auto base = static_cast<cusparseIndexBase_t>(base_);
    const auto entries = static_cast<int64_t>(sorted_.entries.size());
    const cudaDataType type = Kind<T>::type;
    if (format == Format::kCoo) {
      expect_success(cusparseCreateCoo(&descriptor, sorted_.rows, sorted_.columns, entries, first_.data(),
                                       second_.data(), values_.data(), first_.type(), base, type),
                     "cusparseCreateCoo");
    } else {
      auto* const create = format == Format::kCsr ? cusparseCreateCsr : cusparseCreateCsc;
      expect_success(create(&descriptor, sorted_.rows, sorted_.columns, entries, first_.data(),
                            second_.data(), values_.data(), first_.type(), second_.type(), base, type),
                     "cusparseCreateCsr or Csc");
    }
  }
  ~DeviceMatrix() { expect_success(cusparseDestroySpMat(descriptor), "cusparseDestroySpMat"); }
  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;

  cusparseSpMatDescr_t descriptor = nullptr;

 private:
  static Matrix sorted(Matrix matrix, Format format) {
    if (format == Format::kCsc)
      std::stable_sort(matrix.entries.begin(), matrix.entries.end(),
                       [](const Entry& a, const Entry& b) { return a.column < b.column; });
    return matrix;
  }
  static std::vector<int> list(const Matrix& matrix, bool columns) {
    std::vector<int> result;
    for (const Entry& entry : matrix.entries) result.push_back(columns ? entry.column : entry.row);
    return result;
  }
  static std::vector<long long> first_indices(const Matrix& matrix, Format format) {
    const std::vector<int> indices = list(matrix, format == Format::kCsc);
    if (format == Format::kCoo) return {indices.begin(), indices.end()};
    return offsets_of(indices, format == Format::kCsc ? matrix.columns : matrix.rows);
  }
  static std::vector<T> values(const Matrix& matrix) {
    std::vector<T> result;
    for (const Entry& entry : matrix.entries) result.push_back(Kind<T>::of(entry.value));
    return result;
  }

  int base_;
  Matrix sorted_;
  DeviceIndices first_, second_;
  Device<T> values_;
};

/// A dense matrix with room between its rows or columns.
template <class T>
struct DenseMatrix {
  int rows, columns, leading;
  bool by_rows;
  std::vector<T> values;

  DenseMatrix(int row_count, int column_count, Random& random)
      : rows(row_count), columns(column_count), by_rows(random.below(2) == 0) {
    leading = (by_rows ? columns : rows) + random.below(3);
    values.resize(static_cast<std::size_t>(leading) * static_cast<std::size_t>(by_rows ? rows : columns));
    for (T& value : values) value = Kind<T>::of(random_value<T>(random));
  }
  [[nodiscard]] std::size_t place(int i, int j) const {
    return static_cast<std::size_t>(by_rows ? i * leading + j : j * leading + i);
  }
  [[nodiscard]] Value at(int i, int j, int operation = 0) const {
    if (operation == 0) return Value(values[place(i, j)]);
    const Value value(values[place(j, i)]);
    return operation == 2 ? std::conj(value) : value;
  }
  [[nodiscard]] cusparseOrder_t order() const { return by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL; }
};

template <class T>
double precision() {
  return sizeof(T) / sizeof(decltype(std::abs(T{}))) == 0 || sizeof(decltype(std::abs(T{}))) == 8 ? 1e-13
                                                                                                  : 1e-5;
}
