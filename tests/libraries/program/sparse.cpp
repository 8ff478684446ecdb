// cuSPARSE's products, solutions and conversions on random matrices, compared with sums over their
// coordinates. Arguments: a seed and the number of rounds.
#include "sparse_banded.hpp"
#include "sparse_conversions.hpp"
#include "sparse_factors.hpp"
#include "sparse_products.hpp"

namespace {

template <class T>
void check_vector_product(const Library& library, Random& random) {
  const bool on_device = set_mode(library, random);
  const Matrix matrix = random_matrix<T>(random.below(150), random.below(150), random);
  const auto format = static_cast<Format>(random.below(3));
  const int operation = random.below(3);
  const Matrix a = after(matrix, operation);
  const auto x = random_vector<T>(a.columns, random);
  auto y = random_vector<T>(a.rows, random);
  const Scalar<T> alpha(random_factor<T>(random), on_device), beta(random_factor<T>(random), on_device);
  std::vector<Value> wanted;
  for (const T value : y) wanted.push_back(Value(beta.value) * Value(value));
  for (const Entry& entry : a.entries)
    wanted[static_cast<std::size_t>(entry.row)] +=
        Value(alpha.value) * entry.value * Value(x[static_cast<std::size_t>(entry.column)]);
  spoil(y, beta.value);
  const DeviceMatrix<T> device_a(matrix, format, random);
  const Vector<T> in(x), out(y);
  const auto op = static_cast<cusparseOperation_t>(operation);
  std::size_t bytes = 1;
  expect_success(
      cusparseSpMV_bufferSize(library.handle, op, alpha.pointer, device_a.descriptor, in.descriptor,
                              beta.pointer, out.descriptor, Kind<T>::type, CUSPARSE_SPMV_ALG_DEFAULT, &bytes),
      "cusparseSpMV_bufferSize");
  const Device<char> buffer(std::vector<char>(bytes + 1));
  expect_success(
      cusparseSpMV(library.handle, op, alpha.pointer, device_a.descriptor, in.descriptor, beta.pointer,
                   out.descriptor, Kind<T>::type, CUSPARSE_SPMV_ALG_DEFAULT, buffer.data()),
      "cusparseSpMV");
  check_near(out.device.get(), wanted, 10, named("cusparseSpMV", format, operation));
}

constexpr int kBatch = 2;

/// What a batch of products gives; C is made one, of the same values, or of none where they must not matter.
template <class T>
std::vector<Value> wanted_product(const Matrix& a, const DenseMatrix<T>& b, int operation_b,
                                  DenseMatrix<T>& c, T alpha, T beta) {
  const std::vector<T> one = c.values;
  c.values.insert(c.values.end(), one.begin(), one.end());
  std::vector<Value> wanted(c.values.begin(), c.values.end());
  for (std::size_t start = 0; start < c.values.size(); start += one.size()) {
    for (int i = 0; i < a.rows; ++i)
      for (int j = 0; j < c.columns; ++j) wanted[start + c.place(i, j)] *= Value(beta);
    for (const Entry& entry : a.entries)
      for (int j = 0; j < c.columns; ++j)
        wanted[start + c.place(entry.row, j)] +=
            Value(alpha) * entry.value * b.at(entry.column, j, operation_b);
    for (int i = 0; i < a.rows && beta == T{}; ++i)
      for (int j = 0; j < c.columns; ++j) c.values[start + c.place(i, j)] = T(std::nanf(""));
    if (one.empty()) break;
  }
  return wanted;
}

template <class T>
void check_matrix_product(const Library& library, Random& random) {
  const bool on_device = set_mode(library, random);
  const Matrix matrix = random_matrix<T>(1 + random.below(80), 1 + random.below(80), random);
  const auto format = static_cast<Format>(random.below(3));
  const int operation = random.below(3), operation_b = random.below(3), columns = random.below(70);
  const Matrix a = after(matrix, operation);
  const DenseMatrix<T> b(operation_b == 0 ? a.columns : columns, operation_b == 0 ? columns : a.columns,
                         random);
  DenseMatrix<T> c(a.rows, columns, random);
  const Scalar<T> alpha(random_factor<T>(random), on_device), beta(random_factor<T>(random), on_device);
  const std::size_t one = c.values.size();
  const std::vector<Value> wanted = wanted_product(a, b, operation_b, c, alpha.value, beta.value);
  const DeviceMatrix<T> device_a(matrix, format, random);
  const DescribedMatrix<T> in(b), out(c);
  expect_success(cusparseDnMatSetStridedBatch(out.descriptor, kBatch, static_cast<int64_t>(one)), "a batch");
  const auto op_a = static_cast<cusparseOperation_t>(operation),
             op_b = static_cast<cusparseOperation_t>(operation_b);
  std::size_t bytes = 1;
  expect_success(
      cusparseSpMM_bufferSize(library.handle, op_a, op_b, alpha.pointer, device_a.descriptor, in.descriptor,
                              beta.pointer, out.descriptor, Kind<T>::type, CUSPARSE_SPMM_ALG_DEFAULT, &bytes),
      "cusparseSpMM_bufferSize");
  const Device<char> buffer(std::vector<char>(bytes + 1));
  expect_success(
      cusparseSpMM(library.handle, op_a, op_b, alpha.pointer, device_a.descriptor, in.descriptor,
                   beta.pointer, out.descriptor, Kind<T>::type, CUSPARSE_SPMM_ALG_DEFAULT, buffer.data()),
      "cusparseSpMM");
  check_near(out.device.get(), wanted, 10, named("cusparseSpMM", format, operation));
}

void check_refusals(const Library& library, Random& random) {
  set_mode(library, random);
  cusparseSetPointerMode(library.handle, CUSPARSE_POINTER_MODE_HOST);
  const DeviceMatrix<float> a(random_matrix<float>(10, 20, random), Format::kCsr, random);
  const Device<float> memory(std::vector<float>(20));
  cusparseDnVecDescr_t ten = nullptr, twenty = nullptr, half = nullptr;
  cusparseCreateDnVec(&ten, 10, memory.data(), CUDA_R_32F);
  cusparseCreateDnVec(&twenty, 20, memory.data(), CUDA_R_32F);
  cusparseCreateDnVec(&half, 10, memory.data(), CUDA_R_16F);
  const float one = 1;
  const auto multiply = [&](cusparseHandle_t handle, cusparseDnVecDescr_t x, cusparseDnVecDescr_t y,
                            const float* by) {
    return cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, by, a.descriptor, x, &one, y, CUDA_R_32F,
                        CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
  };
  expect(multiply(nullptr, twenty, ten, &one) == CUSPARSE_STATUS_NOT_INITIALIZED, "no handle");
  expect(multiply(library.handle, ten, twenty, &one) == CUSPARSE_STATUS_INVALID_VALUE,
         "sizes that do not fit");
  expect(multiply(library.handle, nullptr, ten, &one) == CUSPARSE_STATUS_INVALID_VALUE, "no vector");
  expect(multiply(library.handle, twenty, ten, nullptr) == CUSPARSE_STATUS_INVALID_VALUE, "no alpha");
  expect(multiply(library.handle, twenty, half, &one) == CUSPARSE_STATUS_NOT_SUPPORTED, "half precision");
  cusparseDnMatDescr_t dense = nullptr;
  expect(cusparseCreateDnMat(&dense, 4, 5, 3, memory.data(), CUDA_R_32F, CUSPARSE_ORDER_COL) ==
             CUSPARSE_STATUS_INVALID_VALUE,
         "a leading dimension that is too small");
  int64_t rows = 0, columns = 0, entries = 0;
  expect_success(cusparseSpMatGetSize(a.descriptor, &rows, &columns, &entries), "cusparseSpMatGetSize");
  expect(rows == 10 && columns == 20, "a matrix' size");
  for (const cusparseDnVecDescr_t vector : {ten, twenty, half}) cusparseDestroyDnVec(vector);
  expect(cusparseDestroyDnVec(ten) == CUSPARSE_STATUS_INVALID_VALUE, "a vector destroyed twice");
}

template <class T>
void check_all(const Library& library, Random& random) {
  check_vector_product<T>(library, random);
  check_matrix_product<T>(library, random);
  check_vector_solution<T>(library, random);
  check_matrix_solution<T>(library, random);
  check_vectors<T>(library, random);
  check_dense<T>(library, random);
  check_conversions<T>(library, random);
  check_from_dense<T>(library, random);
  check_sparse_product<T>(library, random);
  check_sampled_product<T>(library, random);
}

}  // namespace

int main(int count, char** arguments) {
  Random random{static_cast<unsigned long long>(count > 1 ? std::atoi(arguments[1]) : 1)};
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 4;
  Library library;
  expect_success(cusparseCreate(&library.handle), "cusparseCreate");
  cudaStreamCreate(&library.stream);
  check_refusals(library, random);
  check_descriptions(library);
  check_captured_dot(library, random);
  for (int i = 0; i < rounds; ++i) {
    check_all<float>(library, random);
    check_all<double>(library, random);
    check_all<std::complex<float>>(library, random);
    check_all<std::complex<double>>(library, random);
    check_banded<BandedFloat>(library, random);
    check_banded<BandedDouble>(library, random);
    check_factors<LuFloat>(library, false, random);
    check_factors<LuDouble>(library, false, random);
    check_factors<CholeskyFloat>(library, true, random);
    check_factors<CholeskyDouble>(library, true, random);
  }
  expect_success(cusparseDestroy(library.handle), "cusparseDestroy");
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
