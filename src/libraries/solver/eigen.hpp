// Eigenvalues of symmetric matrices, as entries ask for them.
#pragma once

#include <cstdint>

#include "libraries/solver/context.hpp"
#include "libraries/solver/eigen_arguments.hpp"

namespace lockstep::libraries::solver {

constexpr int kWithVectors = 1;

struct EigenCall {
  int mode, fill;
  std::int64_t n;
  void* a;
  std::int64_t lda;
  void* values;
  int* info;
  std::int64_t matrices = 1;
};

/// Throw where the call is wrong.
void check_call(const EigenCall& call);
[[nodiscard]] EigenArguments arguments_of(const EigenCall& call);

/// Enqueues `matrices` problems of floats or doubles.
void launch_eigen(const Context& context, blas::DataType type, EigenArguments arguments,
                  std::int64_t matrices);

}  // namespace lockstep::libraries::solver
