// Building blocks of what is more than a product: parts of matrices, alone or in batches.
#pragma once

#include "libraries/blas/context.hpp"
#include "libraries/blas/gemm.hpp"
#include "libraries/blas/matrix_arguments.hpp"

namespace lockstep::libraries::blas {

/// A part of a matrix, or of each matrix of a batch.
struct MatrixRef {
  void* data = nullptr;  // the first matrix, or (`by_pointers`) pointers to all
  std::int64_t ld = 1;
  std::size_t bytes = 0;  // of an element
  std::int64_t stride = 0;
  bool by_pointers = false;
  std::int64_t offset = 0;  // of the part, in elements

  [[nodiscard]] MatrixRef at(std::int64_t row, std::int64_t column) const {
    MatrixRef part = *this;
    part.offset += row + column * ld;
    return part;
  }
  /// As kernels take it: see GemmArguments.
  [[nodiscard]] void* base() const {
    return by_pointers ? data : static_cast<char*>(data) + offset * static_cast<std::int64_t>(bytes);
  }
  [[nodiscard]] std::int64_t step() const { return by_pointers ? offset : stride; }
};

/// The end of the kernels' names, and the size of an element.
[[nodiscard]] const char* suffix_of(DataType type);
[[nodiscard]] std::size_t bytes_of(DataType type);

/// C := alpha op(A) op(B) + beta C of matrices of `type`, one or `batches`.
struct Product {
  DataType type;
  std::int64_t m = 0, n = 0, k = 0;
  Operation op_a = kOpN;
  MatrixRef a{};
  Operation op_b = kOpN;
  MatrixRef b{}, c{};
  Scalar alpha{}, beta{};
  std::int64_t batches = 1;
  int triangle = kWholeMatrix;
  bool real_diagonal = false;
};
void multiply(const Context& context, const Product& product);

/// B, of m x n, := X of op(A) X = alpha B, or (`right`) of X op(A) = alpha B.
struct Solution {
  DataType type;
  bool right = false;
  int triangle = kLowerTriangle;
  Operation op = kOpN;
  bool unit = false;
  std::int64_t m = 0, n = 0;
  MatrixRef a{}, b{};
  Scalar alpha{};
  std::int64_t batches = 1;
};
void solve_triangular(const Context& context, const Solution& solution);

/// C, of m x n, := alpha op(A) + beta op(B); one matrix each.
void add_matrices(const Context& context, DataType type, const MatrixArguments& arguments);

/// One of `lockstep_blas_NAME_TYPE` in `file`, with CTAs of 256 threads.
template <class Arguments>
void launch_typed(const Context& context, const char* file, const std::string& name, DataType type, Dim3 grid,
                  const Arguments& arguments) {
  constexpr unsigned kThreads = 256;
  const std::string kernel = "lockstep_blas_" + name + "_" + suffix_of(type);
  kernels_of(file).launch(kernel.c_str(), grid, {kThreads}, 0, context.stream, arguments);
}

[[nodiscard]] inline unsigned blocks_of(std::int64_t size, std::int64_t block) {
  return static_cast<unsigned>((size + block - 1) / block);
}

}  // namespace lockstep::libraries::blas
