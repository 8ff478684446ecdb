// Eigenvalues and eigenvectors of symmetric matrices: cusolverDnSsyevd and cusolverDnDsyevd.
#include <algorithm>

#include "libraries/blas/entries.hpp"
#include "libraries/blas/level2.hpp"
#include "libraries/solver/context.hpp"
#include "libraries/solver/eigen_arguments.hpp"

namespace lockstep::libraries::solver {

[[nodiscard]] std::string_view embedded_ptx(std::string_view file);

namespace {

constexpr int kWithVectors = 1;

template <class T>
Status syevd(const void* handle, int mode, int fill, int n, T* a, int lda, T* values, int* info) {
  return with_context(handle, [&](Context& context) {
    static auto& kernels = *new Kernels(embedded_ptx("eigen"));  // to the end of the process
    require((mode == 0 || mode == kWithVectors) && n >= 0 && lda >= std::max(1, n) && info != nullptr);
    const int triangle = blas::triangle_of(fill);
    const auto count = static_cast<std::size_t>(n);
    const Scratch scratch((2 * count * count + count + 1) * sizeof(T), context.blas.stream);
    EigenArguments e{};
    e.a = a, e.lda = lda, e.n = n, e.lower = triangle == blas::kLowerTriangle,
    e.vectors = mode == kWithVectors;
    e.whole = scratch.data(), e.rotated = scratch.as<T>() + count * count;
    e.rotations = scratch.as<T>() + 2 * count * count;
    e.values = values, e.info = info;
    const std::string kernel = std::string("lockstep_solver_eigen_") + blas::kSuffix<T>;
    kernels.launch(kernel.c_str(), {1}, {256}, 0, context.blas.stream, e);
  });
}

/// Workspaces are the library's own; programs may not expect none.
Status workspace(const void* handle, bool valid, int* elements) {
  return with_context(handle, [&](Context&) {
    require(valid && elements != nullptr);
    *elements = 1;
  });
}

}  // namespace

#define LOCKSTEP_SOLVER_EIGEN(l, T)                                                                     \
  LOCKSTEP_SOLVER_API cusolverDn##l##syevd_bufferSize(void* handle, int, int, int n, const T*, int lda, \
                                                      const T*, int* elements) {                        \
    return workspace(handle, n >= 0 && lda >= std::max(1, n), elements);                                \
  }                                                                                                     \
  LOCKSTEP_SOLVER_API cusolverDn##l##syevd(void* handle, int mode, int fill, int n, T* a, int lda,      \
                                           T* values, T*, int, int* info) {                             \
    return syevd(handle, mode, fill, n, a, lda, values, info);                                          \
  }
LOCKSTEP_SOLVER_EIGEN(S, float)
LOCKSTEP_SOLVER_EIGEN(D, double)

}  // namespace lockstep::libraries::solver
