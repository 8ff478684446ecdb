// The generic interface: cusolverDnXgetrf and its relatives, whose types are arguments and whose sizes have
// 64 bits.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "libraries/blas/level2.hpp"
#include "libraries/solver/context.hpp"

namespace lockstep::libraries::solver {

[[nodiscard]] std::string_view embedded_ptx(std::string_view file);

namespace {

using blas::DataType;
using blas::Factors;
using blas::MatrixRef;

/// cusolverDnParams_t: options of algorithms, of which there is one each.
struct Options {
  int algorithm = 0;
};

DataType type_of(const char* name, int type, int computed_with) {
  const bool known =
      type == blas::kReal32 || type == blas::kReal64 || type == blas::kComplex32 || type == blas::kComplex64;
  if (!known || type != computed_with)
    refuse(fmt::format("{}: cudaDataType {} with {}", name, type, computed_with));
  return static_cast<DataType>(type);
}

MatrixRef matrix_of(const void* data, std::int64_t ld, std::int64_t rows, DataType type) {
  require(rows >= 0 && ld >= std::max<std::int64_t>(1, rows));
  return {const_cast<void*>(data), ld, blas::bytes_of(type)};
}

void convert(const Context& context, const char* kernel, const void* from, void* to, std::int64_t count) {
  static auto& kernels = *new Kernels(embedded_ptx("pivots"));  // to the end of the process
  constexpr unsigned kThreads = 256;
  kernels.launch(kernel, {blas::blocks_of(count, kThreads)}, {kThreads}, 0, context.blas.stream, from, to,
                 static_cast<int>(count));
}

/// Workspaces are the library's own; programs may not expect none on the device.
Status workspace(const void* handle, std::size_t* on_device, std::size_t* on_host) {
  return with_context(handle, [&](Context&) {
    require(on_device != nullptr && on_host != nullptr);
    *on_device = 1, *on_host = 0;
  });
}

void clear(const Context& context, int* info) {
  require(info != nullptr);
  check(runtime().cudaMemsetAsync(info, 0, sizeof(int), context.blas.stream), "cudaMemsetAsync");
}

}  // namespace

LOCKSTEP_SOLVER_API cusolverDnCreateParams(void** options) {
  return guarded(&status_of, [&] {
    require(options != nullptr);
    *options = handles<Options>().create();
  });
}
LOCKSTEP_SOLVER_API cusolverDnDestroyParams(void* options) {
  return guarded(&status_of, [&] { handles<Options>().destroy(options); });
}
LOCKSTEP_SOLVER_API cusolverDnSetAdvOptions(void* options, int, int algorithm) {
  return guarded(&status_of, [&] {
    require(algorithm >= 0 && algorithm <= 2);
    handles<Options>().get(options).algorithm = algorithm;
  });
}

LOCKSTEP_SOLVER_API cusolverDnXgetrf_bufferSize(void* handle, void*, std::int64_t, std::int64_t, int,
                                                const void*, std::int64_t, int, std::size_t* on_device,
                                                std::size_t* on_host) {
  return workspace(handle, on_device, on_host);
}
LOCKSTEP_SOLVER_API cusolverDnXgetrf(void* handle, void*, std::int64_t m, std::int64_t n, int type, void* a,
                                     std::int64_t lda, std::int64_t* pivots, int computed_with, void*,
                                     std::size_t, void*, std::size_t, int* info) {
  return with_context(handle, [&](Context& context) {
    Factors f{.type = type_of("cusolverDnXgetrf", type, computed_with)};
    require(info != nullptr && n >= 0);
    f.a = matrix_of(a, lda, m, f.type), f.info = info;
    const std::int64_t count = std::min<std::int64_t>(blas::size_of(m), blas::size_of(n));
    const Scratch narrow(pivots != nullptr ? static_cast<std::size_t>(count) * sizeof(int) : 0,
                         context.blas.stream);
    f.pivots = narrow.as<int>();
    blas::factor_lu(context.blas, f, m, n);
    if (pivots != nullptr) convert(context, "lockstep_solver_widen", narrow.data(), pivots, count);
  });
}
LOCKSTEP_SOLVER_API cusolverDnXgetrs(void* handle, void*, int op, std::int64_t n, std::int64_t count,
                                     int type, const void* a, std::int64_t lda, const std::int64_t* pivots,
                                     int b_type, void* b, std::int64_t ldb, int* info) {
  return with_context(handle, [&](Context& context) {
    Factors f{.type = type_of("cusolverDnXgetrs", type, b_type)};
    require(count >= 0 && (op == blas::kOpN || op == blas::kOpT || op == blas::kOpC));
    f.a = matrix_of(a, lda, n, f.type);
    const MatrixRef right = matrix_of(b, ldb, n, f.type);
    clear(context, info);
    const Scratch narrow(pivots != nullptr ? static_cast<std::size_t>(blas::size_of(n)) * sizeof(int) : 0,
                         context.blas.stream);
    if (pivots != nullptr) convert(context, "lockstep_solver_narrow", pivots, narrow.data(), n);
    f.pivots = narrow.as<int>();
    blas::solve_lu(context.blas, f, op, n, right, count);
  });
}

LOCKSTEP_SOLVER_API cusolverDnXpotrf_bufferSize(void* handle, void*, int, std::int64_t, int, const void*,
                                                std::int64_t, int, std::size_t* on_device,
                                                std::size_t* on_host) {
  return workspace(handle, on_device, on_host);
}
LOCKSTEP_SOLVER_API cusolverDnXpotrf(void* handle, void*, int mode, std::int64_t n, int type, void* a,
                                     std::int64_t lda, int computed_with, void*, std::size_t, void*,
                                     std::size_t, int* info) {
  return with_context(handle, [&](Context& context) {
    Factors f{.type = type_of("cusolverDnXpotrf", type, computed_with)};
    require(info != nullptr);
    f.a = matrix_of(a, lda, n, f.type), f.info = info;
    blas::factor_cholesky(context.blas, f, blas::triangle_of(mode), n);
  });
}
LOCKSTEP_SOLVER_API cusolverDnXpotrs(void* handle, void*, int mode, std::int64_t n, std::int64_t count,
                                     int type, const void* a, std::int64_t lda, int b_type, void* b,
                                     std::int64_t ldb, int* info) {
  return with_context(handle, [&](Context& context) {
    Factors f{.type = type_of("cusolverDnXpotrs", type, b_type)};
    require(count >= 0);
    f.a = matrix_of(a, lda, n, f.type);
    const MatrixRef right = matrix_of(b, ldb, n, f.type);
    const int triangle = blas::triangle_of(mode);
    clear(context, info);
    blas::solve_cholesky(context.blas, f, triangle, n, right, count);
  });
}

}  // namespace lockstep::libraries::solver
