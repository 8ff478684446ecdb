#pragma once

// The elements that can be reduced, and what they are while they are.
namespace lockstep::libraries::nccl {

template <class T>
struct Plain {
  using Stored = T;
  using Sum = T;
  static __device__ Sum widened(Stored value) { return value; }
  static __device__ Stored narrowed(Sum value) { return value; }
};

struct Half {
  using Stored = unsigned short;
  using Sum = float;
  static __device__ Sum widened(Stored value) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value));
    return result;
  }
  static __device__ Stored narrowed(Sum value) {
    unsigned short result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
    return result;
  }
};

struct Bfloat16 {
  using Stored = unsigned short;
  using Sum = float;
  static __device__ Sum widened(Stored value) { return __uint_as_float(static_cast<unsigned>(value) << 16); }
  /// To the nearest, ties to even; a NaN stays one.
  static __device__ Stored narrowed(Sum value) {
    const unsigned bits = __float_as_uint(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<Stored>(bits >> 16 | 0x40U);
    return static_cast<Stored>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
  }
};

enum Operation { kSum, kProduct, kMaximum, kMinimum, kAverage };

template <class T>
__device__ T combined(T a, T b, int operation) {
  switch (operation) {
    case kProduct:
      return static_cast<T>(a * b);
    case kMaximum:
      return a > b || a != a ? a : b;
    case kMinimum:
      return a < b || a != a ? a : b;
    default:
      return static_cast<T>(a + b);
  }
}

}  // namespace lockstep::libraries::nccl
