// Stands for NVIDIA's cuBLAS, linked statically or found by the program's run path.
extern "C" {
extern const char* volatile library_text;
const char* volatile library_text = "NVIDIA's";

__attribute__((visibility("default"))) const char* cublasGetStatusName(int status) {
  return status >= 0 ? library_text : nullptr;
}
/// Not one that cuBLAS has: it stays.
__attribute__((visibility("default"))) const char* cublasLockstepTestOnly(int status) {
  return status >= 0 ? library_text : nullptr;
}
}
