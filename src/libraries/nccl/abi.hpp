// NCCL's types and values, as far as they are used here.
#pragma once

#include "libraries/common/error.hpp"

namespace lockstep::libraries::nccl {

enum Result {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,  // also for what is not supported: NCCL has no result for that
};

constexpr int kVersion = 22809;

constexpr int kBuiltInOperations = 5;
constexpr int kTypes = 10;  // those that follow are of eight bits

struct UniqueId {
  char bytes[128];
};

inline Result result_of(Failure failure) {
  switch (failure) {
    case Failure::kNotInitialized:
    case Failure::kInvalidValue:
      return kInvalidArgument;
    case Failure::kAllocation:
    case Failure::kExecution:
      return kUnhandledCudaError;
    default:
      return kInvalidUsage;
  }
}

}  // namespace lockstep::libraries::nccl

#define LOCKSTEP_NCCL_API extern "C" __attribute__((visibility("default"))) lockstep::libraries::nccl::Result
