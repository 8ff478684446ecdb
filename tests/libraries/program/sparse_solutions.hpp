#pragma once

// Triangular systems: the matrix times the solution is what was given.
#include "sparse_support.hpp"

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

/// Whether the triangle of op(a) times x is `factor` times b; both by column, of `columns`.
template <class T>
void check_solution(const Matrix& a, const Triangle& triangle, int operation, double factor,
                    const std::vector<Value>& b, const std::vector<Value>& x, const std::string& what) {
  const auto size = static_cast<std::size_t>(a.rows);
  std::vector<Value> wanted;
  std::vector<Value> product(x.size());
  double largest = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    wanted.push_back(factor * b[i]);
    if (triangle.unit != 0) product[i] = x[i];
    largest = std::max(largest, std::abs(x[i]));
  }
  for (std::size_t first = 0; first < x.size(); first += size)
    for (const Entry& entry : a.entries)
      if (triangle.has(entry, operation))
        product[first + static_cast<std::size_t>(entry.row)] +=
            entry.value * x[first + static_cast<std::size_t>(entry.column)];
  std::vector<T> got;
  for (const Value value : product) got.push_back(Kind<T>::of(value));
  check_near(got, wanted, 20 * largest, what);
}

template <class T>
void check_vector_solution(const Library& library, Random& random) {
  const bool on_device = set_mode(library, random);
  const int size = random.below(120), operation = random.below(3);
  const auto format = static_cast<Format>(random.below(3));
  const Matrix matrix = random_square<T>(size, random);
  Triangle triangle{random.below(2), random.below(2)};
  const DeviceMatrix<T> a(matrix, format, random);
  triangle.tell(a.descriptor);
  const Scalar<T> alpha(T(2), on_device);
  const auto b = random_vector<T>(size, random);
  const Vector<T> in(b), out(b);
  cusparseSpSVDescr_t plan = nullptr;
  expect_success(cusparseSpSV_createDescr(&plan), "cusparseSpSV_createDescr");
  const auto op = static_cast<cusparseOperation_t>(operation);
  std::size_t bytes = 1;
  expect_success(
      cusparseSpSV_bufferSize(library.handle, op, alpha.pointer, a.descriptor, in.descriptor, out.descriptor,
                              Kind<T>::type, CUSPARSE_SPSV_ALG_DEFAULT, plan, &bytes),
      "cusparseSpSV_bufferSize");
  const Device<char> buffer(std::vector<char>(bytes + 1));
  expect_success(
      cusparseSpSV_analysis(library.handle, op, alpha.pointer, a.descriptor, in.descriptor, out.descriptor,
                            Kind<T>::type, CUSPARSE_SPSV_ALG_DEFAULT, plan, buffer.data()),
      "cusparseSpSV_analysis");
  expect_success(cusparseSpSV_solve(library.handle, op, alpha.pointer, a.descriptor, in.descriptor,
                                    out.descriptor, Kind<T>::type, CUSPARSE_SPSV_ALG_DEFAULT, plan),
                 "cusparseSpSV_solve");
  const auto x = out.device.get();
  check_solution<T>(after(matrix, operation), triangle, operation, 2, {b.begin(), b.end()},
                    {x.begin(), x.end()}, named("cusparseSpSV", format, operation));
  expect_success(cusparseSpSV_destroyDescr(plan), "cusparseSpSV_destroyDescr");
}

template <class T>
void check_matrix_solution(const Library& library, Random& random) {
  const bool on_device = set_mode(library, random);
  const int size = 1 + random.below(60), columns = random.below(10), operation = random.below(3);
  const bool turned = random.below(2) == 0;
  const auto format = static_cast<Format>(random.below(3));
  const Matrix matrix = random_square<T>(size, random);
  Triangle triangle{random.below(2), random.below(2)};
  const DeviceMatrix<T> a(matrix, format, random);
  triangle.tell(a.descriptor);
  const Scalar<T> alpha(T(0.5F), on_device);
  const DenseMatrix<T> b(turned ? columns : size, turned ? size : columns, random);
  DenseMatrix<T> x(size, columns, random);
  const DescribedMatrix<T> in(b), out(x);
  cusparseSpSMDescr_t plan = nullptr;
  expect_success(cusparseSpSM_createDescr(&plan), "cusparseSpSM_createDescr");
  const auto op = static_cast<cusparseOperation_t>(operation),
             op_b = static_cast<cusparseOperation_t>(turned ? 1 : 0);
  expect_success(
      cusparseSpSM_analysis(library.handle, op, op_b, alpha.pointer, a.descriptor, in.descriptor,
                            out.descriptor, Kind<T>::type, CUSPARSE_SPSM_ALG_DEFAULT, plan, nullptr),
      "cusparseSpSM_analysis");
  expect_success(cusparseSpSM_solve(library.handle, op, op_b, alpha.pointer, a.descriptor, in.descriptor,
                                    out.descriptor, Kind<T>::type, CUSPARSE_SPSM_ALG_DEFAULT, plan),
                 "cusparseSpSM_solve");
  x.values = out.device.get();
  std::vector<Value> sides, solutions;
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < size; ++i) {
      sides.push_back(b.at(i, j, turned ? 1 : 0));
      solutions.push_back(x.at(i, j));
    }
  check_solution<T>(after(matrix, operation), triangle, operation, 0.5, sides, solutions,
                    named("cusparseSpSM", format, operation));
  expect_success(cusparseSpSM_destroyDescr(plan), "cusparseSpSM_destroyDescr");
}
