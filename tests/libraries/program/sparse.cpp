// cuSPARSE's products, solutions and conversions on random matrices, compared with sums over their
// coordinates. Arguments: a seed and the number of rounds.
#include "sparse_matrix.hpp"

namespace {

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

bool set_mode(const Library& library, Random& random) {
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

std::string named(const char* what, Format format, int operation) {
  return std::string(what) + " of format " + std::to_string(static_cast<int>(format)) + ", operation " +
         std::to_string(operation);
}

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
  const Device<T> device_x(x), device_y(y);
  cusparseDnVecDescr_t in = nullptr, out = nullptr;
  expect_success(cusparseCreateDnVec(&in, a.columns, device_x.data(), Kind<T>::type), "cusparseCreateDnVec");
  expect_success(cusparseCreateDnVec(&out, a.rows, device_y.data(), Kind<T>::type), "cusparseCreateDnVec");
  const auto op = static_cast<cusparseOperation_t>(operation);
  std::size_t bytes = 1;
  expect_success(cusparseSpMV_bufferSize(library.handle, op, alpha.pointer, device_a.descriptor, in,
                                         beta.pointer, out, Kind<T>::type, CUSPARSE_SPMV_ALG_DEFAULT, &bytes),
                 "cusparseSpMV_bufferSize");
  const Device<char> buffer(std::vector<char>(bytes + 1));
  expect_success(cusparseSpMV(library.handle, op, alpha.pointer, device_a.descriptor, in, beta.pointer, out,
                              Kind<T>::type, CUSPARSE_SPMV_ALG_DEFAULT, buffer.data()),
                 "cusparseSpMV");
  check_near(device_y.get(), wanted, 10, named("cusparseSpMV", format, operation));
  cusparseDestroyDnVec(in);
  cusparseDestroyDnVec(out);
}

template <class T>
void check_matrix_product(const Library& library, Random& random) {
  const bool on_device = set_mode(library, random);
  const Matrix matrix = random_matrix<T>(1 + random.below(80), 1 + random.below(80), random);
  const auto format = static_cast<Format>(random.below(3));
  const int operation = random.below(3), operation_b = random.below(3), columns = random.below(70), batch = 2;
  const Matrix a = after(matrix, operation);
  const DenseMatrix<T> b(operation_b == 0 ? a.columns : columns, operation_b == 0 ? columns : a.columns,
                         random);
  DenseMatrix<T> c(a.rows, columns, random);
  const Scalar<T> alpha(random_factor<T>(random), on_device), beta(random_factor<T>(random), on_device);
  // The second of the batch is the same product with what is in C there.
  const std::vector<T> one = c.values;
  c.values.insert(c.values.end(), one.begin(), one.end());
  std::vector<Value> wanted(c.values.begin(), c.values.end());
  for (int which = 0; which < batch; ++which) {
    const std::size_t start = static_cast<std::size_t>(which) * one.size();
    for (int i = 0; i < a.rows; ++i)
      for (int j = 0; j < columns; ++j) wanted[start + c.place(i, j)] *= Value(beta.value);
    for (const Entry& entry : a.entries)
      for (int j = 0; j < columns; ++j)
        wanted[start + c.place(entry.row, j)] +=
            Value(alpha.value) * entry.value * b.at(entry.column, j, operation_b);
    for (int i = 0; i < a.rows && beta.value == T{}; ++i)
      for (int j = 0; j < columns; ++j) c.values[start + c.place(i, j)] = T(std::nanf(""));
  }
  const DeviceMatrix<T> device_a(matrix, format, random);
  const Device<T> device_b(b.values), device_c(c.values);
  cusparseDnMatDescr_t in = nullptr, out = nullptr;
  expect_success(
      cusparseCreateDnMat(&in, b.rows, b.columns, b.leading, device_b.data(), Kind<T>::type, b.order()),
      "cusparseCreateDnMat");
  expect_success(
      cusparseCreateDnMat(&out, c.rows, c.columns, c.leading, device_c.data(), Kind<T>::type, c.order()),
      "cusparseCreateDnMat");
  expect_success(cusparseDnMatSetStridedBatch(out, batch, static_cast<int64_t>(one.size())), "a batch");
  const auto op_a = static_cast<cusparseOperation_t>(operation),
             op_b = static_cast<cusparseOperation_t>(operation_b);
  std::size_t bytes = 1;
  expect_success(cusparseSpMM_bufferSize(library.handle, op_a, op_b, alpha.pointer, device_a.descriptor, in,
                                         beta.pointer, out, Kind<T>::type, CUSPARSE_SPMM_ALG_DEFAULT, &bytes),
                 "cusparseSpMM_bufferSize");
  const Device<char> buffer(std::vector<char>(bytes + 1));
  expect_success(cusparseSpMM(library.handle, op_a, op_b, alpha.pointer, device_a.descriptor, in,
                              beta.pointer, out, Kind<T>::type, CUSPARSE_SPMM_ALG_DEFAULT, buffer.data()),
                 "cusparseSpMM");
  check_near(device_c.get(), wanted, 10, named("cusparseSpMM", format, operation));
  cusparseDestroyDnMat(in);
  cusparseDestroyDnMat(out);
}

/// A matrix with a strong diagonal, of which the solution takes one triangle.
template <class T>
Matrix random_square(int size, Random& random) {
  Matrix matrix = random_matrix<T>(size, size, random);
  std::vector<bool> present(static_cast<std::size_t>(size));
  for (Entry& entry : matrix.entries) {
    entry.value *= 0.25;
    if (entry.row != entry.column) continue;
    entry.value = Value(Kind<T>::of(entry.value + Value(3)));
    present[static_cast<std::size_t>(entry.row)] = true;
  }
  for (int i = 0; i < size; ++i)
    if (!present[static_cast<std::size_t>(i)]) matrix.entries.push_back({i, i, Value(2)});
  std::stable_sort(matrix.entries.begin(), matrix.entries.end(), [](const Entry& a, const Entry& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  return matrix;
}

/// What the triangle of op(a) times x gives; and how the program asks for it.
struct Triangle {
  int upper, unit;

  [[nodiscard]] bool has(const Entry& entry, int operation) const {
    const bool above = operation == 0 ? entry.column > entry.row : entry.column < entry.row;
    return entry.column == entry.row ? unit == 0 : above == (upper != 0);
  }
  void tell(cusparseSpMatDescr_t matrix) {
    expect_success(cusparseSpMatSetAttribute(matrix, CUSPARSE_SPMAT_FILL_MODE, &upper, sizeof(int)),
                   "a triangle");
    expect_success(cusparseSpMatSetAttribute(matrix, CUSPARSE_SPMAT_DIAG_TYPE, &unit, sizeof(int)),
                   "a diagonal");
  }
};

template <class T>
void check_vector_solution(const Library& library, Random& random) {
  const bool on_device = set_mode(library, random);
  const int size = random.below(120), operation = random.below(3);
  const auto format = static_cast<Format>(random.below(3));
  const Matrix matrix = random_square<T>(size, random);
  Triangle triangle{random.below(2), random.below(2)};
  const DeviceMatrix<T> device_a(matrix, format, random);
  triangle.tell(device_a.descriptor);
  const Scalar<T> alpha(T(2), on_device);
  const auto b = random_vector<T>(size, random);
  const Device<T> device_b(b), device_x(b);
  cusparseDnVecDescr_t in = nullptr, out = nullptr;
  expect_success(cusparseCreateDnVec(&in, size, device_b.data(), Kind<T>::type), "cusparseCreateDnVec");
  expect_success(cusparseCreateDnVec(&out, size, device_x.data(), Kind<T>::type), "cusparseCreateDnVec");
  cusparseSpSVDescr_t plan = nullptr;
  expect_success(cusparseSpSV_createDescr(&plan), "cusparseSpSV_createDescr");
  const auto op = static_cast<cusparseOperation_t>(operation);
  std::size_t bytes = 1;
  expect_success(cusparseSpSV_bufferSize(library.handle, op, alpha.pointer, device_a.descriptor, in, out,
                                         Kind<T>::type, CUSPARSE_SPSV_ALG_DEFAULT, plan, &bytes),
                 "cusparseSpSV_bufferSize");
  const Device<char> buffer(std::vector<char>(bytes + 1));
  expect_success(cusparseSpSV_analysis(library.handle, op, alpha.pointer, device_a.descriptor, in, out,
                                       Kind<T>::type, CUSPARSE_SPSV_ALG_DEFAULT, plan, buffer.data()),
                 "cusparseSpSV_analysis");
  expect_success(cusparseSpSV_solve(library.handle, op, alpha.pointer, device_a.descriptor, in, out,
                                    Kind<T>::type, CUSPARSE_SPSV_ALG_DEFAULT, plan),
                 "cusparseSpSV_solve");
  const auto x = device_x.get();
  std::vector<Value> wanted, product;
  double largest = 1;
  for (int i = 0; i < size; ++i) {
    wanted.push_back(2.0 * Value(b[static_cast<std::size_t>(i)]));
    product.push_back(triangle.unit != 0 ? Value(x[static_cast<std::size_t>(i)]) : Value(0));
    largest = std::max<double>(largest, std::abs(x[static_cast<std::size_t>(i)]));
  }
  const Matrix a = after(matrix, operation);
  for (const Entry& entry : a.entries)
    if (triangle.has(entry, operation))
      product[static_cast<std::size_t>(entry.row)] +=
          entry.value * Value(x[static_cast<std::size_t>(entry.column)]);
  std::vector<T> got;
  for (const Value value : product) got.push_back(Kind<T>::of(value));
  check_near(got, wanted, 20 * largest, named("cusparseSpSV", format, operation));
  expect_success(cusparseSpSV_destroyDescr(plan), "cusparseSpSV_destroyDescr");
  cusparseDestroyDnVec(in);
  cusparseDestroyDnVec(out);
}

template <class T>
void check_matrix_solution(const Library& library, Random& random) {
  const bool on_device = set_mode(library, random);
  const int size = 1 + random.below(60), columns = random.below(10), operation = random.below(3);
  const bool turned = random.below(2) == 0;
  const auto format = static_cast<Format>(random.below(3));
  const Matrix matrix = random_square<T>(size, random), a = after(matrix, operation);
  Triangle triangle{random.below(2), random.below(2)};
  const DeviceMatrix<T> device_a(matrix, format, random);
  triangle.tell(device_a.descriptor);
  const Scalar<T> alpha(T(0.5F), on_device);
  const DenseMatrix<T> b(turned ? columns : size, turned ? size : columns, random);
  DenseMatrix<T> x(size, columns, random);
  const Device<T> device_b(b.values), device_x(x.values);
  cusparseDnMatDescr_t in = nullptr, out = nullptr;
  cusparseCreateDnMat(&in, b.rows, b.columns, b.leading, device_b.data(), Kind<T>::type, b.order());
  cusparseCreateDnMat(&out, x.rows, x.columns, x.leading, device_x.data(), Kind<T>::type, x.order());
  cusparseSpSMDescr_t plan = nullptr;
  expect_success(cusparseSpSM_createDescr(&plan), "cusparseSpSM_createDescr");
  const auto op = static_cast<cusparseOperation_t>(operation),
             op_b = static_cast<cusparseOperation_t>(turned ? 1 : 0);
  expect_success(cusparseSpSM_analysis(library.handle, op, op_b, alpha.pointer, device_a.descriptor, in, out,
                                       Kind<T>::type, CUSPARSE_SPSM_ALG_DEFAULT, plan, nullptr),
                 "cusparseSpSM_analysis");
  expect_success(cusparseSpSM_solve(library.handle, op, op_b, alpha.pointer, device_a.descriptor, in, out,
                                    Kind<T>::type, CUSPARSE_SPSM_ALG_DEFAULT, plan),
                 "cusparseSpSM_solve");
  x.values = device_x.get();
  std::vector<Value> wanted;
  std::vector<T> got;
  double largest = 1;
  for (int j = 0; j < columns; ++j) {
    std::vector<Value> product(static_cast<std::size_t>(size));
    for (const Entry& entry : a.entries)
      if (triangle.has(entry, operation))
        product[static_cast<std::size_t>(entry.row)] += entry.value * x.at(entry.column, j);
    for (int i = 0; i < size; ++i) {
      largest = std::max(largest, std::abs(x.at(i, j)));
      wanted.push_back(0.5 * b.at(i, j, turned ? 1 : 0));
      got.push_back(
          Kind<T>::of(product[static_cast<std::size_t>(i)] + (triangle.unit != 0 ? x.at(i, j) : Value(0))));
    }
  }
  check_near(got, wanted, 20 * largest, named("cusparseSpSM", format, operation));
  expect_success(cusparseSpSM_destroyDescr(plan), "cusparseSpSM_destroyDescr");
  cusparseDestroyDnMat(in);
  cusparseDestroyDnMat(out);
}

template <class T>
void check_vectors(const Library& library, Random& random) {
  const bool on_device = set_mode(library, random);
  const int size = 1 + random.below(500), base = random.below(2);
  std::vector<int> indices;
  for (int i = 0; i < size; ++i)
    if (random.below(4) == 0) indices.push_back(i);
  const auto entries = static_cast<int>(indices.size());
  const auto x = random_vector<T>(entries, random), y = random_vector<T>(size, random);
  const DeviceIndices device_indices(indices, random.below(2) == 0, base);
  const Device<T> device_x(x), device_y(y), device_result({T{}});
  cusparseSpVecDescr_t sparse = nullptr;
  cusparseDnVecDescr_t dense = nullptr;
  expect_success(
      cusparseCreateSpVec(&sparse, size, entries, device_indices.data(), device_x.data(),
                          device_indices.type(), static_cast<cusparseIndexBase_t>(base), Kind<T>::type),
      "cusparseCreateSpVec");
  cusparseCreateDnVec(&dense, size, device_y.data(), Kind<T>::type);
  const int operation = random.below(2) * 2;
  Value sum = 0;
  for (std::size_t k = 0; k < indices.size(); ++k)
    sum += (operation == 2 ? std::conj(Value(x[k])) : Value(x[k])) *
           Value(y[static_cast<std::size_t>(indices[k])]);
  T result{};
  expect_success(cusparseSpVV(library.handle, static_cast<cusparseOperation_t>(operation), sparse, dense,
                              on_device ? device_result.data() : &result, Kind<T>::type, nullptr),
                 "cusparseSpVV");
  check_near<T>({on_device ? device_result.get()[0] : result}, {sum}, 20, "cusparseSpVV");
  const Scalar<T> alpha(random_factor<T>(random), on_device), beta(random_factor<T>(random), on_device);
  expect_success(cusparseAxpby(library.handle, alpha.pointer, sparse, beta.pointer, dense), "cusparseAxpby");
  std::vector<Value> wanted;
  for (const T value : y) wanted.push_back(Value(beta.value) * Value(value));
  for (std::size_t k = 0; k < indices.size(); ++k)
    wanted[static_cast<std::size_t>(indices[k])] += Value(alpha.value) * Value(x[k]);
  const auto changed = device_y.get();
  check_near(changed, wanted, 1, "cusparseAxpby");
  expect_success(cusparseScatter(library.handle, sparse, dense), "cusparseScatter");
  auto scattered = changed;
  for (std::size_t k = 0; k < indices.size(); ++k) scattered[static_cast<std::size_t>(indices[k])] = x[k];
  expect(device_y.get() == scattered, "cusparseScatter");
  const Device<T> other(y);
  cusparseDnVecDescr_t other_dense = nullptr;
  cusparseCreateDnVec(&other_dense, size, other.data(), Kind<T>::type);
  expect_success(cusparseGather(library.handle, other_dense, sparse), "cusparseGather");
  std::vector<T> gathered;
  for (const int index : indices) gathered.push_back(y[static_cast<std::size_t>(index)]);
  expect(device_x.get() == gathered, "cusparseGather");
  cusparseDestroySpVec(sparse);
  cusparseDestroyDnVec(dense);
  cusparseDestroyDnVec(other_dense);
}

template <class T>
void check_dense(const Library& library, Random& random) {
  set_mode(library, random);
  const Matrix matrix = random_matrix<T>(1 + random.below(60), 1 + random.below(60), random);
  const DeviceMatrix<T> sparse(matrix, static_cast<Format>(random.below(3)), random);
  DenseMatrix<T> dense(matrix.rows, matrix.columns, random);
  const Device<T> device(dense.values);
  for (int i = 0; i < dense.rows; ++i)
    for (int j = 0; j < dense.columns; ++j) dense.values[dense.place(i, j)] = T{};
  for (const Entry& entry : matrix.entries)
    dense.values[dense.place(entry.row, entry.column)] = Kind<T>::of(entry.value);
  cusparseDnMatDescr_t to = nullptr;
  cusparseCreateDnMat(&to, dense.rows, dense.columns, dense.leading, device.data(), Kind<T>::type,
                      dense.order());
  expect_success(cusparseSparseToDense(library.handle, sparse.descriptor, to,
                                       CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr),
                 "cusparseSparseToDense");
  expect(device.get() == dense.values, "cusparseSparseToDense");
  cusparseDestroyDnMat(to);
}

std::vector<int> moved(std::vector<int> indices, int base) {
  for (int& index : indices) index += base;
  return indices;
}

/// Entries sorted by rows or by columns, and what they were before.
template <class T>
void check_conversions(const Library& library, Random& random) {
  set_mode(library, random);
  const Matrix matrix = random_matrix<T>(1 + random.below(300), 1 + random.below(300), random);
  const auto entries = static_cast<int>(matrix.entries.size());
  const int base_number = random.below(2);
  const auto base = static_cast<cusparseIndexBase_t>(base_number);
  std::vector<int> rows, columns, order(matrix.entries.size());
  std::vector<T> values;
  for (const Entry& entry : matrix.entries) {
    rows.push_back(entry.row);
    columns.push_back(entry.column);
    values.push_back(Kind<T>::of(entry.value));
  }
  const auto long_offsets = offsets_of(rows, matrix.rows);
  const std::vector<int> offsets(long_offsets.begin(), long_offsets.end());
  const Device<int> device_rows(moved(rows, base_number)), device_columns(moved(columns, base_number));
  const Device<int> made_offsets(std::vector<int>(offsets.size())), made_rows(std::vector<int>(rows.size()));
  expect_success(
      cusparseXcoo2csr(library.handle, device_rows.data(), entries, matrix.rows, made_offsets.data(), base),
      "cusparseXcoo2csr");
  expect(made_offsets.get() == moved(offsets, base_number), "cusparseXcoo2csr");
  expect_success(
      cusparseXcsr2coo(library.handle, made_offsets.data(), entries, matrix.rows, made_rows.data(), base),
      "cusparseXcsr2coo");
  expect(made_rows.get() == moved(rows, base_number), "cusparseXcsr2coo");

  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return columns[static_cast<std::size_t>(a)] < columns[static_cast<std::size_t>(b)];
  });
  std::vector<int> by_column_rows, by_column;
  std::vector<T> by_column_values;
  for (const int place : order) {
    by_column_rows.push_back(rows[static_cast<std::size_t>(place)]);
    by_column.push_back(columns[static_cast<std::size_t>(place)]);
    by_column_values.push_back(values[static_cast<std::size_t>(place)]);
  }
  const auto column_offsets = offsets_of(by_column, matrix.columns);
  const Device<T> device_values(values), made_values(std::vector<T>(values.size()));
  const Device<int> made_column_offsets(std::vector<int>(column_offsets.size())), made_column_rows(rows);
  expect_success(
      cusparseCsr2cscEx2(library.handle, matrix.rows, matrix.columns, entries, device_values.data(),
                         made_offsets.data(), device_columns.data(), made_values.data(),
                         made_column_offsets.data(), made_column_rows.data(), Kind<T>::type,
                         CUSPARSE_ACTION_NUMERIC, base, CUSPARSE_CSR2CSC_ALG1, nullptr),
      "cusparseCsr2cscEx2");
  expect(made_column_offsets.get() == moved({column_offsets.begin(), column_offsets.end()}, base_number),
         "the columns of cusparseCsr2cscEx2");
  expect(made_column_rows.get() == moved(by_column_rows, base_number), "the rows of cusparseCsr2cscEx2");
  expect(made_values.get() == by_column_values, "the values of cusparseCsr2cscEx2");

  std::vector<int> identity(rows.size());
  std::iota(identity.begin(), identity.end(), 0);
  const Device<int> permutation(identity);
  expect_success(
      cusparseXcoosortByColumn(library.handle, matrix.rows, matrix.columns, entries, device_rows.data(),
                               device_columns.data(), permutation.data(), nullptr),
      "cusparseXcoosortByColumn");
  expect(device_rows.get() == moved(by_column_rows, base_number) &&
             device_columns.get() == moved(by_column, base_number) && permutation.get() == order,
         "cusparseXcoosortByColumn");
  expect_success(
      cusparseXcoosortByRow(library.handle, matrix.rows, matrix.columns, entries, device_rows.data(),
                            device_columns.data(), permutation.data(), nullptr),
      "cusparseXcoosortByRow");
  expect(device_rows.get() == moved(rows, base_number) &&
             device_columns.get() == moved(columns, base_number) && permutation.get() == identity,
         "cusparseXcoosortByRow");
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
}

}  // namespace

int main(int count, char** arguments) {
  Random random{static_cast<unsigned long long>(count > 1 ? std::atoi(arguments[1]) : 1)};
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 4;
  Library library;
  expect_success(cusparseCreate(&library.handle), "cusparseCreate");
  cudaStreamCreate(&library.stream);
  check_refusals(library, random);
  for (int i = 0; i < rounds; ++i) {
    check_all<float>(library, random);
    check_all<double>(library, random);
    check_all<std::complex<float>>(library, random);
    check_all<std::complex<double>>(library, random);
  }
  expect_success(cusparseDestroy(library.handle), "cusparseDestroy");
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
