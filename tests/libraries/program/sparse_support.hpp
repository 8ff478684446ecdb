#pragma once

// What the checks of cuSPARSE share.
#include "sparse_matrix.hpp"

struct Library {
  cusparseHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
};

template <class T>
struct Scalar {
  T value;
  Device<T> device;
  const void* pointer;

  Scalar(T number, bool on_device)
      : value(number), device({number}), pointer(on_device ? device.data() : &value) {}
};

/// 0, 1 or another number.
template <class T>
T random_factor(Random& random) {
  const int which = random.below(3);
  return which < 2 ? T(static_cast<float>(which)) : Kind<T>::of(random_value<T>(random));
}

template <class T>
void check_near(const std::vector<T>& got, const std::vector<Value>& wanted, double scale,
                const std::string& what) {
  double largest = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double off = std::abs(Value(got[i]) - wanted[i]);
    if (!(off <= largest)) largest = off;
  }
  expect(largest <= precision<T>() * scale, what + ": off by " + std::to_string(largest));
}

inline bool set_mode(const Library& library, Random& random) {
  const bool on_device = random.below(2) == 0;
  expect_success(cusparseSetPointerMode(
                     library.handle, on_device ? CUSPARSE_POINTER_MODE_DEVICE : CUSPARSE_POINTER_MODE_HOST),
                 "cusparseSetPointerMode");
  expect_success(cusparseSetStream(library.handle, random.below(2) == 0 ? library.stream : nullptr),
                 "cusparseSetStream");
  return on_device;
}

template <class T>
std::vector<T> random_vector(int size, Random& random) {
  std::vector<T> values;
  for (int i = 0; i < size; ++i) values.push_back(Kind<T>::of(random_value<T>(random)));
  return values;
}

/// Where beta is 0, what was there must not matter.
template <class T>
void spoil(std::vector<T>& values, T beta) {
  if (beta == T{}) std::fill(values.begin(), values.end(), T(std::nanf("")));
}

inline std::string named(const char* what, Format format, int operation) {
  return std::string(what) + " of format " + std::to_string(static_cast<int>(format)) + ", operation " +
         std::to_string(operation);
}

/// A vector of a program's, on the device and described.
template <class T>
struct Vector {
  Device<T> device;
  cusparseDnVecDescr_t descriptor = nullptr;

  explicit Vector(const std::vector<T>& values) : device(values) {
    expect_success(
        cusparseCreateDnVec(&descriptor, static_cast<int64_t>(values.size()), device.data(), Kind<T>::type),
        "cusparseCreateDnVec");
  }
  ~Vector() { expect_success(cusparseDestroyDnVec(descriptor), "cusparseDestroyDnVec"); }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;
};

/// A dense matrix, the same; `values` may be those of a batch.
template <class T>
struct DescribedMatrix {
  Device<T> device;
  cusparseDnMatDescr_t descriptor = nullptr;

  DescribedMatrix(const DenseMatrix<T>& matrix, const std::vector<T>& values) : device(values) {
    expect_success(cusparseCreateDnMat(&descriptor, matrix.rows, matrix.columns, matrix.leading,
                                       device.data(), Kind<T>::type, matrix.order()),
                   "cusparseCreateDnMat");
  }
  explicit DescribedMatrix(const DenseMatrix<T>& matrix) : DescribedMatrix(matrix, matrix.values) {}
  ~DescribedMatrix() { expect_success(cusparseDestroyDnMat(descriptor), "cusparseDestroyDnMat"); }
  DescribedMatrix(const DescribedMatrix&) = delete;
  DescribedMatrix& operator=(const DescribedMatrix&) = delete;
};
