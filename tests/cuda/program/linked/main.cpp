// Prints what the runtime that is linked into it says. Its symbol table is gone.
#include <cstdio>

extern "C" {
int cudaGetDeviceCount(int* count);
int cudaLockstepTestOnly(int value);
}

// What nvcc makes of kernels has such a section.
__attribute__((section(".nv_fatbin"), used)) static const char kFatbin[16] = {};

int main() {
  int count = 0;
  const int result = cudaGetDeviceCount(&count);
  std::printf("result %d, %d devices, %d\n", result, count, cudaLockstepTestOnly(2));
  return 0;
}
