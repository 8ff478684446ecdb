// cublas.h, the interface before handles: one handle for the process, numbers by value, operations as
// letters, results returned, and errors kept for cublasGetError(). Each function calls its successor.
#include <mutex>
#include <utility>

#include "libraries/blas/entries.hpp"

namespace lockstep::libraries::blas {

extern "C" {
Status cublasCreate_v2(void** handle);
Status cublasDestroy_v2(void* handle);
Status cublasSetStream_v2(void* handle, Stream stream);
}

namespace {

struct Process {
  std::mutex mutex;
  void* handle = nullptr;
  Status error = kStatusSuccess;  // the last one that has not been read
};
Process& process() {
  static auto& own = *new Process;
  return own;
}

/// `entry` with the process' handle, and whatever else it takes.
template <class... Parameters, class... Arguments>
void call(Status (*entry)(void*, Parameters...), Arguments... arguments) {
  Process& own = process();
  const std::lock_guard lock(own.mutex);
  const Status status = own.handle == nullptr ? kStatusNotInitialized : entry(own.handle, arguments...);
  if (status != kStatusSuccess) own.error = status;
}
/// The result that it writes behind its other arguments; zero after an error.
template <class Result, class... Parameters, class... Arguments>
Result result_of(Status (*entry)(void*, Parameters...), Arguments... arguments) {
  Result result{};
  call(entry, arguments..., &result);
  return result;
}

constexpr int kUnknown = -1;  // is refused by what is called

int choice(char letter, const char* letters) {
  const char upper = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  for (int i = 0; letters[i] != '\0'; ++i)
    if (letters[i] == upper) return i;
  return kUnknown;
}
Operation op_of(char letter) { return choice(letter, "NTC"); }
FillMode fill_of(char letter) { return choice(letter, "LU"); }
Side side_of(char letter) { return choice(letter, "LR"); }
Diagonal diagonal_of(char letter) { return choice(letter, "NU"); }

}  // namespace

LOCKSTEP_LIBRARY_API Status cublasInit() {
  Process& own = process();
  const std::lock_guard lock(own.mutex);
  return own.handle != nullptr ? kStatusSuccess : cublasCreate_v2(&own.handle);
}
LOCKSTEP_LIBRARY_API Status cublasShutdown() {
  Process& own = process();
  const std::lock_guard lock(own.mutex);
  const Status status = own.handle == nullptr ? kStatusNotInitialized : cublasDestroy_v2(own.handle);
  own.handle = nullptr;
  return status;
}
LOCKSTEP_LIBRARY_API Status cublasGetError() {
  Process& own = process();
  const std::lock_guard lock(own.mutex);
  return std::exchange(own.error, kStatusSuccess);
}
LOCKSTEP_LIBRARY_API Status cublasSetKernelStream(Stream stream) {
  Process& own = process();
  const std::lock_guard lock(own.mutex);
  return own.handle == nullptr ? kStatusNotInitialized : cublasSetStream_v2(own.handle, stream);
}
LOCKSTEP_LIBRARY_API Status cublasGetVersion(int* version) {
  return guarded(&status_of, [&] {
    require(version != nullptr);
    *version = library_version();
  });
}
LOCKSTEP_LIBRARY_API Status cublasAlloc(int count, int bytes, void** memory) {
  return guarded(&status_of, [&] {
    require(count > 0 && bytes > 0 && memory != nullptr);
    check(runtime().cudaMalloc(memory, static_cast<std::size_t>(count) * static_cast<std::size_t>(bytes)),
          "cublasAlloc");
  });
}
LOCKSTEP_LIBRARY_API Status cublasFree(void* memory) {
  return guarded(&status_of, [&] { check(runtime().cudaFree(memory), "cublasFree"); });
}

#define LOCKSTEP_LEGACY extern "C" __attribute__((visibility("default")))
#define LOCKSTEP_SUCCESSOR(name, ...) extern "C" Status name##_v2(void*, __VA_ARGS__);

#define LOCKSTEP_VECTORS(letter, T)                                                             \
  LOCKSTEP_SUCCESSOR(cublas##letter##axpy, int, const T*, const T*, int, T*, int)               \
  LOCKSTEP_SUCCESSOR(cublas##letter##scal, int, const T*, T*, int)                              \
  LOCKSTEP_SUCCESSOR(cublas##letter##copy, int, const T*, int, T*, int)                         \
  LOCKSTEP_SUCCESSOR(cublas##letter##swap, int, T*, int, T*, int)                               \
  LOCKSTEP_LEGACY void cublas##letter##axpy(int n, T alpha, const T* x, int ix, T* y, int iy) { \
    call(&cublas##letter##axpy_v2, n, &alpha, x, ix, y, iy);                                    \
  }                                                                                             \
  LOCKSTEP_LEGACY void cublas##letter##scal(int n, T alpha, T* x, int ix) {                     \
    call(&cublas##letter##scal_v2, n, &alpha, x, ix);                                           \
  }                                                                                             \
  LOCKSTEP_LEGACY void cublas##letter##copy(int n, const T* x, int ix, T* y, int iy) {          \
    call(&cublas##letter##copy_v2, n, x, ix, y, iy);                                            \
  }                                                                                             \
  LOCKSTEP_LEGACY void cublas##letter##swap(int n, T* x, int ix, T* y, int iy) {                \
    call(&cublas##letter##swap_v2, n, x, ix, y, iy);                                            \
  }
#define LOCKSTEP_NORM(name, T, Result)                  \
  LOCKSTEP_SUCCESSOR(name, int, const T*, int, Result*) \
  LOCKSTEP_LEGACY Result name(int n, const T* x, int ix) { return result_of<Result>(&name##_v2, n, x, ix); }
#define LOCKSTEP_DOT(name, T)                                             \
  LOCKSTEP_SUCCESSOR(name, int, const T*, int, const T*, int, T*)         \
  LOCKSTEP_LEGACY T name(int n, const T* x, int ix, const T* y, int iy) { \
    return result_of<T>(&name##_v2, n, x, ix, y, iy);                     \
  }
#define LOCKSTEP_GER(name, T)                                                                               \
  LOCKSTEP_SUCCESSOR(name, int, int, const T*, const T*, int, const T*, int, T*, int)                       \
  LOCKSTEP_LEGACY void name(int m, int n, T alpha, const T* x, int ix, const T* y, int iy, T* a, int lda) { \
    call(&name##_v2, m, n, &alpha, x, ix, y, iy, a, lda);                                                   \
  }
#define LOCKSTEP_SYMMETRIC(name, T)                                                                     \
  LOCKSTEP_SUCCESSOR(name, FillMode, int, const T*, const T*, int, const T*, int, const T*, T*, int)    \
  LOCKSTEP_LEGACY void name(char fill, int n, T alpha, const T* a, int lda, const T* x, int ix, T beta, \
                            T* y, int iy) {                                                             \
    call(&name##_v2, fill_of(fill), n, &alpha, a, lda, x, ix, &beta, y, iy);                            \
  }
#define LOCKSTEP_TRIANGULAR(name, T)                                                                       \
  LOCKSTEP_SUCCESSOR(name, FillMode, Operation, Diagonal, int, const T*, int, T*, int)                     \
  LOCKSTEP_LEGACY void name(char fill, char op, char diagonal, int n, const T* a, int lda, T* x, int ix) { \
    call(&name##_v2, fill_of(fill), op_of(op), diagonal_of(diagonal), n, a, lda, x, ix);                   \
  }
#define LOCKSTEP_MATRICES(letter, T)                                                                         \
  LOCKSTEP_SUCCESSOR(cublas##letter##gemv, Operation, int, int, const T*, const T*, int, const T*, int,      \
                     const T*, T*, int)                                                                      \
  LOCKSTEP_LEGACY void cublas##letter##gemv(char op, int m, int n, T alpha, const T* a, int lda, const T* x, \
                                            int ix, T beta, T* y, int iy) {                                  \
    call(&cublas##letter##gemv_v2, op_of(op), m, n, &alpha, a, lda, x, ix, &beta, y, iy);                    \
  }                                                                                                          \
  LOCKSTEP_SUCCESSOR(cublas##letter##gemm, Operation, Operation, int, int, int, const T*, const T*, int,     \
                     const T*, int, const T*, T*, int)                                                       \
  LOCKSTEP_LEGACY void cublas##letter##gemm(char op_a, char op_b, int m, int n, int k, T alpha, const T* a,  \
                                            int lda, const T* b, int ldb, T beta, T* c, int ldc) {           \
    call(&cublas##letter##gemm_v2, op_of(op_a), op_of(op_b), m, n, k, &alpha, a, lda, b, ldb, &beta, c,      \
         ldc);                                                                                               \
  }                                                                                                          \
  LOCKSTEP_SUCCESSOR(cublas##letter##syrk, FillMode, Operation, int, int, const T*, const T*, int, const T*, \
                     T*, int)                                                                                \
  LOCKSTEP_LEGACY void cublas##letter##syrk(char fill, char op, int n, int k, T alpha, const T* a, int lda,  \
                                            T beta, T* c, int ldc) {                                         \
    call(&cublas##letter##syrk_v2, fill_of(fill), op_of(op), n, k, &alpha, a, lda, &beta, c, ldc);           \
  }                                                                                                          \
  LOCKSTEP_SUCCESSOR(cublas##letter##symm, Side, FillMode, int, int, const T*, const T*, int, const T*, int, \
                     const T*, T*, int)                                                                      \
  LOCKSTEP_LEGACY void cublas##letter##symm(char side, char fill, int m, int n, T alpha, const T* a,         \
                                            int lda, const T* b, int ldb, T beta, T* c, int ldc) {           \
    call(&cublas##letter##symm_v2, side_of(side), fill_of(fill), m, n, &alpha, a, lda, b, ldb, &beta, c,     \
         ldc);                                                                                               \
  }                                                                                                          \
  LOCKSTEP_SUCCESSOR(cublas##letter##trsm, Side, FillMode, Operation, Diagonal, int, int, const T*,          \
                     const T*, int, T*, int)                                                                 \
  LOCKSTEP_LEGACY void cublas##letter##trsm(char side, char fill, char op, char diagonal, int m, int n,      \
                                            T alpha, const T* a, int lda, T* b, int ldb) {                   \
    call(&cublas##letter##trsm_v2, side_of(side), fill_of(fill), op_of(op), diagonal_of(diagonal), m, n,     \
         &alpha, a, lda, b, ldb);                                                                            \
  }                                                                                                          \
  LOCKSTEP_SUCCESSOR(cublas##letter##trmm, Side, FillMode, Operation, Diagonal, int, int, const T*,          \
                     const T*, int, const T*, int, T*, int)                                                  \
  LOCKSTEP_LEGACY void cublas##letter##trmm(char side, char fill, char op, char diagonal, int m, int n,      \
                                            T alpha, const T* a, int lda, T* b, int ldb) {                   \
    call(&cublas##letter##trmm_v2, side_of(side), fill_of(fill), op_of(op), diagonal_of(diagonal), m, n,     \
         &alpha, a, lda, b, ldb, b, ldb);                                                                    \
  }                                                                                                          \
  LOCKSTEP_TRIANGULAR(cublas##letter##trmv, T)                                                               \
  LOCKSTEP_TRIANGULAR(cublas##letter##trsv, T)
#define LOCKSTEP_TYPE(letter, small, norm, T, R) \
  LOCKSTEP_VECTORS(letter, T)                    \
  LOCKSTEP_NORM(cublas##norm##nrm2, T, R)        \
  LOCKSTEP_NORM(cublas##norm##asum, T, R)        \
  LOCKSTEP_NORM(cublasI##small##amax, T, int)    \
  LOCKSTEP_NORM(cublasI##small##amin, T, int)    \
  LOCKSTEP_MATRICES(letter, T)

LOCKSTEP_TYPE(S, s, S, float, float)
LOCKSTEP_TYPE(D, d, D, double, double)
LOCKSTEP_TYPE(C, c, Sc, Complex64, float)
LOCKSTEP_TYPE(Z, z, Dz, Complex128, double)
LOCKSTEP_DOT(cublasSdot, float)
LOCKSTEP_DOT(cublasDdot, double)
LOCKSTEP_DOT(cublasCdotu, Complex64)
LOCKSTEP_DOT(cublasCdotc, Complex64)
LOCKSTEP_DOT(cublasZdotu, Complex128)
LOCKSTEP_DOT(cublasZdotc, Complex128)
LOCKSTEP_GER(cublasSger, float)
LOCKSTEP_GER(cublasDger, double)
LOCKSTEP_SYMMETRIC(cublasSsymv, float)
LOCKSTEP_SYMMETRIC(cublasDsymv, double)

}  // namespace lockstep::libraries::blas
