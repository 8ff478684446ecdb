// What the example programs share: failing calls end the program, and the verdict is one line and the exit code.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>

/// Ends the program when a call of the CUDA runtime fails.
#define CHECK(call) check((call), #call, __LINE__)
inline void check(cudaError_t error, const char* call, int line) {
  if (error == cudaSuccess) return;
  std::printf("line %d: %s: %s\nFAIL\n", line, call, cudaGetErrorString(error));
  std::exit(1);
}

/// The size given on the command line, or `standard`; ends the program unless it is a positive multiple of `unit`.
inline int size_argument(int argc, char** argv, int standard, int unit) {
  const int size = argc > 1 ? std::atoi(argv[1]) : standard;
  if (size > 0 && size % unit == 0) return size;
  std::printf("the size must be a positive multiple of %d\nFAIL\n", unit);
  std::exit(1);
}

inline int verdict(bool passed) {
  std::puts(passed ? "PASS" : "FAIL");
  return passed ? 0 : 1;
}

/// Pseudo-random numbers, the same on every machine.
struct Random {
  unsigned state = 1;
  unsigned operator()() {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
  }
};
