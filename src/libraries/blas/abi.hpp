// Types that programs share with cuBLAS; names and values are facts of its interface.
#pragma once

#include <cstdint>

#include "libraries/common/error.hpp"

namespace lockstep::libraries::blas {

enum Status : int {
  kStatusSuccess = 0,
  kStatusNotInitialized = 1,
  kStatusAllocationFailed = 3,
  kStatusInvalidValue = 7,
  kStatusArchMismatch = 8,
  kStatusMappingError = 11,
  kStatusExecutionFailed = 13,
  kStatusInternalError = 14,
  kStatusNotSupported = 15,
  kStatusLicenseError = 16,
};

[[nodiscard]] inline Status status_of(Failure failure) {
  switch (failure) {
    case Failure::kNotInitialized:
      return kStatusNotInitialized;
    case Failure::kInvalidValue:
      return kStatusInvalidValue;
    case Failure::kAllocation:
      return kStatusAllocationFailed;
    case Failure::kExecution:
      return kStatusExecutionFailed;
    case Failure::kNotSupported:
      return kStatusNotSupported;
  }
  return kStatusInternalError;
}

// Enumerations are integers here: programs may pass any value.
using Operation = int;  // GemmOperation
using FillMode = int;
using Diagonal = int;
using Side = int;
inline constexpr FillMode kFillLower = 0, kFillUpper = 1;
inline constexpr Diagonal kDiagonalNonUnit = 0, kDiagonalUnit = 1;
inline constexpr Side kSideLeft = 0, kSideRight = 1;
inline constexpr int kPointersOnHost = 0, kPointersOnDevice = 1;

/// cudaDataType_t
enum DataType : int {
  kReal32 = 0,
  kReal64 = 1,
  kReal16 = 2,
  kInt8 = 3,
  kComplex32 = 4,
  kComplex64 = 5,
  kInt32 = 10,
  kBfloat16 = 14,
};

/// cublasComputeType_t
enum ComputeType : int {
  kCompute16F = 64,
  kCompute16FPedantic = 65,
  kCompute32F = 68,
  kCompute32FPedantic = 69,
  kCompute64F = 70,
  kCompute64FPedantic = 71,
  kCompute32I = 72,
  kCompute32IPedantic = 73,
  kCompute32FFast16F = 74,
  kCompute32FFast16BF = 75,
  kCompute32FFastTF32 = 77,
};

struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};
template <class T>
struct alignas(2 * sizeof(T)) Complex {
  T re, im;
};
using Complex64 = Complex<float>;
using Complex128 = Complex<double>;

}  // namespace lockstep::libraries::blas

/// Declares and defines an entry of the library.
#define LOCKSTEP_LIBRARY_API extern "C" __attribute__((visibility("default")))
