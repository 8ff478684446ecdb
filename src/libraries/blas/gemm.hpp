// Matrix products, as every entry asks for them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "libraries/blas/abi.hpp"
#include "libraries/blas/gemm_arguments.hpp"
#include "libraries/common/kernels.hpp"

namespace lockstep::libraries::blas {

struct GemmTile {
  int rows, columns, threads;
};

/// Kernels for one choice of types, from large tiles to small ones: lockstep_blas_gemm_NAME_ROWS in
/// gemm_FILE.ptx.
struct GemmKind {
  const char *name, *file;
  DataType a, c;  // elements of A and B; of C and D
  DataType accumulator;
  int arch;  // that the kernels need at least
  std::span<const GemmTile> tiles;
  bool tensor = false;  // on tensor cores, of 16-bit elements; with activations and biases
};

/// The kernels for these types on that architecture, or nullptr.
[[nodiscard]] const GemmKind* find_gemm(DataType a, DataType c, DataType accumulator, int arch);

/// Enqueues the product. Nothing to do where D has no elements. `prefix`: of the kernels' names.
void launch_gemm(Kernels& kernels, const std::string& prefix, std::span<const GemmTile> tiles,
                 const GemmArguments& arguments, int multiprocessors, Stream stream);

/// A product as an entry is asked for it, with one matrix or a batch.
struct GemmCall {
  Operation op_a, op_b;
  std::int64_t m, n, k;
  const void* alpha;
  const void* a;
  std::int64_t lda;
  const void* b;
  std::int64_t ldb;
  const void* beta;
  void* c;
  std::int64_t ldc;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0, batches = 1;
  bool by_pointers = false;
  int triangle = kWholeMatrix;
  bool hermitian = false;  // the result: alpha and beta are real, and the diagonal
};

struct Context;

/// Enqueues what is known to be right.
void launch_gemm(const Context& context, const GemmKind& kind, const GemmArguments& arguments);

/// Checks and enqueues `call`. `scale`: the type of alpha and beta.
void gemm(const Context& context, const GemmKind& kind, DataType scale, const GemmCall& call);

/// alpha or beta of a call. `real_of_complex`: for complex sums.
[[nodiscard]] Scalar scalar_of(const Context& context, const void* value, DataType type,
                               bool real_of_complex = false);
[[nodiscard]] Scalar scalar_of(double real, double imaginary = 0);

/// A size that kernels count with; throws where it is negative, or more than they can.
[[nodiscard]] int size_of(std::int64_t size);

}  // namespace lockstep::libraries::blas
