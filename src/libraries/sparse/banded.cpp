// Many interleaved systems with three or five diagonals (gtsvInterleavedBatch, gpsvInterleavedBatch).
#include <algorithm>

#include "libraries/sparse/context.hpp"

namespace lockstep::libraries::sparse {
namespace {

/// All algorithms are one: elimination with row exchanges.
constexpr int kLastTridiagonal = 2, kLastPentadiagonal = 0;

template <class T>
struct Systems {
  const char* kernel;
  int last_algorithm;
  int algorithm, size;
  std::initializer_list<const T*> diagonals;
  const T* x;
  int systems;

  void check() const {
    require(algorithm >= 0 && algorithm <= last_algorithm && size >= 1 && systems >= 1);
    require(x != nullptr && std::find(diagonals.begin(), diagonals.end(), nullptr) == diagonals.end());
  }
  Status size_for(const void* handle, std::size_t* bytes) const {
    return with_context(handle, [&](Context&) {
      check();
      require(bytes != nullptr);
      *bytes = 0;
    });
  }
  Status solve(const void* handle) const {
    return with_context(handle, [&](Context& context) {
      check();
      Diagonals<T> all{{}, const_cast<T*>(x), size, systems};
      std::transform(diagonals.begin(), diagonals.end(), all.values,
                     [](const T* data) { return const_cast<T*>(data); });
      constexpr unsigned kSystemsOfCta = 128;
      const auto blocks = (static_cast<unsigned>(systems) + kSystemsOfCta - 1) / kSystemsOfCta;
      kernels_of("banded").launch(kernel, {blocks, 1, 1}, {kSystemsOfCta, 1, 1}, 0, context.stream, all);
    });
  }
};

}  // namespace

#define X(letter, suffix, T)                                                                                 \
  LOCKSTEP_SPARSE_API cusparse##letter##gtsvInterleavedBatch_bufferSizeExt(                                  \
      void* handle, int algorithm, int size, const T* dl, const T* d, const T* du, const T* x, int systems,  \
      std::size_t* bytes) {                                                                                  \
    return Systems<T>{"", kLastTridiagonal, algorithm, size, {dl, d, du}, x, systems}.size_for(handle,       \
                                                                                               bytes);       \
  }                                                                                                          \
  LOCKSTEP_SPARSE_API cusparse##letter##gtsvInterleavedBatch(void* handle, int algorithm, int size, T* dl,   \
                                                             T* d, T* du, T* x, int systems, void*) {        \
    return Systems<T>{                                                                                       \
        "lockstep_sparse_tridiagonal_" suffix, kLastTridiagonal, algorithm, size, {dl, d, du}, x, systems}   \
        .solve(handle);                                                                                      \
  }                                                                                                          \
  LOCKSTEP_SPARSE_API cusparse##letter##gpsvInterleavedBatch_bufferSizeExt(                                  \
      void* handle, int algorithm, int size, const T* ds, const T* dl, const T* d, const T* du, const T* dw, \
      const T* x, int systems, std::size_t* bytes) {                                                         \
    return Systems<T>{"", kLastPentadiagonal, algorithm, size, {ds, dl, d, du, dw}, x, systems}.size_for(    \
        handle, bytes);                                                                                      \
  }                                                                                                          \
  LOCKSTEP_SPARSE_API cusparse##letter##gpsvInterleavedBatch(                                                \
      void* handle, int algorithm, int size, T* ds, T* dl, T* d, T* du, T* dw, T* x, int systems, void*) {   \
    return Systems<T>{"lockstep_sparse_pentadiagonal_" suffix,                                               \
                      kLastPentadiagonal,                                                                    \
                      algorithm,                                                                             \
                      size,                                                                                  \
                      {ds, dl, d, du, dw},                                                                   \
                      x,                                                                                     \
                      systems}                                                                               \
        .solve(handle);                                                                                      \
  }
X(S, "s", float)
X(D, "d", double)
#undef X

}  // namespace lockstep::libraries::sparse
