// cuFFT's types and values, as far as they are used here.
#pragma once

namespace lockstep::libraries::fft {

enum Status {
  kSuccess = 0,
  kInvalidPlan = 1,
  kAllocFailed = 2,
  kInvalidType = 3,
  kInvalidValue = 4,
  kInternalError = 5,
  kExecFailed = 6,
  kInvalidSize = 8,
  kNoWorkspace = 13,
  kNotSupported = 16,
};

enum Type { kC2C = 0x29, kR2C = 0x2a, kC2R = 0x2c, kZ2Z = 0x69, kD2Z = 0x6a, kZ2D = 0x6c };

constexpr int kForward = -1, kInverse = 1;

using Handle = int;

}  // namespace lockstep::libraries::fft
