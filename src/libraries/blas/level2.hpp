// Matrices times vectors, as entries ask for them.
#pragma once

#include <string>

#include "libraries/blas/context.hpp"
#include "libraries/blas/matrix_arguments.hpp"

namespace lockstep::libraries::blas {

/// The end of the kernels' names for elements of T.
template <class T>
inline constexpr const char* kSuffix = "f32";
template <>
inline constexpr const char* kSuffix<double> = "f64";
template <>
inline constexpr const char* kSuffix<Complex64> = "c32";
template <>
inline constexpr const char* kSuffix<Complex128> = "c64";

/// One vector.
struct Vector {
  const void* data;
  std::int64_t inc;
};

struct GemvCall {
  Operation op;
  std::int64_t m, n;
  const void* alpha;
  const void* a;
  std::int64_t lda;
  Vector x;
  const void* beta;
  Vector y;
  std::int64_t stride_a = 0, stride_x = 0, stride_y = 0, batches = 1;
  bool by_pointers = false;
};

[[nodiscard]] int triangle_of(FillMode mode);
[[nodiscard]] int unit_of(Diagonal diagonal);

}  // namespace lockstep::libraries::blas
