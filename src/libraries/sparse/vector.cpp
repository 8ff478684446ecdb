// Sparse vectors with dense ones.
#include "libraries/sparse/context.hpp"
#include "libraries/sparse/descriptors.hpp"
#include "libraries/sparse/memory.hpp"

namespace lockstep::libraries::sparse {
namespace {

void check_pair(const SparseVector& x, const DenseVector& y, const char* what) {
  require(x.size == y.size);
  require_same_types(what, {x.type, y.type});
}

bool is_captured(Stream stream) {
  int state = 0;
  check(runtime().cudaStreamIsCapturing(stream, &state), "a stream's state");
  return state != 0;
}

/// Calls `body` with the two vectors and the type of their values.
template <class Body>
Status with_vectors(const void* handle, const void* sparse, const void* dense, const char* what,
                    Body&& body) {
  return with_context(handle, [&](Context& context) {
    const auto& x = described<SparseVector>(sparse);
    const auto& y = described<DenseVector>(dense);
    check_pair(x, y, what);
    with_type(x.type, what, [&](auto type) { body(context, x, y, type); });
  });
}

}  // namespace

LOCKSTEP_SPARSE_API cusparseAxpby(void* handle, const void* alpha, const void* sparse, const void* beta,
                                  void* dense) {
  return with_vectors(handle, sparse, dense, "cusparseAxpby",
                      [&](Context& context, const SparseVector& x, const DenseVector& y, auto type) {
                        using T = typename decltype(type)::type;
                        Kernels& kernels = kernels_of("vector");
                        const long long size = y.size, entries = x.entries;
                        kernels.launch(type.name("scale").c_str(), blocks_for(size), {kThreads, 1, 1}, 0,
                                       context.stream, scalar_of<T>(context, beta), size, y.values);
                        kernels.launch(type.name("add").c_str(), blocks_for(entries), {kThreads, 1, 1}, 0,
                                       context.stream, x.view(), entries, scalar_of<T>(context, alpha),
                                       x.values, y.values);
                      });
}
LOCKSTEP_SPARSE_API cusparseGather(void* handle, const void* dense, void* sparse) {
  return with_vectors(handle, sparse, dense, "cusparseGather",
                      [&](Context& context, const SparseVector& x, const DenseVector& y, auto type) {
                        kernels_of("vector").launch(type.name("gather").c_str(), blocks_for(x.entries),
                                                    {kThreads, 1, 1}, 0, context.stream, x.view(), x.entries,
                                                    y.values, x.values);
                      });
}
LOCKSTEP_SPARSE_API cusparseScatter(void* handle, const void* sparse, void* dense) {
  return with_vectors(handle, sparse, dense, "cusparseScatter",
                      [&](Context& context, const SparseVector& x, const DenseVector& y, auto type) {
                        kernels_of("vector").launch(type.name("scatter").c_str(), blocks_for(x.entries),
                                                    {kThreads, 1, 1}, 0, context.stream, x.view(), x.entries,
                                                    x.values, y.values);
                      });
}
LOCKSTEP_SPARSE_API cusparseRot(void* handle, const void* c, const void* s, void* sparse, void* dense) {
  return with_vectors(handle, sparse, dense, "cusparseRot",
                      [&](Context& context, const SparseVector& x, const DenseVector& y, auto type) {
                        using T = typename decltype(type)::type;
                        if (is_complex(x.type)) refuse("cusparseRot: complex values");
                        kernels_of("vector").launch(type.name("rotate").c_str(), blocks_for(x.entries),
                                                    {kThreads, 1, 1}, 0, context.stream, x.view(), x.entries,
                                                    scalar_of<T>(context, c), scalar_of<T>(context, s),
                                                    x.values, y.values);
                      });
}

LOCKSTEP_SPARSE_API cusparseSpVV_bufferSize(void* handle, int operation, const void* sparse,
                                            const void* dense, const void*, int compute_type,
                                            std::size_t* bytes) {
  return with_vectors(handle, sparse, dense, "cusparseSpVV",
                      [&](Context&, const SparseVector& x, const DenseVector&, auto) {
                        require_operation(operation);
                        require_same_types("cusparseSpVV", {x.type, compute_type});
                        require(bytes != nullptr);
                        *bytes = 0;
                      });
}
LOCKSTEP_SPARSE_API cusparseSpVV(void* handle, int operation, const void* sparse, const void* dense,
                                 void* result, int compute_type, void*) {
  return with_vectors(handle, sparse, dense, "cusparseSpVV",
                      [&](Context& context, const SparseVector& x, const DenseVector& y, auto type) {
                        require_operation(operation);
                        require_same_types("cusparseSpVV", {x.type, compute_type});
                        require(result != nullptr);
                        constexpr unsigned kDotThreads = 1024;
                        const std::size_t bytes = bytes_of(x.type);
                        const bool here = context.pointer_mode == kOnHost;
                        const Memory memory(here ? bytes : 0, context.stream, false);
                        void* const place = here ? memory.as<void>() : result;
                        const int conjugate = operation == kConjugateTransposed && is_complex(x.type);
                        kernels_of("vector").launch(type.name("dot").c_str(), {1, 1, 1}, {kDotThreads, 1, 1},
                                                    0, context.stream, x.view(), x.entries, x.values,
                                                    conjugate, y.values, place);
                        if (!here) return;
                        check(runtime().cudaMemcpyAsync(result, place, bytes, kDeviceToHost, context.stream),
                              "copying a result");
                        if (!is_captured(context.stream))
                          check(runtime().cudaStreamSynchronize(context.stream), "copying a result");
                      });
}

}  // namespace lockstep::libraries::sparse
