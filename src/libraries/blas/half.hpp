// Half-precision numbers on the host.
#pragma once

#include <bit>
#include <cmath>

#include "libraries/blas/abi.hpp"

namespace lockstep::libraries::blas {

[[nodiscard]] inline float float_of(Half half) {
  const unsigned exponent = half.bits >> 10 & 31, mantissa = half.bits & 1023u;
  const float sign = (half.bits & 0x8000u) != 0 ? -1.0f : 1.0f;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  if (exponent == 31) return mantissa != 0 ? std::nanf("") : sign * INFINITY;
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), static_cast<int>(exponent) - 25);
}

}  // namespace lockstep::libraries::blas
