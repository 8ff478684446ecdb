// cuSPARSE's types and values, as far as they are used here.
#pragma once

#include <cstdint>

#include "libraries/common/error.hpp"

namespace lockstep::libraries::sparse {

enum Status {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 2,
  kInvalidStatus = 3,
  kExecutionFailed = 6,
  kZeroPivot = 9,
  kNotSupported = 10,
};

enum Operation { kAsIs = 0, kTransposed = 1, kConjugateTransposed = 2 };
enum PointerMode { kOnHost = 0, kOnDevice = 1 };
enum Format { kCsr = 1, kCsc = 2, kCoo = 3 };
enum Order { kByColumns = 1, kByRows = 2 };
enum IndexType { kIndex32 = 2, kIndex64 = 3 };
enum ValueType { kFloat = 0, kDouble = 1, kComplexFloat = 4, kComplexDouble = 5 };
enum MatrixType { kGeneral = 0, kLastMatrixType = 3 };
enum FillMode { kLower = 0, kUpper = 1 };
enum DiagonalType { kNonUnit = 0, kUnit = 1 };
enum Attribute { kFillMode = 0, kDiagonalType = 1 };

constexpr int kFirstSpgemm = 0, kLastSpgemm = 5;  // algorithms

constexpr int kVersion[] = {12, 6, 3};

inline Status status_of(Failure failure) {
  switch (failure) {
    case Failure::kNotInitialized:
      return kNotInitialized;
    case Failure::kInvalidValue:
      return kInvalidStatus;
    case Failure::kAllocation:
      return kAllocFailed;
    case Failure::kExecution:
      return kExecutionFailed;
    default:
      return kNotSupported;
  }
}

}  // namespace lockstep::libraries::sparse

#define LOCKSTEP_SPARSE_API \
  extern "C" __attribute__((visibility("default"))) lockstep::libraries::sparse::Status
