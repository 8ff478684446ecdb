// Prints what cuBLAS says, and a function that only the one which it was linked with has.
#include <cstdio>

extern "C" {
const char* cublasGetStatusName(int status);
const char* cublasLockstepTestOnly(int status);
}

int main() {
  std::printf("%s, %s\n", cublasGetStatusName(1), cublasLockstepTestOnly(1));
  return 0;
}
