// cublasSrotg, rotmg, rotm and RotEx: where pointers are to the host's memory, rotations are found there.
#include <fmt/format.h>

#include <algorithm>

#include "libraries/blas/dense.hpp"
#include "libraries/blas/entries.hpp"
#include "libraries/blas/level2.hpp"
#include "libraries/blas/rotation_arguments.hpp"
#include "libraries/blas/vectors.hpp"

namespace lockstep::libraries::blas {
namespace {

/// By one thread of the device.
template <class T, class Arguments>
void find_on_device(const Context& context, const char* name, const Arguments& g) {
  const std::string kernel = std::string("lockstep_blas_") + name + "_" + kSuffix<T>;
  kernels_of("rotation").launch(kernel.c_str(), {1}, {1}, 0, context.stream, g);
}

template <class T, class R>
Status rotg(void* handle, T* a, T* b, R* c, T* s) {
  return with_context(handle, [&](Context& context) {
    require(a != nullptr && b != nullptr && c != nullptr && s != nullptr);
    if (context.on_device()) return find_on_device<T>(context, "rotg", GivensArguments{a, b, c, s});
    if constexpr (std::is_same_v<T, R>)
      find_rotation(*a, *b, *c, *s);
    else
      find_complex_rotation(&a->re, &b->re, *c, &s->re);
  });
}

template <class T>
Status rotmg(void* handle, T* d1, T* d2, T* x1, const T* y1, T* param) {
  return with_context(handle, [&](Context& context) {
    require(d1 != nullptr && d2 != nullptr && x1 != nullptr && y1 != nullptr && param != nullptr);
    const ModifiedGivensArguments g{d1, d2, x1, y1, param};
    if (context.on_device())
      find_on_device<T>(context, "rotmg", g);
    else
      find_modified_rotation<T>(g);
  });
}

template <class T>
Status rotm(void* handle, std::int64_t n, T* x, std::int64_t inc_x, T* y, std::int64_t inc_y,
            const T* param) {
  return with_context(handle, [&](Context& context) {
    constexpr std::int64_t kElementsOfCta = 1024, kMaxCtas = 1024;
    constexpr unsigned kThreads = 256;
    require(param != nullptr);
    const VectorArguments v = vectors({n, x, inc_x, y, inc_y, sizeof(T), sizeof(T)});
    ApplyModifiedArguments g{v.x, v.y, v.n, inc_x, inc_y, context.on_device() ? param : nullptr, {}};
    if (!context.on_device()) std::copy(param, param + std::size(g.h), g.h);
    if (v.n == 0) return;
    const std::string kernel = std::string("lockstep_blas_rotm_") + kSuffix<T>;
    const auto ctas = std::min<std::int64_t>((v.n + kElementsOfCta - 1) / kElementsOfCta, kMaxCtas);
    kernels_of("rotation")
        .launch(kernel.c_str(), {static_cast<unsigned>(ctas)}, {kThreads}, 0, context.stream, g);
  });
}

struct RotCall {
  const char* name;
  std::int64_t n;
  void* x;
  int x_type;
  std::int64_t inc_x;
  void* y;
  int y_type;
  std::int64_t inc_y;
  const void *c, *s;
  int factor_type, execution;
};
Status rot(void* handle, const RotCall& r) {
  return with_context(handle, [&](Context& context) {
    const bool complex = r.x_type == kComplex32 || r.x_type == kComplex64;
    const DataType real = r.x_type == kComplex32 || r.x_type == kReal32 ? kReal32 : kReal64;
    const bool known = complex || r.x_type == kReal32 || r.x_type == kReal64;
    if (!known || r.y_type != r.x_type || r.execution != r.x_type ||
        (r.factor_type != real && r.factor_type != r.x_type))
      refuse(fmt::format("{}: vectors of cudaDataType {} and {}, c and s of {}, with execution type {}",
                         r.name, r.x_type, r.y_type, r.factor_type, r.execution));
    const auto type = static_cast<DataType>(r.x_type), factor = static_cast<DataType>(r.factor_type);
    const std::size_t bytes = bytes_of(type);
    VectorArguments v = vectors({r.n, r.x, r.inc_x, r.y, r.inc_y, bytes, bytes});
    // c is real also where s is complex: of a complex c it is the real part.
    v.alpha = scalar_of(context, r.c, real);
    v.beta = scalar_of(context, r.s, factor);
    launch_vector(context, std::string("rot_") + suffix_of(type) + "_" + suffix_of(factor), v);
  });
}

}  // namespace

#define LOCKSTEP_ROTG(letter, T, R)                                                           \
  LOCKSTEP_LIBRARY_API Status cublas##letter##rotg_v2(void* handle, T* a, T* b, R* c, T* s) { \
    return rotg<T, R>(handle, a, b, c, s);                                                    \
  }
LOCKSTEP_ROTG(S, float, float)
LOCKSTEP_ROTG(D, double, double)
LOCKSTEP_ROTG(C, Complex64, float)
LOCKSTEP_ROTG(Z, Complex128, double)

#define LOCKSTEP_ROTMG(letter, T)                                                                      \
  LOCKSTEP_LIBRARY_API Status cublas##letter##rotmg_v2(void* handle, T* d1, T* d2, T* x1, const T* y1, \
                                                       T* param) {                                     \
    return rotmg<T>(handle, d1, d2, x1, y1, param);                                                    \
  }
LOCKSTEP_ROTMG(S, float)
LOCKSTEP_ROTMG(D, double)

#define LOCKSTEP_ROTM(name, T, Int)                                                                         \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Int n, T* x, Int inc_x, T* y, Int inc_y, const T* param) { \
    return rotm<T>(handle, n, x, inc_x, y, inc_y, param);                                                   \
  }
LOCKSTEP_BOTH_SIZES(LOCKSTEP_ROTM, cublasSrotm_v2, float)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_ROTM, cublasDrotm_v2, double)

#define LOCKSTEP_ROT_EX(name, Unused, Int)                                                                   \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Int n, void* x, int x_type, Int inc_x, void* y, int y_type, \
                                   Int inc_y, const void* c, const void* s, int factor_type,                 \
                                   int execution) {                                                          \
    return rot(handle, {#name, n, x, x_type, inc_x, y, y_type, inc_y, c, s, factor_type, execution});        \
  }
LOCKSTEP_BOTH_SIZES(LOCKSTEP_ROT_EX, cublasRotEx, void)

}  // namespace lockstep::libraries::blas
