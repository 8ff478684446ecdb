// How entries come in families: for each type, and for sizes of 32 bits and (suffix _64) of 64 bits.
#pragma once

#include <cstdint>

#include "libraries/blas/context.hpp"
#include "libraries/blas/gemm.hpp"

namespace lockstep::libraries::blas {

template <class T>
inline constexpr DataType kTypeOf = kReal32;
template <>
inline constexpr DataType kTypeOf<double> = kReal64;
template <>
inline constexpr DataType kTypeOf<Half> = kReal16;
template <>
inline constexpr DataType kTypeOf<Complex64> = kComplex32;
template <>
inline constexpr DataType kTypeOf<Complex128> = kComplex64;

}  // namespace lockstep::libraries::blas

/// FAMILY(name, type of elements, type of sizes), twice.
#define LOCKSTEP_BOTH_SIZES(FAMILY, name, T) FAMILY(name, T, std::int32_t) FAMILY(name##_64, T, std::int64_t)
