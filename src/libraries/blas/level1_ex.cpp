// cublasAxpyEx and its relatives: types are arguments.
#include <fmt/format.h>

#include "libraries/blas/entries.hpp"
#include "libraries/blas/vectors.hpp"

namespace lockstep::libraries::blas {
namespace {

/// What vectors of a type are computed with.
struct VectorKind {
  DataType type, execution, real;  // real: of a norm
  const char* suffix;
  std::size_t bytes;
};
constexpr VectorKind kKinds[] = {
    {kReal32, kReal32, kReal32, "f32", 4},       {kReal64, kReal64, kReal64, "f64", 8},
    {kComplex32, kComplex32, kReal32, "c32", 8}, {kComplex64, kComplex64, kReal64, "c64", 16},
    {kReal16, kReal32, kReal16, "f16", 2},       {kBfloat16, kReal32, kBfloat16, "bf16", 2},
};

/// `types`: what has to be of the vectors' type.
const VectorKind& kind_of(const char* name, int type, std::initializer_list<int> types, int execution) {
  for (const VectorKind& kind : kKinds) {
    if (kind.type != type || kind.execution != execution) continue;
    bool same = true;
    for (const int other : types) same = same && other == type;
    if (same) return kind;
  }
  refuse(fmt::format("{}: vectors of cudaDataType {} with execution type {} and these other types", name,
                     type, execution));
}

VectorCall call_of(const VectorKind& kind, std::int64_t n, const void* x, std::int64_t inc_x,
                   const void* y = nullptr, std::int64_t inc_y = 1) {
  return {n, x, inc_x, y, inc_y, kind.bytes, kind.bytes};
}

Scalar factor_of(const Context& context, const char* name, const VectorKind& kind, const void* alpha,
                 int type) {
  if (type != kind.execution) refuse(fmt::format("{}: alpha of cudaDataType {}", name, type));
  return scalar_of(context, alpha, kind.execution);
}

struct DotCall {
  const char* name;
  std::int64_t n;
  const void* x;
  int x_type;
  std::int64_t inc_x;
  const void* y;
  int y_type;
  std::int64_t inc_y;
  void* result;
  int result_type, execution;
  bool conjugate;
};
Status dot(void* handle, const DotCall& d) {
  return with_context(handle, [&](Context& context) {
    const VectorKind& kind = kind_of(d.name, d.x_type, {d.y_type, d.result_type}, d.execution);
    VectorArguments v = vectors(call_of(kind, d.n, d.x, d.inc_x, d.y, d.inc_y));
    v.conjugate = d.conjugate;
    reduce(context, std::string("dot_") + kind.suffix, v, d.result, kind.bytes);
  });
}

}  // namespace

#define LOCKSTEP_AXPY_EX(name, Unused, Int)                                                                \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Int n, const void* alpha, int alpha_type, const void* x,  \
                                   int x_type, Int inc_x, void* y, int y_type, Int inc_y, int execution) { \
    return with_context(handle, [&](Context& context) {                                                    \
      const VectorKind& kind = kind_of(#name, x_type, {y_type}, execution);                                \
      VectorArguments v = vectors(call_of(kind, n, x, inc_x, y, inc_y));                                   \
      v.alpha = factor_of(context, #name, kind, alpha, alpha_type);                                        \
      launch_vector(context, std::string("axpy_") + kind.suffix, v);                                       \
    });                                                                                                    \
  }
#define LOCKSTEP_SCAL_EX(name, Unused, Int)                                                         \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Int n, const void* alpha, int alpha_type, void* x, \
                                   int x_type, Int inc, int execution) {                            \
    return with_context(handle, [&](Context& context) {                                             \
      const VectorKind& kind = kind_of(#name, x_type, {}, execution);                               \
      VectorArguments v = vectors(call_of(kind, inc > 0 ? n : 0, x, inc));                          \
      v.alpha = factor_of(context, #name, kind, alpha, alpha_type);                                 \
      launch_vector(context, std::string("scal_") + kind.suffix, v);                                \
    });                                                                                             \
  }
#define LOCKSTEP_DOT_EX(name, conjugate, Int)                                                                \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Int n, const void* x, int x_type, Int inc_x, const void* y, \
                                   int y_type, Int inc_y, void* result, int result_type, int execution) {    \
    return dot(handle,                                                                                       \
               {#name, n, x, x_type, inc_x, y, y_type, inc_y, result, result_type, execution, conjugate});   \
  }
#define LOCKSTEP_NRM2_EX(name, Unused, Int)                                                                  \
  LOCKSTEP_LIBRARY_API Status name(void* handle, Int n, const void* x, int x_type, Int inc, void* result,    \
                                   int result_type, int execution) {                                         \
    return with_context(handle, [&](Context& context) {                                                      \
      const bool complex = x_type == kComplex32 || x_type == kComplex64;                                     \
      const VectorKind& kind = kind_of(#name, x_type, {}, complex ? x_type : execution);                     \
      if (result_type != kind.real || (complex && execution != kind.real && execution != x_type))            \
        refuse(#name ": a result of another type");                                                          \
      const bool empty = inc <= 0;                                                                           \
      const VectorArguments v = vectors(call_of(kind, empty ? 0 : n, x, empty ? 1 : inc));                   \
      reduce(context, std::string("nrm2_") + kind.suffix, v, result, complex ? kind.bytes / 2 : kind.bytes); \
    });                                                                                                      \
  }
LOCKSTEP_BOTH_SIZES(LOCKSTEP_AXPY_EX, cublasAxpyEx, void)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_SCAL_EX, cublasScalEx, void)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_DOT_EX, cublasDotEx, false)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_DOT_EX, cublasDotcEx, true)
LOCKSTEP_BOTH_SIZES(LOCKSTEP_NRM2_EX, cublasNrm2Ex, void)

}  // namespace lockstep::libraries::blas
