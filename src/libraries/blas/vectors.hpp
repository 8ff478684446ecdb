// Operations on vectors.
#pragma once

#include <string>

#include "libraries/blas/context.hpp"
#include "libraries/blas/vector_arguments.hpp"

namespace lockstep::libraries::blas {

struct VectorCall {
  std::int64_t n;
  const void* x;
  std::int64_t inc_x;
  const void* y = nullptr;
  std::int64_t inc_y = 1;
  std::size_t x_bytes = 4, y_bytes = 4;  // of an element
};

/// Vectors as kernels walk them.
[[nodiscard]] VectorArguments vectors(const VectorCall& call);

/// Enqueues lockstep_blas_NAME of vector.ptx. Nothing to do where there are no elements.
void launch_vector(const Context& context, const std::string& name, const VectorArguments& arguments);

/// Reduces by lockstep_blas_NAME of reduce.ptx. The result, of `bytes`, is where the pointer mode says
/// `result` is.
void reduce(const Context& context, const std::string& name, VectorArguments arguments, void* result,
            std::size_t bytes);

}  // namespace lockstep::libraries::blas
