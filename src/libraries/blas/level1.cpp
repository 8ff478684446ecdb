// cublasSaxpy and its relatives.
#include "libraries/blas/entries.hpp"
#include "libraries/blas/vectors.hpp"

namespace lockstep::libraries::blas {
namespace {

template <class T>
VectorCall call_of(std::int64_t n, const T* x, std::int64_t inc_x, const T* y = nullptr,
                   std::int64_t inc_y = 1) {
  return {n, x, inc_x, y, inc_y, sizeof(T), sizeof(T)};
}

Status update(void* handle, const char* kernel, const VectorCall& call) {
  return with_context(handle, [&](Context& context) { launch_vector(context, kernel, vectors(call)); });
}
template <class S>
Status update(void* handle, const char* kernel, const VectorCall& call, const S* alpha) {
  return with_context(handle, [&](Context& context) {
    VectorArguments v = vectors(call);
    v.alpha = scalar_of(context, alpha, kTypeOf<S>);
    launch_vector(context, kernel, v);
  });
}
/// Of one vector: without elements where it would be walked backwards or stand still.
template <class R>
Status reduction_of_one(void* handle, const char* kernel, VectorCall call, R* result) {
  return with_context(handle, [&](Context& context) {
    if (call.inc_x <= 0) call.n = 0, call.inc_x = 1;
    VectorArguments v = vectors(call);
    v.result_is_64 = sizeof(R) == sizeof(std::int64_t);
    reduce(context, kernel, v, result, sizeof(R));
  });
}
template <class R>
Status dot_product(void* handle, const char* kernel, const VectorCall& call, R* result, bool conjugate) {
  return with_context(handle, [&](Context& context) {
    VectorArguments v = vectors(call);
    v.conjugate = conjugate;
    reduce(context, kernel, v, result, sizeof(R));
  });
}
template <class C, class S>
Status rotation(void* handle, const char* kernel, const VectorCall& call, const C* c, const S* s) {
  return with_context(handle, [&](Context& context) {
    VectorArguments v = vectors(call);
    v.alpha = scalar_of(context, c, kTypeOf<C>);
    v.beta = scalar_of(context, s, kTypeOf<S>);
    launch_vector(context, kernel, v);
  });
}

}  // namespace

#define LOCKSTEP_AXPY(name, T, kernel, Int)                                                          \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Int n, const T* alpha, const T* x, Int inc_x, T* y, \
                                   Int inc_y) {                                                      \
    return update(handle, kernel, call_of<T>(n, x, inc_x, y, inc_y), alpha);                         \
  }
#define LOCKSTEP_SCAL(name, T, S, kernel, Int)                                           \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Int n, const S* alpha, T* x, Int inc) { \
    return update(handle, kernel, call_of<T>(inc > 0 ? n : 0, x, inc), alpha);           \
  }
#define LOCKSTEP_PAIR(name, T, kernel, Int)                                                 \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Int n, T* x, Int inc_x, T* y, Int inc_y) { \
    return update(handle, kernel, call_of<T>(n, x, inc_x, y, inc_y));                       \
  }
#define LOCKSTEP_DOT(name, T, kernel, conjugate, Int)                                                 \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Int n, const T* x, Int inc_x, const T* y, Int inc_y, \
                                   T* result) {                                                       \
    return dot_product(handle, kernel, call_of<T>(n, x, inc_x, y, inc_y), result, conjugate);         \
  }
#define LOCKSTEP_OF_ONE(name, T, R, kernel, Int)                                          \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Int n, const T* x, Int inc, R* result) { \
    return reduction_of_one(handle, kernel, call_of<T>(n, x, inc), result);               \
  }
#define LOCKSTEP_ROT(name, T, C, S, kernel, Int)                                                      \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Int n, T* x, Int inc_x, T* y, Int inc_y, const C* c, \
                                   const S* s) {                                                      \
    return rotation(handle, kernel, call_of<T>(n, x, inc_x, y, inc_y), c, s);                         \
  }

