// Stands for NVIDIA's static runtime: a library whose functions are found by their code in a program without
// a symbol table. They call one another and use variables, as relocations have to be left out of the
// comparison.
#include <cstdio>

namespace {
int calls = 0;
const char* const kNames[] = {"no error", "an error"};
}  // namespace

extern "C" {
int cudaGetLastError();

__attribute__((noinline)) int note_call(int value) {
  ++calls;
  std::printf("%s", calls > 1000 ? kNames[value & 1] : "");
  return value * 3 + calls - calls;
}

/// Not one that Lockstep has: it stays.
int cudaLockstepTestOnly(int value) { return note_call(value) + 40; }

int cudaGetDeviceCount(int* count) {
  *count = note_call(-1);
  return cudaGetLastError();
}

int cudaDriverGetVersion(int* version) {
  for (int i = 0; i < 5; ++i) *version = note_call(i) - 7 * i;
  return cudaGetLastError();
}

int cudaGetLastError() { return note_call(0) ^ 999; }
}
