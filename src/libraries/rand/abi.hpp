// cuRAND's types and values, as far as they are used here.
#pragma once

#include "libraries/common/error.hpp"

namespace lockstep::libraries::rand {

enum Status {
  kSuccess = 0,
  kNotInitialized = 101,
  kAllocationFailed = 102,
  kTypeError = 103,  // also for what is not supported: cuRAND has no status for that
  kOutOfRange = 104,
  kLengthNotMultiple = 105,
  kLaunchFailure = 201,
};

enum Type {
  kDefault = 100,
  kXorwow = 101,
  kMrg32k3a = 121,
  kMt19937 = 142,
  kPhilox = 161,
  kQuasiDefault = 200,
  kSobol32 = 201,
};

constexpr int kFirstOrdering = 100, kLastOrdering = 104;  // of those for pseudorandom numbers
constexpr int kQuasiOrdering = 201;
constexpr unsigned kLastDimension = 20000;

constexpr int kVersion[] = {10, 4, 0};

inline Status status_of(Failure failure) {
  switch (failure) {
    case Failure::kNotInitialized:
      return kNotInitialized;
    case Failure::kInvalidValue:
      return kOutOfRange;
    case Failure::kAllocation:
      return kAllocationFailed;
    case Failure::kExecution:
      return kLaunchFailure;
    default:
      return kTypeError;
  }
}

}  // namespace lockstep::libraries::rand