/// For `letter` (S), its name in iamax (s), in nrm2 (S, Sc), its type, the type of its magnitudes.
#define LOCKSTEP_LEVEL_1(letter, small, norm, T, R, kind, suffix, Int)         \
  LOCKSTEP_AXPY(cublas##letter##axpy_v2##suffix, T, "axpy_" kind, Int)         \
  LOCKSTEP_SCAL(cublas##letter##scal_v2##suffix, T, T, "scal_" kind, Int)      \
  LOCKSTEP_PAIR(cublas##letter##copy_v2##suffix, T, "copy_" kind, Int)         \
  LOCKSTEP_PAIR(cublas##letter##swap_v2##suffix, T, "swap_" kind, Int)         \
  LOCKSTEP_OF_ONE(cublas##norm##nrm2_v2##suffix, T, R, "nrm2_" kind, Int)      \
  LOCKSTEP_OF_ONE(cublas##norm##asum_v2##suffix, T, R, "asum_" kind, Int)      \
  LOCKSTEP_OF_ONE(cublasI##small##amax_v2##suffix, T, Int, "iamax_" kind, Int) \
  LOCKSTEP_OF_ONE(cublasI##small##amin_v2##suffix, T, Int, "iamin_" kind, Int)
#define LOCKSTEP_OTHERS(suffix, Int)                                                      \
  LOCKSTEP_SCAL(cublasCsscal_v2##suffix, Complex64, float, "scal_c32_f32", Int)           \
  LOCKSTEP_SCAL(cublasZdscal_v2##suffix, Complex128, double, "scal_c64_f64", Int)         \
  LOCKSTEP_DOT(cublasSdot_v2##suffix, float, "dot_f32", false, Int)                       \
  LOCKSTEP_DOT(cublasDdot_v2##suffix, double, "dot_f64", false, Int)                      \
  LOCKSTEP_DOT(cublasCdotu_v2##suffix, Complex64, "dot_c32", false, Int)                  \
  LOCKSTEP_DOT(cublasCdotc_v2##suffix, Complex64, "dot_c32", true, Int)                   \
  LOCKSTEP_DOT(cublasZdotu_v2##suffix, Complex128, "dot_c64", false, Int)                 \
  LOCKSTEP_DOT(cublasZdotc_v2##suffix, Complex128, "dot_c64", true, Int)                  \
  LOCKSTEP_ROT(cublasSrot_v2##suffix, float, float, float, "rot_f32_f32", Int)            \
  LOCKSTEP_ROT(cublasDrot_v2##suffix, double, double, double, "rot_f64_f64", Int)         \
  LOCKSTEP_ROT(cublasCrot_v2##suffix, Complex64, float, Complex64, "rot_c32_c32", Int)    \
  LOCKSTEP_ROT(cublasCsrot_v2##suffix, Complex64, float, float, "rot_c32_f32", Int)       \
  LOCKSTEP_ROT(cublasZrot_v2##suffix, Complex128, double, Complex128, "rot_c64_c64", Int) \
  LOCKSTEP_ROT(cublasZdrot_v2##suffix, Complex128, double, double, "rot_c64_f64", Int)

LOCKSTEP_LEVEL_1(S, s, S, float, float, "f32", , std::int32_t)
LOCKSTEP_LEVEL_1(D, d, D, double, double, "f64", , std::int32_t)
LOCKSTEP_LEVEL_1(C, c, Sc, Complex64, float, "c32", , std::int32_t)
LOCKSTEP_LEVEL_1(Z, z, Dz, Complex128, double, "c64", , std::int32_t)
LOCKSTEP_LEVEL_1(S, s, S, float, float, "f32", _64, std::int64_t)
LOCKSTEP_LEVEL_1(D, d, D, double, double, "f64", _64, std::int64_t)
LOCKSTEP_LEVEL_1(C, c, Sc, Complex64, float, "c32", _64, std::int64_t)
LOCKSTEP_LEVEL_1(Z, z, Dz, Complex128, double, "c64", _64, std::int64_t)
LOCKSTEP_OTHERS(, std::int32_t)
LOCKSTEP_OTHERS(_64, std::int64_t)

}  // namespace lockstep::libraries::blas
